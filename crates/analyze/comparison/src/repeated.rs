//! Finds runs that were given twice.
//!
//! No two recordings have the same nanoseconds throughout. So two runs of one program that agree in
//! every figure known of both are the same run, whether they were read from a bundle, its export,
//! its report or a baseline. Another window of the same recording counts as another run.

use std::fmt;

use metalens_analyzer::Note;
use metalens_message::{Message, message, path};

use crate::metrics::metrics;
use crate::run::last_name;
use crate::runs::Runs;

/// Id of the note on runs that are on both sides.
pub(crate) const SHARED_RUN: &str = "shared-run";

/// Two inputs that are the same run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedRun {
    /// Path under which the run was first given.
    pub first: String,
    /// Path under which the run was given again.
    pub again: String,
}

impl fmt::Display for RepeatedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.again {
            write!(f, "{} is given twice", self.first)
        } else {
            write!(f, "{} and {} are the same run", self.first, self.again)
        }
    }
}

impl Runs {
    /// Returns two runs of this side that are the same, if there are any.
    pub fn repeated(&self) -> Option<RepeatedRun> {
        let mut runs = 0..self.count();
        runs.find_map(|later| {
            let earlier = (0..later).find(|&earlier| self.is_same(earlier, self, later))?;
            Some(self.named(earlier, self, later))
        })
    }

    /// Returns the runs that are also on the other side.
    fn shared_with(&self, other: &Self) -> Vec<RepeatedRun> {
        let runs = (0..self.count()).filter_map(|run| {
            let mut others = 0..other.count();
            let there = others.find(|&there| self.is_same(run, other, there))?;
            Some(self.named(run, other, there))
        });
        runs.collect()
    }

    fn is_same(&self, run: usize, other: &Self, there: usize) -> bool {
        let both: Vec<(bool, bool)> = metrics()
            .filter_map(|metric| {
                let mine = (*self.metrics.get(metric.id)?.get(run)?)?;
                let theirs = (*other.metrics.get(metric.id)?.get(there)?)?;
                Some((mine == theirs, metric.id.ends_with("_ns")))
            })
            .collect();
        let is_of_one_program = self.processes.get(run) == other.processes.get(there);
        // Counts alone are equal in many runs.
        let has_time = both.iter().any(|(_, is_time)| *is_time);
        is_of_one_program && has_time && both.iter().all(|(is_equal, _)| *is_equal)
    }

    fn named(&self, run: usize, other: &Self, there: usize) -> RepeatedRun {
        let path = |runs: &Self, run| runs.paths.get(run).cloned().unwrap_or_default();
        RepeatedRun {
            first: path(self, run),
            again: path(other, there),
        }
    }
}

/// Returns notes on runs that a comparison has twice.
pub(crate) fn repeated(base: &Runs, new: &Runs) -> Vec<Note> {
    let within = [("base", base), ("new", new)]
        .into_iter()
        .filter_map(|(side, runs)| {
            let run = runs.repeated()?;
            let (first, again) = (last_name(&run.first), last_name(&run.again));
            let text = message!(
                "two runs of {} are the same run ({}, {}): run-to-run noise is unknown",
                side,
                path(&first),
                path(&again)
            );
            Some(Note::loud("same-run", text))
        });

    let mut notes: Vec<Note> = within.collect();
    let shared = base.shared_with(new);
    if !shared.is_empty() {
        let shared = shared.iter().map(|run| path(&last_name(&run.again)));
        let text = message!(
            "the same run is on both sides ({}): it cannot differ from itself, and run-to-run noise \
             is unknown",
            Message::joined(shared, ", ")
        );
        notes.push(Note::loud(SHARED_RUN, text));
    }
    notes
}
