//! `metalens analyze`: one report per input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metalens_analyzer::{Analysis, Report, Request, Settings};

use crate::args::{AnalyzeArguments, ReadingArguments};
use crate::screen::report;
use crate::{exit, json, out, pages, report_folder, whole};

pub(crate) fn run(arguments: &AnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    super::check_times(arguments.part.from, arguments.part.to)?;
    let settings = super::settings(&arguments.measure)?;
    match arguments.inputs.as_slice() {
        [only] => {
            check_outputs(arguments)?;
            let analysis = one(only, arguments, settings, quiet)?;
            write_and_show(analysis, arguments)
        }
        several => run_several(several, arguments, &settings, quiet),
    }
}

/// The screen comes last: who sees it has the files.
fn write_and_show(
    mut analysis: Analysis,
    arguments: &AnalyzeArguments,
) -> anyhow::Result<ExitCode> {
    write_gaps(&analysis, arguments)?;
    write_perfetto(&analysis, arguments)?;
    write_html(&analysis, arguments)?;
    write_dataset(&analysis, arguments)?;
    let is_whole = write_folder(&mut analysis, arguments)?;
    let report = analysis.report;
    show(std::slice::from_ref(&report), arguments, false)?;
    match is_whole {
        true => Ok(verdict(arguments, [&report])),
        false => Ok(exit::some_failed()),
    }
}

/// A failed input does not stop the others; all that succeeded are shown.
fn run_several(
    inputs: &[PathBuf],
    arguments: &AnalyzeArguments,
    settings: &Settings,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        arguments.output.is_none() && files(arguments).next().is_none(),
        "--output, --html, --gaps and --perfetto are for one input at a time"
    );
    let mut reports = Vec::new();
    for input in inputs {
        let analysis = one(input, arguments, settings.clone(), quiet);
        let kept = analysis.and_then(|one| write_dataset(&one, arguments).map(|()| one.report));
        match kept {
            Ok(report) => reports.push(report),
            Err(error) => exit::tell(&error),
        }
    }
    show(&reports, arguments, true)?;
    match reports.len() == inputs.len() {
        true => Ok(verdict(arguments, &reports)),
        false => Ok(exit::some_failed()),
    }
}

/// With --check a missed target is a failure of its own, and so is one that somebody set
/// and that cannot be measured.
fn verdict<'a>(
    arguments: &AnalyzeArguments,
    reports: impl IntoIterator<Item = &'a Report>,
) -> ExitCode {
    let is_missed = |report: &Report| !report.missed_targets().is_empty();
    match arguments.check && reports.into_iter().any(is_missed) {
        true => exit::missed(),
        false => ExitCode::SUCCESS,
    }
}

fn one(
    path: &Path,
    arguments: &AnalyzeArguments,
    settings: Settings,
    quiet: bool,
) -> anyhow::Result<Analysis> {
    let request = Request {
        work: super::known_work(path, &arguments.measure)?,
        settings,
        keep_everyone: arguments.parquet.is_some(),
        ..super::request(&arguments.part)
    };
    with_notes(path, arguments.reading, &request, quiet)
}

/// Reads and analyzes an input, and notes what the settings keep back.
pub(super) fn with_notes(
    path: &Path,
    reading: ReadingArguments,
    request: &Request,
    quiet: bool,
) -> anyhow::Result<Analysis> {
    let mut analysis = super::analysis(path, reading, request, quiet)?;
    let ignored = &request.settings.ignored_findings;
    if !ignored.is_empty() {
        let note = format!(
            "findings that the settings leave out, found or not: {}",
            ignored.join(", ")
        );
        analysis.report.notes.push(note);
    }
    Ok(analysis)
}

fn show(reports: &[Report], arguments: &AnalyzeArguments, several: bool) -> anyhow::Result<()> {
    if arguments.json {
        let json = match reports {
            [only] if !several => json::document(only)?,
            _ => json::document(reports)?,
        };
        return Ok(out::json().write_all(json.as_bytes())?);
    }
    let mut out = out::page();
    for (at, one) in reports.iter().enumerate() {
        if at > 0 {
            writeln!(out, "\n")?;
        }
        let text = match arguments.markdown {
            true => page(one, arguments)?,
            false => report::render(one, out::width()),
        };
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// The files that are to be written, but for those of the folder.
fn files(arguments: &AnalyzeArguments) -> impl Iterator<Item = &PathBuf> {
    let files = [&arguments.gaps, &arguments.html, &arguments.perfetto];
    files.into_iter().flatten()
}

/// Refuses what is in the way: better now than after a long reading, and before
/// any file is written.
fn check_outputs(arguments: &AnalyzeArguments) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.output {
        report_folder::check(folder, arguments.force)?;
    }
    if let Some(folder) = &arguments.parquet {
        metalens_dataset::refuse_links(folder)?;
    }
    for file in files(arguments) {
        metalens_files::refuse_existing(file, arguments.force)?;
    }
    Ok(())
}

/// The report in every form. Whether all of it could be made; what could not is told.
fn write_folder(analysis: &mut Analysis, arguments: &AnalyzeArguments) -> anyhow::Result<bool> {
    let Some(folder) = &arguments.output else {
        return Ok(true);
    };
    let choices = report_folder::Choices {
        force: arguments.force,
        show_names: arguments.show_names,
    };
    let problems = report_folder::write(analysis, folder, choices)?;
    for problem in &problems {
        exit::tell(&anyhow::anyhow!("{problem}"));
    }
    Ok(problems.is_empty())
}

/// The report as a page of its own.
fn write_html(analysis: &Analysis, arguments: &AnalyzeArguments) -> anyhow::Result<()> {
    let Some(file) = &arguments.html else {
        return Ok(());
    };
    whole::write(file, arguments.force, |out| {
        let page = pages::html(analysis, arguments.show_names)?;
        Ok(out.write_all(page.as_bytes())?)
    })
}

/// The run as a part of a dataset. One that is there already is replaced: it is
/// called after what is in it.
fn write_dataset(analysis: &Analysis, arguments: &AnalyzeArguments) -> anyhow::Result<()> {
    let Some(folder) = &arguments.parquet else {
        return Ok(());
    };
    let choices = metalens_dataset::Choices {
        show_names: arguments.show_names,
    };
    metalens_dataset::write(analysis, folder, choices)?;
    Ok(())
}

/// Pages are posted: what is nobody's business is left out unless asked for.
fn page(report: &Report, arguments: &AnalyzeArguments) -> anyhow::Result<String> {
    match arguments.show_names {
        true => pages::markdown(report, &[]),
        false => pages::markdown(&pages::redacted(report), &[]),
    }
}

/// Every gap, one line each.
fn write_gaps(analysis: &Analysis, arguments: &AnalyzeArguments) -> anyhow::Result<()> {
    let Some(file) = &arguments.gaps else {
        return Ok(());
    };
    whole::write(file, arguments.force, |out| pages::gaps(analysis, out))
}

/// Everything on a time line, for other viewers.
fn write_perfetto(analysis: &Analysis, arguments: &AnalyzeArguments) -> anyhow::Result<()> {
    let Some(file) = &arguments.perfetto else {
        return Ok(());
    };
    whole::write(file, arguments.force, |out| {
        Ok(metalens_perfetto::write(analysis, out)?)
    })
}
