//! `xctrace record`: what to record, how, and where to.

use std::ffi::OsString;
use std::path::PathBuf;

use super::words::Words;
use super::{Length, Usage, once};
use crate::stand_in::version::Build;

/// A recording that is asked for.
#[derive(Debug, Default)]
pub(in crate::stand_in) struct RecordOrder {
    pub(in crate::stand_in) output: Option<PathBuf>,
    pub(in crate::stand_in) append_run: bool,
    pub(in crate::stand_in) template: Option<OsString>,
    pub(in crate::stand_in) device: Option<String>,
    pub(in crate::stand_in) time_limit: Option<Length>,
    pub(in crate::stand_in) window: Option<Length>,
    pub(in crate::stand_in) subject: Subject,
    pub(in crate::stand_in) target_stdin: Option<PathBuf>,
    pub(in crate::stand_in) target_stdout: Option<PathBuf>,
    pub(in crate::stand_in) env: Vec<(String, String)>,
    pub(in crate::stand_in) instruments: Vec<String>,
    pub(in crate::stand_in) no_prompt: bool,
    pub(in crate::stand_in) recording_options: Option<PathBuf>,
    pub(in crate::stand_in) show_recording_options: bool,
    pub(in crate::stand_in) quiet: bool,
}

/// Who is recorded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::stand_in) enum Subject {
    #[default]
    AllProcesses,
    Attach(Whom),
    Launch {
        program: PathBuf,
        arguments: Vec<OsString>,
    },
}

/// Whom to attach to.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::stand_in) enum Whom {
    Pid(u32),
    Name(String),
}

/// Which of the three was asked for, so far.
#[derive(Debug, Default)]
struct Subjects {
    all: bool,
    attach: Option<Whom>,
    launch: Option<Vec<OsString>>,
}

pub(super) fn parse(mut words: Words) -> Result<RecordOrder, Usage> {
    let mut order = RecordOrder::default();
    let mut subjects = Subjects::default();
    while let Some(option) = words.text()? {
        if !subject(&option, &mut subjects, &mut words)?
            && !valued(&option, &mut order, &mut words)?
            && !later(&option, &mut order, &mut words)?
        {
            return Err(Usage::option(&option));
        }
    }
    order.subject = subjects.only()?;
    match (&order.subject, order.env.is_empty()) {
        (Subject::Launch { .. }, _) | (_, true) => Ok(order),
        (_, false) => Err(Usage::new("--env is for --launch only")),
    }
}

/// Options that say who is recorded.
fn subject(option: &str, subjects: &mut Subjects, words: &mut Words) -> Result<bool, Usage> {
    match option {
        "--all-processes" => subjects.all = true,
        // Several are taken, and the last one counts.
        "--attach" => {
            let whom = words.text_value(option)?;
            subjects.attach = Some(whom.parse().map_or_else(|_| Whom::Name(whom), Whom::Pid));
        }
        "--launch" => subjects.launch = Some(words.rest()),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Options that have always been there.
fn valued(option: &str, order: &mut RecordOrder, words: &mut Words) -> Result<bool, Usage> {
    words.since(option, Build::XCODE_12)?;
    match option {
        "--output" => once(&mut order.output, option, words.value(option)?.into())?,
        "--append-run" => order.append_run = true,
        "--template" => once(&mut order.template, option, words.value(option)?)?,
        "--device" => once(&mut order.device, option, words.text_value(option)?)?,
        "--time-limit" => once(&mut order.time_limit, option, length(option, words)?)?,
        "--target-stdin" => once(&mut order.target_stdin, option, words.value(option)?.into())?,
        "--target-stdout" => once(
            &mut order.target_stdout,
            option,
            words.value(option)?.into(),
        )?,
        "--env" => {
            let text = words.text_value(option)?;
            let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
            let (key, value) = pair.ok_or_else(|| Usage(format!("Not KEY=VALUE: {text}")))?;
            order.env.push((key.to_owned(), value.to_owned()));
        }
        // Whatever is in it, no table comes of it.
        "--package" => drop(words.value(option)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Options that came with later versions.
fn later(option: &str, order: &mut RecordOrder, words: &mut Words) -> Result<bool, Usage> {
    let first = match option {
        "--no-prompt" | "--window" => Build::XCODE_12_5,
        "--notify-tracing-started" | "--quiet" => Build::XCODE_13_3,
        "--instrument" => Build::XCODE_14,
        "--run-name" => Build::XCODE_26,
        "--recording-options" | "--show-recording-options" => Build::XCODE_27,
        _ => return Ok(false),
    };
    words.since(option, first)?;
    match option {
        "--no-prompt" => order.no_prompt = true,
        "--quiet" => order.quiet = true,
        "--window" => once(&mut order.window, option, length(option, words)?)?,
        "--instrument" => order.instruments.push(words.text_value(option)?),
        "--recording-options" => {
            let path = words.value(option)?.into();
            once(&mut order.recording_options, option, path)?;
        }
        "--show-recording-options" => order.show_recording_options = true,
        // A Darwin notification reaches nobody elsewhere, and bundles have no place for a name.
        _ => drop(words.value(option)?),
    }
    Ok(true)
}

fn length(option: &str, words: &mut Words) -> Result<Length, Usage> {
    let text = words.text_value(option)?;
    Length::of(&text).ok_or_else(|| Usage(format!("Invalid value for {option}: {text}")))
}

impl Subjects {
    /// Exactly one.
    fn only(self) -> Result<Subject, Usage> {
        match (self.all, self.attach, self.launch) {
            (true, None, None) => Ok(Subject::AllProcesses),
            (false, Some(whom), None) => Ok(Subject::Attach(whom)),
            (false, None, Some(command)) => launched(command),
            _ => Err(Usage::new(
                "Exactly one of --all-processes, --attach, --launch must be provided",
            )),
        }
    }
}

/// `-- CMD ARGS…`; `CMD -- ARGS…` has been seen to work too.
fn launched(command: Vec<OsString>) -> Result<Subject, Usage> {
    let mut command = command.into_iter().peekable();
    command.next_if(|word| word == "--");
    let program = command.next().ok_or_else(|| Usage::missing("--launch"))?;
    command.next_if(|word| word == "--");
    Ok(Subject::Launch {
        program: program.into(),
        arguments: command.collect(),
    })
}
