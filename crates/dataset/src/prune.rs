//! What need not be read: runs, and groups of rows, that a query's condition rules out.
//!
//! Only ever a shortcut: the condition is tested on all that is read, so that
//! whatever is not understood here costs time and nothing else.

use polars_core::prelude::*;
use polars_lazy::prelude::*;

use crate::frame::partition_column;
use crate::hive::Partition;
use crate::parquet_read::Bounds;
use crate::tables::PARTITION;

/// A condition, cut where it says AND, without what may be ignored.
pub(crate) struct Condition {
    parts: Vec<Expr>,
}

impl Condition {
    pub(crate) fn new(condition: Option<&Expr>) -> Self {
        let mut parts = Vec::new();
        condition
            .into_iter()
            .for_each(|condition| cut(condition, &mut parts));
        Self { parts }
    }

    /// All of it, to be tested on each row.
    pub(crate) fn whole(&self) -> Option<Expr> {
        self.parts.iter().cloned().reduce(Expr::and)
    }

    /// Of these runs, those that the condition leaves, by place. All of them if it fails
    /// on one: it need not fail on rows, which a run may not even have.
    pub(crate) fn runs(&self, partitions: &[&Partition]) -> Vec<usize> {
        let all = || (0..partitions.len()).collect();
        let is_partition = |name: &PlSmallStr| PARTITION.iter().any(|about| *name == about.name);
        let about_runs = |part: &&Expr| {
            let names = polars_plan::utils::expr_to_leaf_column_names(part);
            !names.is_empty() && names.iter().all(is_partition)
        };
        let parts = self.parts.iter().filter(about_runs).cloned();
        match parts.reduce(Expr::and) {
            Some(condition) if !partitions.is_empty() => {
                places_left(partitions, condition).unwrap_or_else(|_| all())
            }
            _ => all(),
        }
    }

    /// Whether a group of rows may have one that the condition leaves.
    pub(crate) fn may_hold(&self, bounds: impl Fn(&str) -> Option<Bounds>) -> bool {
        self.parts.iter().all(|part| match comparison(part) {
            Some((name, operator, limit)) => {
                bounds(name).is_none_or(|bounds| overlaps(&bounds, operator, &limit))
            }
            None => true,
        })
    }
}

/// The places of those that a condition about nothing else leaves.
fn places_left(partitions: &[&Partition], condition: Expr) -> PolarsResult<Vec<usize>> {
    let mut all: Option<DataFrame> = None;
    for partition in partitions {
        let columns = PARTITION
            .iter()
            .map(|about| partition_column(about, partition, 1));
        let one = DataFrame::new(1, columns.collect())?;
        match &mut all {
            Some(all) => drop(all.vstack_mut(&one)?),
            None => all = Some(one),
        }
    }
    let mut all = all.unwrap_or_default();
    let places: Vec<u64> = (0..partitions.len() as u64).collect();
    all.with_column(Column::new("place".into(), places))?;
    let left = all
        .lazy()
        .filter(condition)
        .select([col("place")])
        .collect()?;
    let places = left.column("place")?.u64()?.iter().flatten();
    Ok(places
        .filter_map(|place| usize::try_from(place).ok())
        .collect())
}

/// Where only the first rows of an order are wanted, polars asks to leave out what comes
/// later than those it has by then. That may always be ignored, and a scan has to: it is
/// told no more than the name of it.
fn is_hint(part: &Expr) -> bool {
    matches!(part, Expr::Display { fmt_str, .. } if fmt_str.starts_with("dynamic_pred:"))
}

fn cut(condition: &Expr, parts: &mut Vec<Expr>) {
    match condition {
        hint if is_hint(hint) => {}
        Expr::BinaryExpr {
            left,
            op: Operator::And | Operator::LogicalAnd,
            right,
        } => {
            cut(left, parts);
            cut(right, parts);
        }
        other => parts.push(other.clone()),
    }
}

/// What a column is compared with.
#[derive(Debug, PartialEq)]
enum Limit {
    Integer(i128),
    Text(Vec<u8>),
}

/// `column < literal`, or the same the other way round.
fn comparison(part: &Expr) -> Option<(&str, Operator, Limit)> {
    let Expr::BinaryExpr { left, op, right } = part else {
        return None;
    };
    match (left.as_ref(), right.as_ref()) {
        (Expr::Column(name), Expr::Literal(value)) => Some((name, *op, limit(value)?)),
        (Expr::Literal(value), Expr::Column(name)) => {
            let turned = match op {
                Operator::Lt => Operator::Gt,
                Operator::LtEq => Operator::GtEq,
                Operator::Gt => Operator::Lt,
                Operator::GtEq => Operator::LtEq,
                other => *other,
            };
            Some((name, turned, limit(value)?))
        }
        _ => None,
    }
}

fn limit(value: &LiteralValue) -> Option<Limit> {
    let value = value.to_any_value()?;
    match value.get_str() {
        Some(text) => Some(Limit::Text(text.as_bytes().to_vec())),
        // Only whole numbers: 1.5 would be cut to 1.
        None if value.is_integer() => value.extract().map(Limit::Integer),
        None => None,
    }
}

fn overlaps(bounds: &Bounds, operator: Operator, limit: &Limit) -> bool {
    fn holds<T: Ord>(least: &T, most: &T, operator: Operator, limit: &T) -> bool {
        match operator {
            Operator::Eq => least <= limit && limit <= most,
            Operator::Lt => least < limit,
            Operator::LtEq => least <= limit,
            Operator::Gt => most > limit,
            Operator::GtEq => most >= limit,
            _ => true,
        }
    }
    match (bounds, limit) {
        (&Bounds::Integer(least, most), Limit::Integer(limit)) => {
            holds(&i128::from(least), &i128::from(most), operator, limit)
        }
        (Bounds::Text(least, most), Limit::Text(limit)) => holds(least, most, operator, limit),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By trying every number between the bounds.
    #[test]
    fn a_group_is_left_out_only_if_no_number_in_it_fits() {
        type Fits = fn(i64, i64) -> bool;
        let operators: [(Operator, Fits); 5] = [
            (Operator::Eq, |a, b| a == b),
            (Operator::Lt, |a, b| a < b),
            (Operator::LtEq, |a, b| a <= b),
            (Operator::Gt, |a, b| a > b),
            (Operator::GtEq, |a, b| a >= b),
        ];
        for (operator, fits) in operators {
            for (least, most) in [(3, 3), (3, 5), (-2, 4)] {
                for limit in -4..8 {
                    let expected = (least..=most).any(|number| fits(number, limit));
                    let found = overlaps(
                        &Bounds::Integer(least, most),
                        operator,
                        &Limit::Integer(i128::from(limit)),
                    );
                    assert_eq!(found, expected, "{least}..={most} {operator:?} {limit}");
                }
            }
        }
    }

    #[test]
    fn what_a_condition_compares() {
        let check = |part: Expr, expected: Option<(&str, Operator, Limit)>| {
            assert_eq!(comparison(&part), expected, "{part:?}");
        };
        let seven = || Limit::Integer(7);
        check(col("a").lt(lit(7)), Some(("a", Operator::Lt, seven())));
        check(lit(7).lt(col("a")), Some(("a", Operator::Gt, seven())));
        check(lit(7).eq(col("a")), Some(("a", Operator::Eq, seven())));
        let text = Limit::Text(b"x".to_vec());
        check(col("a").gt_eq(lit("x")), Some(("a", Operator::GtEq, text)));
        check(col("a").lt(lit(7.5)), None);
        check(col("a").lt(col("b")), None);
        check((col("a") + lit(1)).lt(lit(7)), None);
    }
}
