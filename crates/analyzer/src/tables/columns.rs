//! Columns that many tables have.

use metalens_trace::{Error, Integers, Place, Problem, ProcessId, Symbol, Table, ThreadId};

use crate::basics::spans::Span;

/// A column of texts.
pub(crate) type Texts = Vec<Option<Symbol>>;
/// A column of processes.
pub(crate) type Processes = Vec<Option<ProcessId>>;
/// A column of threads.
pub(crate) type Threads = Vec<Option<ThreadId>>;

/// Returns the value of a row; none where it is null, or the table has no such column.
pub(crate) fn at<T: Copy>(column: &[Option<T>], row: usize) -> Option<T> {
    column.get(row).copied().flatten()
}

/// The columns `start` and `duration`.
#[derive(Debug)]
pub(crate) struct Spans {
    starts: Integers,
    durations: Integers,
    schema: String,
    file: String,
}

impl Spans {
    pub(super) fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            starts: table.take_integers("start")?,
            durations: table.take_integers("duration")?,
            schema: table.schema.name.clone(),
            file: table.file.clone(),
        })
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Returns the span of each row; an error where a start or a duration is null.
    pub(crate) fn all(&self) -> impl Iterator<Item = metalens_trace::Result<Span>> {
        (0..self.rows()).map(|row| {
            let start = self.starts.get(row);
            let start = start.ok_or_else(|| self.null(row, "start"))?;
            let duration = self.durations.get(row);
            let duration = duration.ok_or_else(|| self.null(row, "duration"))?;
            Ok(Span::new(start, start + duration))
        })
    }

    /// Returns the rows that have a start, with their places. A row without a duration
    /// has no length.
    pub(crate) fn started(&self) -> impl Iterator<Item = (usize, Span)> {
        (0..self.rows()).filter_map(|row| {
            let start = self.starts.get(row)?;
            let end = start + self.durations.get(row).unwrap_or(0);
            Some((row, Span::new(start, end)))
        })
    }

    fn null(&self, row: usize, column: &str) -> Error {
        let place = Place {
            table: Some(self.schema.clone()),
            row: Some(row as u64 + 1),
            column: Some(column.to_owned()),
            ..Place::file(&self.file)
        };
        let problem = Problem::BadNumber {
            text: "<sentinel/>".to_owned(),
        };
        Error::new(problem, place)
    }
}
