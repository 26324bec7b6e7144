//! The timeline of `report.html` as data: every interval and gap where they are
//! few, else all of them in buckets and those around a typical gap in full.
//!
//! Buckets hold nanoseconds, so that the page can add them up for any zoom and
//! what it shows is still exact to the bucket. Times count from the window's start.

use std::collections::HashMap;

use metalens_analyzer::{Analysis, Cause, ExplainedGap, GpuInterval};
use serde::Serialize;

use super::packed::Packed;

/// As many intervals, gaps and stretches of others' are in a page in full.
const MOST_PIECES: usize = 20_000;
/// As many buckets of lanes, at most.
const MOST_CELLS: usize = 98_304;
/// More channels than this share the last lane.
const MOST_LANES: usize = 11;
/// Of names, only so many bytes are in a page.
const MOST_NAME_BYTES: usize = 200_000;
/// Of one name, only so many letters.
const LONGEST_NAME: usize = 300;

/// The timeline as the page's script reads it.
#[derive(Debug, Serialize)]
pub(super) struct Timeline {
    start_ns: u64,
    span_ns: u64,
    /// The target's channels.
    lanes: Vec<String>,
    causes: [&'static str; 7],
    /// Names that the pieces' numbers mean; number 0 is a name left out.
    kernels: Vec<String>,
    /// What is here in full, and whether that is everything.
    full: [u64; 2],
    is_whole: bool,
    /// Some gaps around one of median length.
    typical: [u64; 2],
    /// How many of what are here in full.
    counts: [usize; 3],
    /// Start after the last one's, length, lane, kernel.
    intervals: String,
    /// Start after the last one's, the causes as bits, the part of each of them,
    /// kernel before, kernel after (0 for none, else a number and 1).
    gaps: String,
    /// Start after the last one's end, length.
    others: String,
    buckets: Option<Buckets>,
}

/// Everything, in equal parts of the window.
#[derive(Debug, Serialize)]
struct Buckets {
    count: usize,
    width_ns: u64,
    /// Busy time by bucket: lane after lane, then others'.
    busy: String,
    /// Idle time by bucket: the causes as bits, then the time of each of them.
    idle: String,
}

/// One interval of the target.
struct Piece<'a> {
    start_ns: u64,
    end_ns: u64,
    lane: usize,
    kernel: &'a str,
}

/// The timeline of a report.
pub(super) fn timeline(analysis: &Analysis) -> Timeline {
    let window = &analysis.report.window;
    let span_ns = window.span_ns.max(1);
    let lanes = Lanes::of(analysis);
    let pieces = pieces(analysis, &lanes);
    let others: Vec<(u64, u64)> = analysis
        .others()
        .map(|(from, to)| (from - window.start_ns, to - window.start_ns))
        .collect();
    let center = typical_gap(analysis, &pieces);
    let (full, is_whole) = in_full(&pieces, &others, analysis, center);
    let mut buckets = (!is_whole).then(|| Filling::new(lanes.names.len() + 1, span_ns));
    let mut kernels = KernelNames::default();
    let (intervals, interval_count) = pack_intervals(&pieces, full, &mut kernels);
    let (others_text, other_count) = pack_others(&others, full);
    if let Some(buckets) = &mut buckets {
        buckets.busy(&pieces, &others, lanes.names.len());
    }
    let mut gaps = PackedGaps::default();
    for gap in analysis.gaps() {
        let start_ns = gap.start_ns - window.start_ns;
        if let Some(buckets) = &mut buckets {
            buckets.idle(start_ns, &gap);
        }
        if start_ns < full[1] && start_ns + gap.duration_ns > full[0] {
            gaps.add(start_ns, &gap, &mut kernels);
        }
    }
    let gap_count = usize::try_from(analysis.report.gaps.count).unwrap_or(usize::MAX);
    let around = 3 * (span_ns / (gap_count as u64).max(1)).max(1);
    Timeline {
        start_ns: window.start_ns,
        span_ns,
        lanes: lanes.names,
        causes: Cause::ALL.map(Cause::name),
        kernels: kernels.names,
        full,
        is_whole,
        typical: [
            center.saturating_sub(around),
            center.saturating_add(around).min(span_ns),
        ],
        counts: [interval_count, gaps.count, other_count],
        intervals,
        gaps: gaps.packed.into_text(),
        others: others_text,
        buckets: buckets.map(Filling::finish),
    }
}

fn pieces<'a>(analysis: &'a Analysis, lanes: &Lanes) -> Vec<Piece<'a>> {
    let start_ns = analysis.report.window.start_ns;
    let piece = |one: GpuInterval<'a>| Piece {
        start_ns: one.start_ns - start_ns,
        end_ns: one.end_ns - start_ns,
        lane: lanes.lane(one.channel),
        kernel: one.kernel,
    };
    analysis.intervals().map(piece).collect()
}

/// Which lane a channel is drawn in.
struct Lanes {
    channels: Vec<Option<String>>,
    names: Vec<String>,
}

impl Lanes {
    fn of(analysis: &Analysis) -> Self {
        let channels = analysis.report.channels.iter();
        let channels: Vec<Option<String>> = channels.map(|one| one.name.clone()).collect();
        let name = |name: &Option<String>| name.as_deref().map_or("no channel".to_owned(), short);
        let mut names: Vec<String> = channels.iter().take(MOST_LANES).map(name).collect();
        if channels.len() > MOST_LANES
            && let Some(last) = names.last_mut()
        {
            "other channels".clone_into(last);
        }
        Self { channels, names }
    }

    fn lane(&self, channel: Option<&str>) -> usize {
        let mut channels = self.channels.iter();
        let lane = channels.position(|one| one.as_deref() == channel);
        lane.unwrap_or(0).min(self.names.len().saturating_sub(1))
    }
}

/// The middle of a gap of median length, as near to the window's middle as there is one.
fn typical_gap(analysis: &Analysis, pieces: &[Piece<'_>]) -> u64 {
    let middle = analysis.report.window.span_ns / 2;
    let (mut at, mut best) = (0, middle);
    let mut distance = u64::MAX;
    for piece in pieces {
        let length = piece.start_ns.saturating_sub(at);
        let center = at + length / 2;
        let away = center.abs_diff(middle);
        if Some(length) == analysis.report.gaps.median_ns && away < distance {
            (best, distance) = (center, away);
        }
        at = at.max(piece.end_ns);
    }
    best
}

/// From when to when everything fits into the page, and whether that is all.
fn in_full(
    pieces: &[Piece<'_>],
    others: &[(u64, u64)],
    analysis: &Analysis,
    center: u64,
) -> ([u64; 2], bool) {
    let span_ns = analysis.report.window.span_ns.max(1);
    let gap_count = usize::try_from(analysis.report.gaps.count).unwrap_or(usize::MAX);
    let total = pieces
        .len()
        .saturating_add(gap_count)
        .saturating_add(others.len());
    if total <= MOST_PIECES {
        return ([0, span_ns], true);
    }
    let mut half = span_ns;
    loop {
        let (from, to) = (
            center.saturating_sub(half),
            center.saturating_add(half).min(span_ns),
        );
        let inside = pieces
            .iter()
            .filter(|one| one.start_ns < to && one.end_ns > from);
        let foreign = others.iter().filter(|one| one.0 < to && one.1 > from);
        // Every gap but one lies before an interval.
        let count = 2 * inside.count() + 1 + foreign.count();
        if count <= MOST_PIECES || half <= 1 {
            return ([from, to], false);
        }
        // Most of the way at once, and never below what fits.
        half = if count > 4 * MOST_PIECES {
            half / 2
        } else {
            half / 8 * 7
        };
    }
}

/// Names of kernels by number, in the order in which they are asked for.
struct KernelNames<'a> {
    numbers: HashMap<&'a str, u64>,
    names: Vec<String>,
    bytes: usize,
}

impl Default for KernelNames<'_> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            names: vec!["(a name left out of this page)".to_owned()],
            bytes: 0,
        }
    }
}

impl<'a> KernelNames<'a> {
    fn number(&mut self, name: &'a str) -> u64 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let shown = short(name);
        if self.bytes + shown.len() > MOST_NAME_BYTES {
            return 0;
        }
        self.bytes += shown.len();
        let number = self.names.len() as u64;
        self.names.push(shown);
        self.numbers.insert(name, number);
        number
    }
}

/// A name that is not too long for a page.
pub(super) fn short(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or("")),
        None => name.to_owned(),
    }
}

fn pack_intervals<'a>(
    pieces: &[Piece<'a>],
    full: [u64; 2],
    kernels: &mut KernelNames<'a>,
) -> (String, usize) {
    let mut packed = Packed::default();
    let (mut at, mut count) = (0, 0);
    for piece in pieces {
        if piece.start_ns >= full[1] || piece.end_ns <= full[0] {
            continue;
        }
        packed.put(piece.start_ns - at);
        packed.put(piece.end_ns - piece.start_ns);
        packed.put(piece.lane as u64);
        packed.put(kernels.number(piece.kernel));
        at = piece.start_ns;
        count += 1;
    }
    (packed.into_text(), count)
}

fn pack_others(others: &[(u64, u64)], full: [u64; 2]) -> (String, usize) {
    let mut packed = Packed::default();
    let (mut at, mut count) = (0, 0);
    for &(from, to) in others
        .iter()
        .filter(|one| one.0 < full[1] && one.1 > full[0])
    {
        packed.put(from - at);
        packed.put(to - from);
        at = to;
        count += 1;
    }
    (packed.into_text(), count)
}

#[derive(Default)]
struct PackedGaps {
    packed: Packed,
    at: u64,
    count: usize,
}

impl PackedGaps {
    fn add<'a>(&mut self, start_ns: u64, gap: &ExplainedGap<'a>, kernels: &mut KernelNames<'a>) {
        self.packed.put(start_ns - self.at);
        put_parts(&mut self.packed, gap.parts.by_cause().map(|(_, ns)| ns));
        for name in [gap.before, gap.after] {
            let number = name.map_or(0, |name| kernels.number(name) + 1);
            self.packed.put(number);
        }
        self.at = start_ns;
        self.count += 1;
    }
}

/// Which are there, a bit each; then those.
fn put_parts(packed: &mut Packed, parts: [u64; 7]) {
    let there = parts.iter().enumerate().filter(|(_, ns)| **ns > 0);
    packed.put(there.map(|(at, _)| 1 << at).sum());
    for ns in parts.into_iter().filter(|&ns| ns > 0) {
        packed.put(ns);
    }
}

/// Buckets that are being filled.
struct Filling {
    width_ns: u64,
    busy: Vec<Vec<u64>>,
    idle: Vec<[u64; 7]>,
}

impl Filling {
    fn new(lanes: usize, span_ns: u64) -> Self {
        let most = (MOST_CELLS / lanes.max(1)).clamp(4_096, 32_768);
        let width_ns = span_ns.div_ceil(most as u64).max(1);
        let count = usize::try_from(span_ns.div_ceil(width_ns)).unwrap_or(most);
        Self {
            width_ns,
            busy: vec![vec![0; count]; lanes],
            idle: vec![[0; 7]; count],
        }
    }

    /// What lanes were busy: where intervals of one overlap, once.
    fn busy(&mut self, pieces: &[Piece<'_>], others: &[(u64, u64)], others_lane: usize) {
        let mut until = vec![0; self.busy.len()];
        let mine = pieces
            .iter()
            .map(|one| (one.lane, one.start_ns, one.end_ns));
        let others = others.iter().map(|&(from, to)| (others_lane, from, to));
        for (lane, from, to) in mine.chain(others) {
            let (Some(row), Some(until)) = (self.busy.get_mut(lane), until.get_mut(lane)) else {
                continue;
            };
            for (at, ns) in split(self.width_ns, from.max(*until), to) {
                if let Some(bucket) = row.get_mut(at) {
                    *bucket += ns;
                }
            }
            *until = to.max(*until);
        }
    }

    /// Where a gap's time went, its parts in the order of time.
    fn idle(&mut self, start_ns: u64, gap: &ExplainedGap<'_>) {
        let mut from = start_ns;
        for (cause, (_, part)) in gap.parts.by_cause().into_iter().enumerate() {
            for (at, ns) in split(self.width_ns, from, from + part) {
                let bucket = self.idle.get_mut(at).and_then(|all| all.get_mut(cause));
                if let Some(bucket) = bucket {
                    *bucket += ns;
                }
            }
            from += part;
        }
    }

    fn finish(self) -> Buckets {
        let count = self.idle.len();
        let (mut busy, mut idle) = (Packed::default(), Packed::default());
        self.busy.iter().flatten().for_each(|&ns| busy.put(ns));
        for parts in self.idle {
            put_parts(&mut idle, parts);
        }
        Buckets {
            count,
            width_ns: self.width_ns,
            busy: busy.into_text(),
            idle: idle.into_text(),
        }
    }
}

/// How much of a stretch lies in which bucket.
fn split(width_ns: u64, from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> {
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= to {
            return None;
        }
        let bucket = at / width_ns;
        let end = ((bucket + 1) * width_ns).min(to);
        let ns = end - at;
        at = end;
        Some((usize::try_from(bucket).ok()?, ns))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names() {
        assert_eq!(short("é"), "é");
        assert_eq!(short(&"é".repeat(300)), "é".repeat(300));
        assert_eq!(short(&"é".repeat(301)), format!("{}…", "é".repeat(300)));
        let mut names = KernelNames::default();
        let many: Vec<String> = (0..900).map(|at| format!("{at:0299}")).collect();
        let numbers: Vec<u64> = many.iter().map(|name| names.number(name)).collect();
        let (shown, left_out) = numbers.split_at(MOST_NAME_BYTES / 299);
        assert!(shown.iter().zip(1..).all(|(&number, at)| number == at));
        assert!(left_out.iter().all(|&number| number == 0));
        assert_eq!(names.number(&many[3]), 4);
    }

    /// ```text
    /// 0         10        20        30
    /// |---------|---------|---------|
    ///        [--------------)
    /// ```
    #[test]
    fn buckets_of_a_stretch() {
        let check = |from: u64, to: u64, expected: &[(usize, u64)]| {
            assert_eq!(split(10, from, to).collect::<Vec<_>>(), expected);
        };
        check(7, 22, &[(0, 3), (1, 10), (2, 2)]);
        check(10, 20, &[(1, 10)]);
        check(5, 5, &[]);
        check(9, 4, &[]);
    }
}
