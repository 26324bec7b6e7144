//! Aggregates: what many rows make together.
//!
//! Each takes one column that has been computed before the rows are grouped, and makes
//! columns of each group, of which the answer is put together afterwards.

use polars_core::prelude::*;
use polars_lazy::prelude::*;

use super::datum::Datum;
use super::relation::{Typed, rows};
use crate::cells::Kind;
use crate::frame::data_type;

/// What they are called.
pub(crate) const NAMES: &[&str] = &[
    "count",
    "sum",
    "avg",
    "mean",
    "min",
    "max",
    "median",
    "quantile_cont",
    "percentile_cont",
    "quantile_disc",
    "percentile_disc",
    "stddev",
    "stddev_samp",
    "stddev_pop",
    "variance",
    "var_samp",
    "var_pop",
    "any_value",
    "bool_and",
    "bool_or",
];

/// An aggregate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Aggregate {
    /// `count(*)`.
    Rows,
    Count,
    Distinct,
    Sum,
    SumOfDistinct,
    Mean,
    Min,
    Max,
    Median,
    /// Between the two nearest values.
    QuantileBetween(f64),
    /// The nearest rank: always a value that is there.
    QuantileRank(f64),
    /// Of a sample, or of all.
    Deviation {
        squared: bool,
        of_all: bool,
    },
    All,
    Any,
}

impl Aggregate {
    /// By its name; with DISTINCT, and with the fraction that a quantile has.
    pub(crate) fn named(name: &str, distinct: bool, fraction: Option<f64>) -> Option<Self> {
        let deviation = |squared, of_all| Self::Deviation { squared, of_all };
        Some(match (name, distinct) {
            ("count", false) => Self::Count,
            ("count", true) => Self::Distinct,
            ("sum", false) => Self::Sum,
            ("sum", true) => Self::SumOfDistinct,
            ("min", _) => Self::Min,
            ("max", _) => Self::Max,
            (_, true) => return None,
            ("avg" | "mean", _) => Self::Mean,
            ("median", _) => Self::Median,
            ("quantile_cont" | "percentile_cont", _) => Self::QuantileBetween(fraction?),
            ("quantile_disc" | "percentile_disc", _) => Self::QuantileRank(fraction?),
            ("stddev" | "stddev_samp", _) => deviation(false, false),
            ("stddev_pop", _) => deviation(false, true),
            ("variance" | "var_samp", _) => deviation(true, false),
            ("var_pop", _) => deviation(true, true),
            ("any_value", _) => Self::Min,
            ("bool_and", _) => Self::All,
            ("bool_or", _) => Self::Any,
            _ => return None,
        })
    }

    /// The input as it must be, and the kind of what comes of it; none if it cannot be.
    pub(crate) fn takes(self, input: &Typed) -> Option<(Typed, Kind)> {
        let whole = |input: &Typed| input.as_kind(Kind::Integer);
        let number = |input: &Typed| input.as_kind(Kind::Number);
        Some(match self {
            Self::Rows | Self::Count | Self::Distinct => (input.clone(), Kind::Integer),
            Self::Min | Self::Max => (input.clone(), input.kind.unwrap_or(Kind::Text)),
            Self::Sum | Self::SumOfDistinct => match whole(input) {
                Some(input) => (input, Kind::Integer),
                None => (number(input)?, Kind::Number),
            },
            Self::QuantileRank(_) => match whole(input) {
                Some(input) => (input, Kind::Integer),
                None => (number(input)?, Kind::Number),
            },
            Self::Mean | Self::Median | Self::QuantileBetween(_) | Self::Deviation { .. } => {
                (number(input)?, Kind::Number)
            }
            Self::All | Self::Any => (input.as_kind(Kind::Flag)?, Kind::Flag),
        })
    }

    /// What to compute of each group: of the column of that name, into columns whose
    /// names begin with `into`; and the answer of those.
    pub(crate) fn computed(self, of: &PlSmallStr, into: &str, kind: Kind) -> (Vec<Expr>, Typed) {
        let input = col(of.clone());
        let one = |expr: Expr| {
            let made = Typed::new(col(into).cast(data_type(kind)), kind);
            (vec![expr.alias(into)], made)
        };
        match self {
            // Of a column that is true in every row: polars counts the rows of a UNION by a
            // shortcut that needs numbers of 128 bits, which are left out.
            Self::Rows | Self::Count => one(input.count()),
            Self::Distinct => one(input.drop_nulls().n_unique()),
            Self::Sum => sum(&input, into, kind),
            Self::SumOfDistinct => sum(&input.unique(), into, kind),
            Self::Mean => one(input.mean()),
            // Of flags and texts, too.
            Self::Min | Self::All => one(input.min()),
            Self::Max | Self::Any => one(input.max()),
            Self::Median => one(input.quantile(lit(0.5), QuantileMethod::Linear)),
            Self::QuantileBetween(at) => one(input.quantile(lit(at), QuantileMethod::Linear)),
            Self::QuantileRank(at) => one(input.quantile(lit(at), QuantileMethod::Equiprobable)),
            Self::Deviation { squared, of_all } => {
                let freedom = u8::from(!of_all);
                one(match squared {
                    true => input.var(freedom),
                    false => input.std(freedom),
                })
            }
        }
    }
}

/// Of no rows there is no sum. Of whole numbers it is compared with the sum of the same
/// as numbers with fractions: where 63 bits do not hold it, the two are far apart.
fn sum(input: &Expr, into: &str, kind: Kind) -> (Vec<Expr>, Typed) {
    let name = |part: &str| PlSmallStr::from(format!("{into}.{part}"));
    let (sum, count, about) = (name("sum"), name("count"), name("about"));
    let exprs = vec![
        input.clone().sum().alias(sum.clone()),
        input.clone().count().alias(count.clone()),
        input
            .clone()
            .cast(DataType::Float64)
            .sum()
            .alias(about.clone()),
    ];
    let parts = [
        Typed::new(col(sum), kind),
        Typed::new(col(count).cast(DataType::Int64), Kind::Integer),
        Typed::new(col(about), Kind::Number),
    ];
    let made = rows(&parts, kind, |parts| match parts {
        [_, Datum::Integer(0), _] => Ok(Datum::Null),
        [Datum::Integer(sum), _, Datum::Number(about)] => {
            let apart = (*sum as f64 - about).abs();
            match apart > 1e18 {
                true => Err(format!("a sum of about {about:.3e} is beyond 64 bits")),
                false => Ok(Datum::Integer(*sum)),
            }
        }
        [sum, ..] => Ok(sum.clone()),
        [] => Ok(Datum::Null),
    });
    (exprs, made)
}
