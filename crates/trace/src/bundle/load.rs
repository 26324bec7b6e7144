//! A bundle as an input: its runs, its tables, and the trace that is read.

use std::collections::BTreeSet;
use std::path::Path;

use super::ahead::read_ahead;
use super::facts::{self, Facts, Template};
use super::files::Files;
use super::inferred;
use super::layout::{self, Layout, StoreColumn};
use super::manager::{self, Store};
use super::people::People;
use super::rows::{Decoder, is_raw};
use super::store::Rows;
use super::symbols::Symbols;
use super::uniquing::Uniques;
use crate::error::{Error, Problem, Result};
use crate::input::Reading;
use crate::note::Note;
use crate::place::Place;
use crate::select::{Columns, Selection};
use crate::table::{Origin, Table};
use crate::toc::{ListedTable, Run, Toc};

/// The newest form of a document that was ever compared with an export.
const KNOWN_VERSION: u64 = 5;

/// A bundle whose runs are known.
pub(crate) struct Bundle {
    pub(super) files: Files,
    toc: Toc,
    template: Template,
    /// The N of each `corespace/runN`, in the order of the table of contents.
    pub(super) runs: Vec<u64>,
    /// The stores of each run, in the same order.
    pub(super) stores: Vec<Vec<Store>>,
    synthetic: bool,
    /// What the bundle says of itself that cannot be read, and what it lacks.
    notes: Vec<Note>,
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
        let has_tables = |run: &u64| {
            files.exists(&format!(
                "corespace/run{run}/core/table-manager/tables.plist"
            ))
        };
        let all = files.numbered("corespace", "run").into_iter();
        let (runs, without): (Vec<u64>, Vec<u64>) = all.partition(has_tables);
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
        let mut notes: Vec<Note> = without
            .into_iter()
            .map(|run| Note::RunLeftOut { run })
            .collect();
        let synthetic = facts::is_synthetic(&files);
        let synthetic = synthetic.unwrap_or_else(|error| {
            notes.push(files.unreadable(&error));
            false
        });
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
            notes,
        })
    }

    pub(crate) fn toc(&self) -> &Toc {
        &self.toc
    }

    /// Returns what a reader of the bundle should know: what it lacks or says in a way
    /// that cannot be read, and whether its Instruments is too new to be known.
    fn notes(&self) -> Vec<Note> {
        let mut notes = self.notes.clone();
        match facts::required_version(&self.files) {
            Ok(Some(version)) if version > KNOWN_VERSION => {
                notes.push(Note::NewerFormat { version });
            }
            Ok(_) => {}
            Err(error) => notes.push(self.files.unreadable(&error)),
        }
        notes.extend(match self.template {
            Template::Missing => Some(Note::NoTemplate),
            Template::Damaged => Some(Note::DamagedTemplate),
            Template::Sound => None,
        });
        notes
    }

    /// Reads the wanted tables of the run at this 1-based position. A table
    /// that cannot be read does not stop the others.
    ///
    /// The stores are read on threads of their own, while this one says what is in
    /// those that are read: inflating them takes longer than all the rest.
    pub(crate) fn load(&self, selection: &Selection, position: u64) -> Result<Reading> {
        let (run, stores) = self.run_at(position)?;
        self.read_stores(stores, selection, position, |rows| {
            let uniques = Uniques::read(&self.files, &core(run))?;
            let known = self.known_run(position);
            let people = People::read(&self.files, stores, &uniques, &known)?;
            let symbols = Symbols::new(&self.files, stores, &uniques, run);
            let decoder = self.decoder(&uniques, &people, symbols, selection);
            let mut reading = Reading::default();
            self.add_facts(&mut reading, stores, position, &decoder)?;
            for (wanted, rows) in rows {
                let read =
                    rows.and_then(|rows| self.decode_store(&wanted, rows, &decoder, &mut reading));
                if let Err(error) = read {
                    let schema = &wanted.store.schema;
                    let file = format!("{schema} ({})", self.files.inside(&error));
                    let given_up = reading.give_up(schema, file, error, selection);
                    given_up.map_err(|error| self.with_a_way_out(error, schema, position))?;
                }
            }
            reading.notes.extend(decoder.symbols.notes());
            reading.notes.extend(self.notes());
            Ok(reading)
        })
    }

    /// A table whose layout was never seen can still be exported, by whoever has a Mac.
    fn with_a_way_out(&self, error: Error, schema: &str, position: u64) -> Error {
        if !matches!(error.problem(), Problem::UnsupportedBundle { .. }) {
            return error;
        }
        let place = Place {
            table: None,
            ..error.place().clone()
        };
        let problem = Problem::UnreadableTable {
            schema: schema.to_owned(),
            why: error.problem().to_string(),
            path: self.files.name().to_owned(),
            run: self.known_run(position).number,
        };
        Error::new(problem, place)
    }

    /// Reads the rows of the wanted stores on threads, for `take` to take in order.
    pub(super) fn read_stores<T>(
        &self,
        stores: &[Store],
        selection: &Selection,
        position: u64,
        take: impl FnOnce(&mut dyn Iterator<Item = (Wanted<'_>, Result<Rows>)>) -> T,
    ) -> T {
        let wanted = wanted(stores, selection, position);
        let stored = |one: &Wanted<'_>| {
            let path = format!("{}/bulkstore", one.store.path);
            self.files.credible(&path, 0)
        };
        let sizes: Vec<u64> = wanted.iter().map(stored).collect();
        let read = |at: usize| Some(self.read_rows(wanted.get(at)?));
        read_ahead(&sizes, read, |rows| {
            take(&mut wanted.iter().copied().zip(rows.flatten()))
        })
    }

    fn read_rows(&self, wanted: &Wanted<'_>) -> Result<Rows> {
        let layout = layout::of_store(&self.files, wanted.store)?;
        let kept = |column: &StoreColumn| wanted.columns.contains(&column.mnemonic);
        Rows::read(&self.files, wanted.store, layout, kept)
    }

    pub(super) fn decoder<'a>(
        &'a self,
        uniques: &'a Uniques,
        people: &'a People,
        symbols: Symbols<'a>,
        selection: &Selection,
    ) -> Decoder<'a> {
        Decoder {
            files: &self.files,
            uniques,
            people,
            symbols,
            rendered: selection.wants_rendered_labels(),
            numbered: selection.wants_numbered_labels(),
        }
    }

    /// Adds what is known of the run, and what is not.
    fn add_facts(
        &self,
        reading: &mut Reading,
        stores: &[Store],
        position: u64,
        decoder: &Decoder<'_>,
    ) -> Result<()> {
        let (number, _) = self.run_at(position)?;
        let mut run = self.known_run(position);
        reading.notes.extend(self.unlisted(number, stores));
        if inferred::fill(
            &mut run,
            &self.files,
            stores,
            decoder.uniques,
            decoder.people,
        )? {
            reading.notes.push(Note::TargetFromLifeCycle);
        }
        let lacking = facts::lacking(&run);
        if self.template != Template::Missing && !lacking.is_empty() {
            reading.notes.push(Note::TemplateLacks { facts: lacking });
        }
        reading.run = Some(run);
        Ok(())
    }

    fn decode_store(
        &self,
        wanted: &Wanted<'_>,
        mut rows: Rows,
        decoder: &Decoder<'_>,
        read: &mut Reading,
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

    /// Stores that no table of a run names. None was ever seen: where there is one,
    /// its table is missing.
    fn unlisted(&self, run: u64, stores: &[Store]) -> Vec<Note> {
        let folder = format!("corespace/run{run}/core/stores");
        let numbers = self.files.numbered(&folder, "indexed-store-").into_iter();
        let listed: BTreeSet<u64> = stores.iter().map(|one| one.number).collect();
        let unlisted = numbers.filter(|number| !listed.contains(number));
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
    pub(super) fn known_run(&self, position: u64) -> Run {
        let at = usize::try_from(position)
            .ok()
            .and_then(|at| at.checked_sub(1));
        at.and_then(|at| self.toc.runs.get(at))
            .cloned()
            .unwrap_or_default()
    }
}

pub(super) fn core(run: u64) -> String {
    format!("corespace/run{run}/core")
}

/// A store that is to be read.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) store: &'a Store,
    pub(super) columns: &'a Columns,
    pub(super) origin: Origin,
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
