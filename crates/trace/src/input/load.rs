//! Reading the wanted tables of one run.

use std::collections::BTreeSet;

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
        let chosen = self.choose_from_toc(options.run)?;
        if let Some(bundle) = &self.bundle {
            let mut read = bundle.load(selection, chosen.position().unwrap_or(1))?;
            read.notes.extend(bundle.notes());
            let reading = Reading {
                tables: read.tables,
                notes: read.notes,
                names: read.names,
                run: Some(read.run),
                unreadable: read.unreadable,
            };
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
                Err(error) if self.is_needed(document, selection) => return Err(error),
                Err(error) => {
                    let why = error.problem().to_string();
                    reading.unreadable.push(Unreadable {
                        schema: document.schema().to_owned(),
                        why: why.clone(),
                    });
                    reading.notes.push(Note::Unreadable {
                        file: document.name.clone(),
                        why,
                    });
                }
            }
        }
        self.into_trace(reading, chosen, options)
    }

    /// The tables that the documents' beginnings name.
    fn schemas(&self) -> Vec<String> {
        let headers = self
            .documents
            .iter()
            .filter_map(|document| document.header.as_ref());
        let schemas = headers.filter_map(|header| match header {
            Ok(Header::Table { schema, .. }) => Some(schema.clone()),
            _ => None,
        });
        let stores = self.bundle.iter().flat_map(|bundle| &bundle.toc().runs);
        let stores = stores.flat_map(|run| run.tables.iter().map(|table| table.schema.clone()));
        schemas.chain(stores).collect()
    }

    /// Whether a table that was asked for by name is not there.
    fn is_absent(&self, error: &Error) -> bool {
        let is_nothing = matches!(error.problem(), Problem::NothingSelected);
        is_nothing && self.kind() == InputKind::Exported
    }

    /// Whether a document that cannot be read makes the answer wrong.
    fn is_needed(&self, document: &Document, selection: &Selection) -> bool {
        let schema = document.schema();
        let wanted = selection.of(schema).is_some() && !selection.is_optional(schema);
        wanted || self.kind() == InputKind::Xml
    }

    fn choose_from_toc(&self, asked: Option<u64>) -> Result<Chosen> {
        let Some(toc) = self.toc() else {
            return Ok(Chosen::ByTables { asked });
        };
        let all: Vec<u64> = toc.runs.iter().map(|run| run.number).collect();
        let at = match asked {
            None => all.len() - 1,
            Some(asked) => all
                .iter()
                .position(|&number| number == asked)
                .ok_or_else(|| no_such_run(self.path(), asked, &all))?,
        };
        Ok(Chosen::Known {
            position: at as u64 + 1,
            all,
        })
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
        } = reading;
        let (position, all) = match chosen {
            Chosen::Known { position, all } => (position, all),
            Chosen::ByTables { asked } => choose_from_tables(&tables, asked, self.path())?,
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
            notes.insert(0, Note::SeveralRuns { chosen, all });
        }
        let synthetic = run.synthetic || tables.iter().any(|table| table.synthetic);
        if synthetic {
            notes.insert(0, Note::Synthetic);
        }
        let mut available = self.schemas();
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
struct Reading {
    tables: Vec<Table>,
    notes: Vec<Note>,
    names: Names,
    /// What the tables themselves say of the run.
    run: Option<Run>,
    unreadable: Vec<Unreadable>,
}

/// Which run to read.
enum Chosen {
    /// The table of contents says which there are.
    Known { position: u64, all: Vec<u64> },
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
    for (at, second) in tables.iter().enumerate() {
        let same = |first: &&Table| {
            first.schema.name == second.schema.name && first.origin == second.origin
        };
        if let Some(first) = tables.iter().take(at).find(same) {
            let problem = Problem::SameTableTwice {
                first: first.file.clone(),
                second: second.file.clone(),
            };
            return Err(Error::in_file(problem, path));
        }
    }
    Ok(())
}
