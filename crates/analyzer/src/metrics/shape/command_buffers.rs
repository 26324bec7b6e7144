//! The target's command buffers: how much is in one, how long one takes.

use crate::basics::spans::between;
use crate::basics::statistics::percentile;
use crate::metrics::ledger::Book;
use crate::report::{CommandBuffers, Distribution};
use crate::subject::buffers::Buffer;
use crate::subject::gaps::Gap;

/// Sums those in the window up, each as the whole recording has it.
pub(super) fn command_buffers(buffers: &[Buffer], gaps: &[Gap], book: &Book<'_>) -> CommandBuffers {
    let in_window = || buffers.iter().filter(|one| one.in_window);
    let spans = in_window().filter_map(|one| between(one.span.start_ns, one.span.end_ns));
    let encoders = in_window().map(|one| u64::from(one.encoders));
    let mut encoders: Vec<u64> = encoders.filter(|&encoders| encoders > 0).collect();
    encoders.sort_unstable();
    let inside = gaps.iter().filter(|gap| book.is_inside_buffer(gap));
    let inside = inside.map(|gap| gap.span.length_ns());
    CommandBuffers {
        count: in_window().count() as u64,
        min_encoders: encoders.first().copied(),
        median_encoders: percentile(&encoders, 50),
        max_encoders: encoders.last().copied(),
        span: Distribution::of(spans.collect()),
        gaps_inside: inside.clone().count() as u64,
        gaps_inside_ns: inside.sum(),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::basics::spans::Span;
    use crate::basics::spans::touches;
    use crate::subject::buffers::buffers;
    use crate::subject::commands::Commands;
    use crate::subject::gaps::{Edges, occupancy};
    use crate::subject::timeline::Interval;
    use crate::testing::interval;

    fn row(start: u64, end: u64, buffer: u64, encoder: u64) -> Interval {
        Interval {
            command_buffer: NonZeroU64::new(buffer),
            encoder: NonZeroU64::new(encoder),
            ..interval(start, end)
        }
    }

    /// `expected`: count, [min, median, max] encoders, longest span, gaps inside, their length.
    fn check(
        rows: &[(u64, u64, u64, u64)],
        window: (u64, u64),
        expected: (u64, [u64; 3], i64, u64, u64),
    ) {
        let rows = rows.iter().map(|&(s, e, b, n)| row(s, e, b, n));
        let rows: Vec<Interval> = rows.collect();
        let window = Span::new(window.0, window.1);
        let buffers = buffers(rows.iter(), window);
        let mut edges = Edges::default();
        rows.iter().for_each(|one| edges.meet(one, window));
        let mine = rows.iter().filter(|one| touches(one.span, window));
        let mine: Vec<Interval> = mine.copied().collect();
        let commands = Commands::default();
        let book = Book {
            mine: &mine,
            edges,
            commands: &commands,
            foreign: &[],
        };
        let found = command_buffers(&buffers, &occupancy(&mine, window).gaps, &book);
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
        assert_eq!(found, expected, "{rows:?} in {window:?}");
    }

    #[test]
    fn what_is_in_one() {
        // buffer 7  ├─1─┤  ├─1─┤├─2─┤       encoder 1 was split
        // buffer 8                     ├─3─┤
        // no buffer                          ├───┤
        let rows = [
            (0, 4, 7, 1),
            (7, 11, 7, 1),
            (11, 15, 7, 2),
            (18, 22, 8, 3),
            (23, 27, 0, 4),
        ];
        check(&rows, (0, 27), (2, [1, 1, 2], 15, 1, 3));
        check(&[(0, 4, 0, 0)], (0, 4), (0, [0, 0, 0], 0, 0, 0));
        // It is as long, and has as many encoders, as it has without the window, and the
        // part of a gap in the window is inside a buffer if the gap is.
        check(&rows, (5, 12), (1, [2, 2, 2], 15, 1, 2));
        check(&rows, (0, 5), (1, [2, 2, 2], 15, 1, 1));
        check(&[(90, 120, 7, 1)], (0, 100), (1, [1, 1, 1], 30, 0, 0));
    }
}
