//! Runs `metalens analyze`: writes and prints one report per input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use metalens_analyzer::{Analysis, Report};
use metalens_failure::OtherNames;
use metalens_render::document::Document;
use metalens_render::{csv, folder, for_page, html, report};
use metalens_text::shown;

use crate::analyzing::{AnalyzeOutputs, Analyzing, with_input};
use crate::args::AnalyzeArguments;
use crate::bundle_analyzer::BundleAnalyzer;
use crate::exit::Misuse;
use crate::output_folder::refuse_recording;
use crate::{atomic_file, exit, opening, out, view};

/// Name of the printed document in errors.
const REPORT: &str = "report";

/// Analyzes each input, then writes and prints its report.
pub(crate) fn run(arguments: &AnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let (analyzing, outputs) = (arguments.analyzing()?, &arguments.outputs);
    match arguments.inputs.as_slice() {
        [only] => {
            check_outputs(outputs)?;
            let analysis = analyzing.noted_analysis(only, quiet)?;
            write_and_show(analysis, outputs, quiet)
        }
        several => run_several(several, &analyzing, outputs, quiet),
    }
}

/// Analyzes a recording that was just made, then writes and prints its report.
pub(crate) fn analyze_recording(
    bundle: &Path,
    analyzer: &mut BundleAnalyzer,
    analyzing: &Analyzing,
    outputs: &AnalyzeOutputs,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    check_outputs(outputs)?;
    let analysis = analyzing.analysis_of_recording(bundle, analyzer, quiet)?;
    write_and_show(analysis, outputs, quiet)
}

/// Writes the outputs of an analysis, then prints the report.
fn write_and_show(
    mut analysis: Analysis,
    outputs: &AnalyzeOutputs,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    write_files(&analysis, outputs)?;
    write_dataset(&analysis, outputs)?;
    let is_complete = write_folder(&mut analysis, outputs)?;
    let page = if outputs.open && is_complete {
        Some(page_to_open(&analysis, outputs)?)
    } else {
        None
    };

    // Printed last: a report on the screen means that its files exist.
    let report = printed(analysis.report);
    show(std::slice::from_ref(&report), outputs, false)?;
    say_what_was_written(outputs, quiet);

    if !is_complete {
        return Ok(exit::some_failed());
    }
    let code = verdict(std::slice::from_ref(&report), outputs, quiet);
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
fn say_what_was_written(outputs: &AnalyzeOutputs, quiet: bool) {
    for file in outputs.files() {
        out::wrote(file, quiet);
    }
    if let Some(folder) = &outputs.parquet {
        out::wrote(folder, quiet);
    }
    if let Some(folder) = &outputs.output {
        out::wrote_folder(folder, "report.html", quiet);
    }
}

/// Analyzes several inputs. A failed input does not stop the others.
fn run_several(
    inputs: &[PathBuf],
    analyzing: &Analyzing,
    outputs: &AnalyzeOutputs,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    if outputs.output.is_some() || outputs.open || outputs.files().next().is_some() {
        return Err(Misuse(format!(
            "--output, --html, --open, --gaps and --perfetto take one input, not {}; `metalens batch` writes a \
             folder for each",
            inputs.len()
        ))
        .into());
    }

    let mut reports = Vec::new();
    for input in inputs {
        match analyze_one(input, analyzing, outputs, quiet) {
            Ok(report) => reports.push(report),
            Err(error) => exit::print_error(&error),
        }
    }
    show(&reports, outputs, true)?;

    if reports.len() == inputs.len() {
        Ok(verdict(&reports, outputs, quiet))
    } else {
        Ok(exit::some_failed())
    }
}

/// Analyzes one of several inputs, and adds it to the dataset.
fn analyze_one(
    input: &Path,
    analyzing: &Analyzing,
    outputs: &AnalyzeOutputs,
    quiet: bool,
) -> anyhow::Result<Report> {
    let analysis = with_input(analyzing.noted_analysis(input, quiet), input)?;
    write_dataset(&analysis, outputs)?;
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
fn verdict(reports: &[Report], outputs: &AnalyzeOutputs, quiet: bool) -> ExitCode {
    let is_shown = !outputs.json && outputs.view.is_brief() && out::is_for_a_person();
    let has_several = reports.len() > 1;
    let gates = reports.iter().filter_map(|report| {
        let recording = has_several.then_some(report.source.path.as_str());
        Some((recording, report.gate.as_ref()?))
    });
    exit::of_gates(gates, |gate| !is_shown && (gate.missed || !quiet))
}

/// Prints reports as JSON, CSV, Markdown or text.
fn show(reports: &[Report], outputs: &AnalyzeOutputs, several: bool) -> anyhow::Result<()> {
    if outputs.json {
        return match reports {
            [only] if !several => view::print_json(only),
            _ => view::print_json(reports),
        };
    }

    if outputs.view.is_csv() {
        return show_csv(reports, outputs);
    }

    let mut out = out::page();
    for (index, report) in reports.iter().enumerate() {
        if index > 0 {
            writeln!(out, "\n")?;
        }
        if several && !outputs.markdown {
            writeln!(out, "{}", shown(&report.source.path))?;
        }
        let document = selected(report, outputs)?;
        let text = view::page_text(&document, outputs.markdown);
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Returns the document of a report, as far as it is to be printed.
fn selected(report: &Report, outputs: &AnalyzeOutputs) -> Result<Document, Misuse> {
    let view = &outputs.view;
    let mut document = if outputs.markdown {
        // People post pages, so names of others are left out unless asked for.
        report::document(&for_page(report, outputs.show_names))
    } else if view.is_brief() {
        report::brief(report)
    } else {
        report::document(report)
    };
    view.choose(&mut document, REPORT)?;
    Ok(document)
}

/// Prints the table of a section as CSV.
fn show_csv(reports: &[Report], outputs: &AnalyzeOutputs) -> anyhow::Result<()> {
    let [report] = reports else {
        return Err(Misuse("--format csv takes one input".to_owned()).into());
    };
    outputs.view.print_csv(report::document(report), REPORT)
}

/// Refuses outputs that exist. Runs before the input is read, which may take long.
fn check_outputs(outputs: &AnalyzeOutputs) -> anyhow::Result<()> {
    for folder in [&outputs.output, &outputs.parquet].into_iter().flatten() {
        refuse_recording(folder)?;
    }
    if let Some(folder) = &outputs.output {
        folder::check(folder, outputs.force)?;
    }
    let is_other = |file: &&PathBuf| file.extension().is_some_and(|ending| ending != "html");
    if let Some(file) = outputs.html.as_ref().filter(is_other) {
        let shown = shown(&file.display().to_string()).into_owned();
        return Err(Misuse(format!("--html writes a page: name it X.html, not {shown}")).into());
    }
    if let Some(folder) = &outputs.parquet {
        metalens_dataset::refuse_links(folder)?;
    }
    for file in outputs.files() {
        metalens_files::refuse_existing(file, outputs.force)?;
    }
    Ok(())
}

/// Writes the folder with the report in every form. Returns whether it is complete; prints an
/// error for each file that is not there.
fn write_folder(analysis: &mut Analysis, outputs: &AnalyzeOutputs) -> anyhow::Result<bool> {
    let Some(folder) = &outputs.output else {
        return Ok(true);
    };
    let choices = folder::Choices {
        force: outputs.force,
        show_names: outputs.show_names,
        charts: true,
    };
    let problems = folder::write(analysis, folder, choices)?;
    for problem in &problems {
        exit::print_error(&anyhow::anyhow!("{}", problem.text()));
    }
    Ok(problems.is_empty())
}

/// Writes the gaps as CSV, the trace for viewers, and the page, as far as they are asked for.
fn write_files(analysis: &Analysis, outputs: &AnalyzeOutputs) -> anyhow::Result<()> {
    if let Some(file) = &outputs.gaps {
        atomic_file::write(file, outputs.force, |out| Ok(csv::gaps(analysis, out)?))?;
    }
    if let Some(file) = &outputs.perfetto {
        atomic_file::write(file, outputs.force, |out| {
            Ok(metalens_perfetto::write(analysis, out)?)
        })?;
    }
    if let Some(file) = &outputs.html {
        atomic_file::write(file, outputs.force, |out| {
            Ok(out.write_all(page(analysis, outputs)?.as_bytes())?)
        })?;
    }
    Ok(())
}

/// Returns the HTML page of the report.
fn page(analysis: &Analysis, outputs: &AnalyzeOutputs) -> anyhow::Result<String> {
    let shown = for_page(&analysis.report, outputs.show_names);
    Ok(html::report_page(analysis, &shown)?)
}

/// Returns the page that was written. Without one, writes a temporary file, which stays: the
/// browser reads it after metalens has ended.
fn page_to_open(analysis: &Analysis, outputs: &AnalyzeOutputs) -> anyhow::Result<PathBuf> {
    if let Some(file) = &outputs.html {
        return Ok(file.clone());
    }
    if let Some(folder) = &outputs.output {
        return Ok(folder.join("report.html"));
    }
    let mut file = tempfile::Builder::new()
        .prefix("metalens-")
        .suffix(".html")
        .tempfile()
        .context("cannot make a temporary file")?;
    file.write_all(page(analysis, outputs)?.as_bytes())
        .context("cannot write a temporary file")?;
    let (_, path) = file.keep().context("cannot keep a temporary file")?;
    Ok(path)
}

/// Adds the run to a dataset. The same run has the same name, so it replaces itself.
fn write_dataset(analysis: &Analysis, outputs: &AnalyzeOutputs) -> anyhow::Result<()> {
    let Some(folder) = &outputs.parquet else {
        return Ok(());
    };
    let choices = metalens_dataset::WriteOptions {
        show_names: outputs.show_names,
    };
    metalens_dataset::write(analysis, folder, choices)?;
    Ok(())
}
