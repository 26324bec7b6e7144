//! The words of `metalens query`.

use std::ffi::OsString;

use clap::Args;

/// Everything behind the word `query` belongs to `metalens-query`, `--help` included.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct QueryArguments {
    /// SQL, traces and datasets: see `metalens query --help`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub(crate) arguments: Vec<OsString>,
}
