//! Writes a `.trace` bundle in the format of Instruments: a folder of binary stores and archives.
//!
//! The layout is that of bundles of Instruments 26.0. The tables of a run are written one after
//! another, each streamed through its compressor. Texts, processes and labels go to the uniquing
//! stores of the run, so that memory contains the plan and never a table.

mod archive;
mod bulkstore;
pub(crate) mod envelope;
mod file;
mod form;
mod inputs;
mod integers;
mod layout;
mod manager;
mod raw_events;
mod shuffle;
mod spec;
mod staging;
mod store;
mod symbols;
mod uniquing;
mod zlib;

use std::path::Path;

use super::toc::Contents;
use super::{scenario_text, truth_text};
use crate::error::Error;
use crate::scenario::Scenario;
use crate::scenario::table::Table;
use crate::schedule::{self, Run};
use crate::truth::{self, Truth};
use file::{create_dir, write_file};
use inputs::INPUTS;
use spec::Spec;
use staging::Staging;
use store::Store;
use uniquing::Uniquing;

/// Writes the scenario as the bundle `path`, a folder `X.trace`, with `truth.json` and
/// `scenario.toml` inside, and returns the truth of each run. The bundle appears complete or not
/// at all.
///
/// # Errors
/// [`Error::Field`] for an impossible scenario, [`Error::NotEmpty`] for a folder in use if
/// `overwrite` is false, [`Error::NotOurs`] if it is true and the folder is not a synthetic bundle,
/// [`Error::Files`] if a file cannot be written.
pub fn write_bundle(
    scenario: &Scenario,
    path: &Path,
    overwrite: bool,
) -> Result<Vec<Truth>, Error> {
    scenario.validate()?;
    let staging = Staging::open(path, overwrite)?;
    let bundle = staging.dir();
    let corespace = create_dir(bundle.join("corespace"))?;
    let tables = tables(scenario);

    let mut truths = Vec::new();
    let mut contents = Vec::new();
    for run in 1..=scenario.runs {
        let run = schedule::plan(scenario, run)?;
        write_run(&corespace, scenario, &run, &tables)?;
        symbols::write(bundle, &run.plan)?;
        truths.push(truth::count_truth(&run));
        contents.push(Contents::new(&run.plan));
    }

    envelope::write_leftovers(&corespace)?;
    let stores = INPUTS.len() + symbols::inputs(scenario).len() + tables.len();
    envelope::write_manifest(&corespace, &contents, stores)?;
    write_texts(bundle, scenario, &truths)?;
    form::write(bundle, scenario, &contents)?;
    envelope::write_requirements(bundle)?;
    staging.finish()?;
    Ok(truths)
}

/// Returns the chosen tables, and the one that names the processes.
fn tables(scenario: &Scenario) -> Vec<Table> {
    let chosen: Vec<Table> = Table::recorded(scenario).collect();
    // Signposts are stored among the inputs instead.
    let is_needed = |table: &Table| match table {
        Table::ProcessInfo => true,
        Table::OsSignpost => false,
        _ => chosen.contains(table),
    };
    Table::ALL.into_iter().filter(is_needed).collect()
}

/// Writes the folder of a run: its stores, its table manager, and its unique values.
fn write_run(
    corespace: &Path,
    scenario: &Scenario,
    run: &Run,
    chosen: &[Table],
) -> Result<(), Error> {
    let plan = &run.plan;
    let core = create_dir(corespace.join(format!("run{}", plan.run)).join("core"))?;
    let mut uniquing = Uniquing::create(&core.join("uniquing"), scenario)?;
    let inputs = INPUTS.iter().chain(symbols::inputs(scenario));
    let inputs = inputs.map(|input| (&input.form, input.spec()));
    let chosen = chosen.iter();
    let chosen = chosen.map(|table| (table.form(), Spec::for_table(*table, scenario)));

    let mut specs: Vec<Spec> = Vec::new();
    for (form, spec) in inputs.chain(chosen) {
        let (number, schema) = (specs.len(), &form.schema);
        let mut store = Store::create(
            corespace,
            number,
            schema,
            spec,
            scenario,
            plan,
            &mut uniquing,
        )?;
        (form.write)(plan, &run.optional, &mut store)?;
        specs.push(store.finish()?);
    }
    uniquing.finish()?;
    manager::write(&core, plan, &specs)
}

fn write_texts(bundle: &Path, scenario: &Scenario, truths: &[Truth]) -> Result<(), Error> {
    let (truth, scenario) = (truth_text(truths)?, scenario_text(scenario)?);
    write_file(&bundle.join("truth.json"), |out| {
        out.write_all(truth.as_bytes())
    })?;
    write_file(&bundle.join("scenario.toml"), |out| {
        out.write_all(scenario.as_bytes())
    })
}
