//! Decides whether anything follows from the numbers of a report.

use super::evidence::is_share;
use crate::basics::message::{Message, count, counted};
use crate::message;
use crate::report::Report;

/// Returns why no verdict and no gain follows from the numbers, as a clause; `None` if they can be
/// trusted so far.
#[must_use]
pub fn distrust(report: &Report) -> Option<Message> {
    let sanity = &report.sanity;
    if let Some(rows) = sanity.rows_outside.filter(|&rows| rows > 0) {
        return Some(message!(
            "{} {} outside of the recording",
            counted(rows, "row"),
            if rows == 1 { "is" } else { "are" }
        ));
    }
    lost_buffers(report)
}

/// Returns the clause that much of the work is missing, if it is.
pub(super) fn lost_buffers(report: &Report) -> Option<Message> {
    /// Share of the command buffers from which on a verdict could be another one with them.
    const SHARE: f64 = 0.05;
    let sanity = &report.sanity;
    let (without, finished) = (sanity.buffers_without_interval?, sanity.buffers_finished?);
    is_share(without, finished, SHARE).then(|| {
        message!(
            "{} of {} command buffers that completed have no GPU interval",
            count(without),
            count(finished)
        )
    })
}
