//! Writes an export folder: one XML document per table, the table of contents, the truth, the
//! scenario.
//!
//! A run is planned once. Its tables are written one after another, each streamed to disk, so that
//! memory contains the plan and never a document. The table of contents is written last: a folder
//! without one was interrupted.

pub(crate) mod bundle;
mod dates;
mod display;
mod document;
mod folder;
pub(crate) mod single;
mod tables;
mod toc;
mod xml_cells;

use std::io::Write;
use std::path::Path;

use crate::MARK;
use crate::error::Error;
use crate::scenario::Scenario;
use crate::scenario::table::Table;
use crate::schedule;
use crate::truth::{self, Truth, TruthFile};
use document::Document;
use folder::Folder;

/// Writes the export of a scenario into `dir`, with `truth.json` and `scenario.toml` beside the
/// tables, and returns the truth of each run.
///
/// # Errors
/// [`Error::Field`] for an impossible scenario, [`Error::NotEmpty`] for a folder in use if
/// `overwrite` is false, [`Error::Io`] if a file cannot be written.
pub fn write_export(scenario: &Scenario, dir: &Path, overwrite: bool) -> Result<Vec<Truth>, Error> {
    scenario.validate()?;
    let mut folder = Folder::open(dir, overwrite)?;

    let mut truths = Vec::new();
    let mut contents = Vec::new();

    for run in 1..=scenario.runs {
        let run = schedule::plan(scenario, run)?;
        for table in Table::recorded(scenario) {
            let mut document = Document::create(&mut folder, table, scenario, &run.plan)?;
            (table.form().write)(&run.plan, &run.optional, &mut document)?;
            document.finish()?;
        }
        truths.push(truth::count_truth(&run));
        contents.push(toc::Contents::new(&run.plan));
    }

    write_truth(&mut folder, &truths)?;
    write_scenario(&mut folder, scenario)?;
    toc::write(&mut folder, scenario, &contents)?;
    folder.remove_stale(is_exported)?;
    Ok(truths)
}

/// Returns whether an export of any scenario may have a document of this name.
fn is_exported(name: &str) -> bool {
    let mut tables = Table::ALL.into_iter().flat_map(Table::file_names);
    tables.any(|file_name| file_name == name)
}

fn write_truth(folder: &mut Folder, truths: &[Truth]) -> Result<(), Error> {
    let text = truth_text(truths)?;
    folder.write_whole("truth.json", |out| out.write_all(text.as_bytes()))
}

fn truth_text(truths: &[Truth]) -> Result<String, Error> {
    let file = TruthFile {
        synthetic: MARK.to_owned(),
        runs: truths.to_vec(),
    };
    let mut text = serde_json::to_string_pretty(&file)?;
    text.push('\n');
    Ok(text)
}

fn write_scenario(folder: &mut Folder, scenario: &Scenario) -> Result<(), Error> {
    let text = scenario_text(scenario)?;
    folder.write_whole("scenario.toml", |out| out.write_all(text.as_bytes()))
}

pub(crate) fn scenario_text(scenario: &Scenario) -> Result<String, Error> {
    Ok(format!(
        "# synthetic: {MARK}\n{}",
        toml::to_string(scenario)?
    ))
}
