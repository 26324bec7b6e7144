//! What a part of a query stands for: rows that are yet to be read, columns of known
//! kinds, and expressions over them.

use polars_core::prelude::*;
use polars_lazy::prelude::*;

use super::datum::{self, Datum};
use crate::cells::Kind;
use crate::frame::data_type;

/// Rows, and the columns that a query may name.
#[derive(Clone)]
pub(crate) struct Relation {
    pub(crate) frame: LazyFrame,
    pub(crate) columns: Vec<Col>,
}

/// A column as a query sees it.
#[derive(Clone, Debug)]
pub(crate) struct Col {
    /// The table's name or alias.
    pub(crate) table: Option<String>,
    pub(crate) name: String,
    /// What it is called in the frame: no other column there is called that.
    pub(crate) inner: PlSmallStr,
    /// What its cells are; all absent if nothing.
    pub(crate) kind: Option<Kind>,
    pub(crate) found: Found,
}

/// Which names find a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Its own, and its full one with the table.
    Always,
    /// Only its own: USING made it of two.
    ByName,
    /// Only its full one: it is one of two that USING made one.
    ByFullName,
}

impl Col {
    pub(crate) fn new(name: &str, inner: PlSmallStr, kind: Option<Kind>) -> Self {
        Self {
            table: None,
            name: name.to_owned(),
            inner,
            kind,
            found: Found::Always,
        }
    }

    /// Its cells.
    pub(crate) fn typed(&self) -> Typed {
        Typed {
            expr: col(self.inner.clone()),
            kind: self.kind,
            constant: None,
        }
    }
}

/// The frame's columns as expressions, for what must keep them all.
pub(crate) fn all_of(columns: &[Col]) -> Vec<Expr> {
    let inner = columns.iter().map(|column| col(column.inner.clone()));
    inner.collect()
}

/// An expression, and what its cells are.
#[derive(Clone)]
pub(crate) struct Typed {
    pub(crate) expr: Expr,
    /// Nothing only for what is always null.
    pub(crate) kind: Option<Kind>,
    /// Its value, if it is the same in every row.
    pub(crate) constant: Option<Datum>,
}

impl From<Datum> for Typed {
    fn from(value: Datum) -> Self {
        let kind = value.kind();
        Self {
            expr: value.literal(kind),
            kind,
            constant: Some(value),
        }
    }
}

impl Typed {
    pub(crate) fn new(expr: Expr, kind: Kind) -> Self {
        Self {
            expr,
            kind: Some(kind),
            constant: None,
        }
    }

    /// The same as another kind, where no value is lost or guessed; none where it
    /// cannot be that. A text is a date only if the query itself has it.
    pub(crate) fn as_kind(&self, kind: Kind) -> Option<Self> {
        if self.kind == Some(kind) {
            return Some(self.clone());
        }
        if let Some(value) = &self.constant {
            return Some(Self::from(as_kind(value, kind)?).of_kind(kind));
        }
        let expr = self.expr.clone();
        let expr = match (self.kind, kind) {
            (None, _) => expr.cast(data_type(kind)),
            // Fails, rather than making nothing of it, where 63 bits do not suffice.
            (Some(Kind::Id), Kind::Integer) => expr.strict_cast(DataType::Int64),
            (Some(Kind::Integer | Kind::Id), Kind::Number) => expr.cast(DataType::Float64),
            _ => return None,
        };
        Some(Self::new(expr, kind))
    }

    /// The same; if it is nothing, nothing of that kind.
    pub(crate) fn of_kind(mut self, kind: Kind) -> Self {
        if self.kind.is_none() {
            self.expr = Datum::Null.literal(Some(kind));
            self.kind = Some(kind);
        }
        self
    }

    /// Both as one kind, so that they can be compared or stand in one column.
    pub(crate) fn meet(&self, other: &Self) -> Option<(Self, Self)> {
        let kind = match (self.kind, other.kind) {
            (None, None) => return Some((self.clone(), other.clone())),
            (Some(kind), None) | (None, Some(kind)) => kind,
            (Some(one), Some(another)) => {
                let mut tried = [one, another, Kind::Integer, Kind::Number].into_iter();
                let fits =
                    |kind: &Kind| self.as_kind(*kind).is_some() && other.as_kind(*kind).is_some();
                tried.find(fits)?
            }
        };
        Some((self.as_kind(kind)?, other.as_kind(kind)?))
    }
}

fn as_kind(value: &Datum, kind: Kind) -> Option<Datum> {
    Some(match (value, kind) {
        (Datum::Null, _) => Datum::Null,
        (Datum::Integer(number), Kind::Id) => Datum::Id(u64::try_from(*number).ok()?),
        (Datum::Id(number), Kind::Integer) => Datum::Integer(i64::try_from(*number).ok()?),
        (Datum::Integer(number), Kind::Number) => Datum::Number(*number as f64),
        (Datum::Id(number), Kind::Number) => Datum::Number(*number as f64),
        (Datum::Text(text), Kind::Date) => Datum::Date(crate::hive::day(text)?),
        _ => return None,
    })
}

/// What to call a value of that kind when something is wrong with it.
pub(crate) fn called(kind: Option<Kind>) -> &'static str {
    match kind {
        None => "NULL",
        Some(Kind::Integer) => "a whole number",
        Some(Kind::Id) => "an id",
        Some(Kind::Number) => "a number",
        Some(Kind::Flag) => "true or false",
        Some(Kind::Text) => "text",
        Some(Kind::Date) => "a date",
    }
}

/// A function of each row's values by itself, absent where one of them is.
pub(crate) fn row_by_row(
    inputs: &[Typed],
    kind: Kind,
    make: impl Fn(&[Datum]) -> Result<Datum, String> + Send + Sync + 'static,
) -> Typed {
    rows(inputs, kind, move |values| {
        match values.contains(&Datum::Null) {
            true => Ok(Datum::Null),
            false => make(values),
        }
    })
}

/// A function of each row's values by itself.
pub(crate) fn rows(
    inputs: &[Typed],
    kind: Kind,
    make: impl Fn(&[Datum]) -> Result<Datum, String> + Send + Sync + 'static,
) -> Typed {
    let constants: Option<Vec<Datum>> = inputs.iter().map(|one| one.constant.clone()).collect();
    if let Some(Ok(value)) = constants.map(|values| make(&values)) {
        return Typed::from(value).of_kind(kind);
    }
    let kinds: Vec<Option<Kind>> = inputs.iter().map(|one| one.kind).collect();
    let function = move |columns: &mut [Column]| -> PolarsResult<Column> {
        let height = columns.iter().map(Column::len).max().unwrap_or_default();
        let empty = columns.iter().any(Column::is_empty);
        let height = if empty { 0 } else { height };
        let name = columns
            .first()
            .map(|column| column.name().clone())
            .unwrap_or_default();
        let columns: Vec<Series> = columns
            .iter()
            .map(|column| column.as_materialized_series().rechunk())
            .collect();
        let mut values = Vec::with_capacity(height);
        let mut row = vec![Datum::Null; columns.len()];
        for at in 0..height {
            for ((cell, column), kind) in row.iter_mut().zip(&columns).zip(&kinds) {
                let at = if column.len() == 1 { 0 } else { at };
                *cell = Datum::of(&column.get(at)?, *kind);
            }
            values.push(make(&row).map_err(|why| polars_err!(ComputeError: "{why}"))?);
        }
        Ok(datum::column(&name, kind, values))
    };
    let mut exprs = inputs.iter().map(|one| one.expr.clone());
    let first = exprs.next().unwrap_or_else(|| lit(0));
    let rest: Vec<Expr> = exprs.collect();
    let made = first.map_many(function, &rest, move |_, fields| {
        let name = fields.first().map(|field| field.name().clone());
        Ok(Field::new(name.unwrap_or_default(), data_type(kind)))
    });
    Typed::new(made, kind)
}
