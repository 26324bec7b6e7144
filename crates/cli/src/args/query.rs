//! The words of `metalens query`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ReadingArguments;

#[derive(Debug, Args)]
pub(crate) struct QueryArguments {
    /// What to ask, such as 'SELECT kernel, sum(total_ns) FROM kernels GROUP BY kernel'
    #[arg(required_unless_present = "schema", value_name = "SQL")]
    pub(crate) sql: Option<String>,
    /// Whom to ask: traces, as `analyze` reads them, and folders that `analyze --parquet` wrote
    #[arg(required_unless_present = "schema", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How to print what is found [default: by the ending of -o, else table]
    #[arg(long, value_enum)]
    pub(crate) format: Option<QueryFormat>,
    /// Write to a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite that file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Print at most so many rows of a table
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) rows: usize,
    /// Print the tables and their columns instead
    #[arg(long, conflicts_with_all = ["sql", "paths", "format", "output", "rows"])]
    pub(crate) schema: bool,
    /// Keep other processes' names in the tables of a trace, which leave them out
    #[arg(long)]
    pub(crate) show_names: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QueryFormat {
    /// Aligned columns, for people
    Table,
    /// Comma-separated values; null is empty, an empty text is ""
    Csv,
    /// An array of objects, one per line
    Json,
    /// A Parquet file; needs -o
    Parquet,
}
