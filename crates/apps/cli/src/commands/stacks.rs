//! Runs `metalens stacks`: draws or prints the CPU samples of a recording as stacks.

mod collected;

use std::io::Write;
use std::path::PathBuf;

use metalens_analyzer::{Request, WeightUnit, profile, profile_selection};
use metalens_flamegraph::svg;
use metalens_render::json;
use metalens_text::shown;

use self::collected::Collected;
use crate::args::requests::check_times;
use crate::args::{StacksArguments, StacksFormat};
use crate::exit::Misuse;
use crate::out;
use crate::progress::LongWork;
use crate::view::format_of_file;

pub(crate) fn run(arguments: &StacksArguments, quiet: bool) -> anyhow::Result<()> {
    check_times(arguments.from, arguments.to)?;
    let request = Request {
        processes: arguments.processes.clone(),
        from_ns: arguments.from,
        to_ns: arguments.to,
        ..Request::default()
    };

    // Reading the input may take long: check all other arguments before it.
    let format = if arguments.json {
        check_ending_of_json(arguments)?;
        None
    } else {
        Some(format(arguments)?)
    };
    if let Some(file) = &arguments.output {
        metalens_files::refuse_existing(file, arguments.force)?;
    }

    let text = match format {
        Some(format) => stacks(arguments, format, &request, quiet)?,
        None => facts(arguments, &request, quiet)?,
    };
    match &arguments.output {
        Some(file) => Ok(metalens_files::write_bytes(file, arguments.force, &text)?),
        None => Ok(out::data().write_all(&text)?),
    }
}

/// Returns the stacks in their format.
fn stacks(
    arguments: &StacksArguments,
    format: StacksFormat,
    request: &Request,
    quiet: bool,
) -> anyhow::Result<Vec<u8>> {
    let collected = Collected::read(arguments, request, quiet)?;
    if !quiet {
        notes(&collected, format)?;
    }
    Ok(match format {
        StacksFormat::Folded => collected.stacks.to_string().into_bytes(),
        StacksFormat::Svg => svg(&collected.stacks, &collected.heading())?,
    })
}

/// Prints notes about the stacks, and about the unit of their weights.
fn notes(collected: &Collected, format: StacksFormat) -> std::io::Result<()> {
    let mut out = out::notes();
    for note in &collected.notes {
        writeln!(out, "note: {}", shown(note))?;
    }
    if format == StacksFormat::Folded {
        writeln!(out, "note: weights are {}", unit(collected.stacks.unit))?;
    }
    Ok(())
}

/// Returns the samples and more details as JSON.
fn facts(arguments: &StacksArguments, request: &Request, quiet: bool) -> anyhow::Result<Vec<u8>> {
    let (input, reading) = (&arguments.input, arguments.reading);
    let trace = LongWork::begin(quiet).load(input, &profile_selection(), reading)?;
    Ok(json::document(&profile(&trace, request)?)?.into_bytes())
}

/// Returns the format that was asked for, else the one of the file's extension.
fn format(arguments: &StacksArguments) -> Result<StacksFormat, Misuse> {
    use StacksFormat::{Folded, Svg};

    let Some(file) = &arguments.output else {
        return Ok(arguments.format.unwrap_or(Folded));
    };
    let endings = [("svg", Svg), ("folded", Folded), ("txt", Folded)];
    let help = ".svg, .folded or .txt: use --format";
    format_of_file(file, arguments.format, &endings, help)
}

/// Refuses a file for JSON whose name promises something else.
fn check_ending_of_json(arguments: &StacksArguments) -> Result<(), Misuse> {
    let is_other = |file: &&PathBuf| file.extension().is_none_or(|ending| ending != "json");
    match arguments.output.as_ref().filter(is_other) {
        Some(file) => Err(Misuse(format!(
            "{} does not end in .json, which --json writes",
            file.display()
        ))),
        None => Ok(()),
    }
}

fn unit(unit: WeightUnit) -> &'static str {
    match unit {
        WeightUnit::Ns => "nanoseconds of sampled time",
        WeightUnit::Cycles => "CPU cycles",
        WeightUnit::Samples => "counts of samples",
    }
}
