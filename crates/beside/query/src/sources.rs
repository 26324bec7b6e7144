//! Lists the files of datasets: only those of complete runs, each run once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use metalens_dataset::{complete_runs, describe};
use polars::prelude::{LazyFrame, ScanArgsAnonymous};

use crate::error::{Error, Result};
use crate::scan::TableScan;
use crate::source_run::SourceRun;

/// The runs of all datasets that were added.
#[derive(Default)]
pub(crate) struct Sources {
    runs: Arc<Vec<SourceRun>>,
    names: BTreeSet<String>,
    twice: usize,
}

impl Sources {
    /// Adds every complete run of a dataset. A run that was added before is not added again.
    pub(crate) fn add(&mut self, dataset: &str) -> Result<()> {
        for (partition, file) in complete_runs(Path::new(dataset))? {
            if self.names.insert(partition.run.clone()) {
                let dataset = dataset.to_owned();
                Arc::make_mut(&mut self.runs).push(SourceRun {
                    dataset,
                    partition,
                    file,
                });
            } else {
                self.twice += 1;
            }
        }
        Ok(())
    }

    /// Returns the number of runs.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns the number of runs that were added more than once.
    pub(crate) fn twice(&self) -> usize {
        self.twice
    }

    /// Returns the tables of all runs, by name. Nothing is read before a query needs it.
    pub(crate) fn tables(&self) -> Result<Vec<(&'static str, LazyFrame)>> {
        let tables = describe().into_iter().map(|table| {
            let scan = TableScan {
                table: table.name,
                columns: table.columns,
                runs: Arc::clone(&self.runs),
            };
            let arguments = ScanArgsAnonymous {
                schema: Some(Arc::new(scan.polars_schema())),
                name: "DATASET",
                ..ScanArgsAnonymous::default()
            };
            LazyFrame::anonymous_scan(Arc::new(scan), arguments)
                .map(|frame| (table.name, frame))
                .map_err(|error| Error::from_polars(&error))
        });
        tables.collect()
    }
}
