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
use metalens_text::{shown, shown_lines, shown_message};
use metalens_trace::Problem;

use crate::out;

const FAILED: u8 = 1;
const USAGE: u8 = 2;
const UNAVAILABLE: u8 = 3;
const UNUSABLE: u8 = 4;
const MISSED: u8 = 5;
const NOT_COMPARABLE: u8 = 6;
const INTERRUPTED: u8 = 130;

/// What this machine, or this version, cannot do; the message says what would.
#[derive(Debug)]
pub(crate) struct Unavailable(pub(crate) &'static str);

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Unavailable {}

/// What cannot be asked for; the message says what can.
#[derive(Debug)]
pub(crate) struct Misuse(pub(crate) String);

impl std::fmt::Display for Misuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

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
    let style = crate::screen::style::ERROR;
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
    (format!("{error:#}"), hint(error))
}

/// The error and what to do about it, on stderr.
pub(crate) fn tell(error: &anyhow::Error) {
    let (why, hint) = words(error);
    let style = crate::screen::style::ERROR;
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
        let style = crate::screen::style::HINT;
        out::note(&format!("{style}hint:{style:#} {}", shown_message(&hint)));
    }
}

fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(error) = error.downcast_ref::<metalens_analyzer::Error>() {
        return error.hint();
    }
    if error.is::<NotComparable>() {
        let hint = "record both alike; or --force compares them nevertheless, and the comparison \
                    says so";
        return Some(hint.to_owned());
    }
    if let Some(error) = error.downcast_ref::<metalens_dataset::Error>() {
        return error.hint().map(str::to_owned);
    }
    if let Some(error) = xctrace_error(error) {
        return xctrace_hint(error);
    }
    if let Some(error) = error.downcast_ref::<metalens_exporter::Error>() {
        return error.hint().map(str::to_owned);
    }
    if let Some(error) = error.downcast_ref::<metalens_workload::Error>() {
        return error.hint();
    }
    match error.downcast_ref() {
        Some(metalens_simulator::Error::NotEmpty { .. }) => {
            return Some("--force writes into it".to_owned());
        }
        Some(metalens_simulator::Error::NotOurs { .. }) => {
            return Some("name another: a recording is never overwritten".to_owned());
        }
        _ => {}
    }
    match error.downcast_ref() {
        Some(metalens_recorder::Error::NotStarted { .. }) => {
            return Some("metalens doctor looks for what may be in the way".to_owned());
        }
        Some(metalens_recorder::Error::NotWhole { .. }) => {
            return Some("record again: what was not saved cannot be saved afterwards".to_owned());
        }
        _ => {}
    }
    error.downcast_ref::<metalens_trace::Error>()?.hint()
}

fn code_of(error: &anyhow::Error) -> u8 {
    if error.is::<Unavailable>() {
        return UNAVAILABLE;
    }
    if error.is::<NotComparable>() {
        return NOT_COMPARABLE;
    }
    if let Some(error) = xctrace_error(error) {
        return code_of_xctrace(error);
    }
    if let Some(error) = error.downcast_ref() {
        return code_of_recording(error);
    }
    if error.is::<Misuse>() {
        return USAGE;
    }
    if let Some(error) = error.downcast_ref::<metalens_workload::Error>() {
        return match () {
            () if error.is_usage() => USAGE,
            () if error.is_unavailable() => UNAVAILABLE,
            () => FAILED,
        };
    }
    match error.downcast_ref() {
        Some(metalens_github::Error::NoTool { .. }) => return UNAVAILABLE,
        Some(metalens_github::Error::Address(_)) => return USAGE,
        _ => {}
    }
    match error.downcast_ref() {
        Some(metalens_exporter::Error::Interrupted { .. }) => return INTERRUPTED,
        Some(metalens_exporter::Error::NotExportable { .. }) => return UNUSABLE,
        _ => {}
    }
    if error
        .downcast_ref::<metalens_analyzer::Error>()
        .is_some_and(is_unusable)
    {
        return UNUSABLE;
    }
    let trace_error = error.downcast_ref::<metalens_trace::Error>();
    match trace_error.is_some_and(|error| error.problem().is_unusable_input()) {
        true => UNUSABLE,
        false => FAILED,
    }
}

/// What went wrong with Apple's tool, whoever used it.
fn xctrace_error(error: &anyhow::Error) -> Option<&metalens_xctrace::Error> {
    if let Some(metalens_exporter::Error::Xctrace(error)) = error.downcast_ref() {
        return Some(error);
    }
    match error.downcast_ref() {
        Some(metalens_recorder::Error::Xctrace(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

fn xctrace_hint(error: &metalens_xctrace::Error) -> Option<String> {
    use metalens_xctrace::{Error, Feature};
    let hint = match error {
        Error::NoMac | Error::NoXcode { .. } => {
            "a .trace bundle that is there needs no export: metalens reads it itself, on any machine \
             (`metalens analyze X.trace`)"
        }
        Error::TooOld {
            feature: Feature::ExportOfAPart,
            ..
        } => {
            "leave --from and --to out here, and give them to the command that reads the export \
             (`metalens analyze --from T --to T`)"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn code_of_xctrace(error: &metalens_xctrace::Error) -> u8 {
    use metalens_xctrace::Error;
    match error {
        Error::NoMac
        | Error::NoXcode { .. }
        | Error::NoSuchTool { .. }
        | Error::CannotStart { .. }
        | Error::TooOld { .. } => UNAVAILABLE,
        Error::Request(_) => USAGE,
        Error::Unexpected { .. } | Error::Follow(_) => FAILED,
    }
}

fn code_of_recording(error: &metalens_recorder::Error) -> u8 {
    use metalens_recorder::Error;
    match error {
        Error::Xctrace(error) => code_of_xctrace(error),
        Error::NotWhole { .. } | Error::Empty { .. } => UNUSABLE,
        Error::Interrupted | Error::GaveUp { .. } => INTERRUPTED,
        _ => FAILED,
    }
}

/// A trace without the table that an analysis needs is as unusable as a broken one.
fn is_unusable(error: &metalens_analyzer::Error) -> bool {
    match error {
        metalens_analyzer::Error::Trace(error) => {
            let problem = error.problem();
            problem.is_unusable_input() || matches!(problem, Problem::NoSuchTable { .. })
        }
        metalens_analyzer::Error::WorkFile { .. } | metalens_analyzer::Error::Setting { .. } => {
            false
        }
        _ => true,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = match error.downcast_ref() {
        Some(metalens_workload::Error::Output(error)) => Some(error),
        _ => error.downcast_ref::<io::Error>(),
    };
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
