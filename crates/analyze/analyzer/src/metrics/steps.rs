//! Measures the steps of the program in the window.
//!
//! ```text
//! tiles  ├─ 1 ────┼─ 2 ────┼─ other work ─┼─ 3 ────┼─ 4, whose end is unknown
//! GPU    ├──┤     ├──┤     ├────────────┤ ├──┤     ├──┤
//! once                     ├─ between ────┤        ├─ after ─┤
//! ```
//!
//! A step counts in a window if all of it lies there.

use std::collections::HashSet;
use std::num::NonZeroU64;

use metalens_message::{Ns, ratio};

use crate::basics::spans::{Span, time_in};
use crate::basics::statistics::{deviation_from, median, middle_mean, of_thirds, percentile};
use crate::metrics::gap_causes::GapSplitter;
use crate::report::{
    Cause, GapParts, OnceKind, OncePart, SlowKernel, SlowSteps, StepKind, StepParts, StepPlace,
    StepSeries,
};
use crate::request::StepChoice;
use crate::subject::gaps::{Gap, Occupancy};
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::steps::{Series, Tile};

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
/// One part in this many of the usual own time may depend on time of unknown cause.
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
    fn of(step: &StepParts) -> Self {
        Self {
            gpu_ns: step.gpu_ns.0,
            cpu_ns: (step.idle.host_ns + step.idle.encoding_ns).0,
            unknown_ns: step.idle.unknown_ns.0,
        }
    }

    fn own_ns(self) -> u64 {
        self.gpu_ns + self.cpu_ns + self.unknown_ns
    }
}

/// Steps of one kind in the window.
#[derive(Default)]
struct OfKind {
    tiles: Vec<Tile>,
    /// Own time of each; empty if the series is not the main one.
    own: Vec<OwnTime>,
    /// Number of command buffers in each; empty likewise, or if the intervals name none.
    buffers: Vec<u64>,
    total_ns: u64,
}

/// Series whose kinds are measured.
struct Measured<'a> {
    series: &'a Series,
    is_main: bool,
    /// Summed time of its steps in the window.
    total_ns: u64,
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
        let inside = series.begun_in(self.window);
        let first = inside.clone().next()?.0;
        let tiles: Vec<Tile> = series.tiles_in(self.window).collect();
        let mut own: Vec<OwnTime> = Vec::new();
        let mut buffers = Vec::new();
        if is_main {
            self.split(&tiles, |step| own.push(OwnTime::of(&step)));
            buffers = self.command_buffers(&tiles);
        }
        let mut of_kind: Vec<OfKind> = Vec::new();
        of_kind.resize_with(series.kinds.len(), OfKind::default);
        for (place, tile) in tiles.iter().enumerate() {
            if let Some(of_kind) = of_kind.get_mut(tile.kind) {
                of_kind.tiles.push(*tile);
                of_kind.own.extend(own.get(place));
                of_kind.buffers.extend(buffers.get(place));
                of_kind.total_ns += tile.span.length_ns();
            }
        }
        let of_series = Measured {
            series,
            is_main,
            total_ns: of_kind.iter().map(|kind| kind.total_ns).sum(),
        };
        let mut order: Vec<&OfKind> = of_kind.iter().collect();
        order.sort_by_key(|kind| std::cmp::Reverse(kind.total_ns));
        let kinds = order.into_iter().take(KINDS);
        let kinds: Vec<StepKind> = kinds
            .filter_map(|of_kind| self.kind(&of_series, of_kind))
            .collect();
        let latencies = inside.clone().filter_map(|(_, step)| {
            let latency_ns = step.latency_ns?.get();
            Some((latency_ns, step.begins_alone))
        });
        let mut latencies: Vec<(u64, bool)> = latencies.collect();
        latencies.sort_unstable();
        let alone = latencies.iter().filter(|(_, begins_alone)| *begins_alone);
        let alone: Vec<u64> = alone.map(|&(ns, _)| ns).collect();
        let latencies: Vec<u64> = latencies.into_iter().map(|(ns, _)| ns).collect();
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
            total_ns: Ns(of_series.total_ns),
            per_second: ratio(measured * units, of_series.total_ns).map(|per_ns| per_ns * 1e9),
            latency_ns: percentile(&latencies, 50).map(Ns),
            latency_alone_ns: percentile(&alone, 50)
                .filter(|_| alone.len() >= FEW)
                .map(Ns),
            latency_p95_ns: p95
                .and_then(|percent| percentile(&latencies, percent))
                .map(Ns),
            period_ns: series.period_ns.map(Ns),
            missed: series.period_ns.map(|period_ns| {
                let late = tiles
                    .iter()
                    .filter(|tile| 2 * tile.span.length_ns() > 3 * period_ns);
                late.count() as u64
            }),
            kinds,
        })
    }

    /// Returns the figures of a kind; `None` for one that is rare.
    fn kind(&self, of_series: &Measured<'_>, of_kind: &OfKind) -> Option<StepKind> {
        let OfKind {
            tiles,
            own,
            buffers,
            ..
        } = of_kind;
        let total_ns = of_kind.total_ns;
        let mut lengths: Vec<u64> = tiles.iter().map(|tile| tile.span.length_ns()).collect();
        lengths.sort_unstable();
        let is_listed = tiles.len() >= FEW || total_ns * KIND_PARTS >= of_series.total_ns;
        let max_ns = lengths.last().copied().filter(|_| is_listed)?;
        let from = |count: usize, percent: usize| {
            percentile(&lengths, percent).filter(|_| lengths.len() >= count)
        };
        let median_ns = from(FEW, 50);
        let own_ns: Vec<u64> = own.iter().map(|step| step.own_ns()).collect();
        let least_own_ns: Vec<u64> = own.iter().map(|step| step.gpu_ns + step.cpu_ns).collect();
        let (usual_own_ns, least_own_ns) = (middle_mean(&own_ns), middle_mean(&least_own_ns));
        // A lost table must not make steps seem shorter; a few of unknown cause do not move the middle.
        let is_known = usual_own_ns
            .zip(least_own_ns)
            .is_some_and(|(most_ns, least_ns)| (most_ns - least_ns) * UNKNOWN_PARTS <= most_ns);
        Some(StepKind {
            intervals: of_series.series.kinds.get(tiles.first()?.kind)?.intervals,
            command_buffers: median(buffers.iter().copied()),
            count: lengths.len() as u64,
            total_ns: Ns(total_ns),
            median_ns: median_ns.map(Ns),
            p95_ns: from(FOR_P95, 95).map(Ns),
            p99_ns: from(FOR_P99, 99).map(Ns),
            min_ns: Ns(*lengths.first()?),
            max_ns: Ns(max_ns),
            drift_pct: drift_pct(tiles),
            gpu_ns: median(own.iter().map(|step| step.gpu_ns)).map(Ns),
            own_ns: usual_own_ns.filter(|_| is_known).map(Ns),
            own_thirds_ns: of_thirds(&own_ns, middle_mean).filter(|_| is_known),
            typical: median_ns
                .filter(|_| of_series.is_main)
                .and_then(|_| self.typical(tiles, &lengths)),
            slow: median_ns.and_then(|median_ns| self.slow(of_series, tiles, median_ns)),
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
        let mut parts: Vec<StepParts> = Vec::with_capacity(candidates.len());
        self.split(&candidates, |step| parts.push(step));
        let usual_gpu = median(parts.iter().map(|step| step.gpu_ns))?;
        let usual = Cause::ALL.map(|cause| {
            (
                cause,
                median(parts.iter().map(|step| step.idle.get(cause))).unwrap_or_default(),
            )
        });
        parts.into_iter().min_by_key(|step| {
            let idle = usual
                .iter()
                .map(|&(cause, usual)| step.idle.get(cause).abs_diff(usual));
            step.gpu_ns.abs_diff(usual_gpu) + idle.sum::<Ns>()
        })
    }

    /// Returns the steps of a kind that are much longer than the usual one; `None` if they cost little.
    fn slow(&self, of_series: &Measured<'_>, tiles: &[Tile], median_ns: u64) -> Option<SlowSteps> {
        let period_ns = of_series.series.period_ns;
        let lengths = tiles.iter().map(|tile| tile.span.length_ns());
        let deviation = deviation_from(lengths, median_ns)?;
        let limit_ns = match period_ns {
            Some(period_ns) => period_ns + period_ns / 2,
            None => median_ns + (DEVIATIONS * deviation).max(median_ns / 10),
        };
        let is_slow = |tile: &&Tile| tile.span.length_ns() > limit_ns;
        let mut slow: Vec<Tile> = tiles.iter().filter(is_slow).copied().collect();
        let count = slow.len() as u64;
        let sum_ns: u64 = slow.iter().map(|tile| tile.span.length_ns()).sum();
        let excess_ns = sum_ns.saturating_sub(count * median_ns);
        let is_little = period_ns.is_none() && excess_ns * SLOW_PARTS < of_series.total_ns;
        if count == 0 || is_little {
            return None;
        }
        let why = of_series.is_main.then(|| {
            let (mut gpu_ns, mut idle) = (Ns(0), GapParts::default());
            self.split(&slow, |step| {
                gpu_ns += step.gpu_ns;
                for (cause, ns) in step.idle.by_cause() {
                    *idle.get_mut(cause) += ns;
                }
            });
            for cause in Cause::ALL {
                *idle.get_mut(cause) = idle.get(cause) / count;
            }
            let kernels = self.slow_kernels(tiles, limit_ns, count);
            (gpu_ns / count, idle, kernels)
        });
        let (gpu_ns, idle, kernels) = match why {
            Some((gpu_ns, idle, kernels)) => (Some(gpu_ns), Some(idle), kernels),
            None => (None, None, Vec::new()),
        };
        slow.sort_by_key(|tile| std::cmp::Reverse(tile.span.length_ns()));
        slow.truncate(LISTED);
        slow.sort_by_key(|tile| tile.place);
        let longest = slow.iter().map(|tile| StepPlace {
            number: tile.number(),
            start_ns: Ns(tile.span.start_ns),
            end_ns: Ns(tile.span.end_ns),
        });
        Some(SlowSteps {
            count,
            excess_ns: Ns(excess_ns),
            mean_ns: Ns(sum_ns / count),
            gpu_ns,
            idle,
            kernels,
            longest: longest.collect(),
        })
    }

    /// Returns the number of command buffers that begin to run in each tile; none if an interval has none.
    fn command_buffers(&self, tiles: &[Tile]) -> Vec<u64> {
        let mut seen: HashSet<NonZeroU64> = HashSet::new();
        let mut counts = vec![0; tiles.len()];
        let mut at = tiles.iter().zip(&mut counts).peekable();
        for interval in self.mine {
            let Some(buffer) = interval.command_buffer else {
                return Vec::new();
            };
            let start_ns = interval.span.start_ns;
            while at
                .next_if(|(tile, _)| tile.span.end_ns <= start_ns)
                .is_some()
            {}
            let is_new = seen.insert(buffer);
            if let Some((tile, count)) = at.peek_mut().filter(|_| is_new)
                && tile.span.start_ns <= start_ns
            {
                **count += 1;
            }
        }
        counts
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
                slow_ns: Ns(slow_ns / count),
                usual_ns: Ns(usual_ns / others),
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
                .filter(|last| last.end_ns == Ns(span.start_ns) && last.what != OnceKind::After)
            {
                Some(last) => {
                    (last.turns, last.end_ns) = (last.turns + turns, Ns(span.end_ns));
                    last.gpu_ns += Ns(gpu_ns);
                }
                None => parts.push(OncePart {
                    what,
                    turns,
                    start_ns: Ns(span.start_ns),
                    end_ns: Ns(span.end_ns),
                    gpu_ns: Ns(gpu_ns),
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
        for tile in series.tiles().filter(|tile| !tile.counts) {
            add(OnceKind::Between, 1, tile.span);
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

    fn split(&self, tiles: &[Tile], visit: impl FnMut(StepParts)) {
        split(&self.occupancy.gaps, &self.splitter, tiles, visit);
    }
}

/// Visits steps, which come in order and apart, each with its GPU time and its idle time by cause.
pub(crate) fn split(
    gaps: &[Gap],
    splitter: &GapSplitter<'_>,
    tiles: &[Tile],
    mut visit: impl FnMut(StepParts),
) {
    let mut idle = GapParts::default();
    let mut rest = tiles.iter().peekable();
    let mut close = |tile: &Tile, idle: &mut GapParts| {
        let idle_ns = idle.total_ns();
        visit(StepParts {
            number: tile.number(),
            start_ns: Ns(tile.span.start_ns),
            end_ns: Ns(tile.span.end_ns),
            gpu_ns: Ns(tile.span.length_ns()).saturating_sub(idle_ns),
            idle: std::mem::take(idle),
        });
    };
    for gap in gaps {
        while let Some(tile) = rest.next_if(|tile| tile.span.end_ns <= gap.span.start_ns) {
            close(tile, &mut idle);
        }
        if rest
            .peek()
            .is_none_or(|tile| tile.span.start_ns >= gap.span.end_ns)
        {
            continue;
        }
        for (stretch, cause) in splitter.stretches(gap) {
            while let Some(tile) = rest.peek() {
                *idle.get_mut(cause) += Ns(tile.span.clip(stretch).length_ns());
                if tile.span.end_ns > stretch.end_ns {
                    break;
                }
                close(tile, &mut idle);
                rest.next();
            }
        }
    }
    for tile in rest {
        close(tile, &mut idle);
    }
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
                counts: true,
                span: Span::new(0, length),
            });
            drift_pct(&tiles.collect::<Vec<_>>()).map(f64::round)
        };
        assert_eq!(drift(&[10, 10, 10, 7, 7, 7, 11, 11, 11]), Some(10.0));
        assert_eq!(drift(&[10; 8]), None);
    }
}
