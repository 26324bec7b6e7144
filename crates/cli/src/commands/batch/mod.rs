//! Runs `metalens batch`: writes a report for each of many recordings, and an index of them. The
//! folder of a recording is, to the byte, what `analyze -o` writes.

mod progress;
mod reports;
mod show;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use metalens_batch::{BatchOutcome, BatchRequest, FolderLock, find, usual_memory};
use metalens_files::Folder;
use metalens_render::folder::index as index_folder;
use metalens_trace::{PathKind, path_kind};

use crate::args::batch::BatchArguments;
use crate::exit::Misuse;
use crate::interrupt::Listening;
use crate::{exit, out};

use progress::BatchProgress;
use reports::{DatasetRuns, ReportFolders};

pub(crate) fn run(arguments: &BatchArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let analyzing = arguments.analyzing()?;
    let output = &arguments.output;
    let search = find(&arguments.inputs, output)?;
    let fingerprint = reports::fingerprint(&analyzing, arguments.show_names)?;
    let listening = Listening::begin()?;

    refuse_recording(output)?;
    let folder =
        Folder::make(output).with_context(|| format!("cannot write into {}", output.display()))?;
    let _lock = FolderLock::take(&folder, output)?;
    index_folder::check(&folder, output, arguments.force)?;
    let runs = arguments
        .parquet
        .as_deref()
        .map(DatasetRuns::find)
        .transpose()?;
    if !quiet {
        show::search(&search)?;
    }

    let request = BatchRequest {
        output: output.clone(),
        fingerprint,
        force: arguments.force,
        redo: arguments.redo,
        runs_before: runs.as_ref().map(|runs| runs.before.clone()),
        jobs: arguments.jobs.map_or_else(processors, Into::into),
        memory: arguments.memory.unwrap_or_else(usual_memory),
    };
    let reports = Box::new(ReportFolders {
        analyzing,
        show_names: arguments.show_names,
        dataset: runs.map(|runs| runs.dataset),
    });
    let mut progress = BatchProgress::new(&listening, quiet);
    let stop = listening.heard();
    let outcome = metalens_batch::run(&search, request, reports, &stop, &mut progress);
    progress.finish();
    finish(arguments, &folder, &outcome?, quiet)
}

/// Refuses a recording as the folder of the reports.
fn refuse_recording(output: &Path) -> Result<(), Misuse> {
    if matches!(path_kind(output), Ok(PathKind::Bundle | PathKind::Export)) {
        let shown = output.display();
        let why = format!("{shown} is a recording: choose another folder for the reports");
        return Err(Misuse(why));
    }
    Ok(())
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

/// Writes and prints the index and the failures. Returns the exit code of the batch.
fn finish(
    arguments: &BatchArguments,
    folder: &Folder,
    outcome: &BatchOutcome,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    let mut index = outcome.index.clone();
    if let Some(last) = index_folder::load(&arguments.output) {
        index.compare_with(&last);
    }
    let index = &index;
    index_folder::write(index, folder, &arguments.output, arguments.show_names)?;
    show::index(index, arguments.json)?;
    show::failures(index, quiet)?;
    out::wrote_folder(&arguments.output, index_folder::PAGE, quiet);

    let is_missed = arguments.check && index.rows.iter().any(|row| !row.missed.is_empty());
    Ok(if index.unfinished > 0 {
        exit::interrupted()
    } else if outcome.is_incomplete || !index.failed.is_empty() {
        exit::some_failed()
    } else if is_missed {
        exit::missed()
    } else {
        ExitCode::SUCCESS
    })
}
