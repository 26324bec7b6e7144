//! Runs `metalens stacks`: draws or prints the CPU samples of a recording as stacks.

mod collected;

use std::io::Write;
use std::path::Path;

use metalens_analyzer::{Request, WeightUnit};
use metalens_flamegraph::svg;
use metalens_text::shown;

use self::collected::Collected;
use crate::args::StacksArguments;
use crate::args::requests::check_times;
use crate::exit::Misuse;
use crate::out;
use crate::view::format_of_file;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StacksFormat {
    /// A line per stack, for other tools.
    Folded,
    /// Flame graph.
    Svg,
}

pub(crate) fn run(arguments: &StacksArguments, quiet: bool) -> anyhow::Result<()> {
    check_times(arguments.from, arguments.to)?;
    let request = Request {
        processes: arguments.processes.clone(),
        from_ns: arguments.from,
        to_ns: arguments.to,
        ..Request::default()
    };

    // Reading the input may take long: check all other arguments before it.
    let format = format(arguments.output.as_deref())?;
    if let Some(file) = &arguments.output {
        metalens_files::refuse_existing(file, arguments.force)?;
    }

    let collected = Collected::read(arguments, &request, quiet)?;
    if !quiet {
        notes(&collected, format)?;
    }
    let text = match format {
        StacksFormat::Folded => collected.stacks.to_string().into_bytes(),
        StacksFormat::Svg => svg(&collected.stacks, &collected.heading)?,
    };
    match &arguments.output {
        Some(file) => Ok(metalens_files::write_bytes(file, arguments.force, &text)?),
        None => Ok(out::data().write_all(&text)?),
    }
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

/// Returns the format that the file's extension names; standard output gets lines.
fn format(output: Option<&Path>) -> Result<StacksFormat, Misuse> {
    use StacksFormat::{Folded, Svg};

    let endings = [("svg", Svg), ("folded", Folded), ("txt", Folded)];
    let of_file = |file| format_of_file(file, None, &endings, ".svg, .folded or .txt");
    output.map_or(Ok(Folded), of_file)
}

fn unit(unit: WeightUnit) -> &'static str {
    match unit {
        WeightUnit::Ns => "nanoseconds of sampled time",
        WeightUnit::Cycles => "CPU cycles",
        WeightUnit::Samples => "counts of samples",
    }
}
