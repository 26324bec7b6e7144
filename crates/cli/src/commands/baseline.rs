//! `metalens baseline`: several runs as one file to compare with.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use metalens_analyzer::Report;
use metalens_comparison::{Baseline, LEAST_RUNS};

use super::compare::{Reading, read_baseline};
use crate::args::comparing::{
    BaselineArguments, BaselineCommand, BaselineSaveArguments, BaselineShowArguments,
};
use crate::exit::Misuse;
use crate::screen::comparison::baseline;
use crate::whole;

pub(crate) fn run(arguments: &BaselineArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        BaselineCommand::Save(arguments) => save(arguments, quiet),
        BaselineCommand::Show(arguments) => show(arguments),
    }
}

fn save(arguments: &BaselineSaveArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    super::check_times(arguments.part.from, arguments.part.to)?;
    if arguments.runs.len() < LEAST_RUNS {
        let said = format!(
            "a baseline needs {LEAST_RUNS} runs or more, not {}: fewer have no range to speak of",
            arguments.runs.len()
        );
        return Err(Misuse(said).into());
    }
    whole::refuse_existing(&arguments.output, arguments.force)?;
    let reading = Reading {
        part: &arguments.part,
        measure: &arguments.measure,
        reading: arguments.reading,
        settings: super::settings(&arguments.measure)?,
        quiet,
    };
    let loaded = reading.all(&arguments.runs)?;
    let reports: Vec<Report> = loaded.iter().map(|one| one.report().clone()).collect();
    let baseline = Baseline::of(&reports)?;
    let text = baseline.text().context("cannot write the baseline")?;
    whole::write(&arguments.output, arguments.force, |out| {
        Ok(out.write_all(text.as_bytes())?)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn show(arguments: &BaselineShowArguments) -> anyhow::Result<ExitCode> {
    let found = read_baseline(&arguments.file)?;
    let mut out = anstream::stdout().lock();
    match arguments.json {
        true => out.write_all(found.text()?.as_bytes())?,
        false => out.write_all(baseline::render(&found).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
