//! `metalens-workload`: the bundled Metal program, by itself.
#![expect(
    clippy::disallowed_methods,
    reason = "the standard streams are opened here, and each has its door"
)]

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use metalens_failure::{Failure, FailureKind};
use metalens_text::{SafeWriter, shown_message};
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
    let mut out = SafeWriter::page(io::stdout().lock());
    match execute(&arguments.command, &mut out) {
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
    let mut err = SafeWriter::page(io::stderr().lock());
    // Nothing is left to be done if even this cannot be written.
    let _ = writeln!(err, "error: {}", shown_message(&error.to_string()));
    if let Some(hint) = error.hint() {
        let _ = writeln!(err, "hint: {}", shown_message(&hint));
    }
    ExitCode::from(match error.kind() {
        FailureKind::Misuse => 2,
        FailureKind::Unavailable => 3,
        _ => 1,
    })
}
