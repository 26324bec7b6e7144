//! Types of columns, and the ways to take them out of a table.

use std::ops::Deref;

use metalens_trace::{
    Error, Integers, LabelId, Place, Problem, ProcessId, StackId, Symbol, Table, ThreadId, Values,
};

use crate::basics::spans::Span;

/// Column of texts.
pub(crate) type Texts = Vec<Option<Symbol>>;
/// Column of formatted labels.
pub(crate) type Labels = Vec<Option<LabelId>>;
/// Column of processes.
pub(crate) type Processes = Vec<Option<ProcessId>>;
/// Column of threads.
pub(crate) type Threads = Vec<Option<ThreadId>>;
/// Column of call stacks.
pub(crate) type Stacks = Vec<Option<StackId>>;

/// Optional column: if it is missing, all its rows are null.
#[derive(Debug, Default)]
pub(crate) struct OrNull<C>(C);

impl<C: Values + Default> Values for OrNull<C> {
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

/// Column that has one type in some recordings, and another in others.
#[derive(Debug)]
pub(crate) enum Either<A, B> {
    Left(A),
    Right(B),
}

impl<A: Values, B: Values> Values for Either<A, B> {
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

/// Declares tables of the same columns: their names, and a struct with each column once: its
/// field, its type and its mnemonic, then further columns that the type reads. `also` lists
/// columns that are read elsewhere. Columns are taken in the order of the fields; the first
/// wrong one is the error.
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
                    $($field: metalens_trace::Values::take(table, $mnemonic)?,)*
                })
            }
        }
    };
}

pub(super) use columns;

/// Returns the value of a row; `None` if it is null, or if the table has no such column.
pub(crate) fn at<T: Copy>(column: &[Option<T>], row: usize) -> Option<T> {
    column.get(row).copied().flatten()
}

/// Columns `start` and `duration`.
#[derive(Debug)]
pub(crate) struct Spans {
    starts: Integers,
    durations: Integers,
    schema: String,
    file: String,
}

impl Values for Spans {
    fn take(table: &mut Table, starts: &str) -> metalens_trace::Result<Self> {
        Ok(Self {
            starts: Integers::take(table, starts)?,
            durations: Integers::take(table, "duration")?,
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

    /// Returns the span of each row; fails if a start or a duration is null.
    pub(crate) fn all(&self) -> impl Iterator<Item = metalens_trace::Result<Span>> {
        (0..self.rows()).map(|row| {
            let start = self
                .starts
                .get(row)
                .ok_or_else(|| self.null(row, "start"))?;
            let duration = self
                .durations
                .get(row)
                .ok_or_else(|| self.null(row, "duration"))?;
            Ok(Span::new(start, start + duration))
        })
    }

    /// Returns the rows that have a start, with their indices. A row without a duration has no
    /// length.
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
        let problem = Problem::Unexpected("\"<sentinel/>\" is not a whole number".to_owned());
        Error::new(problem, place)
    }
}
