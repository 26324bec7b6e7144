//! Divides the window at its quiet gaps.
//!
//! ```text
//! process   ├┤ ├┤ ├┤ ├┤                     ├┤ ├┤ ├┤
//! segments  ├─────────┤      quiet gap      ├──────┤
//! ```

use std::cmp::Reverse;

use crate::basics::spans::Span;
use crate::report::{Segments, WindowSummary};
use crate::subject::gaps::{Gap, Occupancy, quiet_gap_ns};
use crate::subject::interval::Interval;
use crate::subject::window_summary::window_summary;

/// Number of segments that a report lists.
const LISTED: usize = 50;

/// Cuts the window at its quiet gaps.
pub(super) fn segments(mine: &[Interval], occupancy: &Occupancy, window: Span) -> Segments {
    let gaps = &occupancy.gaps;
    let quiet_gap_ns = quiet_gap_ns(gaps.iter().map(|gap| gap.span.length_ns()));
    let quiet = gaps
        .iter()
        .filter(|gap| gap.span.length_ns() >= quiet_gap_ns);
    let segments = between(quiet, mine, window);
    let count = segments.len() as u64;
    Segments {
        quiet_gap_ns,
        count,
        list: busiest(segments),
    }
}

fn between<'a>(
    quiet: impl Iterator<Item = &'a Gap>,
    mine: &[Interval],
    window: Span,
) -> Vec<WindowSummary> {
    let mut segments = Vec::new();
    let (mut start_ns, mut first) = (window.start_ns, 0);
    let mut add = |first: usize, until: usize, part: Span| {
        if !part.is_empty() {
            // No other interval has time between these two gaps.
            let own = mine.get(first..until).unwrap_or(&[]);
            segments.push(window_summary(own, part));
        }
    };

    for gap in quiet {
        let next = gap.after().unwrap_or(mine.len());
        add(first, next, Span::new(start_ns, gap.span.start_ns));
        (start_ns, first) = (gap.span.end_ns, next);
    }
    add(first, mine.len(), Span::new(start_ns, window.end_ns));
    segments
}

/// Returns the busiest segments, in order of time.
fn busiest(mut segments: Vec<WindowSummary>) -> Vec<WindowSummary> {
    if segments.len() > LISTED {
        segments.sort_by_key(|segment| (Reverse(segment.busy_ns), segment.start_ns));
        segments.truncate(LISTED);
        segments.sort_by_key(|segment| segment.start_ns);
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::gaps::occupancy;
    use crate::testing::interval;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn segments_of(spans: &[(u64, u64)], window: Span) -> Segments {
        let mine: Vec<Interval> = spans.iter().map(|&(s, e)| interval(s, e)).collect();
        segments(&mine, &occupancy(&mine, window), window)
    }

    #[test]
    fn quiet_gaps_divide_the_window() {
        // ms  0 1   3 4         9 10           20 21   window to 30
        //     ├─┤   ├─┤         ├──┤            ├──┤
        let spans = [(0, 1), (3, 4), (9, 10), (20, 21)];
        let spans = spans.map(|(start, end)| (start * MS, end * MS));
        let found = segments_of(&spans, Span::new(0, 30 * MS));
        let parts = found.list.iter();
        let parts: Vec<_> = parts
            .map(|part| (part.start_ns / MS, part.end_ns / MS, part.intervals))
            .collect();
        assert_eq!(parts, [(0, 4, 2), (9, 10, 1), (20, 21, 1)]);
        assert_eq!((found.quiet_gap_ns, found.count), (5 * MS, 3));
    }

    #[test]
    fn long_gaps_are_not_quiet_if_they_are_usual() {
        let spans: Vec<_> = (0..30).map(|at| (at * 8 * MS, (at * 8 + 1) * MS)).collect();
        let found = segments_of(&spans, Span::new(0, 233 * MS));
        assert_eq!((found.quiet_gap_ns, found.count), (140 * MS, 1));
    }

    proptest! {
        /// Segments lose no busy time and no interval, and leave out only the quiet gaps.
        #[test]
        fn segments_add_up_to_the_window(mut spans in prop::collection::vec((0_u64..90, 1_u64..9), 1..40)) {
            spans.sort_unstable();
            let spans: Vec<_> = spans.iter().map(|&(s, n)| (s * MS, (s + n) * MS)).collect();
            let window = Span::new(0, 110 * MS);
            let found = segments_of(&spans, window);
            let mine: Vec<Interval> = spans.iter().map(|&(s, e)| interval(s, e)).collect();
            let all = occupancy(&mine, window);
            let sum = |part: fn(&WindowSummary) -> u64| found.list.iter().map(part).sum::<u64>();
            prop_assert_eq!(sum(|part| part.intervals), spans.len() as u64);
            prop_assert_eq!(sum(|part| part.busy_ns), crate::basics::spans::length_ns(&all.busy));
            let gaps = all.gaps.iter().map(|gap| gap.span.length_ns());
            let quiet: u64 = gaps.filter(|&length| length >= found.quiet_gap_ns).sum();
            let length = sum(|part| part.end_ns - part.start_ns);
            prop_assert_eq!(length, window.length_ns() - quiet);
        }
    }
}
