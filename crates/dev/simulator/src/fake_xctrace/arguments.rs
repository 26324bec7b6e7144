//! Parses the command line of `xctrace`, as strictly as the simulated version does.

mod lengths;
mod options;
mod record;

pub(super) use lengths::Length;
pub(super) use record::{AttachTo, RecordOrder, RecordTarget};

use std::ffi::OsString;
use std::path::PathBuf;

use super::version::Build;
use options::{FILE, KnownOption, Options, Takes, UsageError, missing, repeated};

/// A command with its arguments.
#[derive(Debug)]
pub(super) enum Command {
    Version,
    ListTemplates,
    Record(Box<RecordOrder>),
    Import(ImportOrder),
    Export(ExportOrder),
}

/// The arguments of `xctrace import`.
#[derive(Debug)]
pub(super) struct ImportOrder {
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
}

/// The arguments of `xctrace export`.
#[derive(Debug)]
pub(super) struct ExportOrder {
    pub(super) input: PathBuf,
    /// The tables to export. None exports the table of contents.
    pub(super) xpath: Option<String>,
    pub(super) output: Option<PathBuf>,
    /// True if only a part of the recording is requested. The fake `xctrace` exports all of it.
    pub(super) in_part: bool,
}

/// Parses the arguments after the tool's name.
pub(super) fn parse(arguments: Vec<OsString>, build: Build) -> Result<Command, UsageError> {
    let mut words = arguments.into_iter().peekable();
    words.next_if(|word| word == "--quiet" && build >= Build::XCODE_13_3);
    let command = words.next().unwrap_or_default();
    match command.to_string_lossy().as_ref() {
        "version" => Ok(Command::Version),
        "list" if words.next().is_some_and(|listed| listed == "templates") => {
            Ok(Command::ListTemplates)
        }
        "record" => Ok(Command::Record(Box::new(record::parse(words, build)?))),
        "export" => Ok(Command::Export(export(words, build)?)),
        "import" => Ok(Command::Import(import(words, build)?)),
        other => Err(UsageError(format!("Unrecognized command: {other}"))),
    }
}

const IMPORT: [KnownOption; 3] = [
    ("--input", Takes::Value, Build::XCODE_12),
    ("--output", Takes::Value, Build::XCODE_12),
    ("--template", Takes::Value, Build::XCODE_12),
];

/// Parses the arguments of `import`.
fn import(words: impl Iterator<Item = OsString>, build: Build) -> Result<ImportOrder, UsageError> {
    let mut given = Options::read(words, &IMPORT, build)?;
    let mut path = |option| given.value(option).ok_or_else(|| missing(option));
    Ok(ImportOrder {
        input: path("--input")?.into(),
        output: path("--output")?.into(),
    })
}

const EXPORT: [KnownOption; 9] = [
    (FILE, Takes::Nothing, Build::XCODE_27),
    ("--input", Takes::Value, Build::XCODE_12),
    ("--output", Takes::Value, Build::XCODE_12),
    ("--toc", Takes::Nothing, Build::XCODE_12),
    ("--xpath", Takes::Value, Build::XCODE_12),
    ("--quiet", Takes::Nothing, Build::XCODE_13_3),
    ("--time-start", Takes::Value, Build::XCODE_27),
    ("--time-end", Takes::Value, Build::XCODE_27),
    ("--duration", Takes::Value, Build::XCODE_27),
];

/// Parses the arguments of `export`.
fn export(words: impl Iterator<Item = OsString>, build: Build) -> Result<ExportOrder, UsageError> {
    let mut given = Options::read(words, &EXPORT, build)?;
    let xpath = given.text("--xpath");
    let why = match (given.has("--toc"), &xpath) {
        (true, Some(_)) => "--toc and --xpath exclude each other",
        (false, None) => "Neither --toc nor --xpath provided",
        _ if given.has("--time-end") && given.has("--duration") => {
            "--time-end and --duration exclude each other"
        }
        _ => "",
    };
    if !why.is_empty() {
        return Err(UsageError(why.to_owned()));
    }

    let mut in_part = false;
    for option in ["--time-start", "--time-end", "--duration"] {
        let time = given.text(option);
        in_part |= time.is_some();
        if let Some(text) = time.filter(|text| !is_time(text)) {
            return Err(UsageError(format!("Invalid time for {option}: {text}")));
        }
    }
    let input = match (given.value("--input"), given.value(FILE)) {
        (Some(_), Some(_)) => return Err(repeated("--input")),
        (input, file) => input.or(file).ok_or_else(|| missing("--input"))?,
    };
    Ok(ExportOrder {
        input: input.into(),
        xpath,
        output: given.value("--output").map(Into::into),
        in_part,
    })
}

fn is_time(text: &str) -> bool {
    let mut units = ["ns", "us", "ms", "s"].iter();
    units.any(|unit| {
        let number = text.strip_suffix(unit).map(str::parse::<f64>);
        number.is_some_and(|number| number.is_ok())
    })
}
