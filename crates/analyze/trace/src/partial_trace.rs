//! Collects the parts of a trace that are loaded so far.

use crate::error::{Error, Result};
use crate::names::Names;
use crate::note::TraceNote;
use crate::select::Selection;
use crate::table::Table;
use crate::toc::Run;
use crate::trace::Unreadable;

/// The parts of a trace that are loaded so far.
#[derive(Default)]
pub(crate) struct PartialTrace {
    pub(crate) tables: Vec<Table>,
    pub(crate) notes: Vec<TraceNote>,
    pub(crate) names: Names,
    /// Facts about the run from the tables themselves.
    pub(crate) run: Option<Run>,
    pub(crate) unreadable: Vec<Unreadable>,
    /// True if the input is a command-buffer log.
    pub(crate) is_log: bool,
}

impl PartialTrace {
    /// Leaves out a table with a note. If the table must be readable, returns its error instead.
    pub(crate) fn give_up(
        &mut self,
        schema: &str,
        file: String,
        error: Error,
        selection: &Selection,
    ) -> Result<()> {
        if selection.must_read(schema) {
            return Err(error);
        }
        let why = error.problem().to_string();
        self.unreadable.push(Unreadable {
            schema: schema.to_owned(),
            why: why.clone(),
        });
        self.notes.push(TraceNote::Unreadable { file, why });
        Ok(())
    }
}
