//! Runs `metalens stacks`: draws or prints the CPU samples or allocations of a recording as stacks, or
//! lists the functions and threads with the most weight.

mod collected;
mod top;
mod words;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use metalens_analyzer::{Request, StackLabels, WeightUnit, profile, profile_selection};
use metalens_flamegraph::{Heading, difference, difference_svg, speedscope, svg};
use metalens_render::json;
use metalens_text::shown;
use metalens_trace::{Input, LoadOptions};

use self::collected::Collected;
use crate::analyzing::is_standard;
use crate::args::requests::check_times;
use crate::args::{StacksArguments, StacksFormat};
use crate::exit::Misuse;
use crate::out;
use crate::progress;

pub(crate) fn run(arguments: &StacksArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    check_times(arguments.from, arguments.to)?;
    let request = Request {
        processes: arguments.processes.clone(),
        from_ns: arguments.from,
        to_ns: arguments.to,
        ..Request::default()
    };

    // Reading the input may take long: check all other arguments before it.
    let is_list = arguments.top || arguments.json;
    let format = if is_list {
        check_ending_of_list(arguments)?;
        None
    } else {
        Some(format(arguments)?)
    };
    check_base(arguments, format)?;
    if let Some(file) = &arguments.output {
        metalens_files::refuse_existing(file, arguments.force)?;
    }

    let text = match format {
        Some(format) => stacks(arguments, format, &request, quiet)?,
        None => list(arguments, &request, quiet)?,
    };
    match &arguments.output {
        Some(file) => {
            metalens_files::write_bytes(file, arguments.force, &text)?;
        }
        None if arguments.top => out::page().write_all(&text)?,
        None => out::data().write_all(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the stacks in their format.
fn stacks(
    arguments: &StacksArguments,
    format: StacksFormat,
    request: &Request,
    quiet: bool,
) -> anyhow::Result<Vec<u8>> {
    let labels = if arguments.ids {
        StackLabels::NamesAndIds
    } else {
        StackLabels::Names
    };
    let collect = |input: &Path| Collected::read(input, arguments, request, labels, quiet);
    let base = arguments.base.as_deref().map(collect).transpose();
    let base = base.context("--base")?;
    let new = collect(&arguments.input)?;

    if !quiet {
        notes(&new, base.as_ref(), format)?;
    }

    let heading = heading(&new, base.as_ref());
    Ok(match (format, base) {
        (StacksFormat::Folded, None) => new.stacks.to_string().into_bytes(),
        (StacksFormat::Svg, None) => svg(&new.stacks, &heading)?,
        (StacksFormat::Speedscope, _) => speedscope(&new.stacks, &new.name())?.into_bytes(),
        (_, Some(base)) if base.stacks.unit != new.stacks.unit => anyhow::bail!(
            "the weights of the base are {}, those of the input are {}",
            unit(base.stacks.unit),
            unit(new.stacks.unit)
        ),
        (StacksFormat::Folded, Some(base)) => difference(&base.stacks, &new.stacks)?.into_bytes(),
        (StacksFormat::Svg, Some(base)) => difference_svg(&base.stacks, &new.stacks, &heading)?,
    })
}

/// Returns the texts above the flame graph.
fn heading(new: &Collected, base: Option<&Collected>) -> Heading {
    match base {
        None => Heading {
            title: new.name(),
            subtitle: new.subtitle.clone(),
        },
        Some(_) => Heading {
            title: format!("{} vs. base", new.name()),
            subtitle: "red: larger share; blue: smaller share; white: the same".to_owned(),
        },
    }
}

/// Prints notes about the stacks, and about the unit of their weights.
fn notes(new: &Collected, base: Option<&Collected>, format: StacksFormat) -> std::io::Result<()> {
    let mut out = out::notes();
    for note in &new.notes {
        writeln!(out, "note: {}", shown(note))?;
    }
    if let Some(base) = base {
        for (side, collected) in [("base", base), ("new", new)] {
            writeln!(out, "note: {side}: {}", shown(&collected.subtitle))?;
        }
    }
    if format == StacksFormat::Folded {
        writeln!(out, "note: weights are {}", unit(new.stacks.unit))?;
    }
    Ok(())
}

/// Returns the lists of functions and threads, as text or JSON.
fn list(arguments: &StacksArguments, request: &Request, quiet: bool) -> anyhow::Result<Vec<u8>> {
    if arguments.idle {
        let names = StackLabels::Names;
        let collected = Collected::read(&arguments.input, arguments, request, names, quiet)?;
        return Ok(as_list(
            top::while_idle(&collected.stacks, &collected.notes),
            arguments,
        ));
    }
    let input = Input::open(&arguments.input)?;
    let load = |options: LoadOptions<'_>| input.load(&profile_selection(), options);
    let trace = progress::reading(arguments.reading.reading(), quiet, load)?;
    let facts = profile(&trace, request)?;

    if arguments.json {
        return Ok(json::document(&facts)?.into_bytes());
    }
    if !quiet {
        for note in &facts.notes {
            writeln!(out::notes(), "note: {}", shown(note))?;
        }
    }
    Ok(as_list(top::screen(&facts), arguments))
}

/// Returns the lists as they are printed; a file has no colors.
fn as_list(text: String, arguments: &StacksArguments) -> Vec<u8> {
    match arguments.output {
        Some(_) => anstream::adapter::strip_str(&text).to_string().into_bytes(),
        None => text.into_bytes(),
    }
}

/// Returns the format that was asked for, else the one of the file's extension.
fn format(arguments: &StacksArguments) -> Result<StacksFormat, Misuse> {
    let Some(file) = &arguments.output else {
        return Ok(arguments.format.unwrap_or(StacksFormat::Folded));
    };
    match (arguments.format, format_of(file)) {
        (Some(asked), Some(ending)) if asked != ending => Err(Misuse(format!(
            "the extension of {} contradicts --format: change one of them",
            file.display()
        ))),
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => Err(Misuse(format!(
            "{} does not end in .svg, .speedscope.json, .folded or .txt: use --format",
            file.display()
        ))),
    }
}

/// Returns the format that the extension of a file names.
fn format_of(file: &Path) -> Option<StacksFormat> {
    let name = file.file_name()?.to_str()?.to_ascii_lowercase();
    let formats = [
        (".svg", StacksFormat::Svg),
        (".speedscope.json", StacksFormat::Speedscope),
        (".folded", StacksFormat::Folded),
        (".txt", StacksFormat::Folded),
    ];
    let format = formats.into_iter().find(|(end, _)| name.ends_with(end));
    format.map(|(_, format)| format)
}

/// Refuses a file for a list whose name promises stacks.
fn check_ending_of_list(arguments: &StacksArguments) -> Result<(), Misuse> {
    let (option, ending) = if arguments.json {
        ("--json", "json")
    } else {
        ("--top", "txt")
    };
    let other = arguments.output.as_ref().filter(|file| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        format_of(file) == Some(StacksFormat::Speedscope) || extension != Some(ending)
    });
    match other {
        Some(file) => Err(Misuse(format!(
            "{} does not end in .{ending}, which {option} writes",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Refuses a base that cannot be compared in this format.
fn check_base(arguments: &StacksArguments, format: Option<StacksFormat>) -> Result<(), Misuse> {
    match &arguments.base {
        Some(base) if is_standard(base) && is_standard(&arguments.input) => Err(Misuse(
            "standard input has only one recording: give a file for the other".to_owned(),
        )),
        Some(_) if format == Some(StacksFormat::Speedscope) => Err(Misuse(
            "speedscope shows no difference: with --base, write .svg or .folded".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn unit(unit: WeightUnit) -> &'static str {
    match unit {
        WeightUnit::Ns => "nanoseconds of sampled time",
        WeightUnit::Cycles => "CPU cycles",
        WeightUnit::Bytes => "allocated bytes",
        WeightUnit::Allocations => "numbers of allocations",
        WeightUnit::Samples => "counts of samples",
    }
}
