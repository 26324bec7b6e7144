//! Starts the `metalens` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    metalens_cli::main()
}
