//! The target's command buffers, as far as the window shows them.

use std::num::NonZeroU64;

use crate::timeline::Interval;

/// One command buffer: what of it ran on the GPU, and when it was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Its id.
    pub id: NonZeroU64,
    /// When it was committed; `None` where the recorder did not know.
    pub committed_ns: Option<u64>,
    /// The start of its first interval.
    pub start_ns: u64,
    /// The end of its last.
    pub end_ns: u64,
}

/// The buffers of intervals, in the order of their ids.
#[must_use]
pub(crate) fn buffers(mine: &[Interval]) -> Vec<Buffer> {
    let mut buffers: Vec<Buffer> = Vec::new();
    for one in mine.iter().filter_map(of_one) {
        // The next interval is most often of the same buffer.
        let last = buffers.last_mut();
        if !last.is_some_and(|last| last.takes(&one)) {
            buffers.push(one);
        }
    }
    // Ids rise with time, all but a few: sorting is cheaper than a map.
    buffers.sort_by_key(|buffer| (buffer.id, buffer.start_ns));
    buffers.dedup_by(|next, buffer| buffer.takes(next));
    buffers
}

impl Buffer {
    /// Takes in what ran later, if it is of the same buffer.
    fn takes(&mut self, later: &Self) -> bool {
        let same = later.id == self.id;
        if same {
            self.end_ns = self.end_ns.max(later.end_ns);
            self.committed_ns = earlier(self.committed_ns, later.committed_ns);
        }
        same
    }
}

fn of_one(interval: &Interval) -> Option<Buffer> {
    Some(Buffer {
        id: interval.command_buffer?,
        committed_ns: interval.committed.ns(),
        start_ns: interval.span.start_ns,
        end_ns: interval.span.end_ns,
    })
}

fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Moment;
    use crate::timeline::tests::interval;

    /// `expected`: id, committed, start, end.
    type Expected<'a> = &'a [(u64, Option<u64>, u64, u64)];

    fn check(intervals: &[(u64, Option<u64>, u64, u64)], expected: Expected<'_>) {
        let intervals: Vec<Interval> = intervals
            .iter()
            .map(|&(id, committed_ns, start, end)| Interval {
                committed: Moment::at(committed_ns),
                command_buffer: NonZeroU64::new(id),
                ..interval(start, end)
            })
            .collect();
        let found = buffers(&intervals);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.id.get(), one.committed_ns, one.start_ns, one.end_ns))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn intervals_of_one_buffer_are_one() {
        check(
            &[
                (7, Some(1), 4, 6),
                (5, None, 5, 9),
                (7, Some(2), 6, 8),
                (0, Some(3), 9, 10),
                (5, Some(4), 11, 12),
            ],
            &[(5, Some(4), 5, 12), (7, Some(1), 4, 8)],
        );
        check(&[], &[]);
    }
}
