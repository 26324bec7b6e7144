//! Defines what a table is, and how its rows are written: to a sheet, which an export and a bundle both
//! implement, so that they have the same content.

pub(crate) mod functions;
mod kinds;

use crate::error::Error;
use crate::plan::{Plan, ProcessIndex};
use crate::values::kinds::Generation;
use functions::Stack;
pub(crate) use kinds::Kind;

/// Id of the only GPU.
pub(crate) const ACCELERATOR_ID: u64 = 1_024;

/// The columns of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema {
    pub(crate) name: &'static str,
    /// Description of the table in our words, written since Xcode 27.
    pub(crate) documentation: &'static str,
    /// Columns as Instruments 26.0 exports them, misspellings included.
    pub(crate) columns: &'static [Column],
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) mnemonic: &'static str,
    /// Name that Instruments shows.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

impl Schema {
    /// Returns the columns as a generation has them. Commit ids have 64 bits since Xcode 27.
    pub(crate) fn columns_in(&self, generation: Generation) -> impl Iterator<Item = Column> {
        self.columns.iter().map(move |column| {
            let is_wide = column.mnemonic == "commit-id" && generation == Generation::Xcode27;
            let kind = if is_wide { Kind::Uint64 } else { column.kind };
            Column { kind, ..*column }
        })
    }
}

/// A table: its columns, and a function that writes its rows from a plan and its optional parts.
pub(crate) struct Form<Optional> {
    pub(crate) schema: Schema,
    pub(crate) write: fn(&Plan, &Optional, &mut dyn Sheet) -> Result<(), Error>,
}

/// A table that is written row by row.
pub(crate) trait Sheet {
    /// Writes a row, whose values are in the order of the columns.
    fn row(&mut self, values: &[Value<'_>]) -> Result<(), Error>;
}

/// Declares a [`Form`] of the caller's type `Optional`: its name and description, then its rows, and
/// for each column its mnemonic, name, kind and value. A column without a value has the usual one.
///
/// ```text
/// table! {
///     HANGS: "potential-hangs", "When main threads did not respond.";
///     |plan, optional| for hang in &optional.hangs => {
///         "start" "Start" StartTime = hang.start_ns;
///         "duration" "Duration" Duration = hang.duration_ns;
///     }
/// }
/// ```
macro_rules! table {
    ($form:ident: $name:literal, $documentation:literal;
     |$plan:pat_param, $optional:pat_param| for $row:pat in $rows:expr => {
        $(let $local:pat = $init:expr;)*
        $($mnemonic:literal $column:literal $kind:ident $(= $value:expr)?;)*
    }) => {
        pub(crate) const $form: $crate::sheet::Form<Optional> = $crate::sheet::Form {
            schema: $crate::sheet::Schema {
                name: $name,
                documentation: $documentation,
                columns: &[$($crate::sheet::Column {
                    mnemonic: $mnemonic,
                    name: $column,
                    kind: $crate::sheet::Kind::$kind,
                }),*],
            },
            write: |$plan, $optional, sheet| {
                for $row in $rows {
                    $(let $local = $init;)*
                    sheet.row(&[$($crate::sheet::table!(@value $($value)?)),*])?;
                }
                Ok(())
            },
        };
    };
    (@value) => { $crate::sheet::Value::Usual };
    (@value $value:expr) => { $crate::sheet::Value::from($value) };
}
pub(crate) use table;

/// Returns rows ordered by a key; equal ones stay in order.
pub(crate) fn sorted<T, K: Ord>(
    rows: impl IntoIterator<Item = T>,
    key: impl FnMut(&T) -> K,
) -> Vec<T> {
    let mut rows: Vec<T> = rows.into_iter().collect();
    rows.sort_by_key(key);
    rows
}

/// The value of a cell. Its column has the type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'v> {
    Null,
    /// The value that columns of the kind have if nothing reads them.
    Usual,
    /// A number; decimals and percentages in billionths.
    Number(u64),
    Text(&'v str),
    /// A process, or its main thread.
    Process(ProcessIndex),
    /// The other thread of a process, or its name. Only bundles have it.
    Worker(ProcessIndex),
    /// A label that later rows may repeat.
    Label(&'v [Part<'v>]),
    /// A label that no later row repeats.
    LabelOnce(&'v [Part<'v>]),
    Stack(&'v Stack<'v>),
}

/// A part of a label.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'p> {
    Number(Kind, u64),
    Text(Kind, &'p str),
    Process(ProcessIndex),
    Thread(ProcessIndex),
    /// Placeholder for a missing process.
    NoProcess,
}

impl<'v> Value<'v> {
    /// Returns the value, which is that of the kind if it is the usual one.
    pub(crate) fn in_column(self, kind: Kind, plan: &'v Plan) -> Self {
        match (self, kind) {
            (Self::Usual, Kind::DeviceName) => Self::Text(&plan.gpu),
            (Self::Usual, Kind::ObjectLabel | Kind::FormatString) => Self::Text(""),
            (
                Self::Usual,
                Kind::Boolean
                | Kind::Color
                | Kind::CommandBufferId
                | Kind::ConnectionUuid
                | Kind::Core
                | Kind::EventTime
                | Kind::Frame
                | Kind::NestingLevel
                | Kind::Priority
                | Kind::SampleTime
                | Kind::StartTime
                | Kind::Uint32
                | Kind::Uint64,
            ) => Self::Number(0),
            // No known real bundle shows how these are stored.
            (Self::Usual, _) => Self::Null,
            _ => self,
        }
    }
}

/// Declares the types that a value is made from.
macro_rules! from {
    ($($from:ty, $value:ident => $made:expr;)*) => {$(
        impl<'v> From<$from> for Value<'v> {
            fn from($value: $from) -> Self {
                $made
            }
        }
    )*};
}

from! {
    u64, number => Self::Number(number);
    u32, number => Self::Number(number.into());
    bool, is_true => Self::Number(is_true.into());
    &'v str, text => Self::Text(text);
    &'v String, text => Self::Text(text);
    ProcessIndex, process => Self::Process(process);
    &'v Stack<'v>, stack => Self::Stack(stack);
}

impl<'v, const N: usize> From<&'v [Part<'v>; N]> for Value<'v> {
    fn from(parts: &'v [Part<'v>; N]) -> Self {
        Self::Label(parts)
    }
}

impl<'v, T: Into<Self>> From<Option<T>> for Value<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
