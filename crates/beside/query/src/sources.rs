//! Lists the files of datasets: only those of complete runs, each run once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use metalens_dataset::{Partition, complete_runs, describe};
#[cfg(feature = "s3")]
use polars::prelude::PlRefPath;
use polars::prelude::{LazyFrame, ScanArgsAnonymous};

use crate::error::{Error, Result};
use crate::scan::TableScan;
use crate::source_run::{SourceRun, is_remote};

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
        for (partition, file) in runs_of(dataset)? {
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

/// Returns a dataset's complete runs, and their files below a table's folder.
fn runs_of(dataset: &str) -> Result<Vec<(Partition, String)>> {
    if is_remote(dataset) {
        remote_runs(dataset)
    } else {
        Ok(complete_runs(Path::new(dataset))?)
    }
}

#[cfg(not(feature = "s3"))]
fn remote_runs(dataset: &str) -> Result<Vec<(Partition, String)>> {
    Err(Error::Address {
        path: dataset.to_owned(),
        why: "this metalens-query was built without `--features s3`",
    })
}

/// Lists a dataset on S3. Credentials and the endpoint come from the same variables of the environment
/// that Amazon's own programs read.
#[cfg(feature = "s3")]
fn remote_runs(dataset: &str) -> Result<Vec<(Partition, String)>> {
    let top = format!("{}/runs/", dataset.trim_end_matches('/'));
    let pattern = PlRefPath::new(format!("{top}device=*/date=*/run=*/part.parquet"));
    let paths = polars_async::ASYNC
        .block_in_place_on(polars::io::async_glob(pattern, None))
        .map_err(|error| Error::from_store(dataset, &error))?;
    let runs = paths.iter().filter_map(|url| {
        let file = url.strip_prefix(&top)?;
        Some((metalens_dataset::run_of(file)?, file.to_owned()))
    });
    let runs: Vec<(Partition, String)> = runs.collect();
    if runs.is_empty() {
        return Err(Error::Address {
            path: dataset.to_owned(),
            why: "there is no dataset at this address: no runs/device=…/date=…/run=…/part.parquet",
        });
    }
    Ok(runs)
}
