//! The target's window, and when it was busy in it.

use crate::basics::spans::Span;
use crate::subject::target::Target;
use crate::tables::columns::{Processes, Spans, at};

/// What the parts are measured against.
#[derive(Clone, Copy)]
pub(crate) struct Against<'a> {
    pub target: &'a Target,
    pub window: Span,
    /// When the target was busy.
    pub busy: &'a [Span],
    /// When it was not.
    pub gaps: &'a [Span],
}

impl<'a> Against<'a> {
    /// Returns the target's rows that have a start, with their places.
    pub(crate) fn rows(
        self,
        processes: &'a Processes,
        spans: &'a Spans,
    ) -> impl Iterator<Item = (usize, Span)> {
        let rows = spans.started();
        rows.filter(move |&(row, _)| self.target.is(at(processes, row)))
    }
}
