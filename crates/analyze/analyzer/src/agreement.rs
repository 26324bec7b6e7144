//! Compares the command buffers of a recording with those of a log of the same program, which is the
//! strongest check of either: xctrace and the program itself took the times.
//!
//! The two number command buffers differently, and count time from different starts. Either may
//! lack some at its beginning or end. So they are joined by their order, where the lengths of their
//! work agree best.

use metalens_trace::{Selection, Trace};
use rustc_hash::FxHashMap;

use crate::basics::spans::Span;
use crate::basics::statistics::median;
use crate::tables::columns::at;
use crate::tables::gpu::GPU_INTERVALS;

/// Largest number of command buffers that one side lacks at its beginning or end.
const MOST_LACKING: usize = 256;
/// Number of command buffers whose lengths decide how they are joined.
const SAMPLE: usize = 2000;

/// Agreement of a recording and a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreement {
    /// Number of command buffers in the recording.
    pub recorded: u64,
    /// Number of command buffers in the log.
    pub logged: u64,
    /// Number of command buffers that are in both.
    pub matched: u64,
    /// Median difference of their GPU times, in nanoseconds: of start or length, the larger one.
    pub median_ns: u64,
    /// Largest difference.
    pub worst_ns: u64,
}

/// Returns the tables and columns that a comparison needs.
#[must_use]
pub fn agreement_selection() -> Selection {
    Selection::columns(&[GPU_INTERVALS.wanted()]).with_labels_unnumbered()
}

/// Compares the command buffers of the log's process; `None` if either side has none.
#[must_use]
pub fn agreement(recorded: &Trace, logged: &Trace) -> Option<Agreement> {
    let pid = logged.run.target.process()?.pid?;
    let (recorded, logged) = (buffers(recorded, pid)?, buffers(logged, pid)?);
    compare(&recorded, &logged)
}

/// Returns the GPU time of each command buffer of a process, in order of their starts.
fn buffers(trace: &Trace, pid: u32) -> Option<Vec<Span>> {
    let table = trace.find_table(GPU_INTERVALS.schema)?;
    let processes = table.processes("process").ok()?;
    let ids = table.integers("cmdbuffer-id").ok()?;
    let starts = table.integers("start").ok()?;
    let durations = table.integers("duration").ok()?;
    let mut spans: FxHashMap<u64, Span> = FxHashMap::default();
    for row in 0..table.rows() {
        let process = at(processes, row).and_then(|id| trace.names.process(id));
        let is_own = process.is_some_and(|process| process.pid == Some(pid));
        let times = (ids.get(row), starts.get(row), durations.get(row));
        let (Some(id), Some(start), Some(duration), true) = (times.0, times.1, times.2, is_own)
        else {
            continue;
        };
        let end = start.saturating_add(duration);
        let span = spans.entry(id).or_insert(Span::new(start, end));
        *span = Span::new(span.start_ns.min(start), span.end_ns.max(end));
    }
    let mut spans: Vec<Span> = spans.into_values().collect();
    spans.sort_unstable();
    (!spans.is_empty()).then_some(spans)
}

fn compare(recorded: &[Span], logged: &[Span]) -> Option<Agreement> {
    let most = recorded.len().abs_diff(logged.len()) + 4;
    let skips = 0..=most.min(MOST_LACKING);
    let choices = skips
        .clone()
        .map(|skip| (skip, 0))
        .chain(skips.map(|skip| (0, skip)));
    let (first, second) = choices.min_by_key(|&(first, second)| {
        let pairs = pairs(recorded, logged, first, second).take(SAMPLE);
        median(pairs.map(|(a, b)| a.length_ns().abs_diff(b.length_ns())))
    })?;

    let pairs = || pairs(recorded, logged, first, second);
    let apart = |(a, b): (&Span, &Span)| i128::from(b.start_ns) - i128::from(a.start_ns);
    let clocks = median(pairs().map(apart))?;
    let differences: Vec<u64> = pairs()
        .map(|(a, b)| {
            let start = (apart((a, b)) - clocks).unsigned_abs();
            let length = a.length_ns().abs_diff(b.length_ns());
            u64::try_from(start).unwrap_or(u64::MAX).max(length)
        })
        .collect();
    Some(Agreement {
        recorded: recorded.len() as u64,
        logged: logged.len() as u64,
        matched: differences.len() as u64,
        worst_ns: differences.iter().copied().max()?,
        median_ns: median(differences)?,
    })
}

/// Returns the command buffers side by side, after leaving out some of the first ones of each.
fn pairs<'a>(
    recorded: &'a [Span],
    logged: &'a [Span],
    first: usize,
    second: usize,
) -> impl Iterator<Item = (&'a Span, &'a Span)> {
    recorded.iter().skip(first).zip(logged.iter().skip(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work of growing length, so that only one order is right.
    fn spans(range: std::ops::Range<u64>, from: u64, noise: u64) -> Vec<Span> {
        let span = |n: u64| {
            let start = from + 1000 * n + (n % 3) * noise;
            Span::new(start, start + 100 + 7 * (n * n % 31))
        };
        range.map(span).collect()
    }

    fn check(recorded: Vec<Span>, logged: Vec<Span>, matched: u64, median_ns: u64, worst_ns: u64) {
        let found = compare(&recorded, &logged).unwrap();
        let figures = (found.matched, found.median_ns, found.worst_ns);
        assert_eq!(figures, (matched, median_ns, worst_ns));
    }

    #[test]
    fn command_buffers_are_joined_by_order_whatever_the_clock_is() {
        check(spans(0..50, 0, 0), spans(0..50, 987_654, 0), 50, 0, 0);
        // The recording began late, or the program's log did.
        check(spans(5..50, 0, 0), spans(0..50, 7, 0), 45, 0, 0);
        check(spans(0..50, 0, 0), spans(9..50, 7, 0), 41, 0, 0);
        check(spans(0..40, 0, 0), spans(0..50, 7, 0), 40, 0, 0);
        // Two of three differ by 10 and 20 ns, and their median stands for the clocks.
        check(spans(0..51, 0, 0), spans(0..51, 7, 10), 51, 10, 10);
    }

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median(vec![4, 1, 3, 2]), Some(2));
        assert_eq!(median(vec![3, 1, 2]), Some(2));
        assert_eq!(median::<u8>(vec![]), None);
    }
}
