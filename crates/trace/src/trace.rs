//! A trace in memory: one run's facts and the tables that were asked for.

use crate::error::{Error, Problem, Result};
use crate::input::InputKind;
use crate::names::Names;
use crate::note::Note;
use crate::table::Table;
use crate::toc::Run;

/// One run of a trace, as far as it was asked for.
#[derive(Debug)]
pub struct Trace {
    /// The input's path as it was given.
    pub path: String,
    /// What the input is.
    pub kind: InputKind,
    /// What is known of the run.
    pub run: Run,
    /// What the numbers in the tables stand for.
    pub names: Names,
    /// What a reader of the numbers should know.
    pub notes: Vec<Note>,
    pub(crate) tables: Vec<Table>,
    /// The tables that the input has, asked for or not.
    pub(crate) available: Vec<String>,
    /// Wanted tables that could not be read, and why.
    pub(crate) unreadable: Vec<Unreadable>,
}

/// A wanted table that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) schema: String,
    pub(crate) why: String,
}

impl Trace {
    /// The tables, in the order of their files.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The table of a schema; the largest if there are several.
    pub fn table(&self, schema: &str) -> Result<&Table> {
        self.find_table(schema)
            .ok_or_else(|| self.no_such_table(schema))
    }

    fn no_such_table(&self, schema: &str) -> Error {
        if let Some(unreadable) = self.unreadable.iter().find(|one| one.schema == schema) {
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

    /// The table of a schema, if there is one; the largest if there are several.
    #[must_use]
    pub fn find_table(&self, schema: &str) -> Option<&Table> {
        self.of_schema(schema).max_by_key(|table| table.rows())
    }

    /// Takes the table of a schema out, so that its memory ends with its use.
    pub fn take_table(&mut self, schema: &str) -> Result<Table> {
        let rows = self.table(schema)?.rows();
        let is_it = |table: &Table| table.schema.name == schema && table.rows() == rows;
        match self.tables.iter().position(is_it) {
            Some(at) => Ok(self.tables.remove(at)),
            None => Err(self.no_such_table(schema)),
        }
    }

    /// Leaves the tables of a schema out with a note, as if they could not be read.
    pub fn leave_out(&mut self, schema: &str, why: &str) {
        let (left_out, kept): (Vec<Table>, Vec<Table>) = std::mem::take(&mut self.tables)
            .into_iter()
            .partition(|table| table.schema.name == schema);
        self.tables = kept;
        self.notes
            .extend(left_out.into_iter().map(|table| Note::Unreadable {
                file: table.file,
                why: why.to_owned(),
            }));
        self.unreadable.push(Unreadable {
            schema: schema.to_owned(),
            why: why.to_owned(),
        });
    }

    /// A note for each of these schemas that has several tables.
    #[must_use]
    pub fn ambiguities(&self, schemas: &[&str]) -> Vec<Note> {
        let note = |&schema: &&str| {
            let count = self.of_schema(schema).count();
            (count > 1).then(|| Note::SeveralTables {
                schema: schema.to_owned(),
                count,
                rows: self.find_table(schema).map_or(0, Table::rows),
            })
        };
        schemas.iter().filter_map(note).collect()
    }

    fn of_schema<'a, 's>(
        &'a self,
        schema: &'s str,
    ) -> impl Iterator<Item = &'a Table> + use<'a, 's> {
        self.tables
            .iter()
            .filter(move |table| table.schema.name == schema)
    }
}
