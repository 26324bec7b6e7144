//! Writes analyses into datasets: Parquet files of many recordings that any engine reads.
//!
//! The crate writes and lists the files of datasets and touches no others. It starts no process and
//! does not print. `crates/beside/query` reads the files with SQL.
//!
//! ```text
//! Analysis → tables (runs, intervals, gaps, …) → write → DIR/<table>/device=…/date=…/run=…
//! ```
//!
//! The columns of a table, their meaning and their values are defined in one place. [`describe`]
//! lists them, and `metalens query --schema` prints them.

mod cells;
mod error;
mod folder;
mod hive;
mod identity;
mod parquet_write;
mod report_names;
mod tables;
mod write;

pub use cells::{CellKind, CellValue, MemoryTable, TableColumn};
pub use error::{Error, Result};
pub use folder::{complete_runs, is_dataset, run_names};
pub use hive::{Partition, UNKNOWN};
pub use parquet_write::{RUN_KEY, TABLE_KEY};
pub use tables::{ColumnInfo, TableInfo, describe};
pub use write::{WriteOptions, WrittenRun, refuse_links, write};

/// Name of the format. Its number rises when a column is removed or changes meaning.
pub const FORM: &str = "metalens.dataset/1";
