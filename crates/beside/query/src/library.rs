//! Answers queries about the datasets that were added.

use polars::prelude::{DataFrame, PolarsResult, SortMultipleOptions};
use polars::sql::SQLContext;

use crate::answer::QueryAnswer;
use crate::error::{Error, Result};
use crate::sources::Sources;
use crate::statement::{CheckedStatement, checked};

/// The datasets that can be queried. Each run counts once.
#[derive(Default)]
pub struct Library {
    sources: Sources,
}

impl Library {
    /// Creates a library without datasets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds every complete run of a dataset. Reads only file names.
    ///
    /// # Errors
    ///
    /// If the dataset cannot be listed.
    pub fn add(&mut self, dataset: &str) -> Result<()> {
        self.sources.add(dataset)
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Returns whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of runs that were added more than once. Each counts once.
    pub fn twice(&self) -> usize {
        self.sources.twice()
    }

    /// Answers a query. Only the columns and runs that it needs are read.
    ///
    /// # Errors
    ///
    /// If the statement is wrong or refused, or a file cannot be read.
    pub fn ask(&self, sql: &str) -> Result<QueryAnswer> {
        let checked = checked(sql)?;
        let mut context = SQLContext::new();
        for (name, frame) in self.sources.tables()? {
            context.register(name, frame);
        }
        match run(&mut context, &checked) {
            Ok(frame) => Ok(QueryAnswer::new(frame)),
            Err(error) => Err(Error::from_polars(&error)),
        }
    }
}

/// Runs a query. If the query does not order its rows, they are sorted, so that the answer is always
/// the same.
fn run(context: &mut SQLContext, checked: &CheckedStatement) -> PolarsResult<DataFrame> {
    // This runs in memory, because the streaming engine of this version panics at some joins and
    // unions.
    let frame = context.execute(&checked.sql)?.collect()?;
    if checked.is_ordered {
        return Ok(frame);
    }

    let columns: Vec<_> = frame.get_column_names().into_iter().cloned().collect();
    if columns.is_empty() || frame.height() < 2 {
        return Ok(frame);
    }
    let options = SortMultipleOptions::default()
        .with_nulls_last(true)
        .with_maintain_order(true);
    frame.sort(columns, options)
}
