//! When the target left the GPU idle.
//!
//! ```text
//! window    ├──────────────────────────────┤
//! target    ├──A──┤      ├─B─┤├─C─┤    ├─D─┤
//! gaps            └──────┘        └────┘
//! before / after      A B          C D
//! ```

use std::num::NonZeroU32;

use super::timeline::Interval;
use crate::basics::spans::Span;
use crate::basics::statistics::select;

/// A stretch of the window without any interval of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// When.
    pub span: Span,
    // In half the memory: there may be as many gaps as intervals.
    before: Option<NonZeroU32>,
    after: Option<NonZeroU32>,
}

impl Gap {
    /// Between two intervals, by their places: fewer than four billion, as no
    /// machine could hold more.
    pub(crate) fn new(span: Span, before: Option<usize>, after: Option<usize>) -> Self {
        let short = |at: Option<usize>| NonZeroU32::new(u32::try_from(at? + 1).ok()?);
        Self {
            span,
            before: short(before),
            after: short(after),
        }
    }

    /// The interval whose end began it: of those ending then, the last of the
    /// table. None at the window's start.
    pub(crate) fn before(&self) -> Option<usize> {
        self.before.map(|place| place.get() as usize - 1)
    }

    /// The interval whose start ended it: of those starting then, the first of
    /// the table. None at the window's end.
    pub(crate) fn after(&self) -> Option<usize> {
        self.after.map(|place| place.get() as usize - 1)
    }
}

/// The neighbors of gaps at the window's edges: the target's last interval that ends by
/// the window's start, and its first that starts from the window's end on. An interval
/// without length neither ends nor begins a gap, as inside the window.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Edges {
    pub before: Option<Interval>,
    pub after: Option<Interval>,
}

impl Edges {
    /// Takes in one of the target's intervals, which come in order of their starts.
    pub(crate) fn meet(&mut self, one: &Interval, window: Span) {
        let end_ns = one.span.end_ns;
        if one.span.is_empty() {
            return;
        }
        if end_ns <= window.start_ns && self.before.is_none_or(|last| last.span.end_ns <= end_ns) {
            self.before = Some(*one);
        }
        if one.span.start_ns >= window.end_ns && self.after.is_none() {
            self.after = Some(*one);
        }
    }
}

/// The target's busy time and the gaps in it; together they tile the window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occupancy {
    /// The union of the intervals, inside the window.
    pub busy: Vec<Span>,
    /// What is left of the window.
    pub gaps: Vec<Gap>,
}

/// Sweeps intervals that are sorted by start. `before` and `after` are places in them.
#[must_use]
pub(crate) fn occupancy(intervals: &[Interval], window: Span) -> Occupancy {
    let mut found = Occupancy::default();
    let spans = intervals.iter().map(|one| one.span);
    sweep(spans, window, |busy, gap| {
        found.busy.extend(busy);
        found.gaps.extend(gap);
    });
    found
}

/// Tells of each busy stretch of spans that are sorted by start and of the gap after
/// it, in order of time; of the gap at the window's start alone. `before` and `after`
/// as in [`occupancy`].
pub(crate) fn sweep(
    spans: impl Iterator<Item = Span>,
    window: Span,
    mut tell: impl FnMut(Option<Span>, Option<Gap>),
) {
    let mut last: Option<(Span, usize)> = None;
    for (at, span) in spans.enumerate() {
        let span = span.clip(window);
        if span.is_empty() {
            continue;
        }
        last = match last {
            Some((busy, ender)) if span.start_ns <= busy.end_ns => {
                let ender = if span.end_ns >= busy.end_ns {
                    at
                } else {
                    ender
                };
                let end_ns = busy.end_ns.max(span.end_ns);
                Some((Span::new(busy.start_ns, end_ns), ender))
            }
            previous => {
                let (busy, gap) = closed(previous, window.start_ns, span.start_ns, Some(at));
                tell(busy, gap);
                Some((span, at))
            }
        };
    }
    let (busy, gap) = closed(last, window.start_ns, window.end_ns, None);
    tell(busy, gap);
}

/// A busy stretch that has ended, and the gap between it and the next.
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

/// Those between two intervals.
pub(crate) fn inner(gaps: &[Gap]) -> &[Gap] {
    let gaps = match gaps {
        [first, rest @ ..] if first.before().is_none() => rest,
        all => all,
    };
    match gaps {
        [rest @ .., last] if last.after().is_none() => rest,
        all => all,
    }
}

/// A gap that is shorter is never quiet: no program waits for so little on purpose.
const QUIET_NS: u64 = 5_000_000;

/// A quiet gap is at least so many times the median gap…
const TIMES: u64 = 20;

/// …if there are so many gaps. Of fewer, all may be quiet ones.
const GAPS: usize = 20;

/// How long a gap is quiet.
#[must_use]
pub(crate) fn quiet_gap_ns(lengths: impl Iterator<Item = u64>) -> u64 {
    let mut lengths: Vec<u64> = lengths.collect();
    if lengths.len() < GAPS {
        return QUIET_NS;
    }
    let median = select(&mut lengths, 50).unwrap_or(0);
    QUIET_NS.max(median.saturating_mul(TIMES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::spans::union;
    use crate::testing::interval;
    use proptest::prelude::*;

    /// `expected`: gaps as (start, end, before, after).
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
    fn between_whom() {
        // 0 ├───────┤            5     7  the last to end at 4 is the third
        //   ├──┤                 ├─────┤
        //      ├────┤            ├───┤    the first to start at 5 is the fourth
        check(
            &[(0, 4), (0, 2), (2, 4), (5, 7), (5, 6)],
            (0, 7),
            &[(4, 5, Some(2), Some(3))],
        );
    }

    #[test]
    fn at_the_edges() {
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
    fn gaps_at_the_edges_are_none() {
        // ├──window────────────┤
        //   0    4  6   9    12
        //   ├────┤  ├───┤    ├─┤
        let edge = |start, end, before, after| Gap::new(Span::new(start, end), before, after);
        let first = edge(0, 1, None, Some(0));
        let between = edge(4, 6, Some(0), Some(1));
        let last = edge(12, 13, Some(1), None);
        for (gaps, expected) in [
            (vec![first, between, last], vec![between]),
            (vec![between, between], vec![between, between]),
            (vec![first], vec![]),
            (vec![last], vec![]),
            (vec![edge(0, 9, None, None)], vec![]),
            (vec![], vec![]),
        ] {
            assert_eq!(inner(&gaps), expected);
        }
    }

    #[test]
    fn no_length_is_no_work() {
        check(
            &[(0, 1), (3, 3), (5, 6)],
            (0, 6),
            &[(1, 5, Some(0), Some(2))],
        );
    }

    proptest! {
        /// Busy stretches and gaps, laid end to end, are the window.
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
            let busy = union(intervals.iter().map(|one| one.span.clip(window)));
            prop_assert_eq!(found.busy, busy);
        }
    }
}
