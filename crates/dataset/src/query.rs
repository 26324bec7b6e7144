//! SQL over traces and datasets.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, MutexGuard, PoisonError};

use metalens_analyzer::Analysis;
use polars_core::prelude::*;
use polars_lazy::prelude::*;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::frame::failed;
use crate::scan::{Failure, Run, Scan};
use crate::sql::{Asked, Planner};
use crate::tables::Which;
use crate::write::{self, Choices};
use crate::{folder, frame, identity};

/// What can be asked: traces and datasets together, each run once.
#[derive(Default)]
pub struct Library {
    runs: Vec<Run>,
    names: BTreeSet<String>,
    twice: Vec<String>,
}

impl Library {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds every whole run of a dataset. Only their folders are looked at.
    pub fn add_dataset(&mut self, path: &Path) -> Result<()> {
        for run in folder::runs(path)? {
            self.add(Run::Stored(run));
        }
        Ok(())
    }

    /// Adds a trace. The analysis must have been made with `Request::keep_everyone`.
    pub fn add_analysis(&mut self, analysis: &Analysis, choices: Choices) -> Result<()> {
        let partition = identity::partition(analysis)?;
        let frame = |which: Which| {
            let table = write::table(analysis, which, choices)?;
            frame::frame(&table, &partition).map_err(failed)
        };
        let frames: Result<Vec<DataFrame>> = Which::ALL.into_iter().map(frame).collect();
        let frames = Arc::new(frames?);
        self.add(Run::Held(partition, frames));
        Ok(())
    }

    /// A run that is there already is not counted twice.
    fn add(&mut self, run: Run) {
        let name = run.partition().run.clone();
        match self.names.insert(name.clone()) {
            true => self.runs.push(run),
            false => self.twice.push(name),
        }
    }

    /// How many runs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Runs that were added more than once, and count once.
    #[must_use]
    pub fn twice(&self) -> &[String] {
        &self.twice
    }

    /// Whether a query is one that can be asked, as far as that shows without data.
    pub fn check(sql: &str) -> Result<()> {
        Asked::parse(sql).map(drop)
    }

    /// Asks. Only the columns, runs and groups of rows that the query needs are read.
    pub fn ask(&self, sql: &str) -> Result<Answer> {
        self.ask_counting(sql, &Arc::default())
    }

    /// The same; counts the groups of rows that are read from files.
    pub(crate) fn ask_counting(&self, sql: &str, groups: &Arc<AtomicUsize>) -> Result<Answer> {
        let asked = Asked::parse(sql)?;
        let runs = Arc::new(self.runs.clone());
        let failure = Failure::default();
        let table = |which: Which| {
            let scan = Scan {
                which,
                runs: runs.clone(),
                failure: failure.clone(),
                groups_read: groups.clone(),
            };
            let options = ScanArgsAnonymous {
                schema: Some(frame::schema(which)),
                name: which.name(),
                ..ScanArgsAnonymous::default()
            };
            LazyFrame::anonymous_scan(Arc::new(scan), options)
        };
        let planned = Planner::new(&table).plan(&asked.query);
        let answer = planned.and_then(|planned| {
            let frame = planned.frame.collect().map_err(failed)?;
            Ok(Answer::new(frame, &planned.columns))
        });
        let stored = lock(&failure).take();
        stored.map_or(answer, Err)
    }
}

fn lock(failure: &Failure) -> MutexGuard<'_, Option<Error>> {
    failure.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    use metalens_analyzer::{Request, analyze, selection};
    use metalens_simulator::{Scenario, write_export};
    use metalens_trace::{Input, LoadOptions};

    fn analysis(name: &str) -> Analysis {
        let folder = tempfile::tempdir().unwrap();
        let scenario = Scenario::preset(name).unwrap();
        write_export(&scenario, folder.path(), false).unwrap();
        let input = Input::open(folder.path()).unwrap();
        let trace = input.load(&selection(), LoadOptions::default()).unwrap();
        let request = Request {
            keep_everyone: true,
            ..Request::default()
        };
        analyze(trace, &request).unwrap()
    }

    /// Three runs of one group of rows each, on two days.
    #[test]
    fn only_what_a_query_needs_is_read() {
        let dataset = tempfile::tempdir().unwrap();
        let mut last = String::new();
        for (name, date) in [
            ("eager", "2026-01-01"),
            ("fused", "2026-01-02"),
            ("batched", "2026-01-02"),
        ] {
            let mut analysis = analysis(name);
            analysis.report.run.start = Some(format!("{date}T00:00:00Z"));
            last = write::write(&analysis, dataset.path(), Choices::default())
                .unwrap()
                .run;
        }
        let mut library = Library::new();
        library.add_dataset(dataset.path()).unwrap();
        let check = |sql: &str, expected: usize| {
            let groups = Arc::default();
            library.ask_counting(sql, &groups).unwrap();
            assert_eq!(groups.load(Ordering::Relaxed), expected, "{sql}");
        };
        check("SELECT count(*) FROM gaps", 3);
        check(
            "SELECT sum(duration_ns) FROM gaps WHERE date = '2026-01-02'",
            2,
        );
        check(
            "SELECT sum(duration_ns) FROM gaps WHERE date > '2026-01-02'",
            0,
        );
        check(&format!("SELECT * FROM kernels WHERE run = '{last}'"), 1);
        check("SELECT * FROM intervals WHERE start_ns < 0", 0);
        check(
            "SELECT * FROM intervals WHERE role = 'nobody' AND start_ns >= 0",
            0,
        );
        check(
            "SELECT * FROM intervals WHERE start_ns < 0 OR end_ns > 0",
            3,
        );
        check("SELECT * FROM intervals LIMIT 5", 1);
        check(
            "SELECT * FROM gaps WHERE date = '2026-01-02' ORDER BY duration_ns LIMIT 3",
            2,
        );
        check("SELECT * FROM gaps ORDER BY duration_ns LIMIT 3", 3);
        // No run is called a number, but then no row is looked at.
        check(
            "SELECT * FROM intervals WHERE CAST(run AS BIGINT) = 1 AND start_ns < 0",
            0,
        );
    }
}
