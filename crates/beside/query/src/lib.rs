//! Queries datasets with SQL: polars' own SQL over columns that are read and checked here.
//!
//! The library reads datasets. It writes no file, starts no process and does not print. The program
//! of the same name, in `main.rs`, does. No other crate links polars.
//!
//! ```text
//! SQL → statement (one SELECT, of the tables alone) ─┐
//!                                                    ├→ polars → Answer → table, CSV, JSON, Parquet
//! datasets → sources (files of whole runs) → scan ───┘
//! ```

mod answer;
mod cells;
mod damage;
mod error;
mod file_bytes;
mod library;
mod parquet_file;
mod scan;
mod source_run;
mod sources;
mod statement;

pub use answer::{Cell, QueryAnswer};
pub use error::{Error, Result};
pub use library::Library;
pub use parquet_file::is_reading;
pub use statement::check;
