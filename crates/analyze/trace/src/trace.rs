//! Defines a loaded trace: the facts of one run and its selected tables.

use crate::error::{Error, Problem, Result};
use crate::names::Names;
use crate::note::TraceNote;
use crate::table::Table;
use crate::toc::Run;

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A `.trace` bundle, a folder or in an archive.
    Bundle,
    /// A folder or archive of exported documents.
    Export,
    /// A single document.
    Xml,
    /// A command-buffer log.
    Log,
}

/// One run of a recording with the selected tables.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Path of the input, as given by the user.
    pub path: String,
    /// Kind of the input.
    pub kind: InputKind,
    /// Facts about the run, as far as they are known.
    pub run: Run,
    /// Names that the ids in the tables refer to.
    pub names: Names,
    /// Notes that a reader of the numbers should know.
    pub notes: Vec<TraceNote>,
    pub(crate) tables: Vec<Table>,
    /// Schemas of all tables of the input, also of those that are not selected.
    pub(crate) available: Vec<String>,
    /// Selected tables that could not be read.
    pub(crate) unreadable: Vec<Unreadable>,
}

/// A selected table that could not be read, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) schema: String,
    pub(crate) why: String,
}

impl Trace {
    /// Returns the tables, in the order of their files.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns the tables for a change, in the order of their files.
    pub fn tables_mut(&mut self) -> &mut [Table] {
        &mut self.tables
    }

    /// Returns the table of a schema, or the largest of several.
    pub fn table(&self, schema: &str) -> Result<&Table> {
        self.find_table(schema)
            .ok_or_else(|| self.no_such_table(schema))
    }

    /// Returns the table of a schema by its number among those with this schema, from 1.
    pub fn numbered_table(&self, schema: &str, number: usize) -> Result<&Table> {
        let count = self.tables_of(schema).count();
        if count == 0 {
            return Err(self.no_such_table(schema));
        }
        let place = number.checked_sub(1);
        let table = place.and_then(|place| self.tables_of(schema).nth(place));
        table.ok_or_else(|| {
            let problem = Problem::NoSuchNumber {
                schema: schema.to_owned(),
                number,
                count,
            };
            Error::in_file(problem, &self.path)
        })
    }

    fn no_such_table(&self, schema: &str) -> Error {
        if let Some(unreadable) = self.unreadable.iter().find(|table| table.schema == schema) {
            let problem = Problem::UnreadableTable {
                schema: schema.to_owned(),
                why: unreadable.why.clone(),
                path: self.path.clone(),
                run: self.run.number,
            };
            return Error::in_file(problem, &self.path);
        }
        let problem = Problem::NoSuchTable {
            schema: schema.to_owned(),
            present: self.available.clone(),
        };
        Error::in_file(problem, &self.path)
    }

    /// Returns the table of a schema, if there is one, or the largest of several.
    pub fn find_table(&self, schema: &str) -> Option<&Table> {
        self.tables_of(schema).max_by_key(|table| table.rows())
    }

    /// Removes and returns the table of a schema, so that its memory can be freed after use.
    pub fn take_table(&mut self, schema: &str) -> Result<Table> {
        let rows = self.table(schema)?.rows();
        let at = self
            .tables
            .iter()
            .position(|table| table.schema.name == schema && table.rows() == rows);
        match at {
            Some(at) => Ok(self.tables.remove(at)),
            None => Err(self.no_such_table(schema)),
        }
    }

    /// Removes and returns all tables of a schema, the largest first.
    pub fn take_tables(&mut self, schema: &str) -> Vec<Table> {
        let (mut taken, kept): (Vec<Table>, Vec<Table>) = std::mem::take(&mut self.tables)
            .into_iter()
            .partition(|table| table.schema.name == schema);
        self.tables = kept;
        taken.sort_by_key(|table| std::cmp::Reverse(table.rows()));
        taken
    }

    /// Drops the tables of a schema with a note, as if they could not be read.
    pub fn leave_out(&mut self, schema: &str, why: &str) {
        let left_out = self.take_tables(schema);
        self.notes
            .extend(left_out.into_iter().map(|table| TraceNote::Unreadable {
                file: table.file,
                why: why.to_owned(),
            }));
        self.unreadable.push(Unreadable {
            schema: schema.to_owned(),
            why: why.to_owned(),
        });
    }

    /// Returns a note for each of these schemas that has several tables with rows.
    pub fn ambiguities(&self, schemas: &[&str]) -> Vec<TraceNote> {
        let note = |&schema: &&str| {
            let tables = self.tables_of(schema);
            let count = tables.filter(|table| table.rows() > 0).count();
            (count > 1).then(|| TraceNote::SeveralTables {
                schema: schema.to_owned(),
                count,
                rows: self.find_table(schema).map_or(0, Table::rows),
            })
        };
        schemas.iter().filter_map(note).collect()
    }

    /// Returns the tables of a schema, in the order of their files.
    pub(crate) fn tables_of<'a, 's>(
        &'a self,
        schema: &'s str,
    ) -> impl Iterator<Item = &'a Table> + use<'a, 's> {
        self.tables
            .iter()
            .filter(move |table| table.schema.name == schema)
    }
}
