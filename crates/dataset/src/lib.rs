//! Many traces at once: Parquet files that any engine reads, and SQL over them.
//!
//! It reads and writes the files of datasets, and no others; it starts no process
//! and does not print. polars lives here and nowhere else.
//!
//! ```text
//! Analysis → tables (runs, intervals, gaps, kernels) → write  → DIR/<table>/device=…/date=…/run=…
//!                                                    → Library ← those files again
//!                                                        ↓ ask(SQL)
//!                                                      Answer → cells, CSV, JSON, Parquet
//! ```
//!
//! A table's columns, what they mean and how they are filled stand in one place,
//! [`describe`] tells them, and `docs/dataset.md` has them all.
//!
//! # What it costs, and why it is put together so
//!
//! polars is bought in parts: `polars-core`, `polars-lazy` and `polars-sql` for the
//! queries, the `parquet` crate for the files: 163 crates with what they need, 254 for all
//! of metalens. Measured in November 2026 on a virtual machine that others used too, so that
//! only CPU time means something: the release build of these parts, small
//! (`opt-level = "s"`) and in sixteen units each, takes about 7.5 minutes of it, that is some
//! four on two cores; the debug build of this crate's tests with all they need, polars
//! unoptimised, 6.9 minutes. The debug binary of the tests has 241 MB.
//!
//! Rejected:
//!
//! * **polars with `lazy` and `parquet`**: 285 crates, 16 minutes, 92 MB, with
//!   `object_store`, `reqwest`, `rustls` and `ring` in a tool that never leaves its machine,
//!   and C in `zstd-sys` and `lz4-sys`. What its lazy scan does for a query is done here by
//!   `scan.rs`: columns by projection, runs by partition, row groups by their bounds.
//! * **polars' own eager Parquet**: zstd and lz4 in C, for what `parquet` with snappy does alone.
//! * **SQL of our own over polars' expressions**: less code to build, and a language that
//!   nobody knows.
//! * **Link-time optimisation over all of it**: `lto = "thin"` was still at it after five
//!   and a half minutes of CPU time when it was stopped, more than compiling all of polars.
//!   What is hot in metalens lies within single crates, each one unit of code generation.
//!
//! Two things come along that cannot be left out: `polars-core` names `tokio` with its
//! feature `net`, of which nothing is called; `psm` and `blake3` assemble
//! a few lines with the C compiler that Rust links with, which `scripts/check-macos` leaves out.

mod answer;
mod cells;
mod error;
mod folder;
mod frame;
mod hive;
mod identity;
mod parquet_read;
mod parquet_write;
mod prune;
mod query;
mod scan;
mod sql;
mod tables;
mod words;
mod write;

pub use answer::{Answer, AnswerColumn, Cell};
pub use cells::Kind;
pub use error::{Error, Place, Result};
pub use folder::{is_dataset, run_names};
pub use query::Library;
pub use tables::{About, AboutTable, describe};
pub use write::{Choices, Written, write};

/// The form's name; its number rises when a column is removed or changes meaning.
pub const FORM: &str = "metalens.dataset/1";
