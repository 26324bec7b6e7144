//! Reads one table of a trace into its own type, or finds the reason why there is none.

use std::fmt;

use metalens_trace::{InputKind, Problem, Table, Trace};

use metalens_message::{Message, message, quote, table};

/// Declares a group of tables, each once: its field, its struct and its reader.
macro_rules! tables {
    (
        $(#[$doc:meta])*
        struct $name:ident { $($field:ident: $table:ty = $reader:path,)* }
    ) => {
        $(#[$doc])*
        pub(crate) struct $name {
            $(pub $field: $crate::tables::reader::TableResult<$table>,)*
        }

        impl $name {
            /// Tables and columns to load.
            pub(super) const WANTED: &[$crate::tables::reader::TableRequest] = &[$($reader.wanted(),)*];

            pub(crate) fn take(trace: &mut metalens_trace::Trace) -> Self {
                Self {
                    $($field: $reader.take(trace),)*
                }
            }
        }
    };
}

pub(super) use tables;

/// Table, or the reason why there is none.
pub(crate) type TableResult<T> = Result<T, AbsentTable>;

/// Name of a table, and the columns to load.
pub(crate) type TableRequest = (&'static str, &'static [&'static str]);

/// Reader of a table: its name, the columns to load, and the type that they become.
pub(crate) struct TableReader<T> {
    /// Name of the table.
    pub schema: &'static str,
    /// Columns that [`Self::read`] looks for, required or not.
    pub columns: &'static [&'static str],
    /// Moves the columns into their type; fails if a required one is missing or of another kind.
    pub read: fn(&mut Table) -> metalens_trace::Result<T>,
}

impl<T> TableReader<T> {
    /// Returns the entry for a [`Selection`](metalens_trace::Selection) of the table.
    pub(crate) const fn wanted(&self) -> TableRequest {
        (self.schema, self.columns)
    }

    /// Takes the table out of a trace; the largest if there are several.
    pub(super) fn take(&self, trace: &mut Trace) -> TableResult<T> {
        match trace.take_table(self.schema) {
            Ok(table) => self.columns(table, trace),
            Err(error) => Err(self.absent(error, None, trace)),
        }
    }

    /// Takes every table of this name out of a trace, the largest first.
    pub(super) fn take_all(&self, trace: &mut Trace) -> Vec<TableResult<T>> {
        let tables = trace.take_tables(self.schema).into_iter();
        tables.map(|table| self.columns(table, trace)).collect()
    }

    fn columns(&self, mut table: Table, trace: &Trace) -> TableResult<T> {
        let rows = Some(table.rows());
        (self.read)(&mut table).map_err(|error| self.absent(error, rows, trace))
    }

    fn absent(
        &self,
        error: metalens_trace::Error,
        rows: Option<usize>,
        trace: &Trace,
    ) -> AbsentTable {
        let (why, is_unrecorded) = absence(trace, self.schema);
        AbsentTable {
            error,
            rows,
            schema: self.schema,
            why,
            is_unrecorded,
        }
    }
}

impl<T> fmt::Display for TableReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.schema)
    }
}

/// Absence of a table, with its reason.
#[derive(Debug)]
pub(crate) struct AbsentTable {
    /// Error for an analysis that requires the table.
    pub error: metalens_trace::Error,
    /// Number of rows that could not be used; `None` if there is no such table.
    pub rows: Option<usize>,
    /// Name of the table.
    pub schema: &'static str,
    /// Reason why the table is absent, and what would make its data available.
    pub why: Message,
    /// True if the recording itself lacks the table, as its table of contents says.
    pub is_unrecorded: bool,
}

/// Returns the reason why a trace lacks a table or its columns, and whether the recording itself lacks it.
fn absence(trace: &Trace, schema: &'static str) -> (Message, bool) {
    let error = trace.table(schema).err();
    let name = table(schema);
    let is_in_input = match error.as_ref().map(metalens_trace::Error::problem) {
        Some(Problem::UnreadableTable { why, .. }) => {
            let why = message!(
                "{} could not be read ({}): try another export of it by xctrace",
                name,
                quote(why)
            );
            return (why, false);
        }
        Some(Problem::NoSuchTable { present, .. }) => present.iter().any(|name| name == schema),
        _ => true,
    };
    if trace.kind == InputKind::Log {
        return (
            "the log has none: docs/command-buffer-log.md says what a log can have".into(),
            true,
        );
    }
    let is_recorded = trace.run.tables.iter().any(|table| table.schema == schema);
    let has_contents = !trace.run.tables.is_empty() || trace.kind == InputKind::Bundle;

    let why = if is_in_input {
        message!(
            "{} lacks a required column, or has it in a form that metalens cannot decode \
             reliably: try an export of it by xctrace",
            name
        )
    } else if is_recorded {
        message!(
            "the recording has the table {}, but the input does not: export that table too, or \
             use the .trace bundle itself",
            name
        )
    } else if has_contents {
        message!(
            "the recording has no table {}: record it with Metal System Trace",
            name
        )
    } else {
        message!(
            "{} is not in the input, and without a table of contents it is unknown whether it \
             was recorded: export that table too, or use the .trace bundle itself",
            name
        )
    };
    (why, !is_in_input && !is_recorded && has_contents)
}

/// Returns the table, or `None` if the input has none; fails if the table lacks required
/// columns.
pub(crate) fn if_any<T>(given: TableResult<T>) -> metalens_trace::Result<Option<T>> {
    match given {
        Ok(table) => Ok(Some(table)),
        Err(absent) if absent.rows.is_none() => Ok(None),
        Err(absent) => Err(absent.error),
    }
}
