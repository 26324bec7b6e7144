//! Runs `metalens query`: starts the program that has the SQL engine.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::args::beside::BesideArguments;
use crate::exit::Unavailable;

/// The program behind `metalens query`.
const QUERY: &str = "metalens-query";

pub(crate) fn run(arguments: &BesideArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let program = metalens_files::find_program(QUERY).ok_or(Unavailable(
        "cannot find the program metalens-query beside metalens or on PATH; install it from a checkout of metalens: \
         cargo install --path crates/beside/query --locked",
    ))?;

    let mut command = Command::new(&program);
    if quiet {
        command.arg("--quiet");
    }
    command.args(&arguments.arguments);

    // It takes the place of this process, so that it gets signals and standard streams, and sets the exit code.
    let error = command.exec();
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}
