//! Makes the data of the timeline of `report.html`: every interval and gap if there are few; else
//! all of them in buckets, and those around the typical step in full.
//!
//! Buckets have nanoseconds, so that the page can add them up at any zoom and stay exact to the
//! bucket. Times are relative to the start of the window.

mod buckets;
mod chains;
mod packed;
mod pieces;
mod state_lanes;

use metalens_analyzer::{Analysis, Cause, ExplainedGap, GpuSpan};
use metalens_charts::KernelColors;
use serde::Serialize;

use self::buckets::{BucketBuilder, Buckets};
use self::chains::{Chains, chains};
use self::packed::Packed;
use self::pieces::{IntervalPiece, Stretch, number_of, put_parts};
use self::state_lanes::StateLane;
use super::names::{NameTable, short};

/// Largest number of intervals, gaps, parts of gaps and stretches of other processes that a page
/// has in full.
const MOST_PIECES: usize = 40_000;
/// Largest number of lanes; further channels share the last one.
const MOST_LANES: usize = 11;
/// Largest number of CPU samples of a page.
const MOST_SAMPLES: usize = 200_000;

/// The timeline as the page's script reads it.
#[derive(Debug, Serialize)]
pub(super) struct Timeline {
    start_ns: u64,
    span_ns: u64,
    /// Names of the channels of the process.
    lanes: Vec<String>,
    causes: [&'static str; Cause::ALL.len()],
    /// The causes as the page calls them.
    labels: [&'static str; Cause::ALL.len()],
    /// Names by number; number 0 is a name left out.
    names: Vec<String>,
    /// Numbers of the names of kernels with a color of their own, in the order of the colors.
    colored: Vec<u64>,
    /// Part of the window that is here in full.
    full: [u64; 2],
    is_whole: bool,
    /// The typical step with some time on both sides, or the part of the window around a gap of median length.
    typical: [u64; 2],
    /// Longest gap in that part.
    typical_gap: Option<[u64; 2]>,
    /// Numbers of pieces that are here in full: intervals, gaps, parts of gaps, other processes.
    counts: [usize; 4],
    /// For each interval: start after the start of the last one, length, lane, kernel.
    intervals: String,
    /// For each gap: start after the start of the last one, the causes as bits, the part of each of
    /// them, kernel before, kernel after (0 for none, else its number plus 1).
    gaps: String,
    /// For each part of a gap with one cause: start after the end of the last one, length, cause.
    idle: String,
    /// For each stretch of other processes: start after the end of the last one, length.
    others: String,
    chains: Chains,
    /// CPU samples; null if none is recorded, or too many are.
    sampled: Option<Sampled>,
    buckets: Option<Buckets>,
    /// Lanes of phases and states.
    held: Vec<StateLane>,
}

/// CPU samples in the part that is here in full, as the page's script reads them.
#[derive(Debug, Serialize)]
struct Sampled {
    /// True if they are of the threads that encode, and not of all threads of the process.
    of_encoding: bool,
    count: usize,
    /// For each sample: time after the last one, function (0 for none, else its number plus 1).
    samples: String,
}

/// Returns the timeline of a report.
pub(super) fn timeline(analysis: &Analysis, colors: &KernelColors) -> Timeline {
    let window = &analysis.report.window;
    let span_ns = window.span_ns.max(1);
    let inside = |(from, to): Stretch| (from - window.start_ns, to - window.start_ns);
    let lanes = ChannelLanes::new(analysis);
    let pieces = pieces(analysis, &lanes, colors);
    let others: Vec<Stretch> = analysis.others().map(inside).collect();
    let gaps: Vec<Stretch> = analysis.gap_times().map(inside).collect();

    let typical = typical(&gaps, analysis);
    let center = typical[0].midpoint(typical[1]);
    let within = |gap: &&Stretch| typical[0] <= gap.0 && gap.1 <= typical[1];
    let longest = gaps.iter().filter(within).max_by_key(|gap| gap.1 - gap.0);
    let contents = PageContents {
        pieces: &pieces,
        gaps: &gaps,
        others: &others,
        span_ns,
    };
    let is_whole = contents.fits(analysis);
    let full = if is_whole {
        [0, span_ns]
    } else {
        contents.full(center)
    };
    let buckets = (!is_whole)
        .then(|| BucketBuilder::of(analysis, &pieces, &others, lanes.names.len(), span_ns));

    let steps = analysis.steps();
    // Each of these numbers the names that it is the first to use.
    let mut names = NameTable::default();
    let colored = colored(analysis, colors, &mut names);
    let state_lanes = state_lanes::lanes(analysis, &steps, &mut names);
    let in_full = |piece: &&IntervalPiece<'_>| piece.start_ns < full[1] && piece.end_ns > full[0];
    let in_full: Vec<&IntervalPiece<'_>> = pieces.iter().filter(in_full).collect();
    let intervals = pack_intervals(&in_full, &mut names);
    let (gaps, gap_count) = pack_gaps(analysis, full, &mut names);
    let (idle, idle_count) = pack_idle(analysis, full);
    let (others, other_count) = pack_others(&others, full);
    let sampled = pack_samples(analysis, full, &mut names);

    Timeline {
        start_ns: window.start_ns,
        span_ns,
        lanes: lanes.names,
        causes: Cause::ALL.map(Cause::name),
        labels: Cause::ALL.map(Cause::label),
        names: names.into_list(),
        colored,
        full,
        is_whole,
        typical,
        typical_gap: longest.map(|&(from, to)| [from, to]),
        counts: [in_full.len(), gap_count, idle_count, other_count],
        intervals,
        gaps,
        idle,
        others,
        chains: chains(analysis, &in_full, full),
        sampled,
        buckets: buckets.map(BucketBuilder::finish),
        held: state_lanes,
    }
}

/// Returns the numbers of the names of kernels with a color of their own, in the order of the colors.
fn colored<'a>(
    analysis: &'a Analysis,
    colors: &KernelColors,
    names: &mut NameTable<'a>,
) -> Vec<u64> {
    let kernels = analysis.report.kernels.iter();
    let mut colored: Vec<(usize, u64)> = kernels
        .map(|kernel| (colors.number(&kernel.name), kernel.name.as_str()))
        .filter(|&(color, _)| color < colors.names().len())
        .map(|(color, name)| (color, names.number(name)))
        .collect();
    colored.sort_unstable();
    colored.dedup();
    colored.into_iter().map(|(_, number)| number).collect()
}

/// Returns all intervals of the process, with their lanes and colors.
fn pieces<'a>(
    analysis: &'a Analysis,
    lanes: &ChannelLanes,
    colors: &KernelColors,
) -> Vec<IntervalPiece<'a>> {
    let start_ns = analysis.report.window.start_ns;
    let piece = |span: GpuSpan<'a>| IntervalPiece {
        start_ns: span.start_ns - start_ns,
        end_ns: span.end_ns - start_ns,
        lane: lanes.lane(span.channel),
        kernel: span.kernel,
        color: colors.number(span.kernel),
        buffer: span.command_buffer,
    };
    analysis.spans().map(piece).collect()
}

/// Assigns channels to lanes.
struct ChannelLanes {
    channels: Vec<Option<String>>,
    names: Vec<String>,
}

impl ChannelLanes {
    fn new(analysis: &Analysis) -> Self {
        let channels = analysis.report.channels.iter();
        let channels: Vec<Option<String>> = channels.map(|channel| channel.name.clone()).collect();
        let name = |name: &Option<String>| name.as_deref().map_or("no channel".to_owned(), short);
        let mut names: Vec<String> = channels.iter().take(MOST_LANES).map(name).collect();
        if channels.len() > MOST_LANES
            && let Some(last) = names.last_mut()
        {
            "other channels".clone_into(last);
        }
        Self { channels, names }
    }

    /// Returns the number of a channel's lane.
    fn lane(&self, channel: Option<&str>) -> usize {
        let mut channels = self.channels.iter();
        let lane = channels.position(|known| known.as_deref() == channel);
        lane.unwrap_or(0).min(self.names.len().saturating_sub(1))
    }
}

/// Returns the part of the window on which a page opens: the typical step, or else what is around the gap
/// of median length that is nearest to the middle.
fn typical(gaps: &[Stretch], analysis: &Analysis) -> [u64; 2] {
    let report = &analysis.report;
    let span_ns = report.window.span_ns.max(1);
    let main = report.steps.first().and_then(|main| main.kinds.first());
    let (center, around) = match main.and_then(|kind| kind.typical) {
        Some(step) => {
            let center = step.start_ns.midpoint(step.end_ns) - report.window.start_ns;
            (center, step.length_ns() * 6 / 10)
        }
        None => {
            let median = report.gaps.median_ns;
            let usual = gaps.iter().filter(|gap| Some(gap.1 - gap.0) == median);
            let centers = usual.map(|gap| gap.0.midpoint(gap.1));
            let middle = span_ns / 2;
            let nearest = centers.min_by_key(|center| center.abs_diff(middle));
            let around = 3 * (span_ns / (gaps.len() as u64).max(1)).max(1);
            (nearest.unwrap_or(middle), around)
        }
    };
    [
        center.saturating_sub(around),
        center.saturating_add(around).min(span_ns),
    ]
}

/// Everything that a page could have in full.
struct PageContents<'a> {
    pieces: &'a [IntervalPiece<'a>],
    gaps: &'a [Stretch],
    others: &'a [Stretch],
    span_ns: u64,
}

impl PageContents<'_> {
    /// Returns whether a page has room for everything in full.
    fn fits(&self, analysis: &Analysis) -> bool {
        let known = self.pieces.len() + self.gaps.len() + self.others.len();
        known <= MOST_PIECES && known + analysis.idle().take(MOST_PIECES).count() <= MOST_PIECES
    }

    /// Returns the largest part of the window that fits into the page in full; an empty one if
    /// none does.
    fn full(&self, center: u64) -> [u64; 2] {
        let mut half = self.span_ns;
        loop {
            let from = center.saturating_sub(half);
            let to = center.saturating_add(half).min(self.span_ns);
            let count = self.most_inside(from, to);
            if count <= MOST_PIECES {
                return [from, to];
            }
            if half <= 1 {
                return [center, center];
            }
            // Most of the way at once, and never below what fits.
            half = if count > 4 * MOST_PIECES {
                half / 2
            } else {
                half / 8 * 7
            };
        }
    }

    /// Returns an upper bound of the pieces in a part of the window: a gap has up to six parts,
    /// and each stretch of another process adds up to two.
    fn most_inside(&self, from: u64, to: u64) -> usize {
        let begun = self.pieces.partition_point(|piece| piece.start_ns < to);
        let begun = self.pieces.get(..begun).unwrap_or_default();
        let pieces = begun.iter().filter(|piece| piece.end_ns > from).count();
        let disjoint = |all: &[Stretch]| {
            let before = all.partition_point(|stretch| stretch.1 <= from);
            all.partition_point(|stretch| stretch.0 < to)
                .saturating_sub(before)
        };
        pieces + 7 * disjoint(self.gaps) + 3 * disjoint(self.others)
    }
}

/// Packs intervals.
fn pack_intervals<'a>(pieces: &[&IntervalPiece<'a>], names: &mut NameTable<'a>) -> String {
    let mut packed = Packed::default();
    let mut at = 0;
    for piece in pieces {
        packed.put(piece.start_ns - at);
        packed.put(piece.end_ns - piece.start_ns);
        packed.put(piece.lane as u64);
        packed.put(names.number(piece.kernel));
        at = piece.start_ns;
    }
    packed.into_text()
}

/// Packs the gaps in a part of the window, and returns how many there are.
fn pack_gaps<'a>(
    analysis: &'a Analysis,
    full: [u64; 2],
    names: &mut NameTable<'a>,
) -> (String, usize) {
    let start_ns = analysis.report.window.start_ns;
    let mut packed = Packed::default();
    let (mut at, mut count) = (0, 0);
    let begins = |gap: &ExplainedGap<'_>| gap.start_ns - start_ns;
    let gaps = analysis.gaps().take_while(|gap| begins(gap) < full[1]);
    for gap in gaps.filter(|gap| begins(gap) + gap.duration_ns > full[0]) {
        packed.put(begins(&gap) - at);
        put_parts(&mut packed, gap.parts.by_cause().map(|(_, ns)| ns));
        for name in [gap.before, gap.after] {
            packed.put(name.map_or(0, |name| names.number(name) + 1));
        }
        at = begins(&gap);
        count += 1;
    }
    (packed.into_text(), count)
}

/// Packs the parts of gaps in a part of the window, each with its cause.
fn pack_idle(analysis: &Analysis, full: [u64; 2]) -> (String, usize) {
    let start_ns = analysis.report.window.start_ns;
    let parts = analysis.idle().map(|idle| {
        let stretch = (idle.start_ns - start_ns, idle.end_ns - start_ns);
        (stretch, Some(number_of(&idle) as u64))
    });
    pack_stretches(parts, full)
}

/// Packs the CPU samples in a part of the window.
fn pack_samples<'a>(
    analysis: &'a Analysis,
    full: [u64; 2],
    names: &mut NameTable<'a>,
) -> Option<Sampled> {
    let report = &analysis.report;
    let start_ns = report.window.start_ns;
    let sampled = analysis.sampled_functions();
    let samples = sampled.samples.iter();
    let samples = samples.map(|&(ns, function)| (ns - start_ns, function));
    let samples = samples.filter(|(ns, _)| (full[0]..full[1]).contains(ns));
    let count = samples.clone().count();
    let cpu = report.cpu.as_ref()?;
    if sampled.samples.is_empty() || count > MOST_SAMPLES {
        return None;
    }

    let mut packed = Packed::default();
    let mut at = full[0];
    for (ns, function) in samples {
        packed.put(ns - at);
        let name = function.and_then(|function| sampled.names.get(function));
        packed.put(name.map_or(0, |name| names.number(name) + 1));
        at = ns;
    }
    Some(Sampled {
        of_encoding: cpu
            .threads
            .iter()
            .any(|thread| thread.submits == Some(true)),
        count,
        samples: packed.into_text(),
    })
}

/// Packs the stretches of other processes in a part of the window.
fn pack_others(others: &[Stretch], full: [u64; 2]) -> (String, usize) {
    let others = others.iter().map(|&stretch| (stretch, None));
    pack_stretches(others, full)
}

/// Packs stretches in the order of time, some with a number, and returns how many there are.
fn pack_stretches(
    stretches: impl Iterator<Item = (Stretch, Option<u64>)>,
    full: [u64; 2],
) -> (String, usize) {
    let inside = stretches
        .take_while(|((from, _), _)| *from < full[1])
        .filter(|((_, to), _)| *to > full[0]);

    let mut packed = Packed::default();
    let (mut at, mut count) = (0, 0);
    for ((from, to), number) in inside {
        packed.put(from - at);
        packed.put(to - from);
        if let Some(number) = number {
            packed.put(number);
        }
        at = to;
        count += 1;
    }
    (packed.into_text(), count)
}
