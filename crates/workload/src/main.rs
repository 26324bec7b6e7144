//! `metalens-workload`: the bundled Metal program, by itself.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use metalens_workload::Error;
use metalens_workload::command::{Command, execute};

/// Metal work of known size, for trying out and calibrating a profiler
#[derive(Debug, Parser)]
#[command(name = "metalens-workload", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match execute(&arguments.command, &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Tells a failure; the codes are those of `metalens`.
fn failed(error: &Error) -> ExitCode {
    if let Error::Output(error) = error
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        // `… | head` has all it wanted.
        return ExitCode::SUCCESS;
    }
    let mut err = io::stderr().lock();
    // Nothing is left to be done if even this cannot be written.
    let _ = writeln!(err, "error: {error}");
    if let Some(hint) = error.hint() {
        let _ = writeln!(err, "hint: {hint}");
    }
    ExitCode::from(match error {
        error if error.is_usage() => 2,
        error if error.is_unavailable() => 3,
        _ => 1,
    })
}
