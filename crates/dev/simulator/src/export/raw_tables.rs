//! Lists the tables of raw events of an export: three with the schema `kdebug`, and the clock.

use super::document::Document;
use super::folder::Folder;
use super::raw_events::{self, KDEBUG, TIME_INFO};
use super::schema::Schema;
use super::tables::UNEXPORTED;
use crate::error::Error;
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::scenario::table::Table;

/// A table of raw events.
pub(super) struct RawTable {
    pub(super) schema: Schema,
    /// Position in the table of contents, from 1; `None` for one after all others.
    listed: Option<usize>,
    rows: fn(&mut Document<'_>) -> Result<(), Error>,
}

/// All tables of raw events. The table of contents lists three of them in any case.
pub(super) const RAW_TABLES: [RawTable; 4] = [
    RawTable {
        schema: KDEBUG,
        listed: Some(2),
        rows: |document| raw_events::commands(document),
    },
    RawTable {
        schema: TIME_INFO,
        listed: Some(4),
        rows: |document| raw_events::time_info(document),
    },
    RawTable {
        schema: KDEBUG,
        listed: Some(6),
        rows: |document| raw_events::execution(document),
    },
    RawTable {
        schema: KDEBUG,
        listed: None,
        rows: |document| raw_events::submissions(document),
    },
];

impl RawTable {
    /// Returns the tables that an export of the scenario has.
    pub(super) fn exported(scenario: &Scenario) -> &'static [Self] {
        if scenario.recording.raw_events {
            &RAW_TABLES
        } else {
            &[]
        }
    }

    /// Writes the document of the table of one run.
    pub(super) fn write(
        &self,
        folder: &mut Folder,
        scenario: &Scenario,
        plan: &Plan,
    ) -> Result<(), Error> {
        let file = folder.create(&self.file_name(scenario, plan.run))?;
        let position = self.position(scenario);
        let mut document = Document::new(file, self.schema, position, scenario, plan);
        (self.rows)(&mut document)?;
        document.finish()
    }

    /// Returns the schemas that the table of contents lists after all others.
    pub(super) fn listed_last(scenario: &Scenario) -> impl Iterator<Item = &'static str> {
        let exported = Self::exported(scenario).iter();
        let listed_last = exported.filter(|table| table.listed.is_none());
        listed_last.map(|table| table.schema.name)
    }

    /// Returns the table's position in the table of contents, from 1.
    fn position(&self, scenario: &Scenario) -> usize {
        let tables = Table::ALL.into_iter();
        let entries = tables.filter(|table| table.has_entry(scenario)).count();
        self.listed.unwrap_or(UNEXPORTED.len() + entries + 1)
    }

    /// Returns the document's file name, with the position if several tables share the schema:
    /// `kdebug.run-N.table-2.xml`.
    fn file_name(&self, scenario: &Scenario, run: u32) -> String {
        let run = match scenario.runs {
            1 => String::new(),
            _ => format!(".run-{run}"),
        };

        let same_schema = |table: &&Self| table.schema.name == self.schema.name;
        let position = match RAW_TABLES.iter().filter(same_schema).count() {
            1 => String::new(),
            _ => format!(".table-{}", self.position(scenario)),
        };
        format!("{}{run}{position}.xml", self.schema.name)
    }
}

/// Returns whether a file of an export has raw events.
pub(super) fn is_raw_file(name: &str) -> bool {
    RAW_TABLES.iter().any(|table| {
        let rest = name.strip_prefix(table.schema.name);
        rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".xml"))
    })
}
