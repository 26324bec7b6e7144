//! Arguments of `metalens query`.

use std::ffi::OsString;

use clap::Args;

/// Arguments that `metalens-query` gets unchanged, `--help` included.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct QueryArguments {
    /// SQL, recordings and datasets: see `metalens query --help`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub(crate) arguments: Vec<OsString>,
}
