//! Writes the limits for a baseline, and lists what limits can be about.

use std::io::Write;
use std::process::ExitCode;

use metalens_comparison::{Unit, metrics, suggested_gate};
use metalens_render::terminal::wrap;

use super::compare::read_baseline;
use crate::args::comparing::BaselineLimitsArguments;
use crate::out;

/// Writes a settings file with limits for a baseline.
pub(super) fn write(arguments: &BaselineLimitsArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let baseline = read_baseline(&arguments.baseline)?;
    let text = suggested_gate(&baseline);
    match &arguments.output {
        Some(file) => {
            metalens_files::write_bytes(file, arguments.force, text.as_bytes())?;
            out::wrote(file, quiet);
        }
        None => out::data().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists what limits can be about.
pub(super) fn figures() -> anyhow::Result<ExitCode> {
    let width = out::text_width();
    let mut out = out::page();
    writeln!(out, "Figures, for [gate.metrics]:\n")?;
    let ids = metrics().map(|figure| figure.id.len());
    let longest = ids.max().unwrap_or(0);
    for figure in metrics() {
        let (id, name) = (figure.id, figure.name);
        writeln!(
            out,
            "  {id:<longest$}  {:<5}  {name}",
            unit_name(figure.unit)
        )?;
    }
    let rest = [
        "Kernels, for [gate.kernels]: their names, where * stands for any text, and of = \"total\", \
         \"median\" or \"instances\".",
        "Rules: max, min (absolute), grow, shrink (relative to base), range (above base's largest value). \
         Options: severity = \"error\" or \"warn\", optional = true; kernels only: of, share. \
         docs/gating.md explains them. `metalens baseline limits BASELINE` writes a file with all of a \
         baseline.",
    ];
    for paragraph in rest {
        writeln!(out, "\n{}", wrap(paragraph, width).join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the word for the values of a unit.
fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "time",
        Unit::Count => "count",
        Unit::Bytes => "bytes",
        Unit::Ratio => "share",
    }
}
