//! Reading the wanted tables of one run.

use std::collections::{BTreeMap, BTreeSet};

use super::list::{Document, Input, InputKind};
use super::read::{LoadOptions, Meter, read_document};
use crate::error::{Error, Problem, Result};
use crate::names::Names;
use crate::note::Note;
use crate::select::Selection;
use crate::table::Table;
use crate::toc::Run;
use crate::trace::{Trace, Unreadable};
use crate::xml::Header;

impl Input {
    /// Reads the wanted tables of one run.
    pub fn load(self, selection: &Selection, options: LoadOptions<'_>) -> Result<Trace> {
        let chosen = self.choose_from_toc(options.run, selection)?;
        if let Some(bundle) = &self.bundle {
            let reading = bundle.load(selection, chosen.position().unwrap_or(1))?;
            return self.into_trace(reading, chosen, options);
        }
        let wanted = |document: &&Document| may_hold(document, selection, chosen.position());
        let documents: Vec<&Document> = self.documents.iter().filter(wanted).collect();
        let meter = Meter::new(&documents, options.progress);
        let mut reading = Reading::default();
        for document in documents {
            let names = &mut reading.names;
            match read_document(document, selection, options, names, &meter) {
                Ok(read) => {
                    reading.tables.extend(read.tables);
                    reading.notes.extend(read.notes);
                }
                // No table of contents said that it is there.
                Err(error) if self.toc().is_none() && self.is_absent(&error) => {}
                Err(error) if self.kind() == InputKind::Xml => return Err(error),
                Err(error) => {
                    let file = document.name.clone();
                    reading.give_up(document.schema(), file, error, selection)?;
                }
            }
        }
        self.into_trace(reading, chosen, options)
    }

    /// Returns the tables of a run that the documents' beginnings name.
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

    /// Whether a table that was asked for by name is not there.
    fn is_absent(&self, error: &Error) -> bool {
        let is_nothing = matches!(error.problem(), Problem::NothingSelected);
        is_nothing && self.kind() == InputKind::Exported
    }

    /// Chooses the run asked for, else the last of those that there are tables of.
    fn choose_from_toc(&self, asked: Option<u64>, selection: &Selection) -> Result<Chosen> {
        let Some(toc) = self.toc() else {
            return Ok(Chosen::ByTables { asked });
        };
        let all: Vec<u64> = toc.runs.iter().map(|run| run.number).collect();
        let numbers = |has_tables: &dyn Fn(u64) -> bool| -> Vec<u64> {
            let numbered = all.iter().zip(1..);
            let chosen = numbered.filter(|&(_, position)| has_tables(position));
            chosen.map(|(&number, _)| number).collect()
        };
        let any = self.runs_with(|_| true);
        let Some(asked) = asked else {
            let needed = self.runs_with(|schema| selection.must_read(schema));
            let wanted = self.runs_with(|schema| selection.of(schema).is_some());
            let with_tables = needed.or(wanted).or(any);
            let is_one = |position| {
                with_tables
                    .as_ref()
                    .is_none_or(|all| all.contains(&position))
            };
            let count = all.len() as u64;
            let last = (1..=count).rev().find(|&position| is_one(position));
            return Ok(Chosen::Known {
                position: last.unwrap_or(count),
                with_tables: numbers(&is_one),
                all,
            });
        };
        let position = all.iter().zip(1..).find(|&(&number, _)| number == asked);
        let Some((_, position)) = position else {
            return Err(no_such_run(self.path(), asked, &all));
        };
        if let Some(any) = any.filter(|any| !any.contains(&position)) {
            let present = numbers(&|position| any.contains(&position));
            let problem = Problem::NoTablesOfRun {
                asked,
                present: present.iter().map(u64::to_string).collect(),
            };
            return Err(Error::in_file(problem, self.path()));
        }
        let with_tables = all.clone();
        Ok(Chosen::Known {
            position,
            all,
            with_tables,
        })
    }

    /// Returns the positions of the runs of which documents have such a table; `None` if
    /// there is no such document, or one does not say of which run it is.
    fn runs_with(&self, is_such: impl Fn(&str) -> bool) -> Option<BTreeSet<u64>> {
        let headers = self.documents.iter().map(|one| one.header.as_ref());
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

    fn into_trace(
        self,
        reading: Reading,
        chosen: Chosen,
        options: LoadOptions<'_>,
    ) -> Result<Trace> {
        let Reading {
            mut tables,
            mut notes,
            names,
            run,
            unreadable,
            left_out,
        } = reading;
        if left_out > 0 {
            notes.push(Note::MoreLeftOut { files: left_out });
        }
        let (position, all, with_tables) = match chosen {
            Chosen::Known {
                position,
                all,
                with_tables,
            } => (position, all, with_tables),
            Chosen::ByTables { asked } => {
                let (position, all) = choose_from_tables(&tables, asked, self.path())?;
                (position, all.clone(), all)
            }
        };
        tables.retain(|table| table.origin.run.is_none_or(|run| run == position));
        refuse_same_table_twice(&tables, self.path())?;
        // A document may say that it is of run 0, which nothing is.
        let at = position.checked_sub(1);
        let at = at.and_then(|at| usize::try_from(at).ok());
        let run = run.or_else(|| self.toc()?.runs.get(at?).cloned());
        if run.is_none() {
            notes.insert(0, Note::NoToc);
        }
        let run = run.unwrap_or_else(|| Run::unknown(position));
        if all.len() > 1 && options.run.is_none() {
            let chosen = run.number;
            let note = match with_tables == all {
                true => Note::SeveralRuns { chosen, all },
                false => Note::TablesOfSomeRuns {
                    chosen,
                    all,
                    with_tables,
                },
            };
            notes.insert(0, note);
        }
        let synthetic = run.synthetic || tables.iter().any(|table| table.synthetic);
        if synthetic {
            notes.insert(0, Note::Synthetic);
        }
        let mut available = self.schemas(position);
        available.extend(tables.iter().map(|table| table.schema.name.clone()));
        available.sort();
        available.dedup();
        Ok(Trace {
            path: self.path().to_owned(),
            kind: self.kind(),
            run: Run { synthetic, ..run },
            names,
            notes,
            tables,
            available,
            unreadable,
        })
    }
}

/// What has been read so far.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) tables: Vec<Table>,
    pub(crate) notes: Vec<Note>,
    pub(crate) names: Names,
    /// What the tables themselves say of the run.
    pub(crate) run: Option<Run>,
    pub(crate) unreadable: Vec<Unreadable>,
    /// Files that were left out and that no note names.
    left_out: usize,
}

/// So many files that nobody asked for are named when they cannot be read: a folder may
/// have any number of them.
const NAMED: usize = 20;

impl Reading {
    /// Does without a table, and says so, unless it must be readable: then its error is
    /// that of the whole trace.
    pub(crate) fn give_up(
        &mut self,
        schema: &str,
        file: String,
        error: Error,
        selection: &Selection,
    ) -> Result<()> {
        if selection.must_read(schema) {
            return Err(error);
        }
        let is_wanted = selection.of(schema).is_some();
        if !is_wanted && self.unreadable.len() >= NAMED {
            self.left_out += 1;
            return Ok(());
        }
        let why = error.problem().to_string();
        self.unreadable.push(Unreadable {
            schema: schema.to_owned(),
            why: why.clone(),
        });
        self.notes.push(Note::Unreadable { file, why });
        Ok(())
    }
}

/// Which run to read.
enum Chosen {
    /// The table of contents says which there are.
    Known {
        position: u64,
        all: Vec<u64>,
        /// Those of which there are tables.
        with_tables: Vec<u64>,
    },
    /// The tables will say which they are of.
    ByTables { asked: Option<u64> },
}

impl Chosen {
    fn position(&self) -> Option<u64> {
        match self {
            Self::Known { position, .. } => Some(*position),
            Self::ByTables { asked } => *asked,
        }
    }
}

/// Whether a document can hold a wanted table. One that is named after its
/// first table holds only that; any other is read to see what it holds.
fn may_hold(document: &Document, selection: &Selection, run: Option<u64>) -> bool {
    match &document.header {
        Some(Ok(Header::Empty | Header::Toc)) => false,
        Some(Ok(Header::Table { schema, origin })) if schema == document.promised_schema() => {
            let other_run = origin.run.is_some() && run.is_some() && origin.run != run;
            selection.of(schema).is_some() && !other_run
        }
        _ => true,
    }
}

/// The run asked for, else the last, of those that the tables are of.
fn choose_from_tables(tables: &[Table], asked: Option<u64>, path: &str) -> Result<(u64, Vec<u64>)> {
    let found: BTreeSet<u64> = tables.iter().filter_map(|table| table.origin.run).collect();
    let all: Vec<u64> = found.iter().copied().collect();
    match (asked, found.last()) {
        (Some(asked), _) if found.contains(&asked) => Ok((asked, all)),
        (Some(asked), Some(_)) => Err(no_such_run(path, asked, &all)),
        (None, Some(&last)) => Ok((last, all)),
        (asked, None) => Ok((asked.unwrap_or(1).max(1), all)),
    }
}

fn no_such_run(path: &str, asked: u64, all: &[u64]) -> Error {
    let present = all.iter().map(u64::to_string).collect();
    Error::in_file(Problem::NoSuchRun { asked, present }, path)
}

/// Two copies of a table would count everything twice.
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
