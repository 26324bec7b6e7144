//! Computes the size and duration of the command buffers of the process.

use metalens_message::Ns;

use crate::basics::spans::between;
use crate::basics::statistics::percentile;
use crate::metrics::gap_causes::GapSplitter;
use crate::report::{CommandBuffers, Distribution};
use crate::subject::buffers::Buffer;
use crate::subject::gaps::Gap;

/// Summarizes the command buffers in the window, each as the whole recording has it. Those that
/// were committed several times have no size.
pub(super) fn command_buffers(
    buffers: &[Buffer],
    gaps: &[Gap],
    splitter: &GapSplitter<'_>,
) -> CommandBuffers {
    let in_window = || buffers.iter().filter(|buffer| buffer.in_window);
    let once = || in_window().filter(|buffer| !buffer.is_reused);
    let spans = once().filter_map(|buffer| between(buffer.span.start_ns, buffer.span.end_ns));
    let counts = once().map(|buffer| u64::from(buffer.encoders));
    let mut encoders: Vec<u64> = counts.filter(|&encoders| encoders > 0).collect();
    encoders.sort_unstable();

    let gaps_inside = gaps.iter().filter(|gap| splitter.is_inside_buffer(gap));
    let inside = gaps_inside.map(|gap| gap.span.length_ns());

    CommandBuffers {
        count: in_window().count() as u64,
        min_encoders: encoders.first().copied(),
        median_encoders: percentile(&encoders, 50),
        max_encoders: encoders.last().copied(),
        span: Distribution::from_durations(spans.collect()),
        gaps_inside: inside.clone().count() as u64,
        gaps_inside_ns: Ns(inside.sum()),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::basics::spans::Span;
    use crate::basics::spans::touches;
    use crate::subject::buffers::buffers;
    use crate::subject::chain::Chain;
    use crate::subject::commands::Commands;
    use crate::subject::gaps::{Edges, occupancy};
    use crate::subject::interval::Interval;
    use crate::subject::submissions::Submissions;
    use crate::subject::waits::Waits;
    use crate::testing::interval;

    fn row(start: u64, end: u64, buffer: u64, encoder: u64) -> Interval {
        Interval {
            command_buffer: NonZeroU64::new(buffer),
            encoder: NonZeroU64::new(encoder),
            ..interval(start, end)
        }
    }

    /// Checks the summary: count, [min, median, max] encoders, longest span, gaps inside, their
    /// length.
    fn check(
        rows: &[(u64, u64, u64, u64)],
        window: (u64, u64),
        expected: (u64, [u64; 3], i64, u64, u64),
    ) {
        let rows: Vec<Interval> = rows.iter().map(|&(s, e, b, n)| row(s, e, b, n)).collect();
        let window = Span::new(window.0, window.1);
        let buffers = buffers(rows.iter(), window);
        let mut edges = Edges::default();
        rows.iter().for_each(|row| edges.add(row, window));
        let mine = rows.iter().filter(|row| touches(row.span, window));
        let mine: Vec<Interval> = mine.copied().collect();

        let (commands, chain) = (Commands::default(), Chain::default());
        let (submissions, waits) = (Submissions::default(), Waits::default());
        let splitter = GapSplitter {
            mine: &mine,
            edges,
            commands: &commands,
            chain: &chain,
            submissions: &submissions,
            waits: &waits,
            others: &[],
            is_log: false,
        };
        let gaps = occupancy(&mine, window).gaps;
        let found = command_buffers(&buffers, &gaps, &splitter);
        let encoders = [
            found.min_encoders,
            found.median_encoders,
            found.max_encoders,
        ];

        let found = (
            found.count,
            encoders.map(|count| count.unwrap_or(0)),
            found.span.map_or(0, |span| span.max_ns.0),
            found.gaps_inside,
            found.gaps_inside_ns.0,
        );
        assert_eq!(found, expected, "{rows:?} in {window:?}");
    }

    #[test]
    fn command_buffers_are_summarized() {
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
        // A window does not change its length and encoders. The part of a gap in the window is
        // inside a buffer if the gap is.
        check(&rows, (5, 12), (1, [2, 2, 2], 15, 1, 2));
        check(&rows, (0, 5), (1, [2, 2, 2], 15, 1, 1));
        check(&[(90, 120, 7, 1)], (0, 100), (1, [1, 1, 1], 30, 0, 0));
    }
}
