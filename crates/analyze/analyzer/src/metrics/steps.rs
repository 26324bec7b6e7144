//! Measures the steps of the program in the window.
//!
//! ```text
//! tiles  ├─ 1 ────┼─ 2 ────┼─ other work ─┼─ 3 ────┼─ 4, whose end is unknown
//! GPU    ├──┤     ├──┤     ├────────────┤ ├──┤     ├──┤
//! once                     ├─ between ────┤        ├─ after ─┤
//! ```
//!
//! A step counts in a window if all of it lies there.

use std::num::NonZeroU64;

use crate::basics::spans::{Span, time_in};
use crate::basics::statistics::{median, percentile, ratio};
use crate::metrics::gap_causes::GapSplitter;
use crate::report::{
    Cause, GapParts, OnceKind, OncePart, SlowKernel, SlowSteps, StepKind, StepParts, StepPlace,
    StepSeries,
};
use crate::request::StepChoice;
use crate::subject::gaps::{Gap, Occupancy};
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::steps::Series;

/// Smallest number of steps with a usual length.
const FEW: usize = 6;
/// Smallest numbers of steps with a 95th and with a 99th percentile.
const FOR_P95: usize = 20;
const FOR_P99: usize = 100;
/// Number of steps among which the typical one is looked for.
const CANDIDATES: usize = 512;
/// Usual deviations by which a slow step exceeds the median.
const DEVIATIONS: u64 = 5;
/// One part in this many of the time that slow steps cost at least.
const SLOW_PARTS: u64 = 50;
/// One part in this many of the time that a kind with few steps has at least.
const KIND_PARTS: u64 = 20;
/// One part in this many of the steps' time may be of unknown cause where their own time is known.
const UNKNOWN_PARTS: u64 = 100;
/// Largest number of kinds that are listed: for each, all GPU intervals are looked at.
const KINDS: usize = 8;
/// Number of slow steps that are listed.
const LISTED: usize = 10;

/// Input of the steps.
pub(crate) struct StepsInput<'a> {
    pub series: &'a [Series],
    pub window: Span,
    pub occupancy: &'a Occupancy,
    pub splitter: GapSplitter<'a>,
    /// Time from the first to the last event of the program.
    pub run: Span,
    /// GPU intervals of the process in the window, with the kernel of each.
    pub mine: &'a [Interval],
    pub kernels: &'a NamedIntervals,
    /// What a step is called that nobody named.
    pub usual_name: &'static str,
    /// Steps that somebody wants to look at.
    pub choice: Option<&'a StepChoice>,
}

/// Time of a step that the program itself decides, and time of unknown cause.
#[derive(Debug, Clone, Copy)]
struct OwnTime {
    gpu_ns: u64,
    cpu_ns: u64,
    unknown_ns: u64,
}

impl OwnTime {
    fn own_ns(self) -> u64 {
        self.gpu_ns + self.cpu_ns + self.unknown_ns
    }
}

/// Step with a known length that lies in the window.
#[derive(Debug, Clone, Copy)]
struct Tile {
    /// Place in the series.
    place: usize,
    kind: usize,
    span: Span,
}

impl StepsInput<'_> {
    /// Returns the series in the window, and the parts of the run that are no step of the main one.
    pub(crate) fn measure(&self) -> (Vec<StepSeries>, Vec<OncePart>) {
        let mut all = Vec::new();
        let mut once = Vec::new();
        for series in self.series {
            let is_main = all.is_empty();
            let Some(measured) = self.series(series, is_main) else {
                continue;
            };
            if is_main {
                once = self.once(series);
            }
            all.push(measured);
        }
        (all, once)
    }

    fn series(&self, series: &Series, is_main: bool) -> Option<StepSeries> {
        let begins =
            |start_ns: u64| start_ns >= self.window.start_ns && start_ns < self.window.end_ns;
        let is_step = |kind: usize| series.kinds.get(kind).is_some_and(|kind| !kind.is_foreign);
        let inside = series.steps.iter().enumerate();
        let inside =
            inside.filter(|(_, step)| begins(step.start_ns) && is_step(step.kind as usize));
        let first = inside.clone().next()?.0;
        let tiles: Vec<Tile> = tiles(series)
            .filter(|tile| self.holds(tile) && is_step(tile.kind))
            .collect();
        let spans: Vec<Span> = tiles.iter().map(|tile| tile.span).collect();
        let mut own: Vec<OwnTime> = Vec::new();
        if is_main {
            self.split(&spans, |_, gpu_ns, idle| {
                own.push(OwnTime {
                    gpu_ns,
                    cpu_ns: idle.host_ns + idle.encoding_ns,
                    unknown_ns: idle.unknown_ns,
                });
            });
        }
        let total_ns: u64 = spans.iter().map(|span| span.length_ns()).sum();
        let mut of_kind: Vec<Vec<usize>> = vec![Vec::new(); series.kinds.len()];
        for (place, tile) in tiles.iter().enumerate() {
            if let Some(places) = of_kind.get_mut(tile.kind) {
                places.push(place);
            }
        }
        let length_ns = |place: &usize| spans.get(*place).map_or(0, |span| span.length_ns());
        let mut order: Vec<(u64, usize)> = of_kind
            .iter()
            .enumerate()
            .map(|(kind, places)| (places.iter().map(length_ns).sum(), kind))
            .collect();
        order.sort_by_key(|&(sum_ns, kind)| (std::cmp::Reverse(sum_ns), kind));
        let kinds = order.iter().take(KINDS).filter_map(|&(_, kind)| {
            let places = of_kind.get(kind)?;
            self.kind(series, kind, places, &tiles, &own, total_ns)
        });
        let kinds: Vec<StepKind> = kinds.collect();
        let latencies = inside.clone().filter_map(|(_, step)| step.latency_ns);
        let mut latencies: Vec<u64> = latencies.map(NonZeroU64::get).collect();
        latencies.sort_unstable();
        let p95 = Some(95).filter(|_| latencies.len() >= FOR_P95);
        let unit = self.choice.and_then(|choice| choice.unit.as_ref());
        let name = unit.or(series.name.as_ref()).cloned();
        let units = self.choice.map_or(1, |choice| choice.units.get());
        let measured = tiles.len() as u64;
        Some(StepSeries {
            by: series.by,
            name: name.unwrap_or_else(|| self.usual_name.to_owned()),
            is_main,
            units,
            first: first as u64 + 1,
            count: inside.count() as u64,
            measured,
            per_second: ratio(measured * units, total_ns).map(|per_ns| per_ns * 1e9),
            latency_ns: percentile(&latencies, 50),
            latency_p95_ns: p95.and_then(|percent| percentile(&latencies, percent)),
            period_ns: series.period_ns,
            missed: series.period_ns.map(|period_ns| {
                let late = spans
                    .iter()
                    .filter(|span| 2 * span.length_ns() > 3 * period_ns);
                late.count() as u64
            }),
            kinds,
        })
    }

    fn holds(&self, tile: &Tile) -> bool {
        tile.span.start_ns >= self.window.start_ns && tile.span.end_ns <= self.window.end_ns
    }

    /// Returns the figures of a kind; `None` for one that is rare.
    fn kind(
        &self,
        series: &Series,
        kind: usize,
        places: &[usize],
        tiles: &[Tile],
        own: &[OwnTime],
        all_ns: u64,
    ) -> Option<StepKind> {
        let of_kind: Vec<Tile> = places
            .iter()
            .filter_map(|&place| tiles.get(place).copied())
            .collect();
        let mut lengths: Vec<u64> = of_kind.iter().map(|tile| tile.span.length_ns()).collect();
        lengths.sort_unstable();
        let total_ns: u64 = lengths.iter().sum();
        let is_listed = of_kind.len() >= FEW || total_ns * KIND_PARTS >= all_ns;
        let max_ns = lengths.last().copied().filter(|_| is_listed)?;
        let from = |count: usize, percent: usize| {
            percentile(&lengths, percent).filter(|_| lengths.len() >= count)
        };
        let median_ns = from(FEW, 50);
        let is_main = !own.is_empty();
        let period_ns = series.period_ns;
        let own = places.iter().filter_map(|&place| own.get(place));
        let unknown_ns: u64 = own.clone().map(|step| step.unknown_ns).sum();
        // A lost table must not make steps seem shorter.
        let is_known = unknown_ns * UNKNOWN_PARTS <= total_ns;
        Some(StepKind {
            intervals: series.kinds.get(kind)?.intervals,
            count: lengths.len() as u64,
            total_ns,
            median_ns,
            p95_ns: from(FOR_P95, 95),
            p99_ns: from(FOR_P99, 99),
            min_ns: *lengths.first()?,
            max_ns,
            drift_pct: drift_pct(&of_kind),
            gpu_ns: median(own.clone().map(|step| step.gpu_ns)),
            own_ns: median(own.clone().map(|step| step.own_ns())).filter(|_| is_known),
            typical: median_ns
                .filter(|_| is_main)
                .and_then(|_| self.typical(&of_kind, &lengths)),
            slow: median_ns
                .and_then(|median_ns| self.slow(&of_kind, (median_ns, period_ns), all_ns, is_main)),
        })
    }

    fn typical(&self, tiles: &[Tile], sorted: &[u64]) -> Option<StepParts> {
        let (low, high) = (percentile(sorted, 40)?, percentile(sorted, 60)?);
        let middle = tiles
            .iter()
            .filter(|tile| (low..=high).contains(&tile.span.length_ns()));
        let middle: Vec<Tile> = middle.copied().collect();
        let every = middle.len().div_ceil(CANDIDATES).max(1);
        let candidates: Vec<Tile> = middle.into_iter().step_by(every).collect();
        let spans: Vec<Span> = candidates.iter().map(|tile| tile.span).collect();
        let mut parts: Vec<StepParts> = Vec::new();
        self.split(&spans, |index, gpu_ns, idle| {
            parts.extend(candidates.get(index).map(|tile| StepParts {
                number: tile.place as u64 + 1,
                start_ns: tile.span.start_ns,
                end_ns: tile.span.end_ns,
                gpu_ns,
                idle,
            }));
        });
        let usual_gpu = median(parts.iter().map(|step| step.gpu_ns))?;
        let usual = Cause::ALL.map(|cause| {
            (
                cause,
                median(parts.iter().map(|step| step.idle.get(cause))).unwrap_or(0),
            )
        });
        parts.into_iter().min_by_key(|step| {
            let idle = usual
                .iter()
                .map(|&(cause, usual)| step.idle.get(cause).abs_diff(usual));
            step.gpu_ns.abs_diff(usual_gpu) + idle.sum::<u64>()
        })
    }

    fn slow(
        &self,
        tiles: &[Tile],
        (median_ns, period_ns): (u64, Option<u64>),
        all_ns: u64,
        is_main: bool,
    ) -> Option<SlowSteps> {
        let deviation = median(
            tiles
                .iter()
                .map(|tile| tile.span.length_ns().abs_diff(median_ns)),
        )?;
        let limit_ns = match period_ns {
            Some(period_ns) => period_ns + period_ns / 2,
            None => median_ns + (DEVIATIONS * deviation).max(median_ns / 10),
        };
        let is_slow = |tile: &&Tile| tile.span.length_ns() > limit_ns;
        let mut slow: Vec<Tile> = tiles.iter().filter(is_slow).copied().collect();
        let count = slow.len() as u64;
        let sum_ns: u64 = slow.iter().map(|tile| tile.span.length_ns()).sum();
        let excess_ns = sum_ns.saturating_sub(count * median_ns);
        let is_little = period_ns.is_none() && excess_ns * SLOW_PARTS < all_ns;
        if count == 0 || is_little {
            return None;
        }
        let kernels = self.slow_kernels(tiles, limit_ns, count);
        let spans: Vec<Span> = slow.iter().map(|tile| tile.span).collect();
        let (mut gpu_ns, mut idle) = (0, GapParts::default());
        if is_main {
            self.split(&spans, |_, gpu, parts| {
                gpu_ns += gpu;
                for (cause, ns) in parts.by_cause() {
                    *idle.get_mut(cause) += ns;
                }
            });
            for cause in Cause::ALL {
                *idle.get_mut(cause) /= count;
            }
        }
        slow.sort_by_key(|tile| std::cmp::Reverse(tile.span.length_ns()));
        slow.truncate(LISTED);
        slow.sort_by_key(|tile| tile.place);
        let longest = slow.iter().map(|tile| StepPlace {
            number: tile.place as u64 + 1,
            start_ns: tile.span.start_ns,
            end_ns: tile.span.end_ns,
        });
        Some(SlowSteps {
            count,
            excess_ns,
            mean_ns: sum_ns / count,
            gpu_ns: is_main.then_some(gpu_ns / count),
            idle: is_main.then_some(idle),
            kernels: if is_main { kernels } else { Vec::new() },
            longest: longest.collect(),
        })
    }

    /// Returns the kernels that take longer in tiles beyond a limit.
    fn slow_kernels(&self, tiles: &[Tile], limit_ns: u64, count: u64) -> Vec<SlowKernel> {
        let mut sums: Vec<[u64; 2]> = vec![[0; 2]; self.kernels.count()];
        let mut at = tiles.iter().peekable();
        for (interval, kernel) in self.mine.iter().zip(self.kernels.numbers()) {
            let start_ns = interval.span.start_ns;
            while at.next_if(|tile| tile.span.end_ns <= start_ns).is_some() {}
            let tile = at.peek().filter(|tile| tile.span.start_ns <= start_ns);
            if let (Some(tile), Some(sums)) = (tile, sums.get_mut(kernel)) {
                let is_slow = tile.span.length_ns() > limit_ns;
                sums[usize::from(!is_slow)] += interval.span.length_ns();
            }
        }
        let others = (tiles.len() as u64 - count).max(1);
        let kernels = sums
            .iter()
            .enumerate()
            .map(|(kernel, &[slow_ns, usual_ns])| SlowKernel {
                name: self.kernels.name(kernel).to_owned(),
                slow_ns: slow_ns / count,
                usual_ns: usual_ns / others,
            });
        let mut kernels: Vec<SlowKernel> = kernels
            .filter(|each| each.slow_ns > each.usual_ns)
            .collect();
        kernels.sort_by_key(|each| {
            (
                std::cmp::Reverse(each.slow_ns - each.usual_ns),
                each.name.clone(),
            )
        });
        kernels.truncate(LISTED);
        kernels
    }

    /// Returns the parts of the run that are no step.
    fn once(&self, series: &Series) -> Vec<OncePart> {
        let mut parts: Vec<OncePart> = Vec::new();
        let mut add = |what: OnceKind, turns: u64, span: Span| {
            let span = span.clip(self.run);
            if span.is_empty() {
                return;
            }
            let gpu_ns = time_in(span, &self.occupancy.busy);
            match parts
                .last_mut()
                .filter(|last| last.end_ns == span.start_ns && last.what != OnceKind::After)
            {
                Some(last) => {
                    (last.turns, last.end_ns) = (last.turns + turns, span.end_ns);
                    last.gpu_ns += gpu_ns;
                }
                None => parts.push(OncePart {
                    what,
                    turns,
                    start_ns: span.start_ns,
                    end_ns: span.end_ns,
                    gpu_ns,
                }),
            }
        };
        let first = series
            .steps
            .first()
            .map_or(self.run.end_ns, |step| step.start_ns);
        add(
            OnceKind::Before,
            0,
            Span::new(self.run.start_ns.min(first), first),
        );
        for tile in tiles(series) {
            if series
                .kinds
                .get(tile.kind)
                .is_some_and(|kind| kind.is_foreign)
            {
                add(OnceKind::Between, 1, tile.span);
            }
        }
        let last = series
            .steps
            .last()
            .map_or(self.run.end_ns, |step| step.start_ns);
        add(
            OnceKind::After,
            0,
            Span::new(last, self.run.end_ns.max(last)),
        );
        parts
    }

    fn split(&self, spans: &[Span], visit: impl FnMut(usize, u64, GapParts)) {
        split(&self.occupancy.gaps, &self.splitter, spans, visit);
    }
}

/// Visits spans, which come in order and apart, each with its GPU time and its idle time by cause.
pub(crate) fn split(
    gaps: &[Gap],
    splitter: &GapSplitter<'_>,
    spans: &[Span],
    mut visit: impl FnMut(usize, u64, GapParts),
) {
    let mut idle = GapParts::default();
    let mut at = 0;
    let mut close = |at: &mut usize, idle: &mut GapParts| {
        if let Some(span) = spans.get(*at) {
            let idle_ns: u64 = idle.by_cause().iter().map(|(_, ns)| ns).sum();
            visit(*at, span.length_ns().saturating_sub(idle_ns), *idle);
        }
        *idle = GapParts::default();
        *at += 1;
    };
    for gap in gaps {
        while spans
            .get(at)
            .is_some_and(|span| span.end_ns <= gap.span.start_ns)
        {
            close(&mut at, &mut idle);
        }
        if spans
            .get(at)
            .is_none_or(|span| span.start_ns >= gap.span.end_ns)
        {
            continue;
        }
        for (stretch, cause) in splitter.stretches(gap) {
            while let Some(span) = spans.get(at) {
                *idle.get_mut(cause) += span.clip(stretch).length_ns();
                if span.end_ns > stretch.end_ns {
                    break;
                }
                close(&mut at, &mut idle);
            }
        }
    }
    while at < spans.len() {
        close(&mut at, &mut idle);
    }
}

/// Returns each step with a known length.
fn tiles(series: &Series) -> impl Iterator<Item = Tile> + use<'_> {
    series.tiles().map(|(place, step, span)| Tile {
        place,
        kind: step.kind as usize,
        span,
    })
}

/// Returns the change of the last third's median from the first third's, in percent.
fn drift_pct(tiles: &[Tile]) -> Option<f64> {
    let third = Some(tiles.len() / 3).filter(|&third| third >= 3)?;
    let usual = |tiles: &[Tile]| median(tiles.iter().map(|tile| tile.span.length_ns()));
    let first = usual(tiles.get(..third)?)?;
    let last = usual(tiles.get(tiles.len() - third..)?)?;
    Some((ratio(last, first)? - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_compares_thirds() {
        let drift = |lengths: &[u64]| {
            let tiles = lengths.iter().map(|&length| Tile {
                place: 0,
                kind: 0,
                span: Span::new(0, length),
            });
            drift_pct(&tiles.collect::<Vec<_>>()).map(f64::round)
        };
        assert_eq!(drift(&[10, 10, 10, 7, 7, 7, 11, 11, 11]), Some(10.0));
        assert_eq!(drift(&[10; 8]), None);
    }
}
