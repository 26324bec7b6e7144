//! One table out of a trace: its own type, or the reason why there is none.

use std::fmt;

use metalens_trace::{Problem, Table, Trace};

use crate::basics::message::{Message, quote, table};
use crate::message;

/// A table, or the reason why the analysis has to do without.
pub(crate) type Given<T> = Result<T, Absent>;

/// A table's name, and the columns to load.
pub(crate) type Wanted = (&'static str, &'static [&'static str]);

/// How a table is read: its name, the columns to load, and what they become.
pub(crate) struct TableReader<T> {
    /// The name of the table.
    pub schema: &'static str,
    /// The columns that [`Self::read`] looks for, whether it needs them or not.
    pub columns: &'static [&'static str],
    /// Moves the columns into a type of their own; an error if one that is needed is
    /// missing or of another kind.
    pub read: fn(&mut Table) -> metalens_trace::Result<T>,
}

impl<T> TableReader<T> {
    /// Returns what a [`Selection`](metalens_trace::Selection) wants of the table.
    pub(crate) const fn wanted(&self) -> Wanted {
        (self.schema, self.columns)
    }

    /// Takes the table out of a trace; the largest if there are several.
    pub(super) fn take(&self, trace: &mut Trace) -> Given<T> {
        let (error, rows) = match trace.take_table(self.schema) {
            Ok(mut table) => match (self.read)(&mut table) {
                Ok(columns) => return Ok(columns),
                Err(error) => (error, Some(table.rows())),
            },
            Err(error) => (error, None),
        };
        Err(Absent {
            error,
            rows,
            schema: self.schema,
            reason: Reason::of(trace, self.schema),
        })
    }

    /// Takes every table of this name out of a trace.
    pub(super) fn take_all(&self, trace: &mut Trace) -> Vec<Given<T>> {
        let mut all = Vec::new();
        while trace.find_table(self.schema).is_some() {
            all.push(self.take(trace));
        }
        all
    }
}

impl<T> fmt::Display for TableReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.schema)
    }
}

/// A table that the analysis has to do without.
#[derive(Debug)]
pub(crate) struct Absent {
    /// The error of an analysis that cannot do without.
    pub error: metalens_trace::Error,
    /// The number of rows that could not be used; none if there is no such table.
    pub rows: Option<usize>,
    /// The name of the table.
    pub schema: &'static str,
    reason: Reason,
}

/// The reason why a table is absent.
#[derive(Debug)]
enum Reason {
    /// Its file or store could not be read.
    Unreadable { why: String },
    /// The input has it, but not the columns that are needed.
    OtherColumns,
    /// The recording has it, the input does not.
    NotExported,
    /// The input has no table of contents to say whether the recording has it.
    NoContents,
    /// The recording does not have it.
    NotRecorded,
}

impl Reason {
    fn of(trace: &Trace, schema: &str) -> Self {
        let error = trace.table(schema).err();
        let in_input = match error.as_ref().map(metalens_trace::Error::problem) {
            Some(Problem::UnreadableTable { why, .. }) => {
                return Self::Unreadable { why: why.clone() };
            }
            Some(Problem::NoSuchTable { present, .. }) => present.iter().any(|one| one == schema),
            _ => true,
        };
        let recorded = trace.run.tables.iter().any(|table| table.schema == schema);
        if in_input {
            Self::OtherColumns
        } else if recorded {
            Self::NotExported
        } else if trace.run.tables.is_empty() {
            Self::NoContents
        } else {
            Self::NotRecorded
        }
    }
}

impl Absent {
    /// Says why the table tells nothing, and what would make it tell.
    pub(crate) fn why(&self) -> Message {
        let schema = table(self.schema);
        match &self.reason {
            Reason::Unreadable { why } => message!(
                "{} could not be read ({}): another export of it by xctrace may tell",
                schema,
                quote(why)
            ),
            Reason::OtherColumns => message!(
                "{} lacks a column that it needs, or has it in a form that was never compared with \
                 an export: an export of it by xctrace may tell",
                schema
            ),
            Reason::NotExported => message!(
                "the recording has a table {}, which is not in the input: export it too, or give \
                 the .trace bundle itself",
                schema
            ),
            Reason::NoContents => message!(
                "{} is not in the input, which has no table of contents to say whether it was \
                 recorded: export it too, or give the .trace bundle itself",
                schema
            ),
            Reason::NotRecorded => message!(
                "the recording has no table {}: Metal System Trace records it",
                schema
            ),
        }
    }
}

/// Returns no table where the input has none, and an error where it has one without the
/// columns that are needed.
pub(crate) fn if_any<T>(given: Given<T>) -> metalens_trace::Result<Option<T>> {
    match given {
        Ok(table) => Ok(Some(table)),
        Err(absent) if absent.rows.is_none() => Ok(None),
        Err(absent) => Err(absent.error),
    }
}
