//! The target's command buffers: how much is in one, how long one takes.

use std::num::NonZeroU64;

use crate::gaps::Gap;
use crate::report::{CommandBuffers, Distribution};
use crate::spans::Span;
use crate::statistics::percentile;
use crate::timeline::Interval;

/// Sums the command buffers up.
pub(super) fn command_buffers(mine: &[Interval], gaps: &[Gap], window: Span) -> CommandBuffers {
    let rows = mine.iter();
    let rows = rows.filter_map(|one| Some((one.command_buffer?, one)));
    let mut tally = Tally::default();
    // Ids nearly always rise with time.
    if rows.clone().is_sorted_by_key(|(buffer, _)| buffer) {
        rows.for_each(|(buffer, one)| tally.add(buffer, one, window));
    } else {
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|&(buffer, _)| buffer);
        rows.into_iter()
            .for_each(|(buffer, one)| tally.add(buffer, one, window));
    }
    tally.close();
    let Tally {
        mut encoders,
        spans,
        ..
    } = tally;
    let count = spans.len() as u64;
    encoders.sort_unstable();
    let inside = gaps.iter().filter(|gap| is_inside(gap, mine));
    let inside = inside.map(|gap| gap.span.length_ns());
    CommandBuffers {
        count,
        min_encoders: encoders.first().copied(),
        median_encoders: percentile(&encoders, 50),
        max_encoders: encoders.last().copied(),
        span: Distribution::of(spans),
        gaps_inside: inside.clone().count() as u64,
        gaps_inside_ns: inside.sum(),
    }
}

/// Buffer after buffer, whose intervals come together.
#[derive(Default)]
struct Tally {
    /// Of each buffer that names any, how many encoders it has.
    encoders: Vec<u64>,
    /// Of each buffer, how long it takes.
    spans: Vec<i64>,
    /// The one at hand, and its part of the window.
    open: Option<(NonZeroU64, Span)>,
    /// Its encoders.
    ids: Vec<NonZeroU64>,
}

impl Tally {
    fn add(&mut self, buffer: NonZeroU64, one: &Interval, window: Span) {
        let span = one.span.clip(window);
        match &mut self.open {
            Some((open, whole)) if *open == buffer => {
                whole.start_ns = whole.start_ns.min(span.start_ns);
                whole.end_ns = whole.end_ns.max(span.end_ns);
            }
            _ => {
                self.close();
                self.open = Some((buffer, span));
            }
        }
        self.ids.extend(one.encoder);
    }

    /// A kick that was split has two rows of one encoder, which counts once.
    fn close(&mut self) {
        let Some((_, span)) = self.open.take() else {
            return;
        };
        self.ids.sort_unstable();
        self.ids.dedup();
        if !self.ids.is_empty() {
            self.encoders.push(self.ids.len() as u64);
        }
        self.ids.clear();
        let length = i64::try_from(span.length_ns());
        self.spans.push(length.unwrap_or(i64::MAX));
    }
}

fn is_inside(gap: &Gap, mine: &[Interval]) -> bool {
    let buffer = |at: Option<usize>| mine.get(at?)?.command_buffer;
    buffer(gap.before()).is_some_and(|before| buffer(gap.after()) == Some(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::occupancy;
    use crate::timeline::tests::interval;

    fn row(start: u64, end: u64, buffer: u64, encoder: u64) -> Interval {
        Interval {
            command_buffer: NonZeroU64::new(buffer),
            encoder: NonZeroU64::new(encoder),
            ..interval(start, end)
        }
    }

    /// `expected`: count, [min, median, max] encoders, longest span, gaps inside, their length.
    fn check(rows: &[(u64, u64, u64, u64)], expected: (u64, [u64; 3], i64, u64, u64)) {
        let rows = rows.iter().map(|&(s, e, b, n)| row(s, e, b, n));
        let rows: Vec<Interval> = rows.collect();
        let window = Span::new(0, 100);
        let found = command_buffers(&rows, &occupancy(&rows, window).gaps, window);
        let encoders = [
            found.min_encoders,
            found.median_encoders,
            found.max_encoders,
        ];
        let found = (
            found.count,
            encoders.map(|count| count.unwrap_or(0)),
            found.span.map_or(0, |span| span.max_ns),
            found.gaps_inside,
            found.gaps_inside_ns,
        );
        assert_eq!(found, expected, "{rows:?}");
    }

    #[test]
    fn what_is_in_one() {
        // buffer 7  ├─1─┤  ├─1─┤├─2─┤       encoder 1 was split
        // buffer 8                     ├─3─┤
        // no buffer                          ├───┤
        check(
            &[
                (0, 4, 7, 1),
                (7, 11, 7, 1),
                (11, 15, 7, 2),
                (18, 22, 8, 3),
                (23, 27, 0, 4),
            ],
            (2, [1, 1, 2], 15, 1, 3),
        );
        check(&[(0, 4, 0, 0)], (0, [0, 0, 0], 0, 0, 0));
        // What reaches out of the window counts with the part inside.
        check(&[(90, 120, 7, 1)], (1, [1, 1, 1], 10, 0, 0));
    }
}
