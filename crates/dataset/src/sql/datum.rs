//! One value: a literal of a query, or what a function makes of a row.

use polars_core::prelude::*;
use polars_lazy::prelude::*;

use crate::cells::Kind;
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

/// Values of one kind, as a column. What is of another kind is left out; the
/// translator makes no such values.
pub(crate) fn column(name: PlSmallStr, kind: Kind, values: Vec<Datum>) -> Column {
    let values = values.into_iter();
    match kind {
        Kind::Integer => Int64Chunked::from_iter_options(
            name,
            values.map(|value| match value {
                Datum::Integer(number) => Some(number),
                _ => None,
            }),
        )
        .into_column(),
        Kind::Id => UInt64Chunked::from_iter_options(
            name,
            values.map(|value| match value {
                Datum::Id(number) => Some(number),
                _ => None,
            }),
        )
        .into_column(),
        Kind::Number => Float64Chunked::from_iter_options(
            name,
            values.map(|value| match value {
                Datum::Number(number) => Some(number),
                _ => None,
            }),
        )
        .into_column(),
        Kind::Flag => BooleanChunked::from_iter_options(
            name,
            values.map(|value| match value {
                Datum::Flag(flag) => Some(flag),
                _ => None,
            }),
        )
        .into_column(),
        Kind::Text => StringChunked::from_iter_options(
            name,
            values.map(|value| match value {
                Datum::Text(text) => Some(text),
                _ => None,
            }),
        )
        .into_column(),
        Kind::Date => Int32Chunked::from_iter_options(
            name,
            values.map(|value| match value {
                Datum::Date(days) => Some(days),
                _ => None,
            }),
        )
        .into_column(),
    }
}
