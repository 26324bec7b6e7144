//! Lists the files of datasets: only those of complete runs, each run once.

use std::collections::BTreeSet;
use std::path::Path;

use metalens_dataset::{CellKind, ColumnInfo, complete_runs, describe};
use polars::io::HiveOptions;
use polars::prelude::{
    DataFrame, DataType, DslBuilder, ExtraColumnsPolicy, Field, IntoLazy, LazyFrame,
    MissingColumnsPolicy, ParquetOptions, ParquetReader, PlRefPath, PolarsResult, ScanSources,
    Schema, SerReader, UnifiedScanArgs,
};

use crate::error::{Error, Result};

/// A run in a dataset.
struct SourceRun {
    dataset: String,
    /// Path below the folder of a table: `device=…/date=…/run=…/part.parquet`.
    file: String,
}

/// The runs of all datasets that were added.
#[derive(Default)]
pub(crate) struct Sources {
    runs: Vec<SourceRun>,
    names: BTreeSet<String>,
    twice: usize,
}

impl Sources {
    /// Adds every complete run of a dataset. A run that was added before is not added again.
    pub(crate) fn add(&mut self, dataset: &str) -> Result<()> {
        for (name, file) in runs_of(dataset)? {
            if self.names.insert(name) {
                let dataset = dataset.to_owned();
                self.runs.push(SourceRun { dataset, file });
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

    /// Adds the name of the damaged file to an error, because polars does not name it.
    pub(crate) fn name_damaged(&self, error: Error) -> Error {
        let Error::Read(_) = error else {
            return error;
        };
        for run in self.runs.iter().filter(|run| !is_remote(&run.dataset)) {
            for table in describe() {
                let path = format!("{}/{}/{}", run.dataset, table.name, run.file);
                if LATER.contains(&table.name) && !Path::new(&path).exists() {
                    continue;
                }
                if let Some(why) = damage(&path) {
                    return Error::Read(format!("{path}: {why}"));
                }
            }
        }
        error
    }

    /// Returns the tables of all runs, by name. Nothing is read before a query needs it.
    pub(crate) fn tables(&self) -> Result<Vec<(&'static str, LazyFrame)>> {
        let mut tables = Vec::new();
        for table in describe() {
            let (keys, cells): (Vec<&ColumnInfo>, Vec<&ColumnInfo>) =
                table.columns.iter().partition(|column| column.is_partition);
            let files = self
                .runs
                .iter()
                .map(|run| PlRefPath::new(format!("{}/{}/{}", run.dataset, table.name, run.file)));
            let exists = |file: &PlRefPath| {
                let file: &str = file.as_str();
                !LATER.contains(&table.name) || is_remote(file) || Path::new(file).exists()
            };
            let files: Vec<PlRefPath> = files.filter(exists).collect();

            let frame = if files.is_empty() {
                DataFrame::empty_with_schema(&schema(&table.columns.iter().collect::<Vec<_>>()))
                    .lazy()
            } else {
                scan(files, &cells, &keys).map_err(|error| Error::from_polars(&error))?
            };
            tables.push((table.name, frame));
        }
        Ok(tables)
    }
}

/// Tables that a run has only if a later version of metalens wrote it.
const LATER: [&str; 2] = ["counters", "phase_kernels"];

/// Returns the reason why a file or its list of columns cannot be read, if there is one.
fn damage(path: &str) -> Option<String> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) => return Some(error.to_string()),
    };
    let schema = ParquetReader::new(file).schema();
    schema.err().map(|error| error.to_string())
}

/// Returns a dataset's complete runs: their names, and their files below a table's folder.
fn runs_of(dataset: &str) -> Result<Vec<(String, String)>> {
    if is_remote(dataset) {
        return remote_runs(dataset);
    }
    if dataset.split('/').any(|part| part.contains('=')) {
        return Err(Error::Address {
            path: dataset.to_owned(),
            why: "a folder above the dataset has `=` in its name, which polars takes for a \
                  partition: run the query inside that folder, or give a link to the dataset",
        });
    }
    Ok(complete_runs(Path::new(dataset))?)
}

/// Returns whether a dataset is in an object store.
#[must_use]
pub fn is_remote(dataset: &str) -> bool {
    dataset.starts_with("s3://")
}

#[cfg(not(feature = "s3"))]
fn remote_runs(dataset: &str) -> Result<Vec<(String, String)>> {
    Err(Error::Address {
        path: dataset.to_owned(),
        why: "this metalens-query was built without the feature `s3`",
    })
}

/// Lists a dataset on S3. Credentials and the endpoint come from the same variables of the environment
/// that Amazon's own programs read.
#[cfg(feature = "s3")]
fn remote_runs(dataset: &str) -> Result<Vec<(String, String)>> {
    let top = format!("{}/runs/", dataset.trim_end_matches('/'));
    let pattern = PlRefPath::new(format!("{top}device=*/date=*/run=*/part.parquet"));
    let found = polars_async::ASYNC
        .block_in_place_on(polars::io::async_glob(pattern, None))
        .map_err(|error| Error::from_store(dataset, &error))?;
    let runs = found.iter().filter_map(|url| {
        let file = url.strip_prefix(&top)?;
        Some((metalens_dataset::run_name(file)?, file.to_owned()))
    });
    let runs: Vec<(String, String)> = runs.collect();
    if runs.is_empty() {
        return Err(Error::Address {
            path: dataset.to_owned(),
            why: "there is no dataset at this address: no runs/device=…/date=…/run=…/part.parquet",
        });
    }
    Ok(runs)
}

/// Scans files with the columns of the table's description. A column that a file of an older version
/// lacks is null there. A column of a newer version, which the description lacks, is ignored.
fn scan(
    files: Vec<PlRefPath>,
    cells: &[&ColumnInfo],
    keys: &[&ColumnInfo],
) -> PolarsResult<LazyFrame> {
    let options = ParquetOptions {
        schema: Some(schema(cells).into()),
        use_statistics: true,
        ..ParquetOptions::default()
    };
    let arguments = UnifiedScanArgs {
        hive_options: HiveOptions {
            enabled: Some(true),
            hive_start_idx: 0,
            schema: Some(schema(keys).into()),
            try_parse_dates: true,
        },
        glob: false,
        missing_columns_policy: MissingColumnsPolicy::Insert,
        extra_columns_policy: ExtraColumnsPolicy::Ignore,
        ..UnifiedScanArgs::default()
    };
    let sources = ScanSources::Paths(files.into());
    let frame = LazyFrame::from(DslBuilder::scan_parquet(sources, options, arguments)?.build());

    // Columns from folder names come first, as in the description.
    let order = keys
        .iter()
        .chain(cells)
        .map(|column| polars::prelude::col(column.name));
    Ok(frame.select(order.collect::<Vec<_>>()))
}

fn schema(columns: &[&ColumnInfo]) -> Schema {
    let field = |column: &&ColumnInfo| {
        let kind = match column.kind {
            CellKind::Integer => DataType::Int64,
            CellKind::Id => DataType::UInt64,
            CellKind::Number => DataType::Float64,
            CellKind::Flag => DataType::Boolean,
            CellKind::Text => DataType::String,
            CellKind::Date => DataType::Date,
        };
        Field::new(column.name.into(), kind)
    };
    columns.iter().map(field).collect()
}
