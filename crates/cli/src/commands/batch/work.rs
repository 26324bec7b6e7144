//! What is done before is left, what is not is done: several at once, as memory allows.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use indicatif::{ProgressBar, ProgressStyle};
use metalens_analyzer::units::{count, counted};

use super::budget::{Budget, estimate};
use super::entry::{Entry, Recipe};
use super::identity;
use super::index::Failed;
use super::pool::{self, Came};
use super::row::Row;
use crate::exit;
use crate::interrupt::Listening;
use crate::out;

/// What is needed to do traces.
pub(super) struct Work<'a> {
    pub(super) recipe: Arc<Recipe>,
    /// How many at once.
    pub(super) jobs: usize,
    /// How much memory they may take together.
    pub(super) memory: u64,
    pub(super) listening: &'a Listening,
    pub(super) quiet: bool,
}

/// What came of all of them.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) rows: Vec<Row>,
    pub(super) failed: Vec<Failed>,
    /// Not begun, or left half done.
    pub(super) unfinished: u64,
    /// A report lacks something.
    pub(super) is_incomplete: bool,
}

/// Whether a trace is done.
enum Planned {
    Done(Box<Row>),
    /// How much memory it may take.
    ToDo(u64),
}

type Made = (Box<Row>, Vec<String>);

impl Work<'_> {
    /// Does all that is not done.
    pub(super) fn all(&self, entries: &[Entry]) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::default();
        let mut to_do = self.plan(entries, &mut outcome);
        let (before, ahead) = (outcome.rows.len() as u64, to_do.len() as u64);
        if !self.quiet && !entries.is_empty() {
            let what = match (before, ahead) {
                (0, _) => counted(ahead, "trace"),
                (_, 0) => format!("{}, all done before", counted(before, "trace")),
                _ => format!(
                    "{} done before, {} to do",
                    counted(before, "trace"),
                    count(ahead)
                ),
            };
            writeln!(out::notes(), "{what}")?;
        }
        // The largest first: then none of them is left alone at the end.
        to_do.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
        let things = to_do
            .iter()
            .filter_map(|&(at, bytes)| Some((entries.get(at)?.clone(), bytes)));
        self.make(things.collect(), &mut outcome)?;
        Ok(outcome)
    }

    /// The places of those that are to be done, with the memory they may take.
    fn plan(&self, entries: &[Entry], outcome: &mut Outcome) -> Vec<(usize, u64)> {
        let recipe = Arc::clone(&self.recipe);
        let look = move |entry: Entry| Some(look(&entry, &recipe));
        let mut to_do = Vec::new();
        let mut left = entries.len();
        let hand_on = |at: usize, came: Came<anyhow::Result<Planned>>| {
            let Some(entry) = entries.get(at) else { return };
            left -= 1;
            match came {
                Came::Result(Ok(Planned::Done(row))) => outcome.rows.push(*row),
                Came::Result(Ok(Planned::ToDo(bytes))) => to_do.push((at, bytes)),
                Came::Result(Err(error)) => outcome.failed.push(self.failure(entry, &error)),
                Came::Left => outcome.unfinished += 1,
                Came::Broke(why) => outcome.failed.push(broken(entry, &why)),
            }
        };
        let stop = self.listening.heard();
        pool::each(self.jobs, entries.to_vec(), &stop, look, hand_on, || {
            self.is_enough()
        });
        outcome.unfinished += left as u64;
        // In the order of the command line, whoever was looked at first.
        to_do.sort_unstable();
        to_do
    }

    /// Makes the reports. Stopped once, those that are begun are finished; twice, they
    /// are left as they are: without a manifest.
    fn make(&self, things: Vec<(Entry, u64)>, outcome: &mut Outcome) -> anyhow::Result<()> {
        let bar = self.bar(things.len());
        let entries: Vec<Entry> = things.iter().map(|(entry, _)| entry.clone()).collect();
        let (recipe, stop) = (Arc::clone(&self.recipe), self.listening.heard());
        let (budget, heard) = (Budget::new(self.memory), Arc::clone(&stop));
        let make = move |(entry, bytes): (Entry, u64)| {
            let _share = budget.take(bytes, &heard)?;
            Some(
                entry
                    .make(&recipe)
                    .map(|(row, missing)| (Box::new(row), missing)),
            )
        };
        let mut left = entries.len();
        let hand_on = |at: usize, came: Came<anyhow::Result<Made>>| {
            let Some(entry) = entries.get(at) else { return };
            left -= 1;
            match came {
                Came::Result(Ok((row, missing))) => {
                    outcome.rows.push(*row);
                    outcome.is_incomplete |= !missing.is_empty();
                }
                Came::Result(Err(error)) => outcome.failed.push(self.failure(entry, &error)),
                Came::Left => outcome.unfinished += 1,
                Came::Broke(why) => outcome.failed.push(broken(entry, &why)),
            }
            bar.inc(1);
        };
        let mut is_told = false;
        let abandon = || {
            if stop.load(Ordering::SeqCst) && !is_told && !self.quiet {
                is_told = true;
                let said =
                    "stopping: the reports that are begun are finished; Ctrl-C again leaves them";
                bar.suspend(|| out::note(said));
            }
            self.is_enough()
        };
        pool::each(self.jobs, things, &stop, make, hand_on, abandon);
        bar.finish_and_clear();
        outcome.unfinished += left as u64;
        Ok(())
    }

    fn failure(&self, entry: &Entry, error: &anyhow::Error) -> Failed {
        let (why, hint) = exit::words(error);
        let mut hidden = others(error);
        // Of the folder that is written the page is a part.
        hidden.push((format!("{}/", self.recipe.output.display()), String::new()));
        Failed {
            name: entry.found.name.clone(),
            input: entry.found.path.display().to_string(),
            why,
            hint,
            hidden,
        }
    }

    /// Whether the user does not want to wait.
    fn is_enough(&self) -> bool {
        self.listening.times() >= 2
    }

    /// indicatif itself stays silent where stderr is no terminal.
    fn bar(&self, count: usize) -> ProgressBar {
        if self.quiet || count == 0 {
            return ProgressBar::hidden();
        }
        let template = "{bar:30} {pos} of {len} traces, {eta} left";
        let style = ProgressStyle::with_template(template);
        let bar = ProgressBar::new(count as u64);
        bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    }
}

fn look(entry: &Entry, recipe: &Recipe) -> anyhow::Result<Planned> {
    if let Some(row) = entry.done(recipe)? {
        return Ok(Planned::Done(Box::new(row)));
    }
    let path = &entry.found.path;
    // Reading it will tell why, if its parts cannot be listed.
    let bytes = identity::parts(path).map_or(0, |parts| estimate(path, &parts));
    Ok(Planned::ToDo(bytes))
}

/// The names of others that an error lists, and what pages say instead.
fn others(error: &anyhow::Error) -> Vec<(String, String)> {
    use metalens_analyzer::Error;
    let Some(Error::NoTargetRows { present, .. }) = error.downcast_ref() else {
        return Vec::new();
    };
    let named = present.iter().zip(1..);
    let named = named.map(|(one, number)| (one.to_string(), one.name.clone(), number));
    // With what follows each name, so that no other word is taken for it.
    let named = named.map(|(said, name, number): (String, String, usize)| {
        (
            said.clone(),
            said.replacen(&name, &format!("other process {number}"), 1),
        )
    });
    named.collect()
}

fn broken(entry: &Entry, why: &str) -> Failed {
    Failed {
        name: entry.found.name.clone(),
        input: entry.found.path.display().to_string(),
        why: format!("metalens broke off, which is a bug: {why}"),
        hint: None,
        hidden: Vec::new(),
    }
}
