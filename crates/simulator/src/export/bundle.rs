//! Writes the folder Instruments itself would: a `.trace` bundle, its binary stores and archives.
//!
//! The layout is that of bundles of Instruments 26.0. A run's tables are written one after
//! another, each streamed through its compressor; texts, processes and labels go to the run's
//! uniquers on the way, so memory holds the plan and never a table.

mod archive;
mod bulkstore;
pub(crate) mod envelope;
mod etypes;
mod form;
mod inputs;
mod integers;
mod layout;
mod manager;
mod row;
mod shuffle;
mod spec;
mod staging;
mod store;
mod symbols;
mod uniquing;
mod zlib;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::toc::Contents;
use super::{scenario_text, tables, truth_text};
use crate::error::Error;
use crate::plan::{self, Plan};
use crate::scenario::Scenario;
use crate::scenario::table::Table;
use crate::truth::{self, Truth};
use inputs::INPUTS;
use spec::Spec;
use staging::Staging;
use store::{Place, Store};
use uniquing::Uniquing;

/// How a bundle is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleOptions {
    /// Whether a bundle of ours may be replaced; a real one never is.
    pub overwrite: bool,
    /// Whether it has its `form.template`; users' bundles sometimes lack theirs.
    pub form_template: bool,
}

impl Default for BundleOptions {
    fn default() -> Self {
        Self {
            overwrite: false,
            form_template: true,
        }
    }
}

/// Writes the scenario as the bundle `path`, a folder `X.trace`, with `truth.json` and
/// `scenario.toml` inside, and returns the truth of each run. The bundle appears whole or not at
/// all.
///
/// # Errors
/// [`Error::Field`] for an impossible scenario, [`Error::NotEmpty`] for a folder in use when
/// `overwrite` is off, [`Error::NotOurs`] when it is on and the folder is no synthetic bundle,
/// [`Error::Io`] when the disk refuses.
pub fn write_bundle(
    scenario: &Scenario,
    path: &Path,
    overwrite: bool,
) -> Result<Vec<Truth>, Error> {
    let options = BundleOptions {
        overwrite,
        ..BundleOptions::default()
    };
    write_bundle_with(scenario, path, options)
}

/// As [`write_bundle`], with every option.
///
/// # Errors
/// As [`write_bundle`].
pub fn write_bundle_with(
    scenario: &Scenario,
    path: &Path,
    options: BundleOptions,
) -> Result<Vec<Truth>, Error> {
    scenario.validate()?;
    let staging = Staging::open(path, options.overwrite)?;
    let bundle = staging.dir();
    let corespace = create_dir(bundle.join("corespace"))?;
    let tables = tables(scenario);
    let mut truths = Vec::new();
    let mut contents = Vec::new();
    for run in 1..=scenario.runs {
        let plan = plan::plan(scenario, run)?;
        write_run(&corespace, scenario, &plan, &tables)?;
        symbols::write(bundle, &plan)?;
        truths.push(truth::of(&plan));
        contents.push(Contents::of(&plan));
    }
    envelope::write_leftovers(&corespace)?;
    let stores = INPUTS.len() + symbols::inputs(scenario).len() + tables.len();
    envelope::write_manifest(&corespace, &contents, stores)?;
    write_texts(bundle, scenario, &truths)?;
    if options.form_template {
        form::write(bundle, scenario, &contents)?;
    }
    envelope::write_requirements(bundle)?;
    staging.finish()?;
    Ok(truths)
}

/// The tables chosen, and the one that names the processes.
fn tables(scenario: &Scenario) -> Vec<Table> {
    let chosen: Vec<Table> = Table::of(scenario).collect();
    // The signposts are among the inputs.
    let is_needed = |table: &Table| match table {
        Table::ProcessInfo => true,
        Table::OsSignpost => false,
        _ => chosen.contains(table),
    };
    Table::ALL.into_iter().filter(is_needed).collect()
}

fn write_run(
    corespace: &Path,
    scenario: &Scenario,
    plan: &Plan,
    chosen: &[Table],
) -> Result<(), Error> {
    let core = create_dir(corespace.join(format!("run{}", plan.run)).join("core"))?;
    let mut uniquing = Uniquing::create(&core.join("uniquing"))?;
    let mut specs: Vec<Spec> = Vec::new();
    let subject = (scenario, plan);
    for input in INPUTS.iter().chain(symbols::inputs(scenario)) {
        let place = Place::new(corespace, specs.len());
        let table = (&input.schema, input.spec());
        let mut store = Store::create(place, table, subject, &mut uniquing)?;
        (input.rows)(&mut store)?;
        specs.push(store.finish()?);
    }
    for table in chosen {
        let place = Place::new(corespace, specs.len());
        let of_table = (&table.schema(), Spec::of(*table, scenario));
        let mut store = Store::create(place, of_table, subject, &mut uniquing)?;
        tables::write_rows(*table, &mut store)?;
        specs.push(store.finish()?);
    }
    uniquing.finish()?;
    manager::write(&core, subject, &specs)
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

/// Makes a folder and those above it.
fn create_dir(dir: PathBuf) -> Result<PathBuf, Error> {
    fs::create_dir_all(&dir).map_err(Error::io("create folder", &dir))?;
    Ok(dir)
}

/// Writes a file at once.
fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let file = File::create(path).map_err(Error::io("create", path))?;
    let mut out = BufWriter::new(file);
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(Error::io("write", path))
}

/// Writes a small file as one zlib stream.
fn compressed(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    write_file(path, |out| {
        let mut encoder = ZlibEncoder::new(out, Compression::default());
        write(&mut encoder)?;
        encoder.finish().map(|_| ())
    })
}

/// A property list fails to be written only when its file does.
fn io_error(error: plist::Error) -> io::Error {
    error.into_io().unwrap_or_else(io::Error::other)
}
