//! `metalens analyze`: one report per input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use metalens_analyzer::{Analysis, Report, Request, Settings, Verdict};

use crate::args::AnalyzeArguments;
use crate::screen::report;
use crate::{exit, pages, whole};

pub(crate) fn run(arguments: &AnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    super::check_times(arguments.part.from, arguments.part.to)?;
    let settings = super::settings(&arguments.measure)?;
    match arguments.inputs.as_slice() {
        [only] => {
            // Better now than after a long reading, and before any of them is written.
            for file in outputs(arguments) {
                whole::refuse_existing(&file, arguments.force)?;
            }
            let analysis = one(only, arguments, settings, quiet)?;
            write_gaps(&analysis, arguments)?;
            write_perfetto(&analysis, arguments)?;
            write_folder(&analysis, arguments)?;
            if let Some(file) = &arguments.html {
                write_html(&analysis, file, arguments)?;
            }
            let report = analysis.report;
            show(std::slice::from_ref(&report), arguments, false)?;
            Ok(verdict(arguments, [&report]))
        }
        several => run_several(several, arguments, &settings, quiet),
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
        outputs(arguments).is_empty(),
        "--output, --html, --gaps and --perfetto are for one input at a time"
    );
    let mut reports = Vec::new();
    for input in inputs {
        match one(input, arguments, settings.clone(), quiet) {
            Ok(analysis) => reports.push(analysis.report),
            Err(error) => exit::tell(&error),
        }
    }
    show(&reports, arguments, true)?;
    match reports.len() == inputs.len() {
        true => Ok(verdict(arguments, &reports)),
        false => Ok(exit::some_failed()),
    }
}

/// With --check a missed target is a failure of its own.
fn verdict<'a>(
    arguments: &AnalyzeArguments,
    reports: impl IntoIterator<Item = &'a Report>,
) -> ExitCode {
    let targets = reports.into_iter().flat_map(|report| &report.targets);
    let missed = targets
        .filter(|target| target.verdict == Verdict::Fail)
        .count();
    match arguments.check && missed > 0 {
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
        ..super::request(&arguments.part)
    };
    let mut analysis = super::analysis(path, arguments.reading, &request, quiet)?;
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
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let json = match reports {
            [only] if !several => serde_json::to_string_pretty(only)?,
            _ => serde_json::to_string_pretty(reports)?,
        };
        writeln!(out, "{json}")?;
        return Ok(());
    }
    for (at, one) in reports.iter().enumerate() {
        if at > 0 {
            writeln!(out, "\n")?;
        }
        let text = match arguments.markdown {
            true => page(one, arguments)?,
            false => report::render(one),
        };
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// The files of a folder of reports.
const FILES: [&str; 3] = ["report.json", "report.md", "report.html"];

/// The files that are to be written.
fn outputs(arguments: &AnalyzeArguments) -> Vec<PathBuf> {
    let folder = arguments.output.iter();
    let files = folder.flat_map(|folder| FILES.map(|name| folder.join(name)));
    let single = [&arguments.gaps, &arguments.html, &arguments.perfetto];
    files.chain(single.into_iter().flatten().cloned()).collect()
}

/// The report in every form, each file whole or not at all.
fn write_folder(analysis: &Analysis, arguments: &AnalyzeArguments) -> anyhow::Result<()> {
    let Some(folder) = &arguments.output else {
        return Ok(());
    };
    let shown = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {shown}"))?;
    let (report, force) = (&analysis.report, arguments.force);
    let [json, markdown, html] = FILES.map(|name| folder.join(name));
    whole::write(&json, force, |out| {
        serde_json::to_writer_pretty(&mut *out, report)?;
        Ok(writeln!(out)?)
    })?;
    whole::write(&markdown, force, |out| {
        Ok(out.write_all(page(report, arguments)?.as_bytes())?)
    })?;
    write_html(analysis, &html, arguments)
}

/// The report as a page of its own.
fn write_html(
    analysis: &Analysis,
    file: &Path,
    arguments: &AnalyzeArguments,
) -> anyhow::Result<()> {
    whole::write(file, arguments.force, |out| {
        let page = pages::html(analysis, arguments.show_names)?;
        Ok(out.write_all(page.as_bytes())?)
    })
}

/// Pages are posted: what is nobody's business is left out unless asked for.
fn page(report: &Report, arguments: &AnalyzeArguments) -> anyhow::Result<String> {
    match arguments.show_names {
        true => pages::markdown(report),
        false => pages::markdown(&pages::redacted(report)),
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
