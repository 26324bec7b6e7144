//! Loads the selected tables of one run.

use std::collections::{BTreeMap, BTreeSet};

use super::list::{Document, Input};
use super::read::{LoadOptions, Meter, read_document};
use crate::error::{Error, Problem, Result};
use crate::note::TraceNote;
use crate::partial_trace::PartialTrace;
use crate::select::Selection;
use crate::table::Table;
use crate::toc::Run;
use crate::trace::{InputKind, Trace};
use crate::xml::Header;

impl Input {
    /// Loads the selected tables of one run.
    pub fn load(self, selection: &Selection, options: LoadOptions<'_>) -> Result<Trace> {
        let chosen = self.choose_from_toc(options.run, selection)?;
        if let Some(bundle) = &self.bundle {
            let loaded =
                bundle.load(selection, chosen.position().unwrap_or(1), options.progress)?;
            return self.into_trace(loaded, chosen, options);
        }

        let wanted = |document: &&Document| may_contain(document, selection, chosen.position());
        let documents: Vec<&Document> = self.documents.iter().filter(wanted).collect();
        let meter = Meter::new(&documents, options.progress);
        let mut loaded = PartialTrace::default();
        for document in documents {
            match read_document(document, selection, options, &mut loaded, &meter) {
                Ok(()) => {}
                Err(error) if self.kind() != InputKind::Export => return Err(error),
                Err(error) => {
                    let file = document.name.clone();
                    loaded.give_up(document.schema(), file, error, selection)?;
                }
            }
        }

        self.into_trace(loaded, chosen, options)
    }

    /// Returns the schemas of a run that the headers of the documents name.
    fn schemas(&self, position: u64) -> Vec<String> {
        let headers = self
            .documents
            .iter()
            .filter_map(|document| document.header.as_ref());
        let schemas = headers.filter_map(|header| match header {
            Ok(Header::Table { schema, origin }) => {
                let is_of_run = origin.run.is_none_or(|run| run == position);
                is_of_run.then(|| schema.clone())
            }
            _ => None,
        });
        let runs = self.bundle.iter().flat_map(|bundle| &bundle.toc().runs);
        let runs = runs.zip(1..).filter(|&(_, at)| at == position);
        let stores = runs.flat_map(|(run, _)| run.tables.iter().map(|table| table.schema.clone()));
        schemas.chain(stores).collect()
    }

    /// Chooses the requested run, or the last one with tables.
    fn choose_from_toc(&self, requested: Option<u64>, selection: &Selection) -> Result<ChosenRun> {
        let Some(toc) = self.toc() else {
            return Ok(ChosenRun::ByTables { requested });
        };
        let all: Vec<u64> = toc.runs.iter().map(|run| run.number).collect();
        let numbers = |has_tables: &dyn Fn(u64) -> bool| -> Vec<u64> {
            let numbered = all.iter().zip(1..);
            let chosen = numbered.filter(|&(_, position)| has_tables(position));
            chosen.map(|(&number, _)| number).collect()
        };

        let any = self.runs_with(|_| true);
        let Some(requested) = requested else {
            let needed = self.runs_with(|schema| selection.must_read(schema));
            let wanted = self.runs_with(|schema| selection.columns_of(schema).is_some());
            let with_tables = needed.or(wanted).or(any);
            let has_tables = |position| {
                with_tables
                    .as_ref()
                    .is_none_or(|all| all.contains(&position))
            };
            let count = all.len() as u64;
            let last = (1..=count).rev().find(|&position| has_tables(position));
            return Ok(ChosenRun::Known {
                position: last.unwrap_or(count),
                with_tables: numbers(&has_tables),
                all,
            });
        };

        let position = all
            .iter()
            .zip(1..)
            .find(|&(&number, _)| number == requested);
        let Some((_, position)) = position else {
            return Err(no_such_run(self.path(), requested, &all));
        };

        if let Some(any) = any.filter(|any| !any.contains(&position)) {
            let present = numbers(&|position| any.contains(&position));
            let problem = Problem::NoTablesOfRun {
                requested,
                present: present.iter().map(u64::to_string).collect(),
            };
            return Err(Error::in_file(problem, self.path()));
        }

        let with_tables = all.clone();
        Ok(ChosenRun::Known {
            position,
            all,
            with_tables,
        })
    }

    /// Returns the positions of the runs that have such a table. `None` if no document has one, or
    /// a document does not name its run.
    fn runs_with(&self, is_such: impl Fn(&str) -> bool) -> Option<BTreeSet<u64>> {
        let headers = self
            .documents
            .iter()
            .map(|document| document.header.as_ref());
        let mut runs = BTreeSet::new();
        for header in headers {
            match header? {
                Ok(Header::Table { schema, origin }) if is_such(schema) => {
                    runs.insert(origin.run?);
                }
                _ => {}
            }
        }
        (!runs.is_empty()).then_some(runs)
    }

    /// Builds the trace of the chosen run from the tables that were read.
    fn into_trace(
        self,
        loaded: PartialTrace,
        chosen: ChosenRun,
        options: LoadOptions<'_>,
    ) -> Result<Trace> {
        let PartialTrace {
            mut tables,
            mut notes,
            names,
            run,
            unreadable,
            is_log,
        } = loaded;

        let (position, all, with_tables) = match chosen {
            ChosenRun::Known {
                position,
                all,
                with_tables,
            } => (position, all, with_tables),
            ChosenRun::ByTables { requested } => {
                let (position, all) = choose_from_tables(&tables, requested, self.path())?;
                (position, all.clone(), all)
            }
        };

        tables.retain(|table| table.origin.run.is_none_or(|run| run == position));
        refuse_same_table_twice(&tables, self.path())?;
        // A document may name run 0, although runs start at 1.
        let at = position.checked_sub(1);
        let at = at.and_then(|at| usize::try_from(at).ok());
        let run = run.or_else(|| self.toc()?.runs.get(at?).cloned());
        if run.is_none() {
            notes.insert(0, TraceNote::NoToc);
        }

        let run = run.unwrap_or_else(|| Run::unknown(position));
        if all.len() > 1 && options.run.is_none() {
            let note = TraceNote::SeveralRuns {
                chosen: run.number,
                all,
                with_tables,
            };
            notes.insert(0, note);
        }

        let synthetic = run.synthetic || tables.iter().any(|table| table.synthetic);
        if synthetic {
            notes.insert(0, TraceNote::Synthetic);
        }

        let issues = run.issues.iter().cloned().map(TraceNote::Issue);
        notes.splice(..0, issues);

        let mut available = self.schemas(position);
        available.extend(tables.iter().map(|table| table.schema.name.clone()));
        available.extend(
            run.tables
                .iter()
                .filter(|_| is_log)
                .map(|table| table.schema.clone()),
        );
        available.sort();
        available.dedup();
        Ok(Trace {
            path: self.path().to_owned(),
            kind: if is_log { InputKind::Log } else { self.kind() },
            run: Run { synthetic, ..run },
            names,
            notes: TraceNote::limited(notes),
            tables,
            available,
            unreadable,
        })
    }
}

/// The run to read.
enum ChosenRun {
    /// A run of the table of contents.
    Known {
        position: u64,
        all: Vec<u64>,
        /// Numbers of the runs that have tables.
        with_tables: Vec<u64>,
    },
    /// A run that the tables will name.
    ByTables { requested: Option<u64> },
}

impl ChosenRun {
    fn position(&self) -> Option<u64> {
        match self {
            Self::Known { position, .. } => Some(*position),
            Self::ByTables { requested } => *requested,
        }
    }
}

/// Returns true if a document can contain a selected table. A document that is named after its
/// first table contains only that; all others are read.
fn may_contain(document: &Document, selection: &Selection, run: Option<u64>) -> bool {
    match &document.header {
        Some(Ok(Header::Empty | Header::Toc)) => false,
        Some(Ok(Header::Table { schema, origin })) if schema == document.schema_from_name() => {
            let other_run = origin.run.is_some() && run.is_some() && origin.run != run;
            selection.columns_of(schema).is_some() && !other_run
        }
        _ => true,
    }
}

/// Returns the requested run, or the last one, among the runs that the tables name, and these runs.
fn choose_from_tables(
    tables: &[Table],
    requested: Option<u64>,
    path: &str,
) -> Result<(u64, Vec<u64>)> {
    let found: BTreeSet<u64> = tables.iter().filter_map(|table| table.origin.run).collect();
    let all: Vec<u64> = found.iter().copied().collect();
    match (requested, found.last()) {
        (Some(requested), _) if found.contains(&requested) => Ok((requested, all)),
        (Some(requested), Some(_)) => Err(no_such_run(path, requested, &all)),
        (None, Some(&last)) => Ok((last, all)),
        (requested, None) => Ok((requested.unwrap_or(1).max(1), all)),
    }
}

fn no_such_run(path: &str, requested: u64, all: &[u64]) -> Error {
    let present = all.iter().map(u64::to_string).collect();
    Error::in_file(Problem::NoSuchRun { requested, present }, path)
}

/// Refuses two copies of a table, since everything would count twice.
fn refuse_same_table_twice(tables: &[Table], path: &str) -> Result<()> {
    let mut known = BTreeMap::new();
    for table in tables {
        let earlier = known.insert((&table.schema.name, table.origin), &table.file);
        if let Some(first) = earlier {
            let problem = Problem::SameTableTwice {
                first: first.clone(),
                second: table.file.clone(),
            };
            return Err(Error::in_file(problem, path));
        }
    }
    Ok(())
}
