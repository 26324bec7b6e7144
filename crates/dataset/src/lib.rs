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
//! polars is bought in parts: `polars-core`, `polars-lazy` and `polars-plan`, without any
//! feature, run the queries; `sqlparser` reads them; the `parquet` crate reads and writes the
//! files. A clean release build of all metalens, measured in November 2026 on a virtual
//! machine with two cores, nothing else running:
//!
//! | | wall | CPU | program |
//! | --- | ---: | ---: | ---: |
//! | with `polars-sql`, small (`s`), sixteen units | 11 min 01 s | 19 min 05 s | 61.2 MB |
//! | with `polars-sql`, small, one unit | 9 min 02 s | 15 min 43 s | 67.5 MB |
//! | SQL translated here, small, sixteen units | 9 min 08 s | 16 min 11 s | 49.6 MB |
//! | the same, smallest (`z`), sixteen units, without LTO within crates | 6 min 25 s | 12 min 22 s | 52 MB |
//! | the same, one unit | 7 min 09 s | 13 min 53 s | 43.1 MB |
//! | the same, three other crates small, too (as it is now) | 6 min 56 s | 13 min 16 s | 41.1 MB |
//!
//! Without this crate the program had 16 MB. Most of the time goes into
//! `polars-core` (100 s), `sqlparser` (35 s), `polars-ops` (35 s), `polars-expr` (31 s) and
//! `polars-compute` (30 s). Starting is unharmed: `metalens --version` takes 3 ms.
//!
//! Rejected:
//!
//! * **polars with `lazy` and `parquet`**: 285 crates, 16 minutes, 92 MB, with
//!   `object_store`, `reqwest`, `rustls` and `ring` in a tool that never leaves its machine,
//!   and C in `zstd-sys` and `lz4-sys`. What its lazy scan does for a query is done here by
//!   `scan.rs`: columns by projection, runs by partition, row groups by their bounds.
//! * **polars' own eager Parquet**: zstd and lz4 in C, for what `parquet` with snappy does alone.
//! * **polars' own SQL**, `polars-sql`: half as much again to build and to carry, for types
//!   and functions that no table of ours has. `sql/mod.rs` says what is done instead.
//! * **Link-time optimisation over all of it**: `lto = "thin"` was still at it after five
//!   and a half minutes of CPU time when it was stopped, more than compiling all of polars.
//!   What is hot in metalens lies within single crates, each one unit of code generation.
//!
//! Two things come along that cannot be left out: `polars-core` names `tokio` with its
//! feature `net`, of which nothing is linked (the program imports neither `connect` nor
//! `getaddrinfo`); `psm` and `blake3` assemble
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
pub use sql::{AboutFunction, functions};
pub use tables::{About, AboutTable, describe};
pub use write::{Choices, Written, write};

/// The form's name; its number rises when a column is removed or changes meaning.
pub const FORM: &str = "metalens.dataset/1";
