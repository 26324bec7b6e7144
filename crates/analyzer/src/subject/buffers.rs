//! The target's command buffers. The window does not cut them.
//!
//! ```text
//! window              ├──────────────────────┤
//! A      c───├─┤──├─┤
//! B        c────────├─┤──├─┤                      counts
//! C            c───────────────├─┤────────├─┤     counts
//! D                   c───────────────────────├─┤
//! ```
//!
//! A command buffer counts in a window if at least one of its intervals does. All figures
//! of a command buffer (start, end, commit, completion, encoders) follow from all its
//! intervals in the recording, so they are the same in each window in which it counts.
//! The queue depth in a window follows from all command buffers: D was committed in it.

use std::num::NonZeroU64;

use super::timeline::Interval;
use crate::basics::moment::Moment;
use crate::basics::spans::{Span, touches};

/// One command buffer, from all its intervals in the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Its id.
    pub id: NonZeroU64,
    /// The earliest start to the latest end of its intervals.
    pub span: Span,
    /// The number of its distinct encoders; 0 if no interval names one.
    pub encoders: u32,
    /// Whether it counts in the window.
    pub in_window: bool,
    committed: Moment,
}

impl Buffer {
    /// Returns the time of its commit, in ns since the recording began; none if the
    /// recorder did not know it.
    pub(crate) fn committed_ns(&self) -> Option<i64> {
        self.committed.ns()
    }
}

/// Groups all intervals of the target, which are sorted by start, into command buffers,
/// sorted by id.
#[must_use]
pub(crate) fn buffers<'a>(
    mine: impl Iterator<Item = &'a Interval> + Clone,
    window: Span,
) -> Vec<Buffer> {
    let rows = mine.filter_map(|one| Some((one.command_buffer?, one)));
    let mut found = Found::default();
    // Ids nearly always rise with time.
    if rows.clone().is_sorted_by_key(|(id, _)| id) {
        rows.for_each(|(id, one)| found.add(id, one, window));
    } else {
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|&(id, _)| id);
        rows.into_iter()
            .for_each(|(id, one)| found.add(id, one, window));
    }
    found.close();
    found.buffers
}

/// Builds command buffers from intervals that come sorted by command buffer.
#[derive(Default)]
struct Found {
    buffers: Vec<Buffer>,
    /// Encoders of the last command buffer, some of them several times.
    encoders: Vec<NonZeroU64>,
}

impl Found {
    fn add(&mut self, id: NonZeroU64, one: &Interval, window: Span) {
        let in_window = touches(one.span, window);
        match self.buffers.last_mut() {
            Some(last) if last.id == id => {
                last.span.end_ns = last.span.end_ns.max(one.span.end_ns);
                last.in_window |= in_window;
                last.committed = last.committed.earlier(one.committed);
            }
            _ => {
                self.close();
                self.buffers.push(Buffer {
                    id,
                    span: one.span,
                    encoders: 0,
                    in_window,
                    committed: one.committed,
                });
            }
        }
        self.encoders.extend(one.encoder);
    }

    /// A kick that was split has two rows of one encoder, which counts once.
    fn close(&mut self) {
        self.encoders.sort_unstable();
        self.encoders.dedup();
        if let Some(last) = self.buffers.last_mut() {
            // More than four billion intervals fit no machine.
            last.encoders = u32::try_from(self.encoders.len()).unwrap_or(u32::MAX);
        }
        self.encoders.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::interval;

    /// Start, end, buffer, encoder, commit.
    type Row = (u64, u64, u64, u64, Option<i64>);
    /// Id, start, end, encoders, commit, whether it is in the window from 10 to 20.
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
            .map(|one| {
                let Span { start_ns, end_ns } = one.span;
                let (id, committed_ns) = (one.id.get(), one.committed_ns());
                (
                    id,
                    start_ns,
                    end_ns,
                    one.encoders,
                    committed_ns,
                    one.in_window,
                )
            })
            .collect();
        assert_eq!(found, expected, "{rows:?}");
    }

    #[test]
    fn intervals_of_one_buffer_are_one() {
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
    fn what_the_window_cuts_is_whole() {
        // ├──window──┤ from 10 to 20
        check(
            &[
                (3, 5, 7, 1, Some(0)),
                (12, 14, 7, 2, Some(0)),
                (30, 40, 7, 3, Some(0)),
            ],
            &[(7, 3, 40, 3, Some(0), true)],
        );
        // On both sides and not in it; and one that ends later than its last begins.
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
