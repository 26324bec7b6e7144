//! Prints errors, and turns results into exit codes.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | success |
//! | 1 | something failed |
//! | 2 | wrong usage |
//! | 3 | this machine cannot do it |
//! | 4 | the recording is unusable, or has no rows for the process |
//! | 5 | a gate failed, an experiment was not as expected, or a cell of an
//! export differs |
//! | 6 | the two sides of a comparison are not comparable, or a gate is inconclusive |
//! | 125 | a benchmark that ends when it is decided decided nothing |
//! | 130 | interrupted: each output is complete or absent |

use std::io;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use metalens_comparison::GateResult;
use metalens_failure::{Failure, FailureKind, OtherNames, in_plain_words, what_to_do};
use metalens_render::gate;
use metalens_render::terminal::style::{ERROR, HINT};
use metalens_text::{shown, shown_lines, shown_message};

use crate::out;

const FAILED: u8 = 1;
const USAGE: u8 = 2;
const UNAVAILABLE: u8 = 3;
const UNUSABLE: u8 = 4;
const MISSED: u8 = 5;
const NOT_COMPARABLE: u8 = 6;
const UNDECIDED: u8 = 125;
const INTERRUPTED: u8 = 130;

/// The error of a command that the user stopped before it had a result; the message says so.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Interrupted(pub(crate) &'static str);

impl Failure for Interrupted {
    fn kind(&self) -> FailureKind {
        FailureKind::Interrupted
    }
}

/// The error of a command that this machine, or this build, cannot run; the message says what
/// would.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unavailable(pub(crate) &'static str);

impl Failure for Unavailable {
    fn kind(&self) -> FailureKind {
        FailureKind::Unavailable
    }
}

/// The error of arguments that make no sense together; the message says which to use.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(pub(crate) String);

impl Failure for Misuse {
    fn kind(&self) -> FailureKind {
        FailureKind::Misuse
    }
}

/// The error of a recording that is whole, of a program that failed; the message says how it ended.
#[derive(Debug, thiserror::Error)]
#[error("{0}; the recording is kept")]
pub(crate) struct ProgramFailed(pub(crate) String);

impl Failure for ProgramFailed {
    fn hint(&self) -> Option<String> {
        Some("with --ignore-failure this is a note, and the exit code is 0".to_owned())
    }
}

/// Prints clap's message and returns its exit code. Help and version are not failures.
pub(crate) fn print_usage(error: &clap::Error) -> ExitCode {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help || !error.use_stderr() {
        // There is nowhere else to report that this cannot be written.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE));
    }

    // The message quotes arguments, and the name of a file may have line breaks.
    let message = with_better_tip(error);
    let message =
        if std::env::args_os().any(|argument| argument.as_encoded_bytes().contains(&b'\n')) {
            shown_message(&message)
        } else {
            shown_lines(message.trim_end())
        };

    let style = ERROR;
    match message.strip_prefix("error:") {
        Some(rest) => out::note(&format!("{style}error:{style:#}{rest}")),
        None => out::note(&message),
    }
    ExitCode::from(USAGE)
}

/// Words that people try, and what they look for.
const MEANT: [(&[&str], &str); 10] = [
    (
        &["open", "view", "serve", "dashboard", "gui"],
        "`metalens analyze INPUT --open` opens the page of a recording",
    ),
    (
        &["show", "summary", "inspect", "info", "import"],
        "`metalens analyze INPUT` shows a recording",
    ),
    (
        &["timeline", "plot", "graph", "draw"],
        "`metalens chart INPUT` draws a recording as a picture",
    ),
    (
        &["predict", "simulate", "replay"],
        "`metalens what-if INPUT` predicts what a change would leave",
    ),
    (
        &["trace", "watch", "run"],
        "`metalens record PROGRAM` records a program",
    ),
    (
        &["ci", "check", "gate"],
        "`metalens compare BASE NEW --gate` fails if a limit is not kept",
    ),
    (
        &["list", "ls"],
        "`metalens tables INPUT` lists the tables of a recording",
    ),
    (&["version"], "`metalens --version` prints it"),
    (
        &["--csv"],
        "`--section NAME --format csv` prints a table as CSV",
    ),
    (&["json"], "`--json` prints JSON"),
];

/// Returns clap's message, with a tip of [`MEANT`] in the place of its own if there is one.
fn with_better_tip(error: &clap::Error) -> String {
    let kinds = [
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidArg,
        ContextKind::InvalidValue,
    ];
    let words = kinds.iter().filter_map(|kind| error.get(*kind));
    let meant = words.filter_map(|word| match word {
        ContextValue::String(word) => {
            let mut known = MEANT.iter();
            known.find(|(tried, _)| tried.contains(&word.as_str()))
        }
        _ => None,
    });
    let message = error.render().to_string();
    let Some(tip) = meant.map(|(_, tip)| *tip).next() else {
        return message;
    };
    let kept = message.lines().filter(|line| !line.starts_with("  tip: "));
    let kept = kept
        .collect::<Vec<&str>>()
        .join("\n")
        .replace("\n\n\n", "\n\n");
    format!("{}\nhint: {tip}", kept.trim_end())
}

/// Returns the exit code of a result, and prints its error.
pub(crate) fn code(result: anyhow::Result<ExitCode>) -> ExitCode {
    let error = match result {
        Ok(code) => return code,
        Err(error) => error,
    };
    print_error(&error);
    ExitCode::from(code_of(&error))
}

/// Returns the exit code of a command that decides something: what decides nothing has that with which `git bisect run`
/// skips a commit.
pub(crate) fn decided(code: ExitCode) -> ExitCode {
    if [ExitCode::SUCCESS, missed(), interrupted()].contains(&code) {
        return code;
    }
    ExitCode::from(UNDECIDED)
}

/// Returns the exit code for inputs of which some failed. The caller has printed each error.
pub(crate) fn some_failed() -> ExitCode {
    ExitCode::from(FAILED)
}

/// Returns the exit code for a machine that cannot do it. The caller has printed why.
pub(crate) fn unavailable() -> ExitCode {
    ExitCode::from(UNAVAILABLE)
}

/// Returns the exit code for a missed limit. The report says which one.
pub(crate) fn missed() -> ExitCode {
    ExitCode::from(MISSED)
}

/// Returns the exit code for a command that the user stopped. The caller has printed its results.
pub(crate) fn interrupted() -> ExitCode {
    ExitCode::from(INTERRUPTED)
}

/// Returns the message of an error, and its hint.
pub(crate) fn message_and_hint(
    error: &anyhow::Error,
    names: OtherNames,
) -> (String, Option<String>) {
    let (message, hint) = own_message_and_hint(error, names);
    let hint = hint.or_else(|| what_to_do(&message).map(str::to_owned));
    (in_plain_words(&message), hint)
}

/// Returns the message and the hint that an error itself has.
fn own_message_and_hint(error: &anyhow::Error, names: OtherNames) -> (String, Option<String>) {
    let failure = failure(error);
    let unnamed = match names {
        OtherNames::Shown => None,
        OtherNames::Hidden => failure.and_then(Failure::without_names),
    };
    let (Some(failure), Some(unnamed)) = (failure, unnamed) else {
        return (format!("{error:#}"), failure.and_then(Failure::hint));
    };

    // What was added to the error says where it happened, and stands before it.
    let named = failure.to_string();
    let reasons = error.chain().map(ToString::to_string);
    let added = reasons.take_while(|text| *text != named);
    let texts: Vec<String> = added.chain([unnamed.to_string()]).collect();
    (texts.join(": "), unnamed.hint())
}

/// Prints an error and its hint on stderr.
pub(crate) fn print_error(error: &anyhow::Error) {
    let (message, hint) = message_and_hint(error, out::names());
    let style = ERROR;

    // Code that writes a file adds its name, so an error without a name is of standard output.
    let place = match error.downcast_ref::<io::Error>() {
        Some(_) if error.chain().count() == 1 => "cannot write to standard output: ",
        _ => "",
    };

    out::note(&format!(
        "{style}error:{style:#} {place}{}",
        shown_message(&message)
    ));
    if let Some(hint) = hint {
        let style = HINT;
        out::note(&format!("{style}hint:{style:#} {}", shown_message(&hint)));
    }
}

/// Prints the limits and the verdicts of gates on stderr, as far as they are `told`, each with what it judged if
/// that has a name. Returns the exit code: one that fails counts more than an inconclusive one.
pub(crate) fn of_gates<'a>(
    gates: impl IntoIterator<Item = (Option<&'a str>, &'a GateResult)>,
    told: impl Fn(&GateResult) -> bool,
) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for (name, gate) in gates {
        if gate.missed && !gate.inconclusive {
            code = missed();
        } else if gate.missed && code == ExitCode::SUCCESS {
            code = ExitCode::from(NOT_COMPARABLE);
        }
        if !told(gate) {
            continue;
        }
        let name = name.map_or_else(String::new, |name| format!("{}: ", shown(name)));
        for line in gate::lines_of(gate) {
            out::note(&format!("{name}{}", shown(&line)));
        }
    }
    code
}

/// Views an error as a [`Failure`] if it is of one certain type.
type AsFailure = fn(&anyhow::Error) -> Option<&dyn Failure>;

/// Returns the error as a [`Failure`], if it is of a type that has a kind and a hint.
fn failure(error: &anyhow::Error) -> Option<&dyn Failure> {
    fn as_failure<E: Failure + Send + Sync + 'static>(
        error: &anyhow::Error,
    ) -> Option<&dyn Failure> {
        let error: &E = error.downcast_ref()?;
        Some(error)
    }

    const TYPES: &[AsFailure] = &[
        as_failure::<Interrupted>,
        as_failure::<Unavailable>,
        as_failure::<Misuse>,
        as_failure::<ProgramFailed>,
        as_failure::<metalens_analyzer::Error>,
        as_failure::<metalens_batch::Error>,
        as_failure::<metalens_bench::Error>,
        as_failure::<metalens_charts::ChartError>,
        as_failure::<metalens_dataset::Error>,
        as_failure::<metalens_exporter::Error>,
        as_failure::<metalens_github::Error>,
        as_failure::<metalens_inputs::Error>,
        as_failure::<metalens_recorder::Error>,
        #[cfg(feature = "simulate")]
        as_failure::<metalens_simulator::Error>,
        as_failure::<metalens_trace::Error>,
        as_failure::<metalens_workload::Error>,
        as_failure::<metalens_xctrace::Error>,
    ];
    TYPES.iter().find_map(|as_failure| as_failure(error))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The process is called like a word of the message, and like what was added to it.
    #[test]
    fn only_names_are_left_out() {
        let failed = || metalens_analyzer::Error::NoSamplesOfProcess {
            wanted: "recording".to_owned(),
            present: vec![("samples".to_owned(), Some(7))],
        };
        let check = |error: anyhow::Error| {
            let error = error.context("samples of run 1");
            let (message, hint) = message_and_hint(&error, OtherNames::Hidden);
            assert_eq!(
                message,
                "samples of run 1: recording has no CPU samples in this recording; sampled \
                 processes: other process 1 (pid 7)"
            );
            assert!(hint.is_some_and(|hint| hint.starts_with("perhaps")));

            let (message, _) = message_and_hint(&error, OtherNames::Shown);
            assert!(message.ends_with("sampled processes: samples (pid 7)"));
        };
        check(failed().into());
        check(metalens_inputs::Error::from(failed()).into());

        // An error that names nobody stays as it is.
        let error = anyhow::Error::new(Interrupted("stopped")).context("run 1");
        let (message, _) = message_and_hint(&error, OtherNames::Hidden);
        assert_eq!(message, "run 1: stopped");
    }
}
