//! Writes single documents of an export, for a caller that requests one after another.

use std::path::{Path, PathBuf};

use metalens_files::Folder;

use super::document::Document;
use super::tables::UNEXPORTED;
use super::toc;
use crate::error::Error;
use crate::scenario::Scenario;
use crate::scenario::table::Table;
use crate::schedule;

/// A table in the table of contents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedTable {
    pub(crate) schema: &'static str,
    /// The table, or `None` for one that is never written.
    pub(crate) table: Option<Table>,
}

/// Returns every table of a run, in the order of the table of contents.
pub(crate) fn listed_tables(scenario: &Scenario) -> Vec<ListedTable> {
    let signposts = Table::OsSignpost;
    let has_signposts = signposts.is_listed(scenario);

    let unexported = UNEXPORTED.into_iter().map(|schema| ListedTable {
        schema,
        table: (has_signposts && schema == signposts.name()).then_some(signposts),
    });

    let entries = Table::ALL
        .into_iter()
        .filter(|table| table.has_entry(scenario))
        .map(|table| ListedTable {
            schema: table.name(),
            table: Some(table),
        });
    unexported.chain(entries).collect()
}

/// Writes the document of one table of one run into a folder, which may have other files.
pub(crate) fn write_table(
    scenario: &Scenario,
    run: u32,
    table: Table,
    dir: &Path,
) -> Result<PathBuf, Error> {
    scenario.validate()?;
    let planned = schedule::plan(scenario, run)?;
    let folder = Folder::make(dir)?;
    let mut document = Document::create(&folder, table, scenario, &planned.plan)?;
    // A table that was not recorded is listed nevertheless, and empty.
    if Table::recorded(scenario).any(|recorded| recorded == table) {
        (table.form().write)(&planned.plan, &planned.optional, &mut document)?;
    }
    document.finish()?;
    Ok(dir.join(table.file_name(scenario, run)))
}

/// Writes the table of contents into a folder.
pub(crate) fn write_contents(scenario: &Scenario, dir: &Path) -> Result<PathBuf, Error> {
    scenario.validate()?;
    let mut contents = Vec::new();
    for run in 1..=scenario.runs {
        contents.push(toc::Contents::new(&schedule::plan(scenario, run)?.plan));
    }

    toc::write(&Folder::make(dir)?, scenario, &contents)?;
    Ok(dir.join("toc.xml"))
}
