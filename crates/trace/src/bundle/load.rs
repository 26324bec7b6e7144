//! A bundle as an input: its runs, its tables, and the trace that is read.

use std::path::Path;

use super::ahead::read_ahead;
use super::facts::{self, Facts, Template};
use super::files::Files;
use super::inferred;
use super::layout::{self, Layout, StoreColumn};
use super::manager::{self, Store};
use super::people::{People, ThreadFacts};
use super::rows::{Decoder, is_raw};
use super::store::Rows;
use super::symbols::Symbols;
use super::types;
use super::uniquing::{USUAL, Uniques};
use crate::error::{Error, Problem, Result};
use crate::input::{CountedTable, ListedDocument};
use crate::names::Names;
use crate::note::Note;
use crate::select::{Columns, Selection};
use crate::table::{Origin, Table};
use crate::toc::{ListedTable, Run, Toc};
use crate::trace::Unreadable;

/// The newest form of a document that was ever compared with an export.
const KNOWN_VERSION: u64 = 5;

/// A bundle whose runs are known.
pub(crate) struct Bundle {
    files: Files,
    toc: Toc,
    template: Template,
    /// The N of each `corespace/runN`, in the order of the table of contents.
    runs: Vec<u64>,
    /// The stores of each run, in the same order.
    stores: Vec<Vec<Store>>,
    synthetic: bool,
}

/// What was read of a run.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) run: Run,
    pub(crate) tables: Vec<Table>,
    pub(crate) names: Names,
    pub(crate) notes: Vec<Note>,
    pub(crate) unreadable: Vec<Unreadable>,
}

impl Read {
    fn give_up(&mut self, store: &Store, error: &Error) {
        let why = error.problem().to_string();
        self.notes.push(Note::Unreadable {
            file: store.schema.clone(),
            why: why.clone(),
        });
        self.unreadable.push(Unreadable {
            schema: store.schema.clone(),
            why,
        });
    }
}

impl std::fmt::Debug for Bundle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bundle")
            .field("name", &self.files.name())
            .finish()
    }
}

impl Bundle {
    /// Opens a bundle's folder.
    pub(crate) fn open_folder(path: &Path) -> Result<Self> {
        Self::open(Files::folder(path))
    }

    /// Looks at what runs a bundle has and what is known of them.
    pub(crate) fn open(files: Files) -> Result<Self> {
        let runs = files.numbered("corespace", "run");
        let has_tables = |run: &u64| {
            files.exists(&format!(
                "corespace/run{run}/core/table-manager/tables.plist"
            ))
        };
        let runs: Vec<u64> = runs.into_iter().filter(has_tables).collect();
        if runs.is_empty() {
            let path = files.name().to_owned();
            let unfinished = files.exists("Trace1.run/Attachments/trace-data.atrc");
            let problem = match unfinished {
                true => Problem::UnfinishedBundle { path: path.clone() },
                false => Problem::UnsupportedBundle {
                    detail: "it has no table manager".to_owned(),
                },
            };
            return Err(Error::in_file(problem, path));
        }
        let Facts { mut toc, template } = facts::read(&files, &runs)?;
        let synthetic = facts::is_synthetic(&files);
        let stores: Result<Vec<Vec<Store>>> = runs
            .iter()
            .map(|run| manager::stores(&files, *run))
            .collect();
        let stores = stores?;
        for (run, stores) in toc.runs.iter_mut().zip(&stores) {
            run.tables = listed_tables(stores);
            run.synthetic = synthetic;
        }
        Ok(Self {
            files,
            toc,
            template,
            runs,
            stores,
            synthetic,
        })
    }

    pub(crate) fn toc(&self) -> &Toc {
        &self.toc
    }

    /// What the bundle lacks to say all that a table of contents says, and
    /// whether it was saved by an Instruments that is too new to be known.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let version = facts::required_version(&self.files);
        let newer = version.filter(|&version| version > KNOWN_VERSION);
        let newer = newer.map(|version| Note::NewerFormat { version });
        let template = match self.template {
            Template::Missing => Some(Note::NoTemplate),
            Template::Damaged => Some(Note::DamagedTemplate),
            Template::Sound => None,
        };
        newer.into_iter().chain(template).collect()
    }

    /// Reads the wanted tables of the run at this 1-based position. A table
    /// that cannot be read does not stop the others.
    ///
    /// The stores are read on threads of their own, while this one says what is in
    /// those that are read: inflating them takes longer than all the rest.
    pub(crate) fn load(&self, selection: &Selection, position: u64) -> Result<Read> {
        let (run, stores) = self.run_at(position)?;
        let wanted: Vec<Wanted<'_>> = wanted(stores, selection, position);
        let stored = |one: &Wanted<'_>| {
            let path = format!("{}/bulkstore", one.store.path);
            self.files.credible(&path, 0)
        };
        let sizes: Vec<u64> = wanted.iter().map(stored).collect();
        let read = |at: usize| Some(self.read_rows(wanted.get(at)?));
        read_ahead(&sizes, read, |rows| {
            let rows = wanted.iter().zip(rows.flatten());
            self.decode(stores, run, position, selection, rows)
        })
    }

    fn read_rows(&self, wanted: &Wanted<'_>) -> Result<Rows> {
        let layout = layout::of_store(&self.files, wanted.store)?;
        let kept = |column: &StoreColumn| wanted.columns.contains(&column.mnemonic);
        Rows::read(&self.files, wanted.store, layout, kept)
    }

    fn decode<'a>(
        &self,
        stores: &[Store],
        run: u64,
        position: u64,
        selection: &Selection,
        rows: impl IntoIterator<Item = (&'a Wanted<'a>, Result<Rows>)>,
    ) -> Result<Read> {
        let uniques = Uniques::read(&self.files, &format!("corespace/run{run}/core"))?;
        let people = self.people(stores, &uniques, position)?;
        let decoder = Decoder {
            files: &self.files,
            uniques: &uniques,
            people: &people,
            symbols: Symbols::new(&self.files, stores, &uniques, run),
            rendered: selection.wants_rendered_labels(),
            numbered: selection.wants_numbered_labels(),
        };
        let mut read = Read {
            run: self.known_run(position),
            notes: self.unlisted(run, stores),
            ..Read::default()
        };
        if inferred::fill(&mut read.run, &self.files, stores, &uniques, &people)? {
            read.notes.push(Note::TargetFromLifeCycle);
        }
        let lacking = facts::lacking(&read.run);
        if self.template != Template::Missing && !lacking.is_empty() {
            read.notes.push(Note::TemplateLacks { facts: lacking });
        }
        for (wanted, rows) in rows {
            let rows = rows.and_then(|rows| self.decode_store(wanted, rows, &decoder, &mut read));
            if let Err(error) = rows {
                read.give_up(wanted.store, &error);
            }
        }
        read.notes.extend(decoder.symbols.notes());
        Ok(read)
    }

    fn decode_store(
        &self,
        wanted: &Wanted<'_>,
        mut rows: Rows,
        decoder: &Decoder<'_>,
        read: &mut Read,
    ) -> Result<()> {
        let mut table = decoder.table(
            wanted.store,
            &mut rows,
            wanted.origin,
            wanted.columns,
            &mut read.names,
        )?;
        table.synthetic = self.synthetic;
        let columns = undecoded(&rows.layout, &table);
        if !columns.is_empty() && table.rows() > 0 {
            let table = wanted.store.schema.clone();
            read.notes.push(Note::Undecoded { table, columns });
        }
        read.tables.push(table);
        Ok(())
    }

    /// Every table of a run with its row count, or what is wrong with it.
    pub(crate) fn list(&self) -> Vec<ListedDocument> {
        let mut listed = Vec::new();
        for (stores, run) in self.stores.iter().zip(1..) {
            let stores = stores.iter().zip(1..);
            listed.extend(stores.map(|(store, table)| self.list_store(store, run, table)));
        }
        listed
    }

    fn list_store(&self, store: &Store, run: u64, table: u64) -> ListedDocument {
        let counted = layout::of_store(&self.files, store).map(|layout| CountedTable {
            schema: layout.declared(|type_id| types::of(type_id).0.to_owned()),
            origin: Origin {
                run: Some(run),
                table: Some(table),
            },
            rows: usize::try_from(layout.rows).unwrap_or(usize::MAX),
            truncated: false,
        });
        ListedDocument {
            file: format!("{}/{}", self.files.name(), store.path),
            promised: store.schema.clone(),
            table: counted,
        }
    }

    /// Stores that no table of a run names. None was ever seen: where there is one,
    /// its table is missing.
    fn unlisted(&self, run: u64, stores: &[Store]) -> Vec<Note> {
        let folder = format!("corespace/run{run}/core/stores");
        let numbers = self.files.numbered(&folder, "indexed-store-").into_iter();
        let unlisted = numbers.filter(|&number| stores.iter().all(|one| one.number != number));
        let notes = unlisted.map(|number| {
            let store = format!("{folder}/indexed-store-{number}");
            let layout = layout::read(&self.files, &store).ok();
            let table = layout.map(|layout| layout.schema);
            Note::Unlisted { store, table }
        });
        notes.collect()
    }

    /// The number and the stores of the run at a position.
    fn run_at(&self, position: u64) -> Result<(u64, &[Store])> {
        let at = usize::try_from(position)
            .ok()
            .and_then(|at| at.checked_sub(1));
        let found = at.and_then(|at| Some((*self.runs.get(at)?, self.stores.get(at)?.as_slice())));
        found.ok_or_else(|| {
            let present = self.runs.iter().map(u64::to_string).collect();
            let problem = Problem::NoSuchRun {
                asked: position,
                present,
            };
            Error::in_file(problem, self.files.name())
        })
    }

    /// What `form.template` says of the run at a position.
    fn known_run(&self, position: u64) -> Run {
        let at = usize::try_from(position)
            .ok()
            .and_then(|at| at.checked_sub(1));
        at.and_then(|at| self.toc.runs.get(at))
            .cloned()
            .unwrap_or_default()
    }

    /// The names of processes and threads, as far as the bundle has them.
    fn people(&self, stores: &[Store], uniques: &Uniques, position: u64) -> Result<People> {
        let mut people = People::default();
        for process in &self.known_run(position).processes {
            if let (Some(pid), 1..=USUAL) = (process.pid, process.name.len()) {
                people.displayed.insert(pid, process.name.clone());
            }
        }
        for store in stores {
            match store.schema.as_str() {
                "process-info" => self.processes(store, uniques, &mut people)?,
                "thread-info" => self.threads(store, uniques, &mut people)?,
                _ => {}
            }
        }
        Ok(people)
    }

    fn processes(&self, store: &Store, uniques: &Uniques, people: &mut People) -> Result<()> {
        let rows = Rows::whole(&self.files, store)?;
        let (Some(process), Some(name)) = (rows.slot("process"), rows.slot("process-name")) else {
            return Ok(());
        };
        for (process, name) in rows.values(process).zip(rows.values(name)) {
            if let (Some(process), Some(name)) = (process, name.and_then(|n| uniques.name(n))) {
                people
                    .processes
                    .entry(process)
                    .or_insert_with(|| name.to_owned());
            }
        }
        Ok(())
    }

    fn threads(&self, store: &Store, uniques: &Uniques, people: &mut People) -> Result<()> {
        let rows = Rows::whole(&self.files, store)?;
        let (Some(thread), Some(name), Some(main)) = (
            rows.slot("thread"),
            rows.slot("name"),
            rows.slot("main-thread"),
        ) else {
            return Ok(());
        };
        let rows = rows
            .values(thread)
            .zip(rows.values(name))
            .zip(rows.values(main));
        for ((thread, name), main) in rows {
            let Some(thread) = thread else { continue };
            let name = name.and_then(|name| uniques.name(name >> 32));
            // A thread may be listed again; what is said last holds.
            let facts = ThreadFacts {
                name: name.map(str::to_owned),
                is_main: main == Some(1),
            };
            people.threads.insert(thread, facts);
        }
        Ok(())
    }
}

/// A store that is to be read.
struct Wanted<'a> {
    store: &'a Store,
    columns: &'a Columns,
    origin: Origin,
}

fn wanted<'a>(stores: &'a [Store], selection: &'a Selection, position: u64) -> Vec<Wanted<'a>> {
    let wanted = stores.iter().zip(1..).filter_map(|(store, table)| {
        Some(Wanted {
            store,
            columns: selection.of(&store.schema)?,
            origin: Origin {
                run: Some(position),
                table: Some(table),
            },
        })
    });
    wanted.collect()
}

fn listed_tables(stores: &[Store]) -> Vec<ListedTable> {
    let tables = stores.iter().zip(1..).map(|(store, position)| ListedTable {
        schema: store.schema.clone(),
        position,
        attributes: store.attributes.clone(),
    });
    tables.collect()
}

/// The kept columns whose values are raw numbers of an unknown meaning.
fn undecoded(layout: &Layout, table: &Table) -> Vec<String> {
    let columns = layout.columns.iter().zip(&table.columns);
    let raw = columns.filter(|(stored, column)| is_raw(&stored.type_id, Some(column)));
    raw.map(|(stored, _)| stored.mnemonic.clone()).collect()
}
