//! Parses the arguments of `xctrace record`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::lengths::Length;
use super::options::{KnownOption, Options, Takes, UsageError, missing};
use crate::fake_xctrace::version::Build;

/// The arguments of `xctrace record`.
#[derive(Debug)]
pub(in crate::fake_xctrace) struct RecordOrder {
    pub(in crate::fake_xctrace) output: Option<PathBuf>,
    pub(in crate::fake_xctrace) template: Option<OsString>,
    pub(in crate::fake_xctrace) time_limit: Option<Length>,
    pub(in crate::fake_xctrace) window: Option<Length>,
    pub(in crate::fake_xctrace) target: RecordTarget,
    pub(in crate::fake_xctrace) target_stdin: Option<PathBuf>,
    pub(in crate::fake_xctrace) target_stdout: Option<PathBuf>,
    pub(in crate::fake_xctrace) env: Vec<(String, String)>,
    pub(in crate::fake_xctrace) instruments: Vec<String>,
    pub(in crate::fake_xctrace) no_prompt: bool,
    pub(in crate::fake_xctrace) quiet: bool,
    pub(in crate::fake_xctrace) tracing_started: Option<String>,
}

/// The processes that a recording covers.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::fake_xctrace) enum RecordTarget {
    AllProcesses,
    Attach(AttachTo),
    Launch {
        program: PathBuf,
        arguments: Vec<OsString>,
    },
}

/// The process to attach to.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::fake_xctrace) enum AttachTo {
    Pid(u32),
    Name(String),
}

const OPTIONS: [KnownOption; 14] = [
    ("--all-processes", Takes::Nothing, Build::XCODE_12),
    ("--attach", Takes::Values, Build::XCODE_12),
    ("--launch", Takes::Rest, Build::XCODE_12),
    ("--output", Takes::Value, Build::XCODE_12),
    ("--template", Takes::Value, Build::XCODE_12),
    ("--time-limit", Takes::Value, Build::XCODE_12),
    ("--target-stdin", Takes::Value, Build::XCODE_12),
    ("--target-stdout", Takes::Value, Build::XCODE_12),
    ("--env", Takes::Values, Build::XCODE_12),
    ("--no-prompt", Takes::Nothing, Build::XCODE_12_5),
    ("--window", Takes::Value, Build::XCODE_12_5),
    ("--notify-tracing-started", Takes::Value, Build::XCODE_13_3),
    ("--quiet", Takes::Nothing, Build::XCODE_13_3),
    ("--instrument", Takes::Values, Build::XCODE_14),
];

/// Parses the arguments of `record`.
pub(super) fn parse(
    words: impl Iterator<Item = OsString>,
    build: Build,
) -> Result<RecordOrder, UsageError> {
    let mut given = Options::read(words, &OPTIONS, build)?;
    let target = target(&mut given)?;
    let env = given.texts("--env");
    if !env.is_empty() && !matches!(target, RecordTarget::Launch { .. }) {
        return Err(UsageError("--env is for --launch only".to_owned()));
    }

    Ok(RecordOrder {
        output: given.value("--output").map(Into::into),
        template: given.value("--template"),
        time_limit: length("--time-limit", &mut given)?,
        window: length("--window", &mut given)?,
        target,
        target_stdin: given.value("--target-stdin").map(Into::into),
        target_stdout: given.value("--target-stdout").map(Into::into),
        env: env
            .iter()
            .map(|text| pair(text))
            .collect::<Result<_, _>>()?,
        instruments: given.texts("--instrument"),
        no_prompt: given.has("--no-prompt"),
        quiet: given.has("--quiet"),
        tracing_started: given.text("--notify-tracing-started"),
    })
}

/// Returns the target if exactly one option names one.
fn target(given: &mut Options) -> Result<RecordTarget, UsageError> {
    let (all, launch) = (given.has("--all-processes"), given.has("--launch"));
    match (all, given.text("--attach"), launch) {
        (true, None, false) => Ok(RecordTarget::AllProcesses),
        (false, Some(text), false) => Ok(RecordTarget::Attach(
            text.parse()
                .map_or_else(|_| AttachTo::Name(text), AttachTo::Pid),
        )),
        (false, None, true) => launched(given.values("--launch")),
        _ => Err(UsageError(
            "Exactly one of --all-processes, --attach, --launch must be provided".to_owned(),
        )),
    }
}

/// Parses the command to launch: `-- CMD ARGS…`, or `CMD -- ARGS…`, which users report to work too.
fn launched(command: Vec<OsString>) -> Result<RecordTarget, UsageError> {
    let mut command = command.into_iter().peekable();
    command.next_if(|word| word == "--");
    let program = command.next().ok_or_else(|| missing("--launch"))?;
    command.next_if(|word| word == "--");
    Ok(RecordTarget::Launch {
        program: program.into(),
        arguments: command.collect(),
    })
}

fn length(option: &str, given: &mut Options) -> Result<Option<Length>, UsageError> {
    let parse = |text: String| {
        let wrong = || UsageError(format!("Invalid value for {option}: {text}"));
        Length::parse(&text).ok_or_else(wrong)
    };
    given.text(option).map(parse).transpose()
}

fn pair(text: &str) -> Result<(String, String), UsageError> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(UsageError(format!("Not KEY=VALUE: {text}"))),
    }
}
