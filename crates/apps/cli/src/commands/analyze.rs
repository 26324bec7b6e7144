//! Runs `metalens analyze`: writes and prints one report per input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use metalens_analyzer::{Analysis, Report};
use metalens_failure::OtherNames;
use metalens_render::document::Document;
use metalens_render::{csv, folder, for_page, html, json, report};
use metalens_text::shown;

use crate::analyzing::{AnalyzeRequest, with_input};
use crate::args::AnalyzeArguments;
use crate::bundle_analyzer::BundleAnalyzer;
use crate::exit::Misuse;
use crate::output_folder::refuse_recording;
use crate::{atomic_file, exit, opening, out, view};

/// Name of the printed document in errors.
const REPORT: &str = "report";

pub(crate) fn run(arguments: &AnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    analyze(&arguments.request()?, quiet)
}

/// Analyzes each input, then writes and prints its report.
pub(crate) fn analyze(request: &AnalyzeRequest, quiet: bool) -> anyhow::Result<ExitCode> {
    match request.inputs.as_slice() {
        [only] => {
            check_outputs(request)?;
            let analysis = request.analyzing.noted_analysis(only, quiet)?;
            write_and_show(analysis, request, quiet)
        }
        several => run_several(several, request, quiet),
    }
}

/// Analyzes a recording that was just made, then writes and prints its report.
pub(crate) fn analyze_recording(
    bundle: &Path,
    analyzer: &mut BundleAnalyzer,
    request: &AnalyzeRequest,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    check_outputs(request)?;
    let analyzing = &request.analyzing;
    let analysis = analyzing.analysis_of_recording(bundle, analyzer, quiet)?;
    write_and_show(analysis, request, quiet)
}

/// Writes the outputs of an analysis, then prints the report.
fn write_and_show(
    mut analysis: Analysis,
    request: &AnalyzeRequest,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    write_gaps(&analysis, request)?;
    write_perfetto(&analysis, request)?;
    write_html(&analysis, request)?;
    write_dataset(&analysis, request)?;
    let is_complete = write_folder(&mut analysis, request)?;
    let page = if request.outputs.open && is_complete {
        Some(page_to_open(&analysis, request)?)
    } else {
        None
    };

    // Printed last: a report on the screen means that its files exist.
    let report = printed(analysis.report);
    show(std::slice::from_ref(&report), request, false)?;
    say_what_was_written(request, quiet);

    if !is_complete {
        return Ok(exit::some_failed());
    }
    let code = verdict(std::slice::from_ref(&report), request, quiet);
    let is_open = match page {
        Some(page) => opening::open(&page, quiet)?,
        None => true,
    };
    Ok(if code == ExitCode::SUCCESS && !is_open {
        exit::unavailable()
    } else {
        code
    })
}

/// Names the files on standard error: people look for them, and scripts do not read it.
fn say_what_was_written(request: &AnalyzeRequest, quiet: bool) {
    for file in request.outputs.files() {
        out::wrote(file, quiet);
    }
    if let Some(folder) = &request.outputs.parquet {
        out::wrote(folder, quiet);
    }
    if let Some(folder) = &request.outputs.output {
        out::wrote_folder(folder, "report.html", quiet);
    }
}

/// Analyzes several inputs. A failed input does not stop the others.
fn run_several(
    inputs: &[PathBuf],
    request: &AnalyzeRequest,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    if request.outputs.output.is_some()
        || request.outputs.open
        || request.outputs.files().next().is_some()
    {
        return Err(Misuse(format!(
            "--output, --html, --open, --gaps and --perfetto take one input, not {}; `metalens batch` writes a \
             folder for each",
            inputs.len()
        ))
        .into());
    }

    let mut reports = Vec::new();
    for input in inputs {
        match analyze_one(input, request, quiet) {
            Ok(report) => reports.push(report),
            Err(error) => exit::print_error(&error),
        }
    }
    show(&reports, request, true)?;

    if reports.len() == inputs.len() {
        Ok(verdict(&reports, request, quiet))
    } else {
        Ok(exit::some_failed())
    }
}

/// Analyzes one of several inputs, and adds it to the dataset.
fn analyze_one(input: &Path, request: &AnalyzeRequest, quiet: bool) -> anyhow::Result<Report> {
    let analysis = request.analyzing.noted_analysis(input, quiet);
    let analysis = with_input(analysis, input)?;
    write_dataset(&analysis, request)?;
    Ok(printed(analysis.report))
}

/// Returns a report as it is printed: for the server of agents, without the names of other processes.
fn printed(report: Report) -> Report {
    match out::names() {
        OtherNames::Hidden => for_page(&report, false).into_owned(),
        OtherNames::Shown => report,
    }
}

/// Returns the exit code of reports. Says on stderr which limits were missed, with the recording if there
/// are several, unless the same terminal shows them already.
fn verdict(reports: &[Report], request: &AnalyzeRequest, quiet: bool) -> ExitCode {
    let is_shown =
        !request.outputs.json && request.outputs.view.is_brief() && out::is_for_a_person();
    let has_several = reports.len() > 1;
    let gates = reports.iter().filter_map(|report| {
        let recording = has_several.then_some(report.source.path.as_str());
        Some((recording, report.gate.as_ref()?))
    });
    exit::of_gates(gates, |gate| !is_shown && (gate.missed || !quiet))
}

/// Prints reports as JSON, CSV, Markdown or text.
fn show(reports: &[Report], request: &AnalyzeRequest, several: bool) -> anyhow::Result<()> {
    if request.outputs.json {
        let json = match reports {
            [only] if !several => json::document(only)?,
            _ => json::document(reports)?,
        };
        return Ok(out::json().write_all(json.as_bytes())?);
    }

    if request.outputs.view.is_csv() {
        return show_csv(reports, request);
    }

    let mut out = out::page();
    for (index, report) in reports.iter().enumerate() {
        if index > 0 {
            writeln!(out, "\n")?;
        }
        if several && !request.outputs.markdown {
            writeln!(out, "{}", shown(&report.source.path))?;
        }
        let document = selected(report, request)?;
        let text = view::page_text(&document, request.outputs.markdown);
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Returns the document of a report, as far as it is to be printed.
fn selected(report: &Report, request: &AnalyzeRequest) -> Result<Document, Misuse> {
    let view = &request.outputs.view;
    let mut document = if request.outputs.markdown {
        // People post pages, so names of others are left out unless asked for.
        report::document(&for_page(report, request.outputs.show_names))
    } else if view.is_brief() {
        report::brief(report)
    } else {
        report::document(report)
    };
    view.choose(&mut document, REPORT)?;
    Ok(document)
}

/// Prints the table of a section as CSV.
fn show_csv(reports: &[Report], request: &AnalyzeRequest) -> anyhow::Result<()> {
    let [report] = reports else {
        return Err(Misuse("--format csv takes one input".to_owned()).into());
    };
    request
        .outputs
        .view
        .print_csv(report::document(report), REPORT)
}

/// Refuses outputs that exist. Runs before the input is read, which may take long.
fn check_outputs(request: &AnalyzeRequest) -> anyhow::Result<()> {
    for folder in [&request.outputs.output, &request.outputs.parquet]
        .into_iter()
        .flatten()
    {
        refuse_recording(folder)?;
    }
    if let Some(folder) = &request.outputs.output {
        folder::check(folder, request.outputs.force)?;
    }
    let is_other = |file: &&PathBuf| file.extension().is_some_and(|ending| ending != "html");
    if let Some(file) = request.outputs.html.as_ref().filter(is_other) {
        let shown = shown(&file.display().to_string()).into_owned();
        return Err(Misuse(format!("--html writes a page: name it X.html, not {shown}")).into());
    }
    if let Some(folder) = &request.outputs.parquet {
        metalens_dataset::refuse_links(folder)?;
    }
    for file in request.outputs.files() {
        metalens_files::refuse_existing(file, request.outputs.force)?;
    }
    Ok(())
}

/// Writes the folder with the report in every form. Returns whether it is complete; prints an
/// error for each file that is not there.
fn write_folder(analysis: &mut Analysis, request: &AnalyzeRequest) -> anyhow::Result<bool> {
    let Some(folder) = &request.outputs.output else {
        return Ok(true);
    };
    let choices = folder::Choices {
        force: request.outputs.force,
        show_names: request.outputs.show_names,
        charts: true,
    };
    let problems = folder::write(analysis, folder, choices)?;
    for problem in &problems {
        exit::print_error(&anyhow::anyhow!("{}", problem.text()));
    }
    Ok(problems.is_empty())
}

/// Writes the report as an HTML page.
fn write_html(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<()> {
    let Some(file) = &request.outputs.html else {
        return Ok(());
    };
    atomic_file::write(file, request.outputs.force, |out| {
        Ok(out.write_all(page(analysis, request)?.as_bytes())?)
    })
}

/// Returns the HTML page of the report.
fn page(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<String> {
    let shown = for_page(&analysis.report, request.outputs.show_names);
    Ok(html::report_page(analysis, &shown)?)
}

/// Returns the page that was written. Without one, writes a temporary file, which stays: the
/// browser reads it after metalens has ended.
fn page_to_open(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<PathBuf> {
    if let Some(file) = &request.outputs.html {
        return Ok(file.clone());
    }
    if let Some(folder) = &request.outputs.output {
        return Ok(folder.join("report.html"));
    }
    let mut file = tempfile::Builder::new()
        .prefix("metalens-")
        .suffix(".html")
        .tempfile()
        .context("cannot make a temporary file")?;
    file.write_all(page(analysis, request)?.as_bytes())
        .context("cannot write a temporary file")?;
    let (_, path) = file.keep().context("cannot keep a temporary file")?;
    Ok(path)
}

/// Adds the run to a dataset. The same run has the same name, so it replaces itself.
fn write_dataset(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<()> {
    let Some(folder) = &request.outputs.parquet else {
        return Ok(());
    };
    let choices = metalens_dataset::WriteOptions {
        show_names: request.outputs.show_names,
    };
    metalens_dataset::write(analysis, folder, choices)?;
    Ok(())
}

/// Writes every gap as a line of CSV.
fn write_gaps(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<()> {
    let Some(file) = &request.outputs.gaps else {
        return Ok(());
    };
    atomic_file::write(file, request.outputs.force, |out| {
        Ok(csv::gaps(analysis, out)?)
    })
}

/// Writes a trace for ui.perfetto.dev and similar viewers.
fn write_perfetto(analysis: &Analysis, request: &AnalyzeRequest) -> anyhow::Result<()> {
    let Some(file) = &request.outputs.perfetto else {
        return Ok(());
    };
    atomic_file::write(file, request.outputs.force, |out| {
        Ok(metalens_perfetto::write(analysis, out)?)
    })
}
