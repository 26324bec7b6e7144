//! `metalens query`: becomes `metalens-query`, the program that has the SQL engine.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::args::query::QueryArguments;
use crate::exit::Unavailable;

const PROGRAM: &str = "metalens-query";
const ABSENT: &str = "`metalens query` needs the program metalens-query, which is neither beside \
                      metalens nor on PATH; to install it from a checkout of metalens: \
                      cargo install --path crates/query --locked";

pub(crate) fn run(arguments: &QueryArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let Some(program) = find() else {
        return Err(Unavailable(ABSENT).into());
    };
    let mut command = Command::new(&program);
    if quiet {
        command.arg("--quiet");
    }
    command.args(&arguments.arguments);

    become_program(command).with_context(|| format!("cannot start {}", program.display()))
}

/// Finds the program beside this one, then on PATH.
fn find() -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let beside = env::current_exe().ok();
    let beside = beside.as_deref().and_then(Path::parent).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();

    beside
        .into_iter()
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
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
