//! Makes the data of the timeline of `report.html`: every interval and gap if there are few; else
//! all of them in buckets, and those around the typical step in full.
//!
//! Buckets have nanoseconds, so that the page can add them up at any zoom and stay exact to the
//! bucket. Times are relative to the start of the window.

mod buckets;
mod chains;
mod packed;
mod part;
mod pieces;
mod state_lanes;

use metalens_analyzer::{Analysis, Cause, ChainSource, GpuSpan};
use metalens_charts::KernelColors;
use metalens_message::Ns;
use serde::Serialize;

use self::buckets::{BucketBuilder, Buckets};
use self::part::{Packer, StoredPart};
use self::pieces::{IntervalPiece, Stretch};
use self::state_lanes::StateLane;
use super::names::{NameTable, short};
use crate::error::Result;

/// Largest number of intervals, gaps, parts of gaps and stretches of other processes that a page
/// has in full.
const MOST_PIECES: usize = 40_000;
/// Number of pieces of a stored part, and largest number of those of all parts, of which each takes two or three bytes.
const STORED_PIECES: usize = 60_000;
const MOST_STORED: usize = 30_000_000;
/// Largest number of lanes; further channels share the last one.
const MOST_LANES: usize = 11;

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
    is_whole: bool,
    /// The typical step with some time on both sides, or the part of the window around a gap of median length.
    typical: [u64; 2],
    /// Longest gap in that part.
    typical_gap: Option<[u64; 2]>,
    #[serde(flatten)]
    part: StoredPart,
    /// The whole window in parts, if that one is not all of it; none where there is far too much.
    parts: Vec<StoredPart>,
    /// True if the end of the driver's work counts as the submission.
    submits_at_end: bool,
    /// True if the CPU samples are of the threads that encode, and not of all threads of the process.
    of_encoding: bool,
    buckets: Option<Buckets>,
    /// Lanes of phases and states.
    held: Vec<StateLane>,
}

/// Returns the timeline of a report.
pub(super) fn timeline(analysis: &Analysis, colors: &KernelColors) -> Result<Timeline> {
    let window = &analysis.report.window;
    let span_ns = window.span_ns.0.max(1);
    let inside = |(from, to): Stretch| (from - window.start_ns.0, to - window.start_ns.0);
    let lanes = ChannelLanes::new(analysis);
    let pieces = pieces(analysis, &lanes, colors);
    let others: Vec<Stretch> = analysis.others().map(inside).collect();
    let gaps: Vec<Stretch> = analysis.gap_times().map(inside).collect();

    let typical = typical(&gaps, analysis);
    let center = typical[0].midpoint(typical[1]);
    let within = |gap: &&Stretch| typical[0] <= gap.0 && gap.1 <= typical[1];
    let longest = gaps.iter().filter(within).max_by_key(|gap| gap.1 - gap.0);
    let contents = PageContents::new(&pieces, lanes.names.len(), &gaps, &others, span_ns);
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
    let mut packer = Packer {
        analysis,
        contents: &contents,
        names: &mut names,
    };
    let part = packer.part(full);
    let stored = if is_whole {
        Vec::new()
    } else {
        contents.parts()
    };
    let parts: Result<Vec<StoredPart>> = stored
        .into_iter()
        .map(|full| packer.part(full).stored())
        .collect();
    let buckets = buckets.map(BucketBuilder::finish);

    Ok(Timeline {
        start_ns: window.start_ns.0,
        span_ns,
        lanes: lanes.names,
        causes: Cause::ALL.map(Cause::name),
        labels: Cause::ALL.map(Cause::label),
        names: names.into_list(),
        colored,
        is_whole,
        typical,
        typical_gap: longest.map(|&(from, to)| [from, to]),
        part: part.plain(),
        parts: parts?,
        submits_at_end: analysis.report.latency.driver_source == Some(ChainSource::Order),
        of_encoding: encodes(analysis),
        buckets,
        held: state_lanes,
    })
}

/// Returns whether the CPU samples are of the threads that encode.
fn encodes(analysis: &Analysis) -> bool {
    let threads = analysis.report.cpu.iter().flat_map(|cpu| &cpu.threads);
    threads.clone().any(|thread| thread.submits == Some(true))
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
        .filter(|&(color, _)| color < colors.names.len())
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
    let start_ns = analysis.report.window.start_ns.0;
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
    let span_ns = report.window.span_ns.0.max(1);
    let main = report.steps.first().and_then(|main| main.kinds.first());
    let (center, around) = match main.and_then(|kind| kind.typical) {
        Some(step) => {
            let center = step.start_ns.0.midpoint(step.end_ns.0) - report.window.start_ns.0;
            (center, step.length_ns().0 * 6 / 10)
        }
        None => {
            let median = report.gaps.median_ns;
            let usual = gaps.iter().filter(|gap| Some(Ns(gap.1 - gap.0)) == median);
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
    /// For each interval: the latest end of all up to it.
    reach: Vec<u64>,
    /// Number of lanes.
    lanes: usize,
    gaps: &'a [Stretch],
    others: &'a [Stretch],
    span_ns: u64,
}

impl<'a> PageContents<'a> {
    fn new(
        pieces: &'a [IntervalPiece<'a>],
        lanes: usize,
        gaps: &'a [Stretch],
        others: &'a [Stretch],
        span_ns: u64,
    ) -> Self {
        let reach = pieces.iter().scan(0, |latest, piece| {
            *latest = piece.end_ns.max(*latest);
            Some(*latest)
        });
        Self {
            pieces,
            reach: reach.collect(),
            lanes,
            gaps,
            others,
            span_ns,
        }
    }

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

    /// Returns parts with about as many pieces each, which tile the window; none if their pieces are too
    /// many for a page.
    fn parts(&self) -> Vec<[u64; 2]> {
        let all = self.most_inside(0, self.span_ns);
        let parts = all.div_ceil(STORED_PIECES) as u64;
        let mut edges: Vec<u64> = vec![0];
        let last = |edges: &[u64]| edges.last().copied().unwrap_or(self.span_ns);
        while last(&edges) < self.span_ns {
            let from = last(&edges);
            // Where everything comes at once, parts stay this long.
            let least = (self.span_ns / (2 * parts)).max(1);
            let (mut fitting, mut failing) = (from + least, self.span_ns + 1);
            while fitting + 1 < failing {
                let to = fitting.midpoint(failing);
                if self.most_inside(from, to) <= STORED_PIECES {
                    fitting = to;
                } else {
                    failing = to;
                }
            }
            edges.push(fitting.min(self.span_ns));
        }
        let parts = edges.windows(2).filter_map(|pair| pair.try_into().ok());
        let parts: Vec<[u64; 2]> = parts.collect();
        // Long intervals are in many parts.
        let sums = parts.iter().map(|&[from, to]| self.most_inside(from, to));
        if sums.sum::<usize>() > MOST_STORED {
            return Vec::new();
        }
        parts
    }

    /// Returns an upper bound of the pieces in a part of the window: a gap has up to six parts,
    /// and each stretch of another process adds up to two.
    fn most_inside(&self, from: u64, to: u64) -> usize {
        let disjoint = |all: &[Stretch]| {
            let before = all.partition_point(|stretch| stretch.1 <= from);
            all.partition_point(|stretch| stretch.0 < to)
                .saturating_sub(before)
        };
        self.near([from, to]).len() + 7 * disjoint(self.gaps) + 3 * disjoint(self.others)
    }

    /// Returns the intervals in a part of the window; some may end before it.
    fn near(&self, [from, to]: [u64; 2]) -> &[IntervalPiece<'a>] {
        let first = self.reach.partition_point(|&reach| reach <= from);
        let end = self.pieces.partition_point(|piece| piece.start_ns < to);
        self.pieces.get(first..end).unwrap_or_default()
    }
}
