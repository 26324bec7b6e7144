//! `metalens batch`: a report for each of many traces, and an index of them all.
//!
//! ```text
//! PATH… → find → entries ─ done before? ─┬─ yes ───────────────────────┬→ rows → index
//!                                        └─ no → analyze, write (pool) ┘
//! ```
//!
//! # Laws
//!
//! * A folder of a trace has what `analyze -o` writes of it, to the byte, and `batch.json`.
//! * Whatever happens, a report is whole and has a manifest, or it has none.
//! * One that fails costs no other.
//! * Run again on the same, it writes nothing.
//! * The index is of what this command line names; other reports in the folder stay.

mod budget;
mod dates;
mod entry;
mod far;
mod find;
mod identity;
mod index;
mod lock;
mod pool;
mod row;
mod show;
mod slugs;
mod trends;
mod work;
mod write;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use metalens_files::Folder;

use crate::args::batch::BatchArguments;
use crate::exit;
use crate::interrupt::Listening;

use entry::{Entry, Recipe, Runs};
use find::{Found, Search};
pub(crate) use index::{Failed, Index, json_schema};
use lock::Lock;
pub(crate) use row::Row;
use work::{Outcome, Work};

pub(crate) fn run(arguments: &BatchArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    super::check_times(arguments.part.from, arguments.part.to)?;
    let settings = super::settings(&arguments.measure)?;
    let output = &arguments.output;
    let search = find::find(&arguments.inputs, output)?;
    let fingerprint = identity::settings(arguments, &settings)?;
    let listening = Listening::begin()?;
    let failed = || format!("cannot write into {}", output.display());
    let folder = Folder::make(output).with_context(failed)?;
    let _lock = Lock::take(&folder, output)?;
    write::check(&folder, output, arguments.force)?;
    let entries = entries(&search.found, output);
    let recipe = Recipe {
        output: output.clone(),
        settings,
        fingerprint,
        part: arguments.part.clone(),
        measure: arguments.measure.clone(),
        reading: arguments.reading,
        show_names: arguments.show_names,
        force: arguments.force,
        redo: arguments.redo,
        runs: arguments.parquet.as_deref().map(Runs::at).transpose()?,
    };
    if !quiet {
        show::search(&search)?;
    }
    let work = Work {
        recipe: Arc::new(recipe),
        jobs: arguments.jobs.map_or_else(processors, Into::into),
        memory: arguments.memory.unwrap_or_else(budget::usual),
        listening: &listening,
        quiet,
    };
    let outcome = work.all(&entries)?;
    finish(arguments, &folder, &search, &entries, outcome, quiet)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

/// Each trace and the name of its folder.
fn entries(found: &[Found], output: &Path) -> Vec<Entry> {
    let keys: Vec<String> = found.iter().map(Entry::key).collect();
    let names: Vec<(&str, &str)> = found
        .iter()
        .zip(&keys)
        .map(|(one, key)| (one.name.as_str(), key.as_str()))
        .collect();
    let inputs: HashSet<_> = found.iter().map(|one| find::canonical(&one.path)).collect();
    let owner = |slug: &str| {
        let folder = output.join(slug);
        // An input keeps its folder to itself.
        let is_input = inputs.contains(&find::canonical(&folder));
        entry::owner(&folder).or_else(|| is_input.then(String::new))
    };
    let slugs = slugs::slugs(&names, owner);
    let entries = found.iter().zip(slugs);
    let entries = entries.map(|(found, slug)| Entry {
        found: found.clone(),
        slug,
    });
    entries.collect()
}

/// Writes the index, and tells what came of it.
fn finish(
    arguments: &BatchArguments,
    folder: &Folder,
    search: &Search,
    entries: &[Entry],
    outcome: Outcome,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    let refused = search.refused.iter().map(|one| Failed {
        name: find::last_name(&one.path),
        input: one.path.display().to_string(),
        why: format!("{}: {}", one.path.display(), one.why),
        hint: None,
        hidden: Vec::new(),
    });
    let Outcome {
        rows,
        mut failed,
        unfinished,
        is_incomplete,
    } = outcome;
    failed.extend(refused);
    let notes = others(entries, &arguments.output).into_iter().collect();
    let index = Index::of(rows, failed, unfinished, notes);
    write::index(&index, folder, &arguments.output, arguments.show_names)?;
    show::index(&index, arguments.json)?;
    show::failures(&index, quiet)?;
    let is_missed = arguments.check && index.rows.iter().any(|row| !row.missed.is_empty());
    Ok(match () {
        () if unfinished > 0 => exit::interrupted(),
        () if is_incomplete || !index.failed.is_empty() => exit::some_failed(),
        () if is_missed => exit::missed(),
        () => ExitCode::SUCCESS,
    })
}

/// Reports in the folder that this command line does not name: they stay.
fn others(entries: &[Entry], output: &Path) -> Option<String> {
    const NAMED: usize = 5;
    let mine: HashSet<&str> = entries.iter().map(|entry| entry.slug.as_str()).collect();
    let folders = fs::read_dir(output).ok()?.flatten();
    let others = folders.filter(|folder| entry::is_entry(&folder.path()));
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
