//! The target's window, and when it was busy in it.

use crate::basics::spans::Span;
use crate::subject::target::Target;
use crate::tables::columns::at;
use crate::tables::machine::OwnedSpans;

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

impl Against<'_> {
    /// Returns the target's rows that have a start, with their places.
    pub(crate) fn rows(&self, table: &OwnedSpans) -> impl Iterator<Item = (usize, Span)> {
        let rows = table.spans.started();
        rows.filter(|&(row, _)| self.target.is(at(&table.processes, row)))
    }
}
