//! Runs `metalens-workload`, the bundled Metal workloads as a program of its own.
#![expect(
    clippy::disallowed_methods,
    reason = "the standard streams are opened here, each with a writer that escapes control characters"
)]

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use metalens_failure::{Failure, FailureKind, in_plain_words};
use metalens_text::streams::is_on_runner;
use metalens_text::{SafeWriter, UntilClosed, shown_message};
use metalens_workload::Error;
use metalens_workload::command::{Command, execute};

/// Runs Metal workloads of known size, to try out and verify a profiler
#[derive(Debug, Parser)]
#[command(name = "metalens-workload", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = SafeWriter::page(UntilClosed::new(io::stdout().lock())).on_runner(is_on_runner());
    match execute(&arguments.command, &mut out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Prints a failure and returns its exit code, the same as that of `metalens`.
fn failed(error: &Error) -> ExitCode {
    let mut err = SafeWriter::page(io::stderr().lock());
    // If stderr cannot be written either, there is nobody left to tell.
    let _ = writeln!(
        err,
        "error: {}",
        shown_message(&in_plain_words(&error.to_string()))
    );
    if let Some(hint) = error.hint() {
        let _ = writeln!(err, "hint: {}", shown_message(&hint));
    }

    ExitCode::from(match error.kind() {
        FailureKind::Misuse => 2,
        FailureKind::Unavailable => 3,
        _ => 1,
    })
}
