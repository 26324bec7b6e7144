//! `metalens record-and-analyze`: exactly `record`, then exactly `analyze -o`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metalens_files::Folder;
use metalens_recorder::{RecordingPlan, unused_path};

use super::analyze::analyze;
use super::record::{TargetOutput, record, show};
use crate::analyzing::AnalyzeRequest;
use crate::args::recording::RecordAndAnalyzeArguments;
use crate::args::requests::analyzing;
use crate::exit;
use crate::reading::Reading;

pub(crate) fn run(arguments: &RecordAndAnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    // Better now than after a recording.
    let analyzing = analyzing(&arguments.part, &arguments.measure, Reading::default())?;
    let recording = &arguments.recording;
    let subject = recording.subject()?;
    let name = subject.name();
    let folder = match &arguments.output {
        Some(folder) => folder.clone(),
        None => unused_path(&name, ".report"),
    };
    metalens_render::folder::check(&folder, arguments.force)?;
    let bundle = folder.join(free_name(&name));
    let mut request = recording.request(subject, bundle)?;
    request.force = arguments.force;
    let plan = RecordingPlan::new(request)?;
    if plan.request.dry_run {
        return show(&plan);
    }
    let output = if arguments.json {
        TargetOutput::Stderr
    } else {
        TargetOutput::Stdout
    };
    let new = new_folders(&folder);
    Folder::make(&folder)?;
    let (recorded, all_well) = record(&plan, output, quiet).inspect_err(|_| {
        // Whatever is in them is somebody's; empty ones are nobody's.
        for one in &new {
            let _ = std::fs::remove_dir(one);
        }
    })?;
    let request = AnalyzeRequest {
        inputs: vec![recorded.bundle],
        analyzing,
        json: arguments.json,
        show_names: arguments.show_names,
        output: Some(folder),
        force: arguments.force,
        check: arguments.check,
        ..AnalyzeRequest::default()
    };
    let code = analyze(&request, quiet)?;
    Ok(match all_well || code != ExitCode::SUCCESS {
        true => code,
        false => exit::some_failed(),
    })
}

/// A folder and those it is in, as far as they have to be made; the inner ones first.
fn new_folders(folder: &Path) -> Vec<PathBuf> {
    let all = folder.ancestors();
    let new = all.take_while(|one| !one.as_os_str().is_empty() && !one.exists());
    new.map(Path::to_owned).collect()
}

/// A subject as the name of a bundle.
fn free_name(subject: &str) -> String {
    format!("{}.trace", subject.replace('/', "-"))
}
