//! Runs `metalens batch`: writes a report for each of many recordings, and an index of them. The
//! folder of a recording is, to the byte, what `analyze -o` writes; the charts are on request.

mod progress;
mod reports;
mod show;

use std::process::ExitCode;

use anyhow::Context;
use metalens_batch::{BatchOutcome, BatchRequest, FolderLock, Index, find, index_of_refused};
use metalens_files::Folder;
use metalens_render::folder::index as index_folder;
use metalens_text::shown;

use crate::args::batch::BatchArguments;
use crate::interrupt::Listening;
use crate::output_folder::refuse_recording;
use crate::{exit, out};

use progress::BatchProgress;
use reports::ReportFolders;

pub(crate) fn run(arguments: &BatchArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let analyzing = arguments.analyzing()?;
    let output = &arguments.output;
    let search = find(&arguments.inputs, output)?;
    let fingerprint = reports::fingerprint(arguments, &analyzing);
    let listening = Listening::begin()?;

    refuse_recording(output)?;
    if search.found.is_empty() {
        // No folder is made for an index of nothing.
        return nothing_was_read(arguments, &index_of_refused(&search), quiet);
    }
    let folder =
        Folder::make(output).with_context(|| format!("cannot write into {}", output.display()))?;
    let _lock = FolderLock::take(output)?;
    index_folder::check(&folder, output, arguments.force)?;
    let mut runs_before = None;
    if let Some(dataset) = &arguments.parquet {
        metalens_dataset::refuse_links(dataset)?;
        runs_before = Some(metalens_dataset::run_names(dataset)?);
    }
    if !quiet {
        show::search(&search)?;
    }

    let request = BatchRequest {
        output: output.clone(),
        fingerprint,
        force: arguments.force,
        runs_before,
        jobs: arguments.jobs.map_or_else(usual_jobs, Into::into),
    };
    let reports = Box::new(ReportFolders {
        analyzing: analyzing.clone(),
        show_names: arguments.show_names,
        charts: arguments.charts,
        dataset: arguments.parquet.clone(),
    });
    let mut progress = BatchProgress::new(&listening, quiet);
    let stop = listening.heard();
    let outcome = metalens_batch::run(&search, request, reports, &stop, &mut progress);
    progress.finish();
    finish(arguments, &folder, &outcome?, quiet)
}

/// Returns the number of processors, at most four: each recording takes memory.
fn usual_jobs() -> usize {
    const MOST: usize = 4;
    std::thread::available_parallelism().map_or(1, |count| count.get().min(MOST))
}

/// Prints the failures of a batch that has no report. The last index stays as it is.
fn nothing_was_read(
    arguments: &BatchArguments,
    index: &Index,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    if arguments.json {
        show::index(index, true)?;
    }
    show::failures(index, quiet)?;
    if !quiet && index_folder::load(&arguments.output).is_some() {
        let page = arguments.output.join(index_folder::PAGE);
        let page = page.display().to_string();
        out::note(&format!(
            "note: no recording was read, so {} stays as it was",
            shown(&page)
        ));
    }
    Ok(if index.unfinished > 0 {
        exit::interrupted()
    } else {
        exit::some_failed()
    })
}

/// Writes and prints the index and the failures. Returns the exit code of the batch.
fn finish(
    arguments: &BatchArguments,
    folder: &Folder,
    outcome: &BatchOutcome,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    let index = &outcome.index;
    if index.rows.is_empty() {
        return nothing_was_read(arguments, index, quiet);
    }
    index_folder::write(index, folder, &arguments.output, arguments.show_names)?;
    show::index(index, arguments.json)?;
    show::failures(index, quiet)?;
    out::wrote_folder(&arguments.output, index_folder::PAGE, quiet);

    let gates = index.rows.iter();
    let gates = gates.filter_map(|row| Some((Some(row.name.as_str()), row.gate.as_ref()?)));
    let judged = exit::of_gates(gates, |gate| gate.missed || !quiet);
    Ok(if index.unfinished > 0 {
        exit::interrupted()
    } else if outcome.is_incomplete || !index.failed.is_empty() {
        exit::some_failed()
    } else {
        judged
    })
}
