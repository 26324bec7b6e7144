//! Defines a table in memory: a schema and a typed column for each kept column of the schema.
//!
//! Columns are found by mnemonic, the only name that is the same in all known versions; position
//! and display name do not matter. Null is always different from zero.

use crate::error::{Error, Problem, Result};
use crate::integers::Integers;
use crate::kind::Kind;
use crate::names::{LabelId, ProcessId, StackId, Symbol, ThreadId};
use crate::place::Place;

/// A column as the schema of the document declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Name to find the column by, such as `start-latency`.
    pub mnemonic: String,
    /// Display name, such as `CPU to GPU Latency`.
    pub name: String,
    /// Apple's type of the values, such as `duration`.
    pub engineering_type: String,
}

/// The values of a column, which can be taken out of a table.
pub trait Values: Sized {
    /// Removes and returns the values of a column, which is then empty. Fails if it is missing or has values
    /// of another kind.
    fn take(table: &mut Table, mnemonic: &str) -> Result<Self>;
}

/// Makes types the values of columns, each by its kind and its variant of [`Column`].
macro_rules! values {
    ($($values:ty: $kind:ident in $column:ident,)*) => {$(
        impl Values for $values {
            fn take(table: &mut Table, mnemonic: &str) -> Result<Self> {
                table.take(mnemonic, Kind::$kind, |column| match column {
                    Column::$column(values) => Some(std::mem::take(values)),
                    _ => None,
                })
            }
        }
    )*};
}

values! {
    Integers: Integer in Integers,
    Vec<Option<Symbol>>: Text in Texts,
    Vec<Option<ProcessId>>: Process in Processes,
    Vec<Option<ThreadId>>: Thread in Threads,
    Vec<Option<LabelId>>: Label in Labels,
    Vec<Option<StackId>>: Stack in Stacks,
}

/// Values of an optional column: `None` differs from a column of nulls.
impl<V: Values> Values for Option<V> {
    fn take(table: &mut Table, mnemonic: &str) -> Result<Self> {
        Ok(V::take(table, mnemonic).ok())
    }
}

/// The declaration of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    /// Name of the schema, such as `metal-gpu-intervals`.
    pub name: String,
    /// Columns in the order of the document.
    pub columns: Vec<ColumnSpec>,
}

impl Schema {
    /// Returns the position of a column.
    pub fn position(&self, mnemonic: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.mnemonic == mnemonic)
    }

    /// Returns all mnemonics, for messages.
    pub fn mnemonics(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.mnemonic.clone()).collect()
    }
}

/// The position of a table in its recording, from the `xpath` of the node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Position of the run in the table of contents, from 1; None if it is unknown.
    pub run: Option<u64>,
    /// Position of the table in the run, from 1; None if it is unknown.
    pub table: Option<u64>,
}

/// A table: its schema and its kept columns.
#[derive(Debug, Clone)]
pub struct Table {
    /// Schema that the document declares.
    pub schema: Schema,
    /// Position in the recording.
    pub origin: Origin,
    /// Path of the file that it was read from.
    pub file: String,
    /// True if the document is cut off and the table has only the complete rows.
    pub truncated: bool,
    /// True if the document says that a simulator wrote it.
    pub synthetic: bool,
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Column>,
}

impl Table {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the columns with their declarations, in the order of the schema.
    pub fn columns(&self) -> impl Iterator<Item = (&ColumnSpec, &Column)> {
        self.schema.columns.iter().zip(&self.columns)
    }

    /// Returns the whole numbers of a column.
    pub fn integers(&self, mnemonic: &str) -> Result<&Integers> {
        match self.column(mnemonic)? {
            Column::Integers(values) => Ok(values),
            other => Err(self.wrong_type(mnemonic, Kind::Integer, other)),
        }
    }

    /// Returns the texts of a column.
    pub fn texts(&self, mnemonic: &str) -> Result<&[Option<Symbol>]> {
        match self.column(mnemonic)? {
            Column::Texts(values) => Ok(values),
            other => Err(self.wrong_type(mnemonic, Kind::Text, other)),
        }
    }

    /// Keeps only the rows for which a function returns true.
    pub fn keep_rows(&mut self, is_kept: impl Fn(usize) -> bool) {
        for column in &mut self.columns {
            column.keep_rows(&is_kept);
        }
        self.rows = (0..self.rows).filter(|&row| is_kept(row)).count();
    }

    /// Makes a number null in the rows for which a function returns true.
    pub fn forget(&mut self, mnemonic: &str, is_forgotten: impl Fn(usize) -> bool) {
        let at = self.schema.position(mnemonic);
        if let Some(Column::Integers(values)) = at.and_then(|at| self.columns.get_mut(at)) {
            let rows = values.iter().enumerate();
            let rows = rows.map(|(row, value)| value.filter(|_| !is_forgotten(row)));
            *values = Integers::from_rows(rows);
        }
    }

    fn take<T>(
        &mut self,
        mnemonic: &str,
        expected: Kind,
        values: fn(&mut Column) -> Option<T>,
    ) -> Result<T> {
        let at = self.schema.position(mnemonic);
        let column = at.and_then(|at| self.columns.get_mut(at));
        column
            .and_then(values)
            .ok_or_else(|| match self.column(mnemonic) {
                Ok(found) => self.wrong_type(mnemonic, expected, found),
                Err(error) => error,
            })
    }

    fn column(&self, mnemonic: &str) -> Result<&Column> {
        let found = self.schema.position(mnemonic);
        found.and_then(|at| self.columns.get(at)).ok_or_else(|| {
            let problem = Problem::NoSuchColumn {
                mnemonic: mnemonic.to_owned(),
                present: self.schema.mnemonics(),
            };
            Error::new(problem, self.place(None))
        })
    }

    fn wrong_type(&self, mnemonic: &str, expected: Kind, found: &Column) -> Error {
        let problem = Problem::ColumnType {
            expected: expected.plural(),
            found: found.plural(),
        };
        Error::new(problem, self.place(Some(mnemonic)))
    }

    fn place(&self, mnemonic: Option<&str>) -> Place {
        Place {
            table: Some(self.schema.name.clone()),
            column: mnemonic.map(str::to_owned),
            ..Place::file(&self.file)
        }
    }
}

/// The values of a column, one for each row.
#[derive(Debug, Clone)]
pub enum Column {
    /// A column of whole numbers.
    Integers(Integers),
    /// A column of texts.
    Texts(Vec<Option<Symbol>>),
    /// A column of processes.
    Processes(Vec<Option<ProcessId>>),
    /// A column of threads.
    Threads(Vec<Option<ThreadId>>),
    /// A column of formatted labels.
    Labels(Vec<Option<LabelId>>),
    /// A column of call stacks.
    Stacks(Vec<Option<StackId>>),
    /// A column that was read and checked, but is not selected and not kept.
    Dropped,
}

impl Column {
    /// Returns an empty column for values of a kind.
    pub(crate) fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integers(Integers::default()),
            Kind::Text | Kind::Frame | Kind::Binary => Self::Texts(Vec::new()),
            Kind::Process => Self::Processes(Vec::new()),
            Kind::Thread => Self::Threads(Vec::new()),
            Kind::Label => Self::Labels(Vec::new()),
            Kind::Stack | Kind::Addresses => Self::Stacks(Vec::new()),
        }
    }

    /// Removes all rows from `rows` on.
    pub(crate) fn truncate(&mut self, rows: usize) {
        match self {
            Self::Integers(values) => values.truncate(rows),
            Self::Texts(values) => values.truncate(rows),
            Self::Processes(values) => values.truncate(rows),
            Self::Threads(values) => values.truncate(rows),
            Self::Labels(values) => values.truncate(rows),
            Self::Stacks(values) => values.truncate(rows),
            Self::Dropped => {}
        }
    }

    fn keep_rows(&mut self, is_kept: &impl Fn(usize) -> bool) {
        fn keep<T>(values: &mut Vec<T>, is_kept: &impl Fn(usize) -> bool) {
            let mut rows = 0..;
            values.retain(|_| rows.next().is_some_and(is_kept));
        }
        match self {
            Self::Integers(values) => {
                let rows = values.iter().enumerate();
                let kept = rows.filter(|&(row, _)| is_kept(row));
                *values = Integers::from_rows(kept.map(|(_, value)| value));
            }
            Self::Texts(values) => keep(values, is_kept),
            Self::Processes(values) => keep(values, is_kept),
            Self::Threads(values) => keep(values, is_kept),
            Self::Labels(values) => keep(values, is_kept),
            Self::Stacks(values) => keep(values, is_kept),
            Self::Dropped => {}
        }
    }

    fn plural(&self) -> &'static str {
        match self {
            Self::Integers(_) => Kind::Integer.plural(),
            Self::Texts(_) => Kind::Text.plural(),
            Self::Processes(_) => Kind::Process.plural(),
            Self::Threads(_) => Kind::Thread.plural(),
            Self::Labels(_) => Kind::Label.plural(),
            Self::Stacks(_) => Kind::Stack.plural(),
            Self::Dropped => "no kept values",
        }
    }
}

/// A table of a document, or the error of the document.
#[derive(Debug)]
pub struct ListedDocument {
    /// Path of the document.
    pub file: String,
    /// Schema in the file name.
    pub named_schema: String,
    /// The table without its columns, or the error of the document.
    pub table: Result<Table>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Names, Selection, read_document};

    #[test]
    fn a_taken_column_is_empty_and_has_the_errors_of_reading() {
        let xml = "<trace-query-result><node xpath='/run[1]/table[1]'>\
            <schema name='t'><col><mnemonic>duration</mnemonic><name>Duration</name>\
            <engineering-type>duration</engineering-type></col></schema>\
            <row><duration id='1' fmt='5 ns'>5</duration></row><row><sentinel/></row>\
            </node></trace-query-result>";
        let mut names = Names::new();
        let selection = Selection::everything();
        let mut tables = read_document(xml.as_bytes(), "t.xml", &mut names, &selection).unwrap();
        let table = &mut tables[0];
        for column in ["duration", "start"] {
            let read = table.texts(column).err();
            let taken = Vec::<Option<Symbol>>::take(table, column).err();
            let texts = [read, taken].map(|error| error.unwrap().to_string());
            assert_eq!(texts[0], texts[1]);
        }
        let taken = Integers::take(table, "duration").unwrap();
        assert_eq!(taken.iter().collect::<Vec<_>>(), [Some(5), None]);
        assert_eq!(table.rows(), 2);
        assert!(table.integers("duration").unwrap().is_empty());
    }
}
