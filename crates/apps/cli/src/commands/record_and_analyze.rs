//! Runs `metalens record-and-analyze`: does what `record` and then `analyze -o` do.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metalens_files::Folder;
use metalens_recorder::unused_path;

use super::analyze::analyze_recording;
use super::record::{ProgramOutput, RecordChoices, record};
use crate::analyzing::AnalyzeOutputs;
use crate::args::recording::{RecordAndAnalyzeArguments, Recorders};
use crate::args::requests::analyzing;
use crate::bundle_analyzer::BundleAnalyzer;
use crate::exit;
use crate::output_folder::refuse_recording;
use crate::reading::Reading;

pub(crate) fn run(arguments: &RecordAndAnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    // A recording may take long: check all arguments before it.
    let recording = &arguments.recording;
    let by = recording.recorders()?;
    let reading = Reading {
        // A program that was ended leaves a log without an end. A note of the report says so.
        allow_truncated: by == Recorders::Probe,
        ..Reading::default()
    };
    let mut analyzing = analyzing(&arguments.part, &arguments.measure, reading)?;
    analyzing.gate = arguments.gate.gate(arguments.measure.config.as_ref())?;
    let subject = recording.subject()?;
    let name = subject.name();
    let folder = match &arguments.output {
        Some(folder) => folder.clone(),
        None => unused_path(&name, ".report"),
    };
    refuse_recording(&folder)?;
    metalens_render::folder::check(&folder, arguments.force)?;

    let bundle = folder.join(file_name(&name, by));
    let mut request = recording.request(subject, bundle)?;
    request.force = arguments.force;
    // With --json, standard output is only for the report.
    let output = if arguments.json {
        ProgramOutput::Stderr
    } else {
        ProgramOutput::Stdout
    };
    let new = new_folders(&folder);
    if !request.dry_run {
        Folder::make(&folder)?;
    }
    let choices = RecordChoices {
        by,
        output,
        ignores_failure: arguments.failure.ignore_failure,
        quiet,
    };
    let mut analyzer = BundleAnalyzer::default();
    let recorded = record(request, &mut analyzer, choices).inspect_err(|_| {
        // Removes only empty folders: others may have files of the user.
        for folder in &new {
            let _ = std::fs::remove_dir(folder);
        }
    })?;
    let Some(recorded) = recorded else {
        return Ok(ExitCode::SUCCESS);
    };

    // The warning of the recording names the process.
    let processes = &mut analyzing.request.processes;
    if processes.is_empty() {
        processes.extend(recorded.other_work.iter().map(|work| work.pid.to_string()));
    }
    let outputs = AnalyzeOutputs {
        json: arguments.json,
        show_names: arguments.show_names,
        output: Some(folder),
        open: arguments.open,
        force: arguments.force,
        ..AnalyzeOutputs::default()
    };
    let code = analyze_recording(&recorded.path, &mut analyzer, &analyzing, &outputs, quiet)?;
    // A failed program counts more than a page that no browser opened.
    let is_less = [ExitCode::SUCCESS, exit::unavailable()].contains(&code);
    Ok(if is_less && !recorded.is_complete {
        exit::some_failed()
    } else {
        code
    })
}

/// Returns the folder and its parents that do not exist yet, the innermost first.
fn new_folders(folder: &Path) -> Vec<PathBuf> {
    let new = folder
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    new.map(Path::to_owned).collect()
}

/// Returns the name of the bundle or log for a recorded program.
fn file_name(subject: &str, by: Recorders) -> String {
    format!("{}.{}", subject.replace('/', "-"), by.ending())
}
