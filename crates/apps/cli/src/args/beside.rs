//! Arguments of `metalens query`, which is a program of its own.

use std::ffi::OsString;

use clap::Args;

/// The tests of the program run them.
const EXAMPLES: &str = "\
Examples:
  metalens query 'SELECT kernel, total_ns FROM kernels ORDER BY total_ns DESC' run.trace
  metalens query 'SELECT cause, sum(duration_ns) FROM gaps GROUP BY cause' fleet -o causes.csv
  metalens query --schema";

/// Arguments that the program gets unchanged, `--help` included.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = EXAMPLES)]
pub(crate) struct BesideArguments {
    /// Arguments of the program, which --help prints
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    pub(crate) arguments: Vec<OsString>,
}
