//! Exit codes, and how a failure is told.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | fine |
//! | 1 | something failed |
//! | 2 | bad usage |
//! | 3 | this machine cannot do it |
//! | 4 | the trace is unusable, or has no rows for the target |
//! | 5 | a target was missed, a limit of a gate, or a calibration did not find what was issued |
//! | 6 | the two sides of a comparison are not comparable |
//! | 130 | interrupted: outputs are whole, or not there |

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;
use metalens_failure::{Failure, FailureKind};
use metalens_render::terminal::style::{ERROR, HINT};
use metalens_text::{shown, shown_lines, shown_message};

use crate::out;

const FAILED: u8 = 1;
const USAGE: u8 = 2;
const UNAVAILABLE: u8 = 3;
const UNUSABLE: u8 = 4;
const MISSED: u8 = 5;
const NOT_COMPARABLE: u8 = 6;
const INTERRUPTED: u8 = 130;

/// The user stopped it before anything came of it; the message says so.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) &'static str);

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Interrupted {}

impl Failure for Interrupted {
    fn kind(&self) -> FailureKind {
        FailureKind::Interrupted
    }
}

/// What this machine, or this version, cannot do; the message says what would.
#[derive(Debug)]
pub(crate) struct NotRecorded(pub(crate) &'static str);

impl std::fmt::Display for NotRecorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NotRecorded {}

impl Failure for NotRecorded {
    fn kind(&self) -> FailureKind {
        FailureKind::Unavailable
    }
}

/// What cannot be asked for; the message says what can.
#[derive(Debug)]
pub(crate) struct Misuse(pub(crate) String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

impl Failure for Misuse {
    fn kind(&self) -> FailureKind {
        FailureKind::Misuse
    }
}

/// Sides that were recorded under different circumstances; the message says which.
#[derive(Debug)]
pub(crate) struct NotComparable(pub(crate) Vec<String>);

impl std::fmt::Display for NotComparable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "the sides are not comparable, so that a difference may not be the program's:",
        )?;
        for reason in &self.0 {
            write!(f, "\n- {}", shown(reason))?;
        }
        Ok(())
    }
}

impl std::error::Error for NotComparable {}

impl Failure for NotComparable {
    fn kind(&self) -> FailureKind {
        FailureKind::NotComparable
    }

    fn hint(&self) -> Option<String> {
        let hint = "record both alike; or --allow-different compares them nevertheless, and the comparison \
                    says so";
        Some(hint.to_owned())
    }
}

/// clap's own message: help and version are no failures.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help || !error.use_stderr() {
        // Nothing is left to be done if even this cannot be written.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
    }

    // It repeats arguments, and the names of files are among them.
    let said = error.render().to_string();
    let has_break = |argument: OsString| argument.as_encoded_bytes().contains(&b'\n');
    let said = match std::env::args_os().any(has_break) {
        true => shown_message(&said),
        false => shown_lines(said.trim_end()),
    };
    let style = ERROR;
    match said.strip_prefix("error:") {
        Some(rest) => out::note(&format!("{style}error:{style:#}{rest}")),
        None => out::note(&said),
    }
    ExitCode::from(USAGE)
}

/// Tells a failure on stderr and turns it into an exit code.
pub(crate) fn report(result: anyhow::Result<ExitCode>) -> ExitCode {
    let error = match result {
        Ok(code) => return code,
        Err(error) => error,
    };
    if is_broken_pipe(&error) {
        // `metalens … | head` has all it wanted.
        return ExitCode::SUCCESS;
    }
    tell(&error);
    ExitCode::from(code_of(&error))
}

/// Several inputs: some failed, and each was told.
pub(crate) fn some_failed() -> ExitCode {
    ExitCode::from(FAILED)
}

/// This machine cannot do it, and what would was told.
pub(crate) fn unavailable() -> ExitCode {
    ExitCode::from(UNAVAILABLE)
}

/// A target or a limit was missed; the report says which and by how much.
pub(crate) fn missed() -> ExitCode {
    ExitCode::from(MISSED)
}

/// The user stopped it, and was told what there is.
pub(crate) fn interrupted() -> ExitCode {
    ExitCode::from(INTERRUPTED)
}

/// An error and what to do about it, to be told later.
pub(crate) fn words(error: &anyhow::Error) -> (String, Option<String>) {
    (format!("{error:#}"), failure(error).and_then(Failure::hint))
}

/// The error and what to do about it, on stderr.
pub(crate) fn tell(error: &anyhow::Error) {
    let (why, hint) = words(error);
    let style = ERROR;
    // Whoever writes a file says which; what nobody named is what everybody writes to.
    let place = match error.downcast_ref::<io::Error>() {
        Some(_) if error.chain().count() == 1 => "cannot write to standard output: ",
        _ => "",
    };
    out::note(&format!(
        "{style}error:{style:#} {place}{}",
        shown_message(&why)
    ));
    if let Some(hint) = hint {
        let style = HINT;
        out::note(&format!("{style}hint:{style:#} {}", shown_message(&hint)));
    }
}

/// A look at an error as one of a type that says its kind and its hint.
type AsFailure = fn(&anyhow::Error) -> Option<&dyn Failure>;

/// Returns the error as one that says its kind and its hint, if it is of a type that does.
fn failure(error: &anyhow::Error) -> Option<&dyn Failure> {
    fn as_failure<E: Failure + Send + Sync + 'static>(
        error: &anyhow::Error,
    ) -> Option<&dyn Failure> {
        let error: &E = error.downcast_ref()?;
        Some(error)
    }

    const TYPES: [AsFailure; 14] = [
        as_failure::<Interrupted>,
        as_failure::<NotRecorded>,
        as_failure::<Misuse>,
        as_failure::<NotComparable>,
        as_failure::<metalens_analyzer::Error>,
        as_failure::<metalens_batch::Error>,
        as_failure::<metalens_dataset::Error>,
        as_failure::<metalens_exporter::Error>,
        as_failure::<metalens_github::Error>,
        as_failure::<metalens_recorder::Error>,
        as_failure::<metalens_simulator::Error>,
        as_failure::<metalens_trace::Error>,
        as_failure::<metalens_workload::Error>,
        as_failure::<metalens_xctrace::Error>,
    ];
    TYPES.iter().find_map(|of_type| of_type(error))
}

fn code_of(error: &anyhow::Error) -> u8 {
    match failure(error).map_or(FailureKind::Failed, Failure::kind) {
        FailureKind::Failed => FAILED,
        FailureKind::Misuse => USAGE,
        FailureKind::Unavailable => UNAVAILABLE,
        FailureKind::Unusable => UNUSABLE,
        FailureKind::NotComparable => NOT_COMPARABLE,
        FailureKind::Interrupted => INTERRUPTED,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = match error.downcast_ref() {
        Some(metalens_workload::Error::Output(error)) => Some(error),
        _ => error.downcast_ref::<io::Error>(),
    };
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
