//! Opens a bundle, and loads the selected tables of a run.

use std::collections::BTreeSet;
use std::path::Path;

use super::facts::{self, TemplateState};
use super::files::Files;
use super::inferred;
use super::layout::{self, Layout, StoreColumn};
use super::manager::{self, Store};
use super::process_names::ProcessNames;
use super::read_ahead::read_ahead;
use super::rows::{Decoder, is_raw};
use super::run_issues;
use super::store::Rows;
use super::symbols::Symbols;
use super::uniquing::Uniques;
use crate::error::{Error, Problem, Result};
use crate::note::TraceNote;
use crate::partial_trace::PartialTrace;
use crate::place::Place;
use crate::progress::Progress;
use crate::run_issue::RunIssue;
use crate::select::{Columns, Selection};
use crate::table::{Origin, Table};
use crate::toc::{ListedTable, Run, Toc};

/// The newest format version that was compared with an export.
const KNOWN_VERSION: u64 = 5;

/// An open bundle with known runs.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(super) files: Files,
    toc: Toc,
    template: TemplateState,
    /// Numbers N of all `corespace/runN`, in the order of the table of contents.
    pub(super) runs: Vec<u64>,
    /// Stores of each run, in the same order.
    pub(super) stores: Vec<Vec<Store>>,
    synthetic: bool,
    /// Notes on facts that are missing or cannot be read.
    notes: Vec<TraceNote>,
}

/// Returns the error of a bundle whose runs, if it has any, have no tables.
fn without_tables(files: &Files, runs: &[u64]) -> Result<Error> {
    let path = files.name().to_owned();
    let issues = run_issues::read(files, runs.last().copied().unwrap_or(1), &mut Vec::new());
    let problem = if files.try_exists("Trace1.run/Attachments/trace-data.atrc")? {
        Problem::UnfinishedBundle { path: path.clone() }
    } else if !issues.is_empty() {
        Problem::FailedRecording {
            issues: RunIssue::list(&issues),
            remedy: issues.iter().find_map(RunIssue::remedy),
        }
    } else if runs.is_empty() {
        Problem::EmptyBundle
    } else {
        Problem::UnsupportedBundle {
            detail: "it has no table manager".to_owned(),
        }
    };
    Ok(Error::in_file(problem, path))
}

/// Returns the error of an old bundle in the right words: a layout that is not read is no new one,
/// and a file that Instruments did not write yet is not missing.
fn with_age(error: Error, name: &str, is_old: bool) -> Error {
    match error.problem() {
        Problem::UnsupportedBundle { detail }
        | Problem::IncompleteBundle { detail }
        | Problem::UnreadableTable { why: detail, .. }
            if is_old =>
        {
            let detail = detail.clone();
            Error::in_file(Problem::OldBundle { detail }, name)
        }
        Problem::EmptyBundle if is_old => {
            let detail = "it has no folder corespace/run1".to_owned();
            Error::in_file(Problem::OldBundle { detail }, name)
        }
        _ => error,
    }
}

impl Bundle {
    /// Opens a bundle that is a folder.
    pub(crate) fn open_folder(path: &Path) -> Result<Self> {
        Self::open(Files::folder(path))
    }

    /// Opens a bundle, and reads its runs and their facts.
    pub(crate) fn open(files: Files) -> Result<Self> {
        let (is_old, name) = (facts::is_old(&files), files.name().to_owned());
        Self::open_known(files).map_err(|error| with_age(error, &name, is_old))
    }

    fn open_known(files: Files) -> Result<Self> {
        let (mut runs, mut without) = (Vec::new(), Vec::new());
        for run in files.numbered("corespace", "run")? {
            let tables = format!("corespace/run{run}/core/table-manager/tables.plist");
            if files.try_exists(&tables)? {
                runs.push(run);
            } else {
                without.push(run);
            }
        }
        if runs.is_empty() {
            return Err(without_tables(&files, &without)?);
        }

        let (mut toc, template) = facts::read(&files, &runs)?;
        let mut notes: Vec<TraceNote> = without
            .into_iter()
            .map(|run| TraceNote::RunLeftOut { run })
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
            run.issues = run_issues::read(&files, run.number, &mut notes);
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

    /// Returns notes on missing and unreadable facts, and on an unknown version of Instruments.
    fn notes(&self) -> Vec<TraceNote> {
        let mut notes = self.notes.clone();
        match facts::required_version(&self.files) {
            Ok(Some(version)) if version > KNOWN_VERSION => {
                notes.push(TraceNote::NewerFormat { version });
            }
            Ok(_) => {}
            Err(error) => notes.push(self.files.unreadable(&error)),
        }
        notes.extend(match self.template {
            TemplateState::Missing => Some(TraceNote::NoTemplate),
            TemplateState::Damaged => Some(TraceNote::DamagedTemplate),
            TemplateState::Sound => None,
        });
        notes
    }

    /// Loads the selected tables of the run at a position, from 1. A table that cannot be read does
    /// not stop the others.
    ///
    /// Other threads read the stores while this one decodes them, since inflating takes longer than
    /// everything else.
    pub(crate) fn load(
        &self,
        selection: &Selection,
        position: u64,
        tell: Option<&dyn Fn(Progress)>,
    ) -> Result<PartialTrace> {
        let loaded = self.load_known(selection, position, tell);
        loaded.map_err(|error| with_age(error, self.files.name(), facts::is_old(&self.files)))
    }

    fn load_known(
        &self,
        selection: &Selection,
        position: u64,
        tell: Option<&dyn Fn(Progress)>,
    ) -> Result<PartialTrace> {
        let (run, stores) = self.run_at(position)?;
        let wanted = wanted(stores, selection, position);
        self.read_stores(&wanted, tell, |rows| {
            let uniques = Uniques::read(&self.files, &core(run))?;
            let known = self.known_run(position);
            let process_names = ProcessNames::read(&self.files, stores, &uniques, &known)?;
            let symbols = Symbols::new(&self.files, stores, &uniques, run);
            let decoder = self.decoder(&uniques, &process_names, symbols, selection);
            let mut loaded = PartialTrace::default();
            self.add_facts(&mut loaded, stores, position, &decoder)?;
            for (wanted, rows) in rows {
                let read =
                    rows.and_then(|rows| self.decode_store(&wanted, rows, &decoder, &mut loaded));
                if let Err(error) = read {
                    let schema = &wanted.store.schema;
                    let file = format!("{schema} ({})", self.files.inside(&error));
                    let given_up = loaded.give_up(schema, file, error, selection);
                    given_up.map_err(|error| self.with_export_hint(error, schema, position))?;
                }
            }
            loaded.notes.extend(decoder.symbols.notes());
            loaded.notes.extend(self.notes());
            Ok(loaded)
        })
    }

    /// Adds the hint that a table with an unknown layout can be exported on a Mac.
    fn with_export_hint(&self, error: Error, schema: &str, position: u64) -> Error {
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

    /// Reads the rows of the wanted stores on threads, and passes them to `take` in order. Tells the
    /// progress.
    pub(super) fn read_stores<T>(
        &self,
        wanted: &[WantedStore<'_>],
        tell: Option<&dyn Fn(Progress)>,
        take: impl FnOnce(&mut dyn Iterator<Item = (WantedStore<'_>, Result<Rows>)>) -> T,
    ) -> T {
        let size = |wanted: &WantedStore<'_>| {
            let path = format!("{}/bulkstore", wanted.store.path);
            self.files.size(&path)
        };
        let sizes: Vec<u64> = wanted.iter().map(size).collect();
        let total = sizes.iter().copied().fold(0, u64::saturating_add);
        let before = self.files.taken();
        let tell_progress = || {
            if let Some(tell) = tell {
                // Small files beside the stores are read meanwhile.
                let done = self.files.taken().saturating_sub(before).min(total);
                let total = Some(total);
                tell(Progress { done, total });
            }
        };
        let read = |at: usize| Some(self.read_rows(wanted.get(at)?));
        read_ahead(&sizes, read, &tell_progress, |rows| {
            take(&mut wanted.iter().copied().zip(rows.flatten()))
        })
    }

    fn read_rows(&self, wanted: &WantedStore<'_>) -> Result<Rows> {
        let layout = layout::read_listed(&self.files, wanted.store)?;
        let kept = |column: &StoreColumn| wanted.columns.contains(&column.mnemonic);
        Rows::read(&self.files, wanted.store, layout, kept)
    }

    /// Returns a decoder for a run, with the parts that the selection needs.
    pub(super) fn decoder<'a>(
        &'a self,
        uniques: &'a Uniques,
        process_names: &'a ProcessNames,
        symbols: Symbols<'a>,
        selection: &Selection,
    ) -> Decoder<'a> {
        Decoder {
            files: &self.files,
            uniques,
            process_names,
            symbols,
            rendered: selection.wants_rendered_labels(),
            numbered: selection.wants_numbered_labels(),
        }
    }

    /// Adds the facts about the run, and notes on missing ones.
    fn add_facts(
        &self,
        loaded: &mut PartialTrace,
        stores: &[Store],
        position: u64,
        decoder: &Decoder<'_>,
    ) -> Result<()> {
        let (number, _) = self.run_at(position)?;
        let mut run = self.known_run(position);
        loaded.notes.extend(self.unlisted(number, stores));
        if inferred::fill(
            &mut run,
            &self.files,
            stores,
            decoder.uniques,
            decoder.process_names,
        )? {
            loaded.notes.push(TraceNote::TargetFromLifeCycle);
        }

        let missing = facts::missing_facts(&run);
        if self.template != TemplateState::Missing && !missing.is_empty() {
            loaded
                .notes
                .push(TraceNote::TemplateLacks { facts: missing });
        }
        loaded.run = Some(run);
        Ok(())
    }

    /// Decodes the rows of a store and adds the table.
    fn decode_store(
        &self,
        wanted: &WantedStore<'_>,
        mut rows: Rows,
        decoder: &Decoder<'_>,
        loaded: &mut PartialTrace,
    ) -> Result<()> {
        let mut table = decoder.table(
            wanted.store,
            &mut rows,
            wanted.origin,
            wanted.columns,
            &mut loaded.names,
        )?;
        table.synthetic = self.synthetic;
        let columns = undecoded(&rows.layout, &table);
        if !columns.is_empty() && table.rows() > 0 {
            let table = wanted.store.schema.clone();
            loaded.notes.push(TraceNote::Undecoded { table, columns });
        }
        loaded.tables.push(table);
        Ok(())
    }

    /// Returns notes on stores that no table of the run names. Intact bundles have none: such a
    /// store means that its table is missing.
    fn unlisted(&self, run: u64, stores: &[Store]) -> Vec<TraceNote> {
        let folder = format!("corespace/run{run}/core/stores");
        let numbers = match self.files.numbered(&folder, "indexed-store-") {
            Ok(numbers) => numbers.into_iter(),
            Err(error) => return vec![self.files.unreadable(&error)],
        };
        let listed: BTreeSet<u64> = stores.iter().map(|store| store.number).collect();
        let unlisted = numbers.filter(|number| !listed.contains(number));
        let notes = unlisted.map(|number| {
            let store = format!("{folder}/indexed-store-{number}");
            let layout = layout::read(&self.files, &store).ok();
            let table = layout.map(|layout| layout.schema);
            TraceNote::Unlisted { store, table }
        });
        notes.collect()
    }

    /// Returns the number and the stores of the run at a position.
    fn run_at(&self, position: u64) -> Result<(u64, &[Store])> {
        let at = place_of(position);
        let found = at.and_then(|at| Some((*self.runs.get(at)?, self.stores.get(at)?.as_slice())));
        found.ok_or_else(|| {
            let present = self.runs.iter().map(u64::to_string).collect();
            let problem = Problem::NoSuchRun {
                requested: position,
                present,
            };
            Error::in_file(problem, self.files.name())
        })
    }

    /// Returns the facts in `form.template` about the run at a position.
    pub(super) fn known_run(&self, position: u64) -> Run {
        let run = place_of(position).and_then(|at| self.toc.runs.get(at));
        run.cloned().unwrap_or_default()
    }
}

/// Returns the place in a list of what has a position, which counts from 1.
fn place_of(position: u64) -> Option<usize> {
    usize::try_from(position.checked_sub(1)?).ok()
}

pub(super) fn core(run: u64) -> String {
    format!("corespace/run{run}/core")
}

/// A store of which the selection wants columns.
#[derive(Clone, Copy)]
pub(super) struct WantedStore<'a> {
    pub(super) store: &'a Store,
    pub(super) columns: &'a Columns,
    pub(super) origin: Origin,
}

/// Returns the selected stores, each with its position among the tables of the run.
pub(super) fn wanted<'a>(
    stores: &'a [Store],
    selection: &'a Selection,
    position: u64,
) -> Vec<WantedStore<'a>> {
    let wanted = stores.iter().zip(1..).filter_map(|(store, table)| {
        Some(WantedStore {
            store,
            columns: selection.columns_of(&store.schema)?,
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

/// Returns the kept columns of raw numbers with an unknown meaning.
fn undecoded(layout: &Layout, table: &Table) -> Vec<String> {
    let columns = layout.columns.iter().zip(&table.columns);
    let raw = columns.filter(|(stored, column)| is_raw(&stored.type_id, Some(column)));
    raw.map(|(stored, _)| stored.mnemonic.clone()).collect()
}
