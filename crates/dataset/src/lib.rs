//! Writes analyses into datasets: Parquet files that any engine reads, for many traces at once.
//!
//! The crate writes and lists the files of datasets, and touches no others; it starts no process
//! and does not print. `crates/query` reads the files with SQL.
//!
//! ```text
//! Analysis → tables (runs, intervals, gaps, kernels) → write → DIR/<table>/device=…/date=…/run=…
//! ```
//!
//! A table's columns, their meaning and how they are filled are defined in one place;
//! [`describe`] lists them, and `docs/dataset.md` has them all.

mod cells;
mod error;
mod folder;
mod hive;
mod identity;
mod parquet_write;
mod tables;
mod words;
mod write;

pub use cells::Kind;
pub use error::{Error, Result};
pub use folder::{is_dataset, run_name, run_names, whole_runs};
pub use tables::{About, AboutTable, describe};
pub use write::{Choices, Written, refuse_links, write};

/// The form's name; its number rises when a column is removed or changes meaning.
pub const FORM: &str = "metalens.dataset/1";
