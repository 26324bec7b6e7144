//! Defines the command line of `metalens-query`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

use crate::failure::Misuse;

/// Query recordings and datasets with SQL
#[derive(Debug, Parser)]
#[command(name = "metalens query", bin_name = "metalens query", version)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The query, such as 'SELECT kernel, sum(total_ns) FROM kernels GROUP BY kernel'
    #[arg(required_unless_present_any = ["schema", "completions"], value_name = "SQL")]
    sql: Option<OsString>,
    /// Recordings, as `analyze` reads them, and datasets: folders that `analyze --parquet` wrote
    #[arg(required_unless_present_any = ["schema", "completions"], value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,
    /// Output format [default: by the extension of -o, else table]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Write the answer to a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    /// Print at most this many rows of a table
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) rows: usize,
    /// Print the tables and their columns instead
    #[arg(long, conflicts_with_all = ["sql", "format", "output", "rows"])]
    pub(crate) schema: bool,
    /// Keep the names of other processes in the tables of a recording [default: leave them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Stop a query that needs more memory, such as 8GB [default: three quarters of this machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,
    /// Print nothing but the answer and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print the shell's completions for `metalens-query`
    #[arg(long, value_name = "SHELL", hide = true)]
    pub(crate) completions: Option<clap_complete::Shell>,
}

/// Format of the printed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, for people
    Table,
    /// Comma-separated values; null is empty, an empty text is ""; a text that a spreadsheet would run as a formula begins with '
    Csv,
    /// An array of objects, one per line
    Json,
    /// A Parquet file; needs -o
    Parquet,
}

impl Arguments {
    /// Returns the query; `None` if the user requests only a description of the program or tables.
    pub(crate) fn query(&self) -> Result<Option<&str>, Misuse> {
        let Some(sql) = &self.sql else {
            return Ok(None);
        };
        if Path::new(sql).exists() {
            return Err(Misuse(
                "the first argument is a file or a folder: give the SQL first, then the recordings",
            ));
        }
        let sql = sql.to_str().ok_or(Misuse("the query is not Unicode"))?;
        Ok(Some(sql))
    }
}

const AFTER_HELP: &str = "\
Examples:
  metalens query 'SELECT kernel, total_ns FROM kernels ORDER BY total_ns DESC' run.trace
  metalens query 'SELECT cause, sum(duration_ns) FROM gaps GROUP BY cause' fleet -o causes.csv
  metalens query --schema

The SQL is that of polars: https://docs.pola.rs/ lists its functions, and docs/dataset.md lists how it
differs from other databases. --schema lists the tables and their columns.

Exit codes: 0 success, 1 failure, 2 wrong query or usage, 3 this machine cannot read a recording,
4 a recording is unusable.";

/// Parses a number of bytes: `8GB`, `512MB`.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size: write 8GB or 512MB");
    let (number, unit) = text
        .strip_suffix("GB")
        .map(|number| (number, 1_000_000_000))
        .or_else(|| text.strip_suffix("MB").map(|number| (number, 1_000_000)))
        .ok_or_else(wrong)?;
    let number: u64 = number.trim_end().parse().map_err(|_| wrong())?;

    number
        .checked_mul(unit)
        .filter(|size| *size > 0)
        .ok_or_else(wrong)
}
