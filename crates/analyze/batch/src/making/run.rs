//! Runs a batch from its recordings to its index: keeps reports that are up to date, and makes the
//! others, several at once.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use metalens_comparison::many::IndexRow;

use super::entry::{BatchEntry, ReportRecipe};
use super::find::{FoundRecording, Search, canonical, last_name};
use super::pool::{self, JobOutcome};
use super::reports::{ReportProblem, Reports};
use super::request::BatchRequest;
use super::slugs::slugs;
use super::state;
use crate::index::{FailedRecording, Index};

/// Follows the progress of a batch.
pub trait BatchWatcher {
    /// Receives the number of reports that are up to date, and the number of reports to make.
    fn planned(&mut self, before: u64, ahead: u64) -> io::Result<()>;

    /// Is called when one more recording is done, has failed, or was skipped.
    fn advanced(&mut self);

    /// Is called when the batch stops: it finishes the running analyses.
    fn stopping(&mut self);

    /// Returns whether to abandon running analyses too. It is called twenty times a second.
    fn is_abandoned(&self) -> bool;
}

/// The result of a batch.
#[derive(Debug)]
pub struct BatchOutcome {
    /// Index of all inputs that were named.
    pub index: Index,
    /// True if a report lacks a part.
    pub is_incomplete: bool,
}

/// Makes the reports that are not up to date. Once `stop` is true, no other is started.
///
/// # Errors
///
/// If the watcher fails. Recordings that fail are listed in the index.
pub fn run(
    search: &Search,
    request: BatchRequest,
    reports: Box<dyn Reports>,
    stop: &Arc<AtomicBool>,
    watcher: &mut dyn BatchWatcher,
) -> io::Result<BatchOutcome> {
    let entries = entries(&search.found, &request.output);
    let mut batch = Batch {
        recipe: Arc::new(ReportRecipe { request, reports }),
        stop,
        results: BatchResults::default(),
    };

    let to_do = batch.plan(&entries);
    watcher.planned(batch.results.rows.len() as u64, to_do.len() as u64)?;
    batch.make(to_do, watcher);

    let Batch {
        recipe, results, ..
    } = batch;
    let notes = other_reports_note(&entries, &recipe.request.output)
        .into_iter()
        .collect();
    let failed = results.failed.into_iter().chain(refused(search)).collect();
    Ok(BatchOutcome {
        index: Index::new(results.rows, failed, results.unfinished, notes),
        is_incomplete: results.is_incomplete,
    })
}

/// Returns the index of a search that found no recording: the paths that were refused.
pub fn index_of_refused(search: &Search) -> Index {
    Index::new(Vec::new(), refused(search).collect(), 0, Vec::new())
}

/// Returns the named paths that are not recordings as failures.
fn refused(search: &Search) -> impl Iterator<Item = FailedRecording> {
    search.refused.iter().map(|refused| FailedRecording {
        name: last_name(&refused.path),
        input: refused.path.display().to_string(),
        why: format!("{}: {}", refused.path.display(), refused.why),
        hint: None,
        unnamed: None,
        folder: String::new(),
    })
}

/// Results of the recordings so far.
#[derive(Default)]
struct BatchResults {
    rows: Vec<IndexRow>,
    failed: Vec<FailedRecording>,
    /// Number of recordings that were not started or not finished.
    unfinished: u64,
    is_incomplete: bool,
}

/// The row of a report, and whether the report is complete.
type MadeReport = Result<(IndexRow, bool), ReportProblem>;

struct Batch<'a> {
    recipe: Arc<ReportRecipe>,
    stop: &'a Arc<AtomicBool>,
    results: BatchResults,
}

impl Batch<'_> {
    /// Keeps the rows of up-to-date reports, and returns the recordings to analyze.
    fn plan(&mut self, entries: &[BatchEntry]) -> Vec<BatchEntry> {
        let mut to_do = Vec::new();
        for entry in entries {
            if self.stop.load(Ordering::SeqCst) {
                self.results.unfinished += 1;
                continue;
            }
            match entry.up_to_date_row(&self.recipe) {
                Ok(Some(row)) => self.results.rows.push(row),
                Ok(None) => to_do.push(entry.clone()),
                Err(problem) => self.add_failed(entry, problem),
            }
        }
        to_do
    }

    /// Makes the reports. If the batch stops, running reports are finished. If it is abandoned, they
    /// stay incomplete, without a manifest.
    fn make(&mut self, to_do: Vec<BatchEntry>, watcher: &mut dyn BatchWatcher) {
        const CHECK_ABANDON_EVERY: Duration = Duration::from_millis(50);

        let recipe = Arc::clone(&self.recipe);
        let mut left = to_do.len() as u64;
        let make = move |entry: &BatchEntry| entry.make(&recipe);
        let outcomes = pool::start(self.recipe.request.jobs, to_do, self.stop, make);
        let mut is_announced = false;
        loop {
            match outcomes.recv_timeout(CHECK_ABANDON_EVERY) {
                Ok((entry, outcome)) => {
                    left -= 1;
                    self.add(&entry, outcome);
                    watcher.advanced();
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.stop.load(Ordering::SeqCst) && !is_announced {
                is_announced = true;
                watcher.stopping();
            }
            if watcher.is_abandoned() {
                break;
            }
        }
        self.results.unfinished += left;
    }

    /// Adds the outcome of one analysis to the results.
    fn add(&mut self, entry: &BatchEntry, outcome: JobOutcome<MadeReport>) {
        match outcome {
            JobOutcome::Result(Ok((row, is_complete))) => {
                self.results.rows.push(row);
                self.results.is_incomplete |= !is_complete;
            }
            JobOutcome::Result(Err(problem)) => self.add_failed(entry, problem),
            JobOutcome::NotStarted => self.results.unfinished += 1,
            JobOutcome::Panicked(why) => {
                let why = format!("internal error of metalens, please report it: {why}");
                self.add_failed(entry, ReportProblem::from_reason(&why));
            }
        }
    }

    fn add_failed(&mut self, entry: &BatchEntry, problem: ReportProblem) {
        let output = &self.recipe.request.output;
        let failed = failed_recording(entry, problem, output);
        self.results.failed.push(failed);
    }
}

fn failed_recording(entry: &BatchEntry, problem: ReportProblem, output: &Path) -> FailedRecording {
    FailedRecording {
        name: entry.found.name.clone(),
        input: entry.found.path.display().to_string(),
        why: problem.why,
        hint: problem.hint,
        unnamed: problem.unnamed,
        folder: format!("{}/", output.display()),
    }
}

/// Returns each recording with the name of its folder.
fn entries(recordings: &[FoundRecording], output: &Path) -> Vec<BatchEntry> {
    let keys: Vec<String> = recordings.iter().map(BatchEntry::key).collect();
    let names: Vec<(&str, &str)> = recordings
        .iter()
        .zip(&keys)
        .map(|(recording, key)| (recording.name.as_str(), key.as_str()))
        .collect();
    let inputs: HashSet<_> = recordings
        .iter()
        .map(|recording| canonical(&recording.path))
        .collect();

    let slugs = slugs(&names, |slug| {
        let folder = output.join(slug);
        // A folder that is an input cannot have a report.
        let is_input = inputs.contains(&canonical(&folder));
        state::owner(&folder).or_else(|| is_input.then(String::new))
    });
    let entries = recordings
        .iter()
        .zip(slugs)
        .map(|(recording, slug)| BatchEntry {
            found: recording.clone(),
            slug,
        });
    entries.collect()
}

/// Returns a note on reports in the folder from earlier batches, which stay.
fn other_reports_note(entries: &[BatchEntry], output: &Path) -> Option<String> {
    const NAMED: usize = 5;
    let own: HashSet<&str> = entries.iter().map(|entry| entry.slug.as_str()).collect();

    let folders = std::fs::read_dir(output).ok()?.flatten();
    let mut others: Vec<String> = folders
        .filter(|folder| state::is_entry(&folder.path()))
        .map(|folder| folder.file_name().to_string_lossy().into_owned())
        .filter(|name| !own.contains(name.as_str()))
        .collect();
    others.sort();

    let named = others.get(..NAMED).unwrap_or(&others).join(", ");
    let more = match others.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!others.is_empty()).then(|| {
        format!(
            "the folder also has earlier reports of recordings that were not named this time: \
             {named}{more}"
        )
    })
}
