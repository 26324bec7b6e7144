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
//!
//! Elsewhere than on Unix there is only the index, so that pages of it can be made.

#[cfg(unix)]
mod budget;
#[cfg(unix)]
mod entry;
#[cfg(unix)]
mod error;
#[cfg(unix)]
mod find;
#[cfg(unix)]
mod identity;
mod index;
#[cfg(unix)]
mod lock;
#[cfg(unix)]
mod pool;
#[cfg(unix)]
mod reports;
#[cfg(unix)]
mod request;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod slugs;
#[cfg(unix)]
mod state;

#[cfg(unix)]
pub use budget::usual_memory;
#[cfg(unix)]
pub use error::{Error, Result};
#[cfg(unix)]
pub use find::{FoundTrace, RefusedPath, Search, find};
pub use index::{FailedTrace, Index, SCHEMA, json_schema};
#[cfg(unix)]
pub use lock::FolderLock;
#[cfg(unix)]
pub use reports::{ReportProblem, Reports, WrittenReport};
#[cfg(unix)]
pub use request::BatchRequest;
#[cfg(unix)]
pub use run::{BatchOutcome, BatchWatcher, run};
#[cfg(unix)]
pub use slugs::slugs;
