//! Runs a batch: makes a report for each of many inputs, once, and an index of all. This crate
//! decides which reports to make, when, and how many at once. The caller analyzes and writes
//! ([`Reports`]) and follows the progress ([`BatchWatcher`]). Nothing here prints.
//!
//! ```text
//! PATH… → find → entries ─ up to date? ─┬─ yes ───────────────────────┬→ rows → index
//!                                        └─ no → analyze, write (pool) ┘
//! ```
//!
//! # Laws
//!
//! * The folder of a trace has exactly what [`Reports`] writes, and `batch.json`.
//! * A trace that fails does not affect others.
//! * A second run with the same inputs and settings writes no report.
//! * The index lists what was named this time; other reports in the folder stay.

mod budget;
mod entry;
mod error;
mod find;
mod identity;
mod index;
mod lock;
mod pool;
mod reports;
mod request;
mod run;
mod slugs;
mod state;

pub use budget::usual_memory;
pub use error::{Error, Result};
pub use find::{FoundTrace, RefusedPath, Search, find};
pub use index::{FailedTrace, Index, SCHEMA, json_schema};
pub use lock::FolderLock;
pub use reports::{ReportProblem, Reports, WrittenReport};
pub use request::BatchRequest;
pub use run::{BatchOutcome, BatchWatcher, run};
pub use slugs::slugs;
