//! Window of the process, with busy time and gaps, as other tables are measured against it.

use crate::basics::spans::Span;
use crate::subject::chosen_processes::ChosenProcesses;
use crate::tables::columns::{Processes, Spans, at};

/// Window of the process, with busy time and gaps.
#[derive(Clone, Copy)]
pub(crate) struct BusyWindow<'a> {
    pub chosen: &'a ChosenProcesses,
    pub window: Span,
    /// Union of the GPU intervals of the process.
    pub busy: &'a [Span],
    /// Rest of the window.
    pub gaps: &'a [Span],
}

impl<'a> BusyWindow<'a> {
    /// Returns the rows of the process that have a start, with their indices.
    pub(crate) fn rows(
        self,
        processes: &'a Processes,
        spans: &'a Spans,
    ) -> impl Iterator<Item = (usize, Span)> {
        let rows = spans.started();
        rows.filter(move |&(row, _)| self.chosen.contains(at(processes, row)))
    }
}
