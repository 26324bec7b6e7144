//! Runs `metalens baseline`: saves several runs as one file to compare with, shows that file, or lists what
//! limits can be about.

use std::io::Write;

use anyhow::Context;
use metalens_analyzer::Report;
use metalens_comparison::{Baseline, BaselineError, LEAST_RUNS, Unit, metrics};
use metalens_render::baseline;
use metalens_text::columns::wrap;
use metalens_text::{in_json, shown};

use super::compare::read_baseline;
use crate::args::comparing::{
    BaselineArguments, BaselineCommand, BaselineSaveArguments, BaselineShowArguments,
};
use crate::exit::Misuse;
use crate::{out, view};

pub(crate) fn run(arguments: &BaselineArguments, quiet: bool) -> anyhow::Result<()> {
    match &arguments.command {
        BaselineCommand::Save(arguments) => save(arguments, quiet),
        BaselineCommand::Show(arguments) => show(arguments),
        BaselineCommand::Figures => figures(),
    }
}

/// Analyzes the runs, and writes their baseline.
fn save(arguments: &BaselineSaveArguments, quiet: bool) -> anyhow::Result<()> {
    let analyzing = arguments.analysis.analyzing()?;
    let stored = arguments.add.then(|| read_baseline(&arguments.output));
    let stored = stored.transpose()?;
    if stored.is_none() && arguments.runs.len() < LEAST_RUNS {
        let message = format!(
            "a baseline needs at least {LEAST_RUNS} runs, not {}",
            arguments.runs.len()
        );
        return Err(Misuse(message).into());
    }

    // Reading the runs may take long: refuse an existing file before it.
    let may_replace = arguments.force || arguments.add;
    metalens_files::refuse_existing(&arguments.output, may_replace)?;

    let runs = analyzing.runs(&arguments.runs, quiet)?;
    let reports: Vec<Report> = runs.iter().map(|run| run.report().clone()).collect();
    let baseline = match stored {
        Some(stored) => stored.with(&reports),
        None => Baseline::from_reports(&reports),
    };
    let baseline = baseline.map_err(refused)?;
    if let Some(doubt) = baseline.doubt() {
        let why = shown(&doubt.text).into_owned();
        anyhow::ensure!(
            arguments.allow_spread,
            "{why}: slower runs would hide behind this baseline; record it again, or save it with \
             --allow-spread"
        );
        out::note(&format!("warning: {why}"));
    }

    let text = baseline.text().context("cannot write the baseline")?;
    let text = in_json(&text);
    metalens_files::write_bytes(&arguments.output, may_replace, text.as_bytes())?;
    out::wrote(&arguments.output, quiet);
    Ok(())
}

/// Reports a run that was named twice as wrong usage.
fn refused(error: BaselineError) -> anyhow::Error {
    match error {
        BaselineError::Repeated(_) => Misuse(shown(&error.to_string()).into_owned()).into(),
        other => other.into(),
    }
}

/// Prints a baseline as text or JSON.
fn show(arguments: &BaselineShowArguments) -> anyhow::Result<()> {
    let baseline = read_baseline(&arguments.file)?;
    if arguments.json {
        out::json().write_all(baseline.text()?.as_bytes())?;
    } else {
        view::print(&baseline::document(&baseline), false)?;
    }
    Ok(())
}

/// Lists what limits can be about.
fn figures() -> anyhow::Result<()> {
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
         docs/gating.md explains them.",
    ];
    for paragraph in rest {
        writeln!(out, "\n{}", wrap(paragraph, width).join("\n"))?;
    }
    Ok(())
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
