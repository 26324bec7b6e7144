//! Parses the command line of `xctrace`, as strictly as the simulated version does.

mod lengths;
mod reader;
mod record;

pub(super) use lengths::Length;
pub(super) use record::{AttachTo, RecordOrder, RecordTarget};

use std::ffi::OsString;
use std::path::PathBuf;

use super::version::Build;
use reader::{ArgumentReader, UsageError, set_once};

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
    pub(super) selection: ExportSelection,
    pub(super) output: Option<PathBuf>,
    /// True if only a part of the recording is requested. The fake `xctrace` exports all of it.
    pub(super) in_part: bool,
}

/// The part of a document to export.
#[derive(Debug)]
pub(super) enum ExportSelection {
    Contents,
    XPath(String),
}

/// Parses the arguments after the tool's name.
pub(super) fn parse(arguments: Vec<OsString>, build: Build) -> Result<Command, UsageError> {
    let mut words = ArgumentReader::new(arguments, build);
    let mut command = words.text()?;
    if command.as_deref() == Some("--quiet") {
        words.require_build("--quiet", Build::XCODE_13_3)?;
        command = words.text()?;
    }

    match command.as_deref() {
        Some("version") => Ok(Command::Version),
        Some("list") => list(&mut words),
        Some("record") => record::parse(words).map(|order| Command::Record(Box::new(order))),
        Some("export") => export(words).map(Command::Export),
        Some("import") => import(words).map(Command::Import),
        Some("remodel" | "symbolicate") => {
            Err(UsageError::new("The fake xctrace has no such command"))
        }
        Some(other) => Err(UsageError(format!("Unrecognized command: {other}"))),
        None => Err(UsageError::new("No command provided")),
    }
}

fn list(words: &mut ArgumentReader) -> Result<Command, UsageError> {
    match words.text()?.as_deref() {
        Some("templates") => Ok(Command::ListTemplates),
        other => Err(UsageError(format!(
            "Nothing to list: {}",
            other.unwrap_or_default()
        ))),
    }
}

/// Parses the arguments of `import`.
fn import(mut words: ArgumentReader) -> Result<ImportOrder, UsageError> {
    let (mut input, mut output, mut template) = (None, None, None);
    while let Some(option) = words.text()? {
        let value = match option.as_str() {
            "--input" => &mut input,
            "--output" => &mut output,
            "--template" => &mut template,
            _ => return Err(UsageError::option(&option)),
        };
        set_once(value, &option, PathBuf::from(words.value(&option)?))?;
    }

    Ok(ImportOrder {
        input: input.ok_or_else(|| UsageError::missing("--input"))?,
        output: output.ok_or_else(|| UsageError::missing("--output"))?,
    })
}

/// Parses the arguments of `export`.
fn export(mut words: ArgumentReader) -> Result<ExportOrder, UsageError> {
    let (mut input, mut output, mut selection) = (None, None, None);
    let (mut start, mut end, mut duration) = (false, false, false);
    while let Some(word) = words.word() {
        match word.to_string_lossy().as_ref() {
            "--input" => set_once(&mut input, "--input", words.value("--input")?.into())?,
            "--output" => set_once(&mut output, "--output", words.value("--output")?.into())?,
            "--toc" => set_once(
                &mut selection,
                "--toc or --xpath",
                ExportSelection::Contents,
            )?,
            "--xpath" => {
                let xpath = ExportSelection::XPath(words.text_value("--xpath")?);
                set_once(&mut selection, "--toc or --xpath", xpath)?;
            }
            "--quiet" => words.require_build("--quiet", Build::XCODE_13_3)?,
            "--time-start" => start = time(&mut words, "--time-start")?,
            "--time-end" => end = time(&mut words, "--time-end")?,
            "--duration" => duration = time(&mut words, "--duration")?,
            "--har" => {
                return Err(UsageError::new("The fake xctrace records no HTTP traffic"));
            }
            option if option.starts_with('-') => return Err(UsageError::option(option)),
            file => {
                words.require_build(file, Build::XCODE_27)?;
                set_once(&mut input, "--input", word.into())?;
            }
        }
    }

    if end && duration {
        return Err(UsageError::new(
            "--time-end and --duration exclude each other",
        ));
    }
    Ok(ExportOrder {
        input: input.ok_or_else(|| UsageError::missing("--input"))?,
        selection: selection
            .ok_or_else(|| UsageError::new("Neither --toc nor --xpath provided"))?,
        output,
        in_part: start || end || duration,
    })
}

/// Checks the value of an option, a time with a unit. Returns true, since the option is present.
fn time(words: &mut ArgumentReader, option: &str) -> Result<bool, UsageError> {
    words.require_build(option, Build::XCODE_27)?;
    let text = words.text_value(option)?;
    let number = ["ns", "us", "ms", "s"].iter().find_map(|unit| {
        let number = text.strip_suffix(unit)?;
        number.parse::<f64>().ok()
    });
    number
        .map(|_| true)
        .ok_or_else(|| UsageError(format!("Invalid time for {option}: {text}")))
}
