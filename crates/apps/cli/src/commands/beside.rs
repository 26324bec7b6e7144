//! Runs `metalens query`: starts the program that has the SQL engine.

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

    become_program(command).with_context(|| format!("cannot start {}", program.display()))
}

/// Replaces this process, so that the program gets signals and standard streams, and sets the
/// exit code.
#[cfg(unix)]
fn become_program(mut command: Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Runs the program and returns its exit code.
#[cfg(not(unix))]
fn become_program(mut command: Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code();
    let code = code.and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
