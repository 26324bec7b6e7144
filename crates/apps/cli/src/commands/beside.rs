//! Runs `metalens query` and `metalens mcp`: starts the program that has the SQL engine, and the one
//! that speaks the protocol of agents.

use std::io::Write;
use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::args::beside::BesideArguments;
use crate::exit::Unavailable;
use crate::out;

/// A program of its own behind a command.
pub(crate) struct Beside {
    name: &'static str,
    absent: &'static str,
}

/// The program behind `metalens query`.
pub(crate) const QUERY: Beside = Beside {
    name: "metalens-query",
    absent: "cannot find the program metalens-query beside metalens or on PATH; install it from a \
             checkout of metalens: cargo install --path crates/beside/query --locked",
};

/// The page that teaches an agent to profile, which needs no program of its own.
const SKILL: &str = include_str!("../../../../../skills/metalens/SKILL.md");

/// The program behind `metalens mcp`.
pub(crate) const MCP: Beside = Beside {
    name: "metalens-mcp",
    absent: "cannot find the program metalens-mcp beside metalens or on PATH; install it from a \
             checkout of metalens: cargo install --path crates/beside/mcp --locked",
};

pub(crate) fn run(
    beside: &Beside,
    arguments: &BesideArguments,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    let Some(program) = metalens_files::find_program(beside.name) else {
        if beside.name == MCP.name && arguments.arguments == ["--skill"] {
            out::data().write_all(SKILL.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        return Err(Unavailable(beside.absent).into());
    };

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
