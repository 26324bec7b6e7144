//! Parses the arguments of `xctrace record`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::lengths::Length;
use super::reader::{ArgumentReader, UsageError, set_once};
use crate::fake_xctrace::version::Build;

/// The arguments of `xctrace record`.
#[derive(Debug, Default)]
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
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::fake_xctrace) enum RecordTarget {
    #[default]
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

/// The options for a target that were given so far.
#[derive(Debug, Default)]
struct TargetOptions {
    all: bool,
    attach: Option<AttachTo>,
    launch: Option<Vec<OsString>>,
}

/// Parses the arguments of `record`.
pub(super) fn parse(mut words: ArgumentReader) -> Result<RecordOrder, UsageError> {
    let mut order = RecordOrder::default();
    let mut targets = TargetOptions::default();

    while let Some(option) = words.text()? {
        if !target_option(&option, &mut targets, &mut words)?
            && !old_option(&option, &mut order, &mut words)?
            && !newer_option(&option, &mut order, &mut words)?
        {
            return Err(UsageError::option(&option));
        }
    }

    order.target = targets.only()?;
    let is_launch = matches!(order.target, RecordTarget::Launch { .. });
    if is_launch || order.env.is_empty() {
        Ok(order)
    } else {
        Err(UsageError::new("--env is for --launch only"))
    }
}

/// Parses an option that names a target. Returns false for other options.
fn target_option(
    option: &str,
    targets: &mut TargetOptions,
    words: &mut ArgumentReader,
) -> Result<bool, UsageError> {
    match option {
        "--all-processes" => targets.all = true,
        // The option may be repeated, and the last one counts.
        "--attach" => {
            let text = words.text_value(option)?;
            targets.attach = Some(
                text.parse()
                    .map_or_else(|_| AttachTo::Name(text), AttachTo::Pid),
            );
        }
        "--launch" => targets.launch = Some(words.rest()),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Parses an option that all versions have. Returns false for other options.
fn old_option(
    option: &str,
    order: &mut RecordOrder,
    words: &mut ArgumentReader,
) -> Result<bool, UsageError> {
    words.require_build(option, Build::XCODE_12)?;
    match option {
        "--output" => set_once(&mut order.output, option, words.value(option)?.into())?,
        "--template" => set_once(&mut order.template, option, words.value(option)?)?,
        "--time-limit" => set_once(&mut order.time_limit, option, length(option, words)?)?,
        "--target-stdin" => set_once(&mut order.target_stdin, option, words.value(option)?.into())?,
        "--target-stdout" => set_once(
            &mut order.target_stdout,
            option,
            words.value(option)?.into(),
        )?,
        "--env" => {
            let text = words.text_value(option)?;
            let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
            let (key, value) = pair.ok_or_else(|| UsageError(format!("Not KEY=VALUE: {text}")))?;
            order.env.push((key.to_owned(), value.to_owned()));
        }
        _ => return Ok(false),
    }

    Ok(true)
}

/// Parses an option that came with a later version. Returns false for other options.
fn newer_option(
    option: &str,
    order: &mut RecordOrder,
    words: &mut ArgumentReader,
) -> Result<bool, UsageError> {
    let first = match option {
        "--no-prompt" | "--window" => Build::XCODE_12_5,
        "--notify-tracing-started" | "--quiet" => Build::XCODE_13_3,
        "--instrument" => Build::XCODE_14,
        _ => return Ok(false),
    };
    words.require_build(option, first)?;

    match option {
        "--no-prompt" => order.no_prompt = true,
        "--quiet" => order.quiet = true,
        "--window" => set_once(&mut order.window, option, length(option, words)?)?,
        "--instrument" => order.instruments.push(words.text_value(option)?),
        "--notify-tracing-started" => {
            let name = words.text_value(option)?;
            set_once(&mut order.tracing_started, option, name)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn length(option: &str, words: &mut ArgumentReader) -> Result<Length, UsageError> {
    let text = words.text_value(option)?;
    Length::parse(&text).ok_or_else(|| UsageError(format!("Invalid value for {option}: {text}")))
}

impl TargetOptions {
    /// Returns the target if exactly one option was given.
    fn only(self) -> Result<RecordTarget, UsageError> {
        match (self.all, self.attach, self.launch) {
            (true, None, None) => Ok(RecordTarget::AllProcesses),
            (false, Some(attach_to), None) => Ok(RecordTarget::Attach(attach_to)),
            (false, None, Some(command)) => launched(command),
            _ => Err(UsageError::new(
                "Exactly one of --all-processes, --attach, --launch must be provided",
            )),
        }
    }
}

/// Parses the command to launch: `-- CMD ARGS…`, or `CMD -- ARGS…`, which users report to work too.
fn launched(command: Vec<OsString>) -> Result<RecordTarget, UsageError> {
    let mut command = command.into_iter().peekable();
    command.next_if(|word| word == "--");
    let program = command
        .next()
        .ok_or_else(|| UsageError::missing("--launch"))?;
    command.next_if(|word| word == "--");
    Ok(RecordTarget::Launch {
        program: program.into(),
        arguments: command.collect(),
    })
}
