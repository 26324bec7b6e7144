//! `metalens record-and-analyze`: exactly `record`, then exactly `analyze -o`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use metalens_recorder::ownership::{Owner, give_file, give_folder};

use super::record::{Plan, free, record, subject};
use crate::args::recording::RecordAndAnalyzeArguments;
use crate::args::{AnalyzeArguments, ReaderChoice, ReadingArguments};
use crate::report_folder;

pub(crate) fn run(arguments: &RecordAndAnalyzeArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    super::check_times(arguments.part.from, arguments.part.to)?;
    // Better now than after a recording.
    super::settings(&arguments.measure)?;
    let recording = &arguments.recording;
    let subject = subject(recording);
    let folder = match &arguments.output {
        Some(folder) => folder.clone(),
        None => free(&subject, ".report"),
    };
    report_folder::check(&folder, arguments.force)?;
    let is_new = !folder.exists();
    let bundle = folder.join(free_name(&subject));
    let mut plan = Plan::of(recording, bundle, arguments.force, false)?;
    plan.keeps_stdout = arguments.json;
    if recording.dry_run {
        return plan.show();
    }
    let shown = folder.display();
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {shown}"))?;
    let recorded = record(&plan, recording, quiet).inspect_err(|_| {
        // Whatever is in it is somebody's; an empty one is nobody's.
        let _ = is_new.then(|| std::fs::remove_dir(&folder));
    })?;
    let code = super::analyze::run(&analysis(arguments, recorded.bundle, &folder), quiet)?;
    give_back(&folder, is_new)?;
    Ok(code)
}

/// What `analyze` would have been asked.
fn analysis(
    arguments: &RecordAndAnalyzeArguments,
    bundle: PathBuf,
    folder: &Path,
) -> AnalyzeArguments {
    AnalyzeArguments {
        inputs: vec![bundle],
        json: arguments.json,
        markdown: false,
        show_names: arguments.show_names,
        output: Some(folder.to_owned()),
        html: None,
        gaps: None,
        perfetto: None,
        force: arguments.force,
        part: arguments.part.clone(),
        check: arguments.check,
        measure: arguments.measure.clone(),
        reading: ReadingArguments {
            run: None,
            allow_truncated: false,
            reader: ReaderChoice::Native,
        },
    }
}

/// A subject as the name of a bundle.
fn free_name(subject: &str) -> String {
    format!("{}.trace", subject.replace('/', "-"))
}

/// The report too belongs to whom ran `sudo`; in a folder that was there before,
/// only what was written now.
fn give_back(folder: &Path, is_new: bool) -> anyhow::Result<()> {
    let Some(owner) = Owner::who_ran_sudo() else {
        return Ok(());
    };
    if is_new {
        give_folder(folder, owner)?;
        return Ok(());
    }
    for file in report_folder::files(folder)
        .iter()
        .filter(|file| file.is_file())
    {
        give_file(file, owner)?;
    }
    Ok(())
}
