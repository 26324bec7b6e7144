//! Runs a batch: makes a report for each of many inputs, once, and an index of all. This crate
//! decides which reports to make, when, and how many at once. The caller analyzes and writes
//! ([`Reports`]) and follows the progress ([`BatchWatcher`]). The crate does not print.
//!
//! ```text
//! PATH… → find → entries ─ up to date? ─┬─ yes ───────────────────────┬→ rows → index
//!                                        └─ no → analyze, write (pool) ┘
//! ```
//!
//! # Laws
//!
//! * The folder of a recording has exactly what [`Reports`] writes, and `batch.json`.
//! * A recording that fails does not affect others.
//! * A second run with the same settings, and inputs of the same size and time, writes no report.
//! * The index lists the inputs of this batch; other reports in the folder stay.
//!
//! On systems other than Unix, the crate has only the index, from which pages are made.

mod index;
#[cfg(unix)]
mod making;

pub use index::{FailedRecording, Index, SCHEMA};
#[cfg(unix)]
pub use making::{
    BatchOutcome, BatchRequest, BatchWatcher, Error, FolderLock, FoundRecording, RefusedPath,
    ReportProblem, Reports, Result, Search, WrittenReport, find, index_of_refused, run,
};
