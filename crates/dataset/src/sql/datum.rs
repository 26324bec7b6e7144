//! One value: a literal of a query, or what a function makes of a row.

use std::cmp::Ordering;

use polars_core::prelude::*;
use polars_lazy::prelude::*;

use crate::cells::{Cells, Kind};
use crate::frame::data_type;

/// A value of any kind, or none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum {
    Null,
    Integer(i64),
    Id(u64),
    Number(f64),
    Flag(bool),
    Text(String),
    /// Days since 1970-01-01.
    Date(i32),
}

impl Datum {
    /// So many.
    pub(crate) fn count(count: usize) -> Self {
        i64::try_from(count).map_or(Self::Null, Self::Integer)
    }

    /// What kind it is; nothing is of none.
    pub(crate) fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Null => return None,
            Self::Integer(_) => Kind::Integer,
            Self::Id(_) => Kind::Id,
            Self::Number(_) => Kind::Number,
            Self::Flag(_) => Kind::Flag,
            Self::Text(_) => Kind::Text,
            Self::Date(_) => Kind::Date,
        })
    }

    /// A cell of polars, told what kind its column is.
    pub(crate) fn of(value: &AnyValue<'_>, kind: Option<Kind>) -> Self {
        match (value, kind) {
            (AnyValue::Int64(number), _) => Self::Integer(*number),
            (AnyValue::Int32(days), Some(Kind::Date)) => Self::Date(*days),
            (AnyValue::UInt64(number), _) => Self::Id(*number),
            (AnyValue::Float64(number), _) => Self::Number(*number),
            (AnyValue::Boolean(flag), _) => Self::Flag(*flag),
            (AnyValue::String(text), _) => Self::Text((*text).to_owned()),
            (AnyValue::StringOwned(text), _) => Self::Text(text.to_string()),
            _ => Self::Null,
        }
    }

    /// Of two values of one kind, which is the larger.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one.cmp(other),
            (Self::Id(one), Self::Id(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => one.total_cmp(other),
            (Self::Flag(one), Self::Flag(other)) => one.cmp(other),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Date(one), Self::Date(other)) => one.cmp(other),
            _ => Ordering::Equal,
        }
    }

    /// The same as polars writes it in an expression: of exactly its kind, or of that
    /// one if it is nothing.
    pub(crate) fn literal(&self, kind: Option<Kind>) -> Expr {
        let kind = self.kind().or(kind);
        let value = match self {
            Self::Null => AnyValue::Null,
            Self::Integer(number) => AnyValue::Int64(*number),
            Self::Id(number) => AnyValue::UInt64(*number),
            Self::Number(number) => AnyValue::Float64(*number),
            Self::Flag(flag) => AnyValue::Boolean(*flag),
            Self::Text(text) => AnyValue::StringOwned(text.as_str().into()),
            Self::Date(days) => AnyValue::Int32(*days),
        };
        let of = kind.map_or(DataType::Null, data_type);
        Expr::Literal(LiteralValue::Scalar(Scalar::new(of, value)))
    }
}

/// Values of one kind, as a column.
pub(crate) fn column(name: &str, kind: Kind, values: Vec<Datum>) -> Column {
    crate::frame::cells(name, &cells(kind, values))
}

/// Values of one kind. What is of another kind is left out; the translator makes no such
/// values.
pub(crate) fn cells(kind: Kind, values: impl IntoIterator<Item = Datum>) -> Cells {
    let mut cells = Cells::new(kind);
    for value in values {
        match (&mut cells, value) {
            (Cells::Integer(cells), Datum::Integer(number)) => cells.push(Some(number)),
            (Cells::Id(cells), Datum::Id(number)) => cells.push(Some(number)),
            (Cells::Number(cells), Datum::Number(number)) => cells.push(Some(number)),
            (Cells::Flag(cells), Datum::Flag(flag)) => cells.push(Some(flag)),
            (Cells::Text(cells), Datum::Text(text)) => cells.push(Some(&text)),
            (Cells::Date(cells), Datum::Date(days)) => cells.push(Some(days)),
            (cells, _) => cells.push_absent(),
        }
    }
    cells
}
