//! The command line of `xctrace`, read as strictly as the version's own would.

mod lengths;
mod record;
mod words;

pub(super) use lengths::Length;
pub(super) use record::{RecordOrder, Subject, Whom};

use std::ffi::OsString;
use std::path::PathBuf;

use super::version::Build;
use words::Words;

/// What is asked for.
#[derive(Debug)]
pub(super) enum Request {
    Version,
    Help,
    List(Listing),
    Record(Box<RecordOrder>),
    Export(ExportOrder),
}

/// What `list` lists.
#[derive(Debug, Clone, Copy)]
pub(super) enum Listing {
    Templates,
    Devices,
    Instruments,
}

/// What `export` is to do.
#[derive(Debug)]
pub(super) struct ExportOrder {
    pub(super) input: PathBuf,
    pub(super) what: What,
    pub(super) output: Option<PathBuf>,
    /// Whether only a part of the recording is asked for, which the stand-in cannot cut.
    pub(super) in_part: bool,
}

/// What is exported.
#[derive(Debug)]
pub(super) enum What {
    Contents,
    XPath(String),
}

/// Why a command line is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Usage(pub(super) String);

impl Usage {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn option(option: &str) -> Self {
        Self(format!("Unrecognized option: {option}"))
    }

    fn missing(option: &str) -> Self {
        Self(format!("Missing value for option: {option}"))
    }

    fn twice(option: &str) -> Self {
        Self(format!("Option given more than once: {option}"))
    }
}

/// Reads the arguments that follow the tool's name.
pub(super) fn parse(arguments: Vec<OsString>, build: Build) -> Result<Request, Usage> {
    let mut words = Words::new(arguments, build);
    let mut command = words.text()?;
    if command.as_deref() == Some("--quiet") {
        words.since("--quiet", Build::XCODE_13_3)?;
        command = words.text()?;
    }
    match command.as_deref() {
        Some("version") => Ok(Request::Version),
        Some("help") => Ok(Request::Help),
        Some("list") => list(&mut words).map(Request::List),
        Some("record") => record::parse(words).map(|order| Request::Record(Box::new(order))),
        Some("export") => export(words).map(Request::Export),
        Some("import" | "remodel" | "symbolicate") => {
            Err(Usage::new("The stand-in has no such command"))
        }
        Some(other) => Err(Usage(format!("Unrecognized command: {other}"))),
        None => Err(Usage::new("No command provided")),
    }
}

fn list(words: &mut Words) -> Result<Listing, Usage> {
    match words.text()?.as_deref() {
        Some("templates") => Ok(Listing::Templates),
        Some("devices") => Ok(Listing::Devices),
        Some("instruments") => {
            words.since("instruments", Build::XCODE_14)?;
            Ok(Listing::Instruments)
        }
        other => Err(Usage(format!(
            "Nothing to list: {}",
            other.unwrap_or_default()
        ))),
    }
}

fn export(mut words: Words) -> Result<ExportOrder, Usage> {
    let (mut input, mut output, mut what) = (None, None, None);
    let (mut start, mut end, mut duration) = (false, false, false);
    while let Some(word) = words.word() {
        match word.to_string_lossy().as_ref() {
            "--input" => once(&mut input, "--input", words.value("--input")?.into())?,
            "--output" => once(&mut output, "--output", words.value("--output")?.into())?,
            "--toc" => once(&mut what, "--toc or --xpath", What::Contents)?,
            "--xpath" => {
                let xpath = What::XPath(words.text_value("--xpath")?);
                once(&mut what, "--toc or --xpath", xpath)?;
            }
            "--quiet" => words.since("--quiet", Build::XCODE_13_3)?,
            "--time-start" => start = time(&mut words, "--time-start")?,
            "--time-end" => end = time(&mut words, "--time-end")?,
            "--duration" => duration = time(&mut words, "--duration")?,
            "--har" => return Err(Usage::new("The stand-in records no HTTP traffic")),
            option if option.starts_with('-') => return Err(Usage::option(option)),
            file => {
                words.since(file, Build::XCODE_27)?;
                once(&mut input, "--input", word.into())?;
            }
        }
    }
    if end && duration {
        return Err(Usage::new("--time-end and --duration exclude each other"));
    }
    Ok(ExportOrder {
        input: input.ok_or_else(|| Usage::missing("--input"))?,
        what: what.ok_or_else(|| Usage::new("Neither --toc nor --xpath provided"))?,
        output,
        in_part: start || end || duration,
    })
}

/// A time, whose unit is obligatory.
fn time(words: &mut Words, option: &str) -> Result<bool, Usage> {
    words.since(option, Build::XCODE_27)?;
    let text = words.text_value(option)?;
    let unit = ["ns", "us", "ms", "s"].iter().find_map(|unit| {
        let number = text.strip_suffix(unit)?;
        number.parse::<f64>().ok()
    });
    unit.map(|_| true)
        .ok_or_else(|| Usage(format!("Invalid time for {option}: {text}")))
}

fn once<T>(place: &mut Option<T>, option: &str, value: T) -> Result<(), Usage> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Usage::twice(option)),
    }
}
