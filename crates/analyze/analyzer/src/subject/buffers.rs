//! Collects the command buffers of the process. The window does not cut them.
//!
//! ```text
//! window              ├──────────────────────┤
//! A      c───├─┤──├─┤
//! B        c────────├─┤──├─┤                      counts
//! C            c───────────────├─┤────────├─┤     counts
//! D                   c───────────────────────├─┤
//! ```
//!
//! A command buffer counts in a window if at least one of its intervals does. All figures of a
//! command buffer (start, end, commit, completion, encoders) follow from all its intervals in
//! the recording, so they are the same in each window in which it counts. The queue depth in a
//! window follows from all command buffers: D was committed in it.

use std::num::NonZeroU64;

use super::interval::Interval;
use crate::basics::moment::Moment;
use crate::basics::spans::{Span, touches};

/// Command buffer, from all its intervals in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Id of the command buffer.
    pub id: NonZeroU64,
    /// Time from the earliest start to the latest end of its intervals.
    pub span: Span,
    /// Number of its distinct encoders; 0 if no interval names one.
    pub encoders: u32,
    /// True if it counts in the window.
    pub in_window: bool,
    /// True if it was committed several times, so that its times are those of no single commit.
    pub is_reused: bool,
    /// Earliest commit of its intervals.
    committed: Moment,
    /// Latest commit of its intervals.
    last_committed: Moment,
}

impl Buffer {
    /// Returns the time of its commit, in nanoseconds since the recording began; `None` if the
    /// recorder did not know it, or if there are several.
    pub(crate) fn committed_ns(&self) -> Option<i64> {
        self.committed.ns().filter(|_| !self.is_reused)
    }

    /// Returns whether its work has several times of commit.
    pub(crate) fn has_several_commits(&self) -> bool {
        self.committed != self.last_committed
    }

    /// Returns the latest time at which some of its work was committed. The recorder was seen to
    /// give the encoders of one command buffer different times, all before its completion.
    pub(crate) fn last_committed_ns(&self) -> Option<i64> {
        self.last_committed.ns()
    }
}

/// Groups all intervals of the process, which are sorted by start, into command buffers, sorted
/// by id.
pub(crate) fn buffers<'a>(
    mine: impl Iterator<Item = &'a Interval> + Clone,
    window: Span,
) -> Vec<Buffer> {
    let rows = mine.filter_map(|interval| Some((interval.command_buffer?, interval)));
    let mut builder = BufferBuilder::default();
    // Ids nearly always rise with time, and then the rows need no memory.
    if rows.clone().is_sorted_by_key(|(id, _)| id) {
        rows.for_each(|(id, interval)| builder.add(id, interval, window));
    } else {
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|&(id, _)| id);
        rows.into_iter()
            .for_each(|(id, interval)| builder.add(id, interval, window));
    }
    builder.finish_last();
    builder.buffers
}

/// Builds command buffers from intervals that come sorted by command buffer.
#[derive(Default)]
struct BufferBuilder {
    buffers: Vec<Buffer>,
    /// Encoders of the last command buffer, some of them several times.
    encoders: Vec<NonZeroU64>,
}

impl BufferBuilder {
    fn add(&mut self, id: NonZeroU64, interval: &Interval, window: Span) {
        let in_window = touches(interval.span, window);
        match self.buffers.last_mut() {
            Some(last) if last.id == id => {
                last.span.end_ns = last.span.end_ns.max(interval.span.end_ns);
                last.in_window |= in_window;
                last.committed = last.committed.earlier(interval.committed);
                last.last_committed = last.last_committed.later(interval.committed);
            }
            _ => {
                self.finish_last();
                self.buffers.push(Buffer {
                    id,
                    span: interval.span,
                    encoders: 0,
                    in_window,
                    is_reused: false,
                    committed: interval.committed,
                    last_committed: interval.committed,
                });
            }
        }
        self.encoders.extend(interval.encoder);
    }

    /// Counts the encoders of the last command buffer. A kick that was split has two rows with the
    /// same encoder, which counts once.
    fn finish_last(&mut self) {
        self.encoders.sort_unstable();
        self.encoders.dedup();
        if let Some(last) = self.buffers.last_mut() {
            // No machine has memory for more than four billion intervals.
            last.encoders = u32::try_from(self.encoders.len()).unwrap_or(u32::MAX);
        }
        self.encoders.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::interval;

    /// Row as (start, end, buffer, encoder, commit).
    type Row = (u64, u64, u64, u64, Option<i64>);
    /// Expected buffer as (id, start, end, encoders, commit, in the window from 10 to 20).
    type Expected<'a> = &'a [(u64, u64, u64, u32, Option<i64>, bool)];

    fn check(rows: &[Row], expected: Expected<'_>) {
        let rows = rows
            .iter()
            .map(|&(start, end, buffer, encoder, committed_ns)| Interval {
                committed: Moment::at(committed_ns),
                command_buffer: NonZeroU64::new(buffer),
                encoder: NonZeroU64::new(encoder),
                ..interval(start, end)
            });
        let rows: Vec<Interval> = rows.collect();
        let found = buffers(rows.iter(), Span::new(10, 20));
        let found: Vec<_> = found
            .iter()
            .map(|buffer| {
                let Span { start_ns, end_ns } = buffer.span;
                let (id, committed_ns) = (buffer.id.get(), buffer.committed_ns());
                (
                    id,
                    start_ns,
                    end_ns,
                    buffer.encoders,
                    committed_ns,
                    buffer.in_window,
                )
            })
            .collect();
        assert_eq!(found, expected, "{rows:?}");
    }

    #[test]
    fn intervals_are_grouped_by_buffer() {
        check(
            &[
                (4, 6, 7, 1, Some(1)),
                (5, 9, 5, 2, None),
                (6, 8, 7, 1, Some(-2)),
                (9, 10, 0, 3, Some(3)),
                (11, 12, 5, 4, Some(4)),
            ],
            &[(5, 5, 12, 2, Some(4), true), (7, 4, 8, 1, Some(-2), false)],
        );
        check(&[], &[]);
    }

    #[test]
    fn the_window_does_not_cut_buffers() {
        // ├──window──┤ from 10 to 20
        check(
            &[
                (3, 5, 7, 1, Some(0)),
                (12, 14, 7, 2, Some(0)),
                (30, 40, 7, 3, Some(0)),
            ],
            &[(7, 3, 40, 3, Some(0), true)],
        );
        // Intervals on both sides of the window but none in it; and one that ends later than the last.
        check(
            &[(3, 5, 7, 1, None), (30, 40, 7, 2, None)],
            &[(7, 3, 40, 2, None, false)],
        );
        check(
            &[(3, 50, 7, 0, None), (6, 8, 7, 0, None)],
            &[(7, 3, 50, 0, None, true)],
        );
    }
}
