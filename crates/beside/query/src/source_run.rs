//! Defines a run of a dataset, and where it is.

use metalens_dataset::Partition;

/// A run in a dataset.
#[derive(Clone)]
pub(crate) struct SourceRun {
    pub(crate) dataset: String,
    pub(crate) partition: Partition,
    /// Path below the folder of a table: `device=…/date=…/run=…/part.parquet`.
    pub(crate) file: String,
}
