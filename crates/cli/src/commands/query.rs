//! `metalens query`: becomes `metalens-query`, the program that has the SQL engine.

use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::args::query::QueryArguments;
use crate::exit::NotRecorded;

const ABSENT: &str = "`metalens query` needs the program metalens-query, which is neither beside \
                      metalens nor on PATH; to install it from a checkout of metalens: \
                      cargo install --path crates/query --locked";

pub(crate) fn run(arguments: &QueryArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let Some(program) = metalens_files::find_program("metalens-query") else {
        return Err(NotRecorded(ABSENT).into());
    };
    let mut command = Command::new(&program);
    if quiet {
        command.arg("--quiet");
    }
    command.args(&arguments.arguments);

    become_program(command).with_context(|| format!("cannot start {}", program.display()))
}

/// Replaces this process, so that signals, standard streams and the exit code are the program's.
#[cfg(unix)]
fn become_program(mut command: Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Runs the program and passes its exit code on.
#[cfg(not(unix))]
fn become_program(mut command: Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code();
    let code = code.and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
