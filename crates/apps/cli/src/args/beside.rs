//! Arguments of `metalens query`, which is a program of its own.

use std::ffi::OsString;

use clap::Args;

/// Arguments that the program gets unchanged, `--help` included.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct BesideArguments {
    /// Arguments of the program, which --help prints
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub(crate) arguments: Vec<OsString>,
}
