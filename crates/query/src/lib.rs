//! Queries datasets with SQL: polars' own SQL over its own scan of Parquet files.
//!
//! The library reads datasets. It writes no file, starts no process and does not print. The program
//! of the same name, in `main.rs`, does. No other crate links polars.
//!
//! ```text
//! SQL → statement (one SELECT, of the tables alone) ─┐
//!                                                    ├→ polars → Answer → table, CSV, JSON, Parquet
//! datasets → sources (files of whole runs) ──────────┘
//!                    └→ fleet: the same work on several chips → a page of `metalens-render`
//! ```

mod answer;
mod error;
mod fleet;
mod library;
mod sources;
mod statement;

pub use answer::{Cell, QueryAnswer};
pub use error::{Error, Result};
pub use library::Library;
pub use sources::is_remote;
pub use statement::check;
