//! Runs a batch from its recordings to its index: keeps reports that are up to date, and makes the
//! others, several at once as memory allows.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use metalens_comparison::many::IndexRow;

use super::budget::{MemoryBudget, estimate};
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

    let mut to_do = batch.plan(&entries, watcher);
    let ahead = to_do.len() as u64;
    watcher.planned(batch.results.rows.len() as u64, ahead)?;

    // The largest first, so that no large one runs alone at the end.
    to_do.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
    let jobs = to_do
        .iter()
        .filter_map(|&(index, bytes)| Some((entries.get(index)?.clone(), bytes)));
    batch.make(jobs.collect(), watcher);

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
#[must_use]
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

struct Batch<'a> {
    recipe: Arc<ReportRecipe>,
    stop: &'a Arc<AtomicBool>,
    results: BatchResults,
}

/// The plan for one recording.
enum EntryPlan {
    /// Keep the up-to-date report, which has this row.
    Keep(Box<IndexRow>),
    /// Make the report, which may need this much memory in bytes.
    Make(u64),
}

impl Batch<'_> {
    /// Returns the indexes of the recordings to analyze, with the memory that they may need.
    fn plan(&mut self, entries: &[BatchEntry], watcher: &dyn BatchWatcher) -> Vec<(usize, u64)> {
        let recipe = Arc::clone(&self.recipe);
        let plan = move |entry: BatchEntry| Some(plan_entry(&entry, &recipe));
        let mut to_do = Vec::new();
        let pass_on = |results: &mut BatchResults, at, plan| match plan {
            Some(EntryPlan::Keep(row)) => results.rows.push(*row),
            Some(EntryPlan::Make(bytes)) => to_do.push((at, bytes)),
            None => {}
        };
        self.run_jobs(entries, entries.to_vec(), plan, pass_on, || {
            watcher.is_abandoned()
        });

        // In the order of the command line, not in that of the threads.
        to_do.sort_unstable();
        to_do
    }

    /// Makes the reports. If the batch stops, running reports are finished. If it is abandoned, they
    /// stay incomplete, without a manifest.
    fn make(&mut self, jobs: Vec<(BatchEntry, u64)>, watcher: &mut dyn BatchWatcher) {
        let entries: Vec<BatchEntry> = jobs.iter().map(|(entry, _)| entry.clone()).collect();
        let (recipe, stop) = (Arc::clone(&self.recipe), Arc::clone(self.stop));
        let budget = MemoryBudget::new(recipe.request.memory);
        let make = move |(entry, bytes): (BatchEntry, u64)| {
            let _share = budget.take(bytes, &stop)?;
            Some(entry.make(&recipe))
        };

        // Both callbacks of the pool use the watcher.
        let watcher = std::cell::RefCell::new(watcher);
        let pass_on = |results: &mut BatchResults, _, made: Option<(IndexRow, bool)>| {
            if let Some((row, is_complete)) = made {
                results.rows.push(row);
                results.is_incomplete |= !is_complete;
            }
            watcher.borrow_mut().advanced();
        };
        let stop = Arc::clone(self.stop);
        let mut is_announced = false;
        let abandon = || {
            if stop.load(Ordering::SeqCst) && !is_announced {
                is_announced = true;
                watcher.borrow_mut().stopping();
            }
            watcher.borrow().is_abandoned()
        };
        self.run_jobs(&entries, jobs, make, pass_on, abandon);
    }

    /// Runs one job per entry and passes on its result: `None` for a job that failed or was not
    /// started.
    fn run_jobs<T: Send + 'static, R: Send + 'static>(
        &mut self,
        entries: &[BatchEntry],
        jobs: Vec<T>,
        work: impl Fn(T) -> Option<Result<R, ReportProblem>> + Send + Sync + 'static,
        mut pass_on: impl FnMut(&mut BatchResults, usize, Option<R>),
        abandon: impl FnMut() -> bool,
    ) {
        let request = &self.recipe.request;
        let (threads, output) = (request.jobs, &request.output);
        let results = &mut self.results;
        let mut left = entries.len();
        let record = |at: usize, outcome: JobOutcome<Result<R, ReportProblem>>| {
            let Some(entry) = entries.get(at) else { return };
            left -= 1;
            let result = match outcome {
                JobOutcome::Result(Ok(result)) => Some(result),
                JobOutcome::Result(Err(problem)) => {
                    results
                        .failed
                        .push(failed_recording(entry, problem, output));
                    None
                }
                JobOutcome::NotStarted => {
                    results.unfinished += 1;
                    None
                }
                JobOutcome::Panicked(why) => {
                    let why = format!("internal error of metalens, please report it: {why}");
                    let problem = ReportProblem::from_reason(&why);
                    results
                        .failed
                        .push(failed_recording(entry, problem, output));
                    None
                }
            };
            pass_on(results, at, result);
        };
        pool::run_jobs(threads, jobs, self.stop, work, record, abandon);
        self.results.unfinished += left as u64;
    }
}

fn plan_entry(entry: &BatchEntry, recipe: &ReportRecipe) -> Result<EntryPlan, ReportProblem> {
    if let Some(row) = entry.up_to_date_row(recipe)? {
        return Ok(EntryPlan::Keep(Box::new(row)));
    }
    // If the files cannot be listed, the analysis reports the error.
    let files = entry.files(recipe);
    let bytes = files.map_or(0, |files| estimate(&entry.found.path, &files));
    Ok(EntryPlan::Make(bytes))
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
fn entries(found: &[FoundRecording], output: &Path) -> Vec<BatchEntry> {
    let keys: Vec<String> = found.iter().map(BatchEntry::key).collect();
    let names: Vec<(&str, &str)> = found
        .iter()
        .zip(&keys)
        .map(|(found, key)| (found.name.as_str(), key.as_str()))
        .collect();
    let inputs: HashSet<_> = found.iter().map(|found| canonical(&found.path)).collect();

    let owner = |slug: &str| {
        let folder = output.join(slug);
        // A folder that is an input cannot have a report.
        let is_input = inputs.contains(&canonical(&folder));
        state::owner(&folder).or_else(|| is_input.then(String::new))
    };

    let slugs = slugs(&names, owner);
    let entries = found.iter().zip(slugs);
    let entries = entries.map(|(found, slug)| BatchEntry {
        found: found.clone(),
        slug,
    });
    entries.collect()
}

/// Returns a note on reports in the folder from earlier batches, which stay.
fn other_reports_note(entries: &[BatchEntry], output: &Path) -> Option<String> {
    const NAMED: usize = 5;
    let own: HashSet<&str> = entries.iter().map(|entry| entry.slug.as_str()).collect();

    let folders = std::fs::read_dir(output).ok()?.flatten();
    let others = folders.filter(|folder| state::is_entry(&folder.path()));
    let others = others.map(|folder| folder.file_name().to_string_lossy().into_owned());
    let mut others: Vec<String> = others.filter(|name| !own.contains(name.as_str())).collect();
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
