//! `metalens analyze`: one report per input.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use metalens_analyzer::{Analysis, Report};
use metalens_render::{csv, folder, html, json, markdown, redacted, report, terminal};

use crate::analyzing::AnalyzeRequest;
use crate::args::AnalyzeArguments;
use crate::{exit, out, whole};

pub(crate) fn run(arguments: &AnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    analyze(&arguments.request()?, quiet)
}

/// Analyzes each input, writes and shows its report.
pub(crate) fn analyze(request: &AnalyzeRequest, quiet: bool) -> anyhow::Result<ExitCode> {
    match request.inputs.as_slice() {
        [only] => {
            check_outputs(request)?;
            let analysis = request.analyzing.noted_analysis(only, quiet)?;
            write_and_show(analysis, request)
        }
        several => run_several(several, request, quiet),
    }
}

/// The screen comes last: who sees it has the files.
fn write_and_show(mut analysis: Analysis, request: &AnalyzeRequest) -> anyhow::Result<ExitCode> {
    write_gaps(&analysis, request)?;
    write_perfetto(&analysis, request)?;
    write_html(&analysis, request)?;
    write_dataset(&analysis, request)?;
    let is_whole = write_folder(&mut analysis, request)?;
    let report = analysis.report;
    show(std::slice::from_ref(&report), request, false)?;
    match is_whole {
        true => Ok(verdict(request, [&report])),
        false => Ok(exit::some_failed()),
    }
}

/// A failed input does not stop the others; all that succeeded are shown.
fn run_several(
    inputs: &[PathBuf],
    request: &AnalyzeRequest,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        request.output.is_none() && files(request).next().is_none(),
        "--output, --html, --gaps and --perfetto are for one input at a time"
    );
    let mut reports = Vec::new();
    for input in inputs {
        let analysis = request.analyzing.noted_analysis(input, quiet);
        let kept = analysis.and_then(|one| write_dataset(&one, request).map(|()| one.report));
        match kept {
            Ok(report) => reports.push(report),
            Err(error) => exit::tell(&error),
        }
    }
    show(&reports, request, true)?;
    match reports.len() == inputs.len() {
        true => Ok(verdict(request, &reports)),
        false => Ok(exit::some_failed()),
    }
}

/// With --check a missed target is a failure of its own, and so is one that somebody set
/// and that cannot be measured.
fn verdict<'a>(
    request: &AnalyzeRequest,
    reports: impl IntoIterator<Item = &'a Report>,
) -> ExitCode {
    let is_missed = |report: &Report| !report.missed_thresholds().is_empty();
    match request.check && reports.into_iter().any(is_missed) {
        true => exit::missed(),
        false => ExitCode::SUCCESS,
    }
}

fn show(reports: &[Report], request: &AnalyzeRequest, several: bool) -> anyhow::Result<()> {
    if request.json {
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
        let text = if request.markdown {
            page(one, request)
        } else {
            terminal::text(&report::document(one), out::width())
        };
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// The files that are to be written, but for those of the folder.
fn files(request: &AnalyzeRequest) -> impl Iterator<Item = &PathBuf> {
    let files = [&request.gaps, &request.html, &request.perfetto];
    files.into_iter().flatten()
}

/// Refuses what is in the way: better now than after a long reading, and before
/// any file is written.
fn check_outputs(request: &AnalyzeRequest) -> anyhow::Result<()> {
    if let Some(folder) = &request.output {
        folder::check(folder, request.force)?;
    }
    if let Some(folder) = &request.parquet {
        metalens_dataset::refuse_links(folder)?;
    }
    for file in files(request) {
        metalens_files::refuse_existing(file, request.force)?;
    }
    Ok(())
}

/// The report in every form. Whether all of it could be made; what could not is told.
fn write_folder(analysis: &mut Analysis, request: &AnalyzeRequest) -> anyhow::Result<bool> {
    let Some(folder) = &request.output else {
        return Ok(true);
    };
    let choices = folder::Choices {
        force: request.force,
        show_names: request.show_names,
    };
    let problems = folder::write(analysis, folder, choices)?;
    for problem in &problems {
        exit::tell(&anyhow::anyhow!("{}", problem.text));
    }
    Ok(problems.is_empty())
}

/// The report as a page of its own.
fn write_html(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<()> {
    let Some(file) = &request.html else {
        return Ok(());
    };
    whole::write(file, request.force, |out| {
        let page = html::report_page(analysis, request.show_names)?;
        Ok(out.write_all(page.as_bytes())?)
    })
}

/// The run as a part of a dataset. One that is there already is replaced: it is
/// called after what is in it.
fn write_dataset(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<()> {
    let Some(folder) = &request.parquet else {
        return Ok(());
    };
    let choices = metalens_dataset::WriteOptions {
        show_names: request.show_names,
    };
    metalens_dataset::write(analysis, folder, choices)?;
    Ok(())
}

/// Pages are posted: what is nobody's business is left out unless asked for.
fn page(report: &Report, request: &AnalyzeRequest) -> String {
    let redacted = (!request.show_names).then(|| redacted(report));
    let document = report::document(redacted.as_ref().unwrap_or(report));
    markdown::page(&document, &[])
}

/// Every gap, one line each.
fn write_gaps(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<()> {
    let Some(file) = &request.gaps else {
        return Ok(());
    };
    whole::write(file, request.force, |out| Ok(csv::gaps(analysis, out)?))
}

/// Everything on a time line, for other viewers.
fn write_perfetto(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<()> {
    let Some(file) = &request.perfetto else {
        return Ok(());
    };
    whole::write(file, request.force, |out| {
        Ok(metalens_perfetto::write(analysis, out)?)
    })
}
