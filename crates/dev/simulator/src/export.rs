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
pub(crate) mod single;
mod tables;
mod toc;
mod xml_cells;

use std::path::Path;

use metalens_files::Folder;

use crate::MARK;
use crate::error::Error;
use crate::scenario::Scenario;
use crate::scenario::table::Table;
use crate::schedule;
use crate::truth::{self, Truth, TruthFile};
use document::Document;

/// Writes the export of a scenario into `dir`, with `truth.json` and `scenario.toml` beside the
/// tables, and returns the truth of each run.
///
/// # Errors
/// [`Error::Field`] for an impossible scenario, [`Error::NotEmpty`] for a folder in use if
/// `overwrite` is false, [`Error::Files`] if a file cannot be written.
pub fn write_export(scenario: &Scenario, dir: &Path, overwrite: bool) -> Result<Vec<Truth>, Error> {
    scenario.validate()?;
    let folder = Folder::make(dir)?;
    if !overwrite && !folder.names()?.is_empty() {
        return Err(Error::NotEmpty {
            dir: dir.to_owned(),
        });
    }

    let mut truths = Vec::new();
    let mut contents = Vec::new();

    for run in 1..=scenario.runs {
        let run = schedule::plan(scenario, run)?;
        for table in Table::recorded(scenario) {
            let mut document = Document::create(&folder, table, scenario, &run.plan)?;
            (table.form().write)(&run.plan, &run.optional, &mut document)?;
            document.finish()?;
        }
        truths.push(truth::count_truth(&run));
        contents.push(toc::Contents::new(&run.plan));
    }

    let (truth, text) = (truth_text(&truths)?, scenario_text(scenario)?);
    folder.write_bytes(Path::new("truth.json"), true, truth.as_bytes())?;
    folder.write_bytes(Path::new("scenario.toml"), true, text.as_bytes())?;
    toc::write(&folder, scenario, &contents)?;
    remove_stale(&folder, scenario)?;
    Ok(truths)
}

/// Removes the documents of an earlier export that this one does not have.
fn remove_stale(folder: &Folder, scenario: &Scenario) -> Result<(), Error> {
    let written = Table::recorded(scenario)
        .flat_map(|table| (1..=scenario.runs).map(move |run| table.file_name(scenario, run)));
    let written: Vec<String> = written.collect();
    let names = Table::ALL.into_iter().flat_map(Table::file_names);
    for name in names.filter(|name| !written.contains(name)) {
        folder.remove(Path::new(&name))?;
    }
    Ok(())
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

pub(crate) fn scenario_text(scenario: &Scenario) -> Result<String, Error> {
    Ok(format!(
        "# synthetic: {MARK}\n{}",
        toml::to_string(scenario)?
    ))
}
