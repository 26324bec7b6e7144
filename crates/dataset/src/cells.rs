//! A table in memory: columns of typed cells, any of which may be absent.

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};

/// What a column's cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number that may be added and subtracted: a count, nanoseconds.
    Integer,
    /// A number that only names something, and may be as large as 64 bits allow.
    Id,
    /// A number with a fraction.
    Number,
    /// Yes or no.
    Flag,
    /// Text.
    Text,
    /// A day.
    Date,
}

impl Kind {
    /// What Parquet and SQL call it.
    #[must_use]
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

/// One cell on its way into a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value<'a> {
    Absent,
    Integer(i64),
    Id(u64),
    Number(f64),
    Flag(bool),
    Text(&'a str),
    /// A count or a time that 63 bits do not hold.
    TooLarge(u64),
}

impl<'a> Value<'a> {
    /// A count, a time.
    pub(crate) fn whole(number: u64) -> Self {
        i64::try_from(number).map_or(Self::TooLarge(number), Self::Integer)
    }

    pub(crate) fn whole_or_absent(number: Option<u64>) -> Self {
        number.map_or(Self::Absent, Self::whole)
    }

    pub(crate) fn id(number: Option<u64>) -> Self {
        number.map_or(Self::Absent, Self::Id)
    }

    pub(crate) fn number(number: Option<f64>) -> Self {
        let finite = number.filter(|number| number.is_finite());
        finite.map_or(Self::Absent, Self::Number)
    }

    pub(crate) fn text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }

    pub(crate) fn flag(flag: Option<bool>) -> Self {
        flag.map_or(Self::Absent, Self::Flag)
    }
}

/// The cells of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cells {
    Integer(Vec<Option<i64>>),
    Id(Vec<Option<u64>>),
    Number(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
    Text(Texts),
    /// Days since 1970-01-01.
    Date(Vec<Option<i32>>),
}

impl Cells {
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Integer => Self::Integer(Vec::new()),
            Kind::Id => Self::Id(Vec::new()),
            Kind::Number => Self::Number(Vec::new()),
            Kind::Flag => Self::Flag(Vec::new()),
            Kind::Text => Self::Text(Texts::default()),
            Kind::Date => Self::Date(Vec::new()),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Integer(_) => Kind::Integer,
            Self::Id(_) => Kind::Id,
            Self::Number(_) => Kind::Number,
            Self::Flag(_) => Kind::Flag,
            Self::Text(_) => Kind::Text,
            Self::Date(_) => Kind::Date,
        }
    }

    /// One more cell. What is not of the column's kind would be a mistake in the
    /// table's description, which its tests would show.
    pub(crate) fn push(&mut self, column: &'static str, value: Value<'_>) -> Result<()> {
        match (self, value) {
            (_, Value::TooLarge(number)) => return Err(Error::TooLarge { column, number }),
            (Self::Integer(cells), Value::Integer(number)) => cells.push(Some(number)),
            (Self::Id(cells), Value::Id(number)) => cells.push(Some(number)),
            (Self::Number(cells), Value::Number(number)) => cells.push(Some(number)),
            (Self::Flag(cells), Value::Flag(flag)) => cells.push(Some(flag)),
            (Self::Text(texts), Value::Text(text)) => texts.push(Some(text)),
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

/// Texts, each different one kept once: a million rows have a handful of names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Texts {
    pub(crate) different: Vec<String>,
    pub(crate) numbers: Vec<Option<u32>>,
    known: FxHashMap<String, u32>,
}

impl Texts {
    pub(crate) fn push(&mut self, text: Option<&str>) {
        let number = text.map(|text| self.number(text));
        self.numbers.push(number);
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.known.get(text) {
            return number;
        }
        // Four thousand million different names do not fit into memory.
        let number = u32::try_from(self.different.len()).unwrap_or(u32::MAX);
        self.known.insert(text.to_owned(), number);
        self.different.push(text.to_owned());
        number
    }
}

/// A column under its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) cells: Cells,
}

/// A table: columns of one length.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Column>,
}
