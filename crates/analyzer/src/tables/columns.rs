//! Kinds of columns, and how each is taken out of a table.

use std::ops::Deref;

use metalens_trace::{
    Error, Integers, LabelId, Place, Problem, ProcessId, Symbol, Table, ThreadId,
};

use crate::basics::spans::Span;

/// A column of texts.
pub(crate) type Texts = Vec<Option<Symbol>>;
/// A column of formatted labels.
pub(crate) type Labels = Vec<Option<LabelId>>;
/// A column of processes.
pub(crate) type Processes = Vec<Option<ProcessId>>;
/// A column of threads.
pub(crate) type Threads = Vec<Option<ThreadId>>;

/// A kind of column.
pub(crate) trait Column: Sized {
    /// Takes the column out of a table; an error if it is missing or of another kind.
    fn take(table: &mut Table, mnemonic: &str) -> metalens_trace::Result<Self>;
}

/// Names the method of [`Table`] that takes a kind of column.
macro_rules! taken_by {
    ($($kind:ty: $take:ident,)*) => {$(
        impl Column for $kind {
            fn take(table: &mut Table, mnemonic: &str) -> metalens_trace::Result<Self> {
                table.$take(mnemonic)
            }
        }
    )*};
}

taken_by! {
    Integers: take_integers,
    Texts: take_texts,
    Labels: take_labels,
    Processes: take_processes,
    Threads: take_threads,
}

/// A column that a table can do without: none is not the same as all null.
impl<C: Column> Column for Option<C> {
    fn take(table: &mut Table, mnemonic: &str) -> metalens_trace::Result<Self> {
        Ok(C::take(table, mnemonic).ok())
    }
}

/// A column that a table can do without: then all its rows are null.
#[derive(Debug, Default)]
pub(crate) struct OrNull<C>(C);

impl<C: Column + Default> Column for OrNull<C> {
    fn take(table: &mut Table, mnemonic: &str) -> metalens_trace::Result<Self> {
        Ok(Self(C::take(table, mnemonic).unwrap_or_default()))
    }
}

impl<C> Deref for OrNull<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.0
    }
}

/// A column that is of one kind in some recordings, and of another in others.
#[derive(Debug)]
pub(crate) enum Either<A, B> {
    Left(A),
    Right(B),
}

impl<A: Column, B: Column> Column for Either<A, B> {
    fn take(table: &mut Table, mnemonic: &str) -> metalens_trace::Result<Self> {
        let left = A::take(table, mnemonic).map(Self::Left);
        left.or_else(|_| B::take(table, mnemonic).map(Self::Right))
    }
}

impl<A: Default, B> Default for Either<A, B> {
    fn default() -> Self {
        Self::Left(A::default())
    }
}

/// Declares tables of the same columns: their names, and a struct with each column once:
/// its field, its kind and its mnemonic, then those that the kind reads besides. `also`
/// lists columns that are read elsewhere. Columns are taken in the order of the fields;
/// the first that is wrong is the error.
macro_rules! columns {
    (
        $($(#[$doc:meta])* table $reader:ident = $schema:literal;)+
        struct $name:ident {
            $($(#[$about:meta])* $field:ident: $kind:ty = $mnemonic:literal $(and $more:literal)*,)*
        }
        $(also $elsewhere:literal)*
    ) => {
        $(
            $(#[$doc])*
            pub(crate) const $reader: crate::tables::reader::TableReader<$name> =
                crate::tables::reader::TableReader {
                    schema: $schema,
                    columns: $name::COLUMNS,
                    read: $name::read,
                };
        )+

        #[derive(Debug)]
        pub(crate) struct $name {
            $($(#[$about])* pub $field: $kind,)*
        }

        impl $name {
            const COLUMNS: &[&str] = &[$($mnemonic, $($more,)*)* $($elsewhere,)*];

            fn read(table: &mut metalens_trace::Table) -> metalens_trace::Result<Self> {
                Ok(Self {
                    $($field: crate::tables::columns::Column::take(table, $mnemonic)?,)*
                })
            }
        }
    };
}

pub(super) use columns;

/// Returns the value of a row; none where it is null, or the table has no such column.
pub(crate) fn at<T: Copy>(column: &[Option<T>], row: usize) -> Option<T> {
    column.get(row).copied().flatten()
}

/// The columns `start` and `duration`.
#[derive(Debug)]
pub(crate) struct Spans {
    starts: Integers,
    durations: Integers,
    schema: String,
    file: String,
}

impl Column for Spans {
    fn take(table: &mut Table, starts: &str) -> metalens_trace::Result<Self> {
        Ok(Self {
            starts: table.take_integers(starts)?,
            durations: table.take_integers("duration")?,
            schema: table.schema.name.clone(),
            file: table.file.clone(),
        })
    }
}

impl Spans {
    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Returns the span of each row; an error where a start or a duration is null.
    pub(crate) fn all(&self) -> impl Iterator<Item = metalens_trace::Result<Span>> {
        (0..self.rows()).map(|row| {
            let start = self.starts.get(row);
            let start = start.ok_or_else(|| self.null(row, "start"))?;
            let duration = self.durations.get(row);
            let duration = duration.ok_or_else(|| self.null(row, "duration"))?;
            Ok(Span::new(start, start + duration))
        })
    }

    /// Returns the rows that have a start, with their places. A row without a duration
    /// has no length.
    pub(crate) fn started(&self) -> impl Iterator<Item = (usize, Span)> {
        (0..self.rows()).filter_map(|row| {
            let start = self.starts.get(row)?;
            let end = start + self.durations.get(row).unwrap_or(0);
            Some((row, Span::new(start, end)))
        })
    }

    fn null(&self, row: usize, column: &str) -> Error {
        let place = Place {
            table: Some(self.schema.clone()),
            row: Some(row as u64 + 1),
            column: Some(column.to_owned()),
            ..Place::file(&self.file)
        };
        let problem = Problem::BadNumber {
            text: "<sentinel/>".to_owned(),
        };
        Error::new(problem, place)
    }
}
