//! A batch from its traces to its index: what is done before is left, what is not is done,
//! several at once, as memory allows.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use metalens_comparison::many::Row;

use crate::budget::{Budget, estimate};
use crate::entry::{Entry, Recipe};
use crate::find::{Found, Search, canonical, last_name};
use crate::index::{Failed, Index};
use crate::pool::{self, Came};
use crate::reports::{Problem, Reports};
use crate::request::Request;
use crate::slugs::slugs;
use crate::state;

/// Is told how a batch goes.
pub trait Watcher {
    /// So many traces were done before, and so many are to do.
    fn planned(&mut self, before: u64, ahead: u64) -> io::Result<()>;

    /// One more trace is done, failed, or was left.
    fn advanced(&mut self);

    /// The batch was asked to stop: what is begun is finished.
    fn stopping(&mut self);

    /// Returns whether even what is begun shall be left as it is. Asked twenty times a second.
    fn is_abandoned(&self) -> bool;
}

/// The result of a batch.
#[derive(Debug)]
pub struct Outcome {
    /// The index of all that was named.
    pub index: Index,
    /// Whether a report lacks something that should be in it.
    pub is_incomplete: bool,
}

/// Does every trace that is not done. Once `stop` is true no other is begun.
///
/// # Errors
///
/// Whatever the watcher fails with: traces that fail are in the index.
pub fn run(
    search: &Search,
    request: Request,
    reports: Box<dyn Reports>,
    stop: &Arc<AtomicBool>,
    watcher: &mut dyn Watcher,
) -> io::Result<Outcome> {
    let entries = entries(&search.found, &request.output);
    let mut work = Work {
        recipe: Arc::new(Recipe { request, reports }),
        stop,
        done: Done::default(),
    };
    let mut to_do = work.plan(&entries, watcher);
    let ahead = to_do.len() as u64;
    watcher.planned(work.done.rows.len() as u64, ahead)?;

    // The largest first: then none of them is left alone at the end.
    to_do.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
    let things = to_do
        .iter()
        .filter_map(|&(at, bytes)| Some((entries.get(at)?.clone(), bytes)));
    work.make(things.collect(), watcher);

    let Work { recipe, done, .. } = work;
    let refused = search.refused.iter().map(|one| Failed {
        name: last_name(&one.path),
        input: one.path.display().to_string(),
        why: format!("{}: {}", one.path.display(), one.why),
        hint: None,
        hidden: Vec::new(),
    });
    let notes = others(&entries, &recipe.request.output)
        .into_iter()
        .collect();
    let failed = done.failed.into_iter().chain(refused).collect();
    Ok(Outcome {
        index: Index::of(done.rows, failed, done.unfinished, notes),
        is_incomplete: done.is_incomplete,
    })
}

/// The results of the traces so far.
#[derive(Default)]
struct Done {
    rows: Vec<Row>,
    failed: Vec<Failed>,
    /// Not begun, or left half done.
    unfinished: u64,
    is_incomplete: bool,
}

struct Work<'a> {
    recipe: Arc<Recipe>,
    stop: &'a Arc<AtomicBool>,
    done: Done,
}

/// Whether a trace is done.
enum Planned {
    Done(Box<Row>),
    /// How much memory it may take.
    ToDo(u64),
}

impl Work<'_> {
    /// Returns the places of those that are to be done, with the memory they may take.
    fn plan(&mut self, entries: &[Entry], watcher: &dyn Watcher) -> Vec<(usize, u64)> {
        let recipe = Arc::clone(&self.recipe);
        let look = move |entry: Entry| Some(look(&entry, &recipe));
        let mut to_do = Vec::new();
        let hand_on = |done: &mut Done, at, planned| match planned {
            Some(Planned::Done(row)) => done.rows.push(*row),
            Some(Planned::ToDo(bytes)) => to_do.push((at, bytes)),
            None => {}
        };
        self.each(entries, entries.to_vec(), look, hand_on, || {
            watcher.is_abandoned()
        });
        // In the order of the command line, whoever was looked at first.
        to_do.sort_unstable();
        to_do
    }

    /// Makes the reports. Stopped, those that are begun are finished; abandoned, they are left
    /// as they are: without a manifest.
    fn make(&mut self, things: Vec<(Entry, u64)>, watcher: &mut dyn Watcher) {
        let entries: Vec<Entry> = things.iter().map(|(entry, _)| entry.clone()).collect();
        let (recipe, stop) = (Arc::clone(&self.recipe), Arc::clone(self.stop));
        let budget = Budget::new(recipe.request.memory);
        let make = move |(entry, bytes): (Entry, u64)| {
            let _share = budget.take(bytes, &stop)?;
            Some(entry.make(&recipe))
        };
        // Both of the pool's callbacks tell it.
        let watcher = std::cell::RefCell::new(watcher);
        let hand_on = |done: &mut Done, _, made: Option<(Row, bool)>| {
            if let Some((row, is_whole)) = made {
                done.rows.push(row);
                done.is_incomplete |= !is_whole;
            }
            watcher.borrow_mut().advanced();
        };
        let stop = Arc::clone(self.stop);
        let mut is_told = false;
        let abandon = || {
            if stop.load(Ordering::SeqCst) && !is_told {
                is_told = true;
                watcher.borrow_mut().stopping();
            }
            watcher.borrow().is_abandoned()
        };
        self.each(&entries, things, make, hand_on, abandon);
    }

    /// Does something with each entry, of which `things` has one each, and hands on what comes
    /// of it: nothing of one that failed or was left.
    fn each<T: Send + 'static, R: Send + 'static>(
        &mut self,
        entries: &[Entry],
        things: Vec<T>,
        work: impl Fn(T) -> Option<Result<R, Problem>> + Send + Sync + 'static,
        mut hand_on: impl FnMut(&mut Done, usize, Option<R>),
        abandon: impl FnMut() -> bool,
    ) {
        let request = &self.recipe.request;
        let (jobs, output) = (request.jobs, &request.output);
        let done = &mut self.done;
        let mut left = entries.len();
        let came = |at: usize, came: Came<Result<R, Problem>>| {
            let Some(entry) = entries.get(at) else { return };
            left -= 1;
            let result = match came {
                Came::Result(Ok(result)) => Some(result),
                Came::Result(Err(problem)) => {
                    done.failed.push(failed(entry, problem, output));
                    None
                }
                Came::Left => {
                    done.unfinished += 1;
                    None
                }
                Came::Broke(why) => {
                    let why = format!("metalens broke off, which is a bug: {why}");
                    done.failed.push(Failed {
                        hidden: Vec::new(),
                        ..failed(entry, Problem::of(&why), output)
                    });
                    None
                }
            };
            hand_on(done, at, result);
        };
        pool::each(jobs, things, self.stop, work, came, abandon);
        self.done.unfinished += left as u64;
    }
}

fn look(entry: &Entry, recipe: &Recipe) -> Result<Planned, Problem> {
    if let Some(row) = entry.done(recipe)? {
        return Ok(Planned::Done(Box::new(row)));
    }
    // Reading it will tell why, if its parts cannot be listed.
    let parts = entry.parts(recipe);
    let bytes = parts.map_or(0, |parts| estimate(&entry.found.path, &parts));
    Ok(Planned::ToDo(bytes))
}

fn failed(entry: &Entry, problem: Problem, output: &Path) -> Failed {
    let mut hidden = problem.hidden;
    // Of the folder that is written the page is a part.
    hidden.push((format!("{}/", output.display()), String::new()));
    Failed {
        name: entry.found.name.clone(),
        input: entry.found.path.display().to_string(),
        why: problem.why,
        hint: problem.hint,
        hidden,
    }
}

/// Returns each trace and the name of its folder.
fn entries(found: &[Found], output: &Path) -> Vec<Entry> {
    let keys: Vec<String> = found.iter().map(Entry::key).collect();
    let names: Vec<(&str, &str)> = found
        .iter()
        .zip(&keys)
        .map(|(one, key)| (one.name.as_str(), key.as_str()))
        .collect();
    let inputs: HashSet<_> = found.iter().map(|one| canonical(&one.path)).collect();
    let owner = |slug: &str| {
        let folder = output.join(slug);
        // An input keeps its folder to itself.
        let is_input = inputs.contains(&canonical(&folder));
        state::owner(&folder).or_else(|| is_input.then(String::new))
    };
    let slugs = slugs(&names, owner);
    let entries = found.iter().zip(slugs);
    let entries = entries.map(|(found, slug)| Entry {
        found: found.clone(),
        slug,
    });
    entries.collect()
}

/// Tells of reports in the folder that were not named this time: they stay.
fn others(entries: &[Entry], output: &Path) -> Option<String> {
    const NAMED: usize = 5;
    let mine: HashSet<&str> = entries.iter().map(|entry| entry.slug.as_str()).collect();
    let folders = std::fs::read_dir(output).ok()?.flatten();
    let others = folders.filter(|folder| state::is_entry(&folder.path()));
    let others = others.map(|folder| folder.file_name().to_string_lossy().into_owned());
    let mut others: Vec<String> = others
        .filter(|name| !mine.contains(name.as_str()))
        .collect();
    others.sort();
    let named = others.get(..NAMED).unwrap_or(&others).join(", ");
    let more = match others.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!others.is_empty()).then(|| {
        format!("not in this index, but in its folder: earlier reports of traces that were not named this time, {named}{more}")
    })
}
