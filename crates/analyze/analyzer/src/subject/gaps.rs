//! Finds gaps: stretches of the window in which the process left the GPU idle.
//!
//! ```text
//! window    ├──────────────────────────────┤
//! process   ├──A──┤      ├─B─┤├─C─┤    ├─D─┤
//! gaps            └──────┘        └────┘
//! before / after      A B          C D
//! ```

use std::num::NonZeroU32;

use super::interval::Interval;
use crate::basics::spans::Span;

/// Gap: a stretch of the window without any GPU interval of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Time of the gap.
    pub span: Span,
    // Indices plus one, in half the memory: there may be as many gaps as intervals.
    before: Option<NonZeroU32>,
    after: Option<NonZeroU32>,
}

impl Gap {
    /// Returns the gap between two intervals, by their indices: fewer than four billion, as no
    /// machine has memory for more.
    pub(crate) fn new(span: Span, before: Option<usize>, after: Option<usize>) -> Self {
        let plus_one = |index: Option<usize>| NonZeroU32::new(u32::try_from(index? + 1).ok()?);
        Self {
            span,
            before: plus_one(before),
            after: plus_one(after),
        }
    }

    /// Returns the index of the interval whose end began the gap: of those that end then, the last
    /// of the table. `None` at the window's start.
    pub(crate) fn before(&self) -> Option<usize> {
        self.before.map(|index| index.get() as usize - 1)
    }

    /// Returns the index of the interval whose start ended the gap: of those that start then, the
    /// first of the table. `None` at the window's end.
    pub(crate) fn after(&self) -> Option<usize> {
        self.after.map(|index| index.get() as usize - 1)
    }
}

/// Neighbors of gaps at the window's edges: the process's last interval that ends by the
/// window's start, and its first that starts from the window's end on. An interval without
/// length neither begins nor ends a gap, as inside the window.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Edges {
    pub before: Option<Interval>,
    pub after: Option<Interval>,
}

impl Edges {
    /// Adds one of the process's intervals, which come in order of their starts.
    pub(crate) fn add(&mut self, interval: &Interval, window: Span) {
        let end_ns = interval.span.end_ns;
        if interval.span.is_empty() {
            return;
        }

        if end_ns <= window.start_ns && self.before.is_none_or(|last| last.span.end_ns <= end_ns) {
            self.before = Some(*interval);
        }
        if interval.span.start_ns >= window.end_ns && self.after.is_none() {
            self.after = Some(*interval);
        }
    }
}

/// Busy time of the process and the gaps in it; together they tile the window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occupancy {
    /// Union of the intervals, inside the window.
    pub busy: Vec<Span>,
    /// Rest of the window, as gaps.
    pub gaps: Vec<Gap>,
}

/// Returns busy time and gaps of intervals that are sorted by start. The gaps have indices of
/// these intervals.
pub(crate) fn occupancy(intervals: &[Interval], window: Span) -> Occupancy {
    let mut occupancy = Occupancy::default();
    let spans = intervals.iter().map(|interval| interval.span);
    sweep(spans, window, |busy, gap| {
        occupancy.busy.extend(busy);
        occupancy.gaps.extend(gap);
    });
    occupancy
}

/// Calls `visit` with each busy stretch of spans that are sorted by start and with the gap
/// after it, in order of time; for the gap at the window's start with the gap alone. Indices
/// are as in [`occupancy`].
pub(crate) fn sweep(
    spans: impl Iterator<Item = Span>,
    window: Span,
    mut visit: impl FnMut(Option<Span>, Option<Gap>),
) {
    let mut last: Option<(Span, usize)> = None;
    for (index, span) in spans.enumerate() {
        let span = span.clip(window);
        if span.is_empty() {
            continue;
        }

        last = match last {
            Some((busy, ender)) if span.start_ns <= busy.end_ns => {
                let ender = if span.end_ns >= busy.end_ns {
                    index
                } else {
                    ender
                };
                let end_ns = busy.end_ns.max(span.end_ns);
                Some((Span::new(busy.start_ns, end_ns), ender))
            }
            previous => {
                let (busy, gap) = closed(previous, window.start_ns, span.start_ns, Some(index));
                visit(busy, gap);
                Some((span, index))
            }
        };
    }

    let (busy, gap) = closed(last, window.start_ns, window.end_ns, None);
    visit(busy, gap);
}

/// Returns a busy stretch that has ended, and the gap between it and the next.
fn closed(
    busy: Option<(Span, usize)>,
    from: u64,
    next: u64,
    after: Option<usize>,
) -> (Option<Span>, Option<Gap>) {
    let (idle_from, before) = match busy {
        Some((span, ender)) => (span.end_ns, Some(ender)),
        None => (from, None),
    };
    let gap = Gap::new(Span::new(idle_from, next), before, after);
    let busy = busy.map(|(span, _)| span);
    (busy, Some(gap).filter(|gap| !gap.span.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::spans::union;
    use crate::testing::interval;
    use proptest::prelude::*;

    /// Expected gaps as (start, end, before, after).
    type Expected<'a> = &'a [(u64, u64, Option<usize>, Option<usize>)];

    fn check(spans: &[(u64, u64)], window: (u64, u64), expected: Expected<'_>) {
        let intervals: Vec<Interval> = spans.iter().map(|&(s, e)| interval(s, e)).collect();
        let found = occupancy(&intervals, Span::new(window.0, window.1));
        let gaps: Vec<_> = found
            .gaps
            .iter()
            .map(|gap| {
                (
                    gap.span.start_ns,
                    gap.span.end_ns,
                    gap.before(),
                    gap.after(),
                )
            })
            .collect();
        assert_eq!(gaps, expected, "{spans:?} in {window:?}");
    }

    #[test]
    fn neighbors_of_a_gap() {
        // 0 ├───────┤            5     7  index 2 is the last to end at 4
        //   ├──┤                 ├─────┤
        //      ├────┤            ├───┤    index 3 is the first to start at 5
        check(
            &[(0, 4), (0, 2), (2, 4), (5, 7), (5, 6)],
            (0, 7),
            &[(4, 5, Some(2), Some(3))],
        );
    }

    #[test]
    fn gaps_at_the_edges() {
        check(
            &[(2, 4)],
            (0, 9),
            &[(0, 2, None, Some(0)), (4, 9, Some(0), None)],
        );
        check(&[(2, 4)], (3, 4), &[]);
        check(&[(2, 4)], (5, 6), &[(5, 6, None, None)]);
        check(&[], (5, 6), &[(5, 6, None, None)]);
    }

    #[test]
    fn intervals_without_length_do_not_end_a_gap() {
        check(
            &[(0, 1), (3, 3), (5, 6)],
            (0, 6),
            &[(1, 5, Some(0), Some(2))],
        );
    }

    proptest! {
        /// Busy stretches and gaps, joined end to end, are the window.
        #[test]
        fn busy_and_gaps_tile_the_window(
            mut spans in prop::collection::vec((0_u64..60, 0_u64..12), 0..12),
            from in 0_u64..60, length in 0_u64..40,
        ) {
            spans.sort_unstable();
            let intervals: Vec<Interval> =
                spans.iter().map(|&(start, long)| interval(start, start + long)).collect();
            let window = Span::new(from, from + length);
            let found = occupancy(&intervals, window);
            let mut tiles = found.busy.clone();
            tiles.extend(found.gaps.iter().map(|gap| gap.span));
            tiles.sort_unstable();
            let mut at = window.start_ns;
            for tile in tiles {
                prop_assert_eq!(tile.start_ns, at);
                prop_assert!(!tile.is_empty());
                at = tile.end_ns;
            }
            prop_assert_eq!(at, window.end_ns);
            let busy = union(intervals.iter().map(|interval| interval.span.clip(window)));
            prop_assert_eq!(found.busy, busy);
        }
    }
}
