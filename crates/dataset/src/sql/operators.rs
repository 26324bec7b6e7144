//! Operators: what they do with values of which kinds.

use std::collections::HashSet;

use polars_core::prelude::*;
use polars_lazy::prelude::*;
use sqlparser::ast::{BinaryOperator, Expr as Ast};

use super::casts::{as_texts, joined};
use super::datum::Datum;
use super::expression::{as_number, unknown_form};
use super::relation::{Typed, called, row_by_row, rows};
use super::scope::wrong;
use crate::cells::Kind;
use crate::error::Result;

/// A list that is longer than this is looked up, not compared one by one.
const COMPARED: usize = 8;

/// `a < b` and its like. Absent if one of them is.
pub(crate) fn compare(
    left: &Typed,
    op: &BinaryOperator,
    right: &Typed,
    ast: &Ast,
) -> Result<Typed> {
    let (left, right) = met(left, right, ast)?;
    let (left, right) = (left.expr, right.expr);
    let compared = match op {
        BinaryOperator::Eq => left.eq(right),
        BinaryOperator::NotEq => left.neq(right),
        BinaryOperator::Lt => left.lt(right),
        BinaryOperator::LtEq => left.lt_eq(right),
        BinaryOperator::Gt => left.gt(right),
        BinaryOperator::GtEq => left.gt_eq(right),
        _ => return Err(unknown_form(ast)),
    };
    Ok(Typed::new(compared, Kind::Flag))
}

/// `IS NOT DISTINCT FROM`: never absent.
pub(crate) fn equal_or_both_null(left: &Typed, right: &Typed, ast: &Ast) -> Result<Typed> {
    let (left, right) = met(left, right, ast)?;
    Ok(Typed::new(left.expr.eq_missing(right.expr), Kind::Flag))
}

/// Both sides as one kind, or what is wrong with comparing them.
pub(crate) fn met(left: &Typed, right: &Typed, ast: &Ast) -> Result<(Typed, Typed)> {
    left.meet(right).ok_or_else(|| {
        let day = [left, right]
            .into_iter()
            .find_map(|side| match &side.constant {
                Some(Datum::Text(text)) => Some(text),
                _ => None,
            });
        let is_date = [left, right]
            .iter()
            .any(|side| side.kind == Some(Kind::Date));
        match day.filter(|_| is_date) {
            Some(text) => wrong(format!("'{text}' is no date: write 'YYYY-MM-DD'"), ast),
            None => {
                let (one, other) = (called(left.kind), called(right.kind));
                wrong(format!("`{ast}` compares {one} with {other}"), ast)
            }
        }
    })
}

/// `a || b` as text. Absent if one of them is.
pub(crate) fn concatenated(left: Typed, right: Typed, ast: &Ast) -> Result<Typed> {
    let texts = as_texts(&[left, right]).ok_or_else(|| unknown_form(ast))?;
    Ok(row_by_row(&texts, Kind::Text, |values| Ok(joined(values))))
}

pub(crate) fn not(flag: &Typed) -> Typed {
    Typed::new(flag.expr.clone().not(), Kind::Flag)
}

/// `x IN (…)`: absent where it is not there and one of the list is absent.
pub(crate) fn is_one_of(value: &Typed, list: &[Typed], ast: &Ast) -> Result<Typed> {
    let constants: Option<Vec<Datum>> = list.iter().map(|one| one.constant.clone()).collect();
    match constants {
        Some(constants) if constants.len() > COMPARED => is_among(value, list, ast),
        _ => {
            let mut found: Option<Expr> = None;
            for one in list {
                let same = compare(value, &BinaryOperator::Eq, one, ast)?.expr;
                found = Some(match found {
                    Some(found) => found.or(same),
                    None => same,
                });
            }
            let none = || Datum::Flag(false).into();
            Ok(found.map_or_else(none, |found| Typed::new(found, Kind::Flag)))
        }
    }
}

/// The same of many constants.
fn is_among(value: &Typed, list: &[Typed], ast: &Ast) -> Result<Typed> {
    let mut met_value = value.clone();
    let mut has_null = false;
    let mut all = HashSet::new();
    for one in list {
        let (side, one) = met(value, one, ast)?;
        met_value = side;
        match one.constant {
            Some(Datum::Null) | None => has_null = true,
            Some(datum) => drop(all.insert(hashed(&datum))),
        }
    }
    let found = move |values: &[Datum]| {
        let is_there = values.iter().all(|value| all.contains(&hashed(value)));
        Ok(match (is_there, has_null) {
            (false, true) => Datum::Null,
            (is_there, _) => Datum::Flag(is_there),
        })
    };
    Ok(row_by_row(&[met_value], Kind::Flag, found))
}

/// Of two values of one kind, equal if and only if they are.
fn hashed(value: &Datum) -> (u64, String) {
    match value {
        Datum::Null => (0, String::new()),
        Datum::Integer(number) => (number.cast_unsigned(), String::new()),
        Datum::Id(number) => (*number, String::new()),
        // Nothing else than 0.0 equals something that is written otherwise.
        Datum::Number(number) => ((number + 0.0).to_bits(), String::new()),
        Datum::Flag(flag) => (u64::from(*flag), String::new()),
        Datum::Text(text) => (0, text.clone()),
        Datum::Date(days) => (i64::from(*days).cast_unsigned(), String::new()),
    }
}

/// `a + b` and its like. Whole numbers stay whole and never wrap around; `/` makes a
/// number with a fraction, and nothing where it would divide by zero.
pub(crate) fn arithmetic(
    left: &Typed,
    op: &BinaryOperator,
    right: &Typed,
    ast: &Ast,
) -> Result<Typed> {
    use BinaryOperator as Op;
    match (left.kind, op, right.kind) {
        (Some(Kind::Date), Op::Plus | Op::Minus, Some(Kind::Integer))
        | (Some(Kind::Integer), Op::Plus, Some(Kind::Date))
        | (Some(Kind::Date), Op::Minus, Some(Kind::Date)) => return Ok(of_days(left, op, right)),
        _ => {}
    }
    let whole = |side: &Typed| side.as_kind(Kind::Integer);
    let is_whole_op = !matches!(op, Op::Divide);
    if is_whole_op && let (Some(left), Some(right)) = (whole(left), whole(right)) {
        return Ok(of_whole(left, op, right));
    }
    let number = |side: &Typed| {
        side.as_kind(Kind::Number).ok_or_else(|| {
            wrong(
                format!("`{ast}` calculates with {}", called(side.kind)),
                ast,
            )
        })
    };
    let (left, right) = (number(left)?, number(right)?);
    let made = match op {
        Op::Plus => left.expr + right.expr,
        Op::Minus => left.expr - right.expr,
        Op::Multiply => left.expr * right.expr,
        Op::Divide | Op::Modulo => {
            let (below, op) = (as_number(&right), op.clone());
            let made = match op {
                Op::Divide => left.expr / right.expr,
                _ => left.expr % right.expr,
            };
            let nothing = Datum::Null.literal(Some(Kind::Number));
            when(below.eq(lit(0.0))).then(nothing).otherwise(made)
        }
        _ => return Err(wrong(format!("`{ast}` is for whole numbers"), ast)),
    };
    Ok(Typed::new(made, Kind::Number))
}

fn of_days(left: &Typed, op: &BinaryOperator, right: &Typed) -> Typed {
    let minus = matches!(op, BinaryOperator::Minus);
    let kind = match (left.kind, right.kind) {
        (Some(Kind::Date), Some(Kind::Date)) => Kind::Integer,
        _ => Kind::Date,
    };
    row_by_row(&[left.clone(), right.clone()], kind, move |values| {
        let number = |value: Option<&Datum>| match value {
            Some(Datum::Date(days)) => i64::from(*days),
            Some(Datum::Integer(number)) => *number,
            _ => 0,
        };
        let (one, other) = (number(values.first()), number(values.get(1)));
        let sum = match minus {
            true => one.checked_sub(other),
            false => one.checked_add(other),
        };
        match (kind, sum) {
            (Kind::Integer, Some(days)) => Ok(Datum::Integer(days)),
            (_, sum) => sum
                .and_then(|days| i32::try_from(days).ok())
                .map(Datum::Date)
                .ok_or_else(|| "a date is beyond all calendars".to_owned()),
        }
    })
}

fn of_whole(left: Typed, op: &BinaryOperator, right: Typed) -> Typed {
    type Make = fn(i64, i64) -> Option<i64>;
    let (make, sign): (Make, &str) = match op {
        BinaryOperator::Plus => (i64::checked_add, "+"),
        BinaryOperator::Minus => (i64::checked_sub, "-"),
        BinaryOperator::Multiply => (i64::checked_mul, "*"),
        BinaryOperator::Modulo => (i64::checked_rem, "%"),
        _ => (i64::checked_div, "//"),
    };
    let divides = matches!(sign, "%" | "//");
    let make = move |one: i64, other: i64| match divides && other == 0 {
        true => Ok(None),
        false => make(one, other)
            .map(Some)
            .ok_or_else(|| polars_err!(ComputeError: "{one} {sign} {other} is beyond 64 bits")),
    };
    if let (Some(Datum::Integer(one)), Some(Datum::Integer(other))) =
        (&left.constant, &right.constant)
        && let Ok(made) = make(*one, *other)
    {
        return made.map_or(Datum::Null, Datum::Integer).into();
    }
    if left.kind.is_none() || right.kind.is_none() {
        return rows(&[left, right], Kind::Integer, |_| Ok(Datum::Null));
    }
    let function = move |columns: &mut [Column]| -> PolarsResult<Column> {
        let [left, right] = columns else {
            polars_bail!(ComputeError: "two columns are added, not {}", columns.len());
        };
        let name = left.name().clone();
        let (left, right) = (left.i64()?, right.i64()?);
        let pairs: Box<dyn Iterator<Item = (Option<i64>, Option<i64>)>> =
            match (left.len(), right.len()) {
                (1, rows) if rows != 1 => {
                    let one = left.get(0);
                    Box::new(right.iter().map(move |other| (one, other)))
                }
                (rows, 1) if rows != 1 => {
                    let other = right.get(0);
                    Box::new(left.iter().map(move |one| (one, other)))
                }
                _ => Box::new(left.iter().zip(right.iter())),
            };
        let made: PolarsResult<Vec<Option<i64>>> = pairs
            .map(|pair| match pair {
                (Some(one), Some(other)) => make(one, other),
                _ => Ok(None),
            })
            .collect();
        Ok(Int64Chunked::from_slice_options(name, &made?).into_column())
    };
    let made = left.expr.map_many(function, &[right.expr], |_, fields| {
        let name = fields.first().map(|field| field.name().clone());
        Ok(Field::new(name.unwrap_or_default(), DataType::Int64))
    });
    Typed::new(made, Kind::Integer)
}
