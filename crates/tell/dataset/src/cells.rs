//! Defines tables in memory: columns of typed cells, any of which may be absent.

use metalens_message::{Bytes, Factor, Ns, Share};
use metalens_text::number::whole;
use rustc_hash::FxHashMap;

use crate::error::{Error, Result};

/// Type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// A whole number that may be added and subtracted: a count, nanoseconds.
    Integer,
    /// A number that only identifies something, with up to 64 bits.
    Id,
    /// A number with a fraction.
    Number,
    /// A value that is true or false.
    Flag,
    /// A text, encoded in UTF-8.
    Text,
    /// A day of the calendar.
    Date,
}

impl CellKind {
    /// Returns the name of the type in Parquet and SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "int64",
            Self::Id => "uint64",
            Self::Number => "double",
            Self::Flag => "boolean",
            Self::Text => "string",
            Self::Date => "date",
        }
    }
}

/// A cell that is added to a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CellValue<'a> {
    /// A null value.
    Absent,
    /// A whole number.
    Integer(i64),
    /// A number that only identifies something.
    Id(u64),
    /// A number with a fraction.
    Number(f64),
    /// A value that is true or false.
    Flag(bool),
    /// A text.
    Text(&'a str),
    /// A day, counted since 1970-01-01.
    Date(i32),
    /// A count or a time that does not fit into 63 bits.
    TooLarge(u64),
}

impl CellValue<'_> {
    /// Makes a cell from a whole number.
    pub(crate) fn whole(number: f64) -> Self {
        match Self::from(whole(number.abs())) {
            Self::Integer(size) if number < 0.0 => Self::Integer(-size),
            cell => cell,
        }
    }
}

/// Makes a cell from a count or a time.
impl From<u64> for CellValue<'_> {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::TooLarge(number), Self::Integer)
    }
}

macro_rules! from_quantities {
    ($($quantity:ident),*) => {$(
        impl From<$quantity> for CellValue<'_> {
            fn from($quantity(number): $quantity) -> Self {
                number.into()
            }
        }
    )*};
}

from_quantities!(Ns, Bytes, Share, Factor);

impl From<f64> for CellValue<'_> {
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Self::Number(number)
        } else {
            Self::Absent
        }
    }
}

impl From<bool> for CellValue<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a> From<&'a str> for CellValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a, T: Into<Self>> From<Option<T>> for CellValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, T::into)
    }
}

/// The cells of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ColumnCells {
    Integer(Vec<Option<i64>>),
    Id(Vec<Option<u64>>),
    Number(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
    Text(DistinctTexts),
    /// Dates, in days since 1970-01-01.
    Date(Vec<Option<i32>>),
}

impl ColumnCells {
    pub(crate) fn new(kind: CellKind) -> Self {
        match kind {
            CellKind::Integer => Self::Integer(Vec::new()),
            CellKind::Id => Self::Id(Vec::new()),
            CellKind::Number => Self::Number(Vec::new()),
            CellKind::Flag => Self::Flag(Vec::new()),
            CellKind::Text => Self::Text(DistinctTexts::default()),
            CellKind::Date => Self::Date(Vec::new()),
        }
    }

    pub(crate) fn kind(&self) -> CellKind {
        match self {
            Self::Integer(_) => CellKind::Integer,
            Self::Id(_) => CellKind::Id,
            Self::Number(_) => CellKind::Number,
            Self::Flag(_) => CellKind::Flag,
            Self::Text(_) => CellKind::Text,
            Self::Date(_) => CellKind::Date,
        }
    }

    /// Adds a cell. A value of another type than the column's becomes absent: a mistake in the
    /// table's description, which the tests of the tables find.
    pub(crate) fn push(&mut self, column: &str, value: CellValue<'_>) -> Result<()> {
        match (self, value) {
            (_, CellValue::TooLarge(number)) => {
                let column = column.to_owned();
                return Err(Error::TooLarge { column, number });
            }
            (Self::Integer(cells), CellValue::Integer(number)) => cells.push(Some(number)),
            (Self::Id(cells), CellValue::Id(number)) => cells.push(Some(number)),
            (Self::Number(cells), CellValue::Number(number)) => cells.push(Some(number)),
            (Self::Flag(cells), CellValue::Flag(flag)) => cells.push(Some(flag)),
            (Self::Text(texts), CellValue::Text(text)) => texts.push(Some(text)),
            (Self::Date(cells), CellValue::Date(day)) => cells.push(Some(day)),
            (cells, _) => cells.push_absent(),
        }
        Ok(())
    }

    pub(crate) fn push_absent(&mut self) {
        match self {
            Self::Integer(cells) => cells.push(None),
            Self::Id(cells) => cells.push(None),
            Self::Number(cells) => cells.push(None),
            Self::Flag(cells) => cells.push(None),
            Self::Text(texts) => texts.push(None),
            Self::Date(cells) => cells.push(None),
        }
    }
}

/// Texts of a column. Each distinct text is stored once, because many rows share few names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct DistinctTexts {
    pub(crate) distinct: Vec<String>,
    pub(crate) numbers: Vec<Option<u32>>,
    known: FxHashMap<String, u32>,
}

impl DistinctTexts {
    pub(crate) fn push(&mut self, text: Option<&str>) {
        let number = text.map(|text| self.number(text));
        self.numbers.push(number);
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.known.get(text) {
            return number;
        }

        // Memory is full long before there are four billion distinct names.
        let number = u32::try_from(self.distinct.len()).unwrap_or(u32::MAX);
        self.known.insert(text.to_owned(), number);
        self.distinct.push(text.to_owned());
        number
    }
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
    pub(crate) name: String,
    pub(crate) cells: ColumnCells,
}

impl TableColumn {
    /// Creates a column without cells.
    #[must_use]
    pub fn new(name: &str, kind: CellKind) -> Self {
        Self {
            name: name.to_owned(),
            cells: ColumnCells::new(kind),
        }
    }

    /// Adds a cell. A value of another type than the column's becomes null.
    ///
    /// # Errors
    ///
    /// If a number does not fit.
    pub fn push(&mut self, value: CellValue<'_>) -> Result<()> {
        self.cells.push(&self.name, value)
    }
}

/// A table: columns of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryTable {
    /// Number of rows.
    pub rows: usize,
    /// The columns, each with that many cells.
    pub columns: Vec<TableColumn>,
}
