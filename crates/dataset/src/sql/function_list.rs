//! Every function of single values: its names, what it takes and what it makes.

use polars_lazy::prelude::*;

use super::casts::{as_texts, joined};
use super::datum::Datum;
use super::expression::chosen;
use super::functions::{Scalar, Takes, as_one_kind};
use super::patterns;
use super::relation::{Typed, row_by_row, rows};
use crate::cells::Kind::{Date, Flag, Integer, Number, Text};
use crate::hive::date_text;

/// All of them.
pub(crate) const FUNCTIONS: &[Scalar] = &[
    Scalar {
        names: &["abs"],
        usage: "abs(x)",
        about: "without its sign",
        takes: Takes::One,
        make: |of| keeping_whole(of, i64::checked_abs, f64::abs),
    },
    Scalar {
        names: &["sign"],
        usage: "sign(x)",
        about: "-1, 0 or 1",
        takes: Takes::One,
        make: |of| {
            keeping_whole(
                of,
                |n| Some(n.signum()),
                |n| if n == 0.0 { 0.0 } else { n.signum() },
            )
        },
    },
    Scalar {
        names: &["floor"],
        usage: "floor(x)",
        about: "the next whole number below",
        takes: Takes::One,
        make: |of| keeping_whole(of, Some, f64::floor),
    },
    Scalar {
        names: &["ceil", "ceiling"],
        usage: "ceil(x)",
        about: "the next whole number above",
        takes: Takes::One,
        make: |of| keeping_whole(of, Some, f64::ceil),
    },
    Scalar {
        names: &["round"],
        usage: "round(x [, digits])",
        about: "rounded to so many digits after the point, 0 unless told; halves away from zero",
        takes: Takes::Each(&[Number, Integer], 1),
        make: |of| Some(row_by_row(of, Number, round)),
    },
    Scalar {
        names: &["sqrt"],
        usage: "sqrt(x)",
        about: "the square root",
        takes: Takes::Each(&[Number], 0),
        make: |of| real(of, f64::sqrt),
    },
    Scalar {
        names: &["ln"],
        usage: "ln(x)",
        about: "the natural logarithm",
        takes: Takes::Each(&[Number], 0),
        make: |of| real(of, f64::ln),
    },
    Scalar {
        names: &["log10", "log"],
        usage: "log10(x)",
        about: "the logarithm to the base 10",
        takes: Takes::Each(&[Number], 0),
        make: |of| real(of, f64::log10),
    },
    Scalar {
        names: &["log2"],
        usage: "log2(x)",
        about: "the logarithm to the base 2",
        takes: Takes::Each(&[Number], 0),
        make: |of| real(of, f64::log2),
    },
    Scalar {
        names: &["exp"],
        usage: "exp(x)",
        about: "e to that power",
        takes: Takes::Each(&[Number], 0),
        make: |of| real(of, f64::exp),
    },
    Scalar {
        names: &["pow", "power"],
        usage: "pow(x, y)",
        about: "x to the power y",
        takes: Takes::Each(&[Number, Number], 0),
        make: |of| {
            Some(row_by_row(of, Number, |values| match values {
                [Datum::Number(x), Datum::Number(y)] => Ok(finite(x.powf(*y))),
                _ => Ok(Datum::Null),
            }))
        },
    },
    Scalar {
        names: &["coalesce", "ifnull"],
        usage: "coalesce(x, …)",
        about: "the first that is not null",
        takes: Takes::AnyOfOneKind,
        make: |of| {
            let exprs: Vec<Expr> = of.iter().map(|one| one.expr.clone()).collect();
            Some(Typed {
                expr: coalesce(&exprs),
                kind: of.first()?.kind,
                constant: None,
            })
        },
    },
    Scalar {
        names: &["nullif"],
        usage: "nullif(x, y)",
        about: "x, or null if it equals y",
        takes: Takes::AnyOfOneKind,
        make: |of| match of {
            [one, other] => {
                let nothing = Datum::Null.literal(one.kind);
                let expr = when(one.expr.clone().eq(other.expr.clone()))
                    .then(nothing)
                    .otherwise(one.expr.clone());
                Some(Typed {
                    expr,
                    kind: one.kind,
                    constant: None,
                })
            }
            _ => None,
        },
    },
    Scalar {
        names: &["greatest"],
        usage: "greatest(x, …)",
        about: "the largest that is not null",
        takes: Takes::AnyOfOneKind,
        make: |of| extreme(of, std::cmp::Ordering::Greater),
    },
    Scalar {
        names: &["least"],
        usage: "least(x, …)",
        about: "the smallest that is not null",
        takes: Takes::AnyOfOneKind,
        make: |of| extreme(of, std::cmp::Ordering::Less),
    },
    Scalar {
        names: &["if", "iif"],
        usage: "if(test, x, y)",
        about: "x where the test holds, else y",
        takes: Takes::Any,
        make: |of| match of {
            [test, one, other] => {
                let test = test.as_kind(Flag)?;
                Some(chosen(
                    vec![test],
                    as_one_kind(&[one.clone(), other.clone()])?,
                ))
            }
            _ => None,
        },
    },
    Scalar {
        names: &["lower"],
        usage: "lower(text)",
        about: "in small letters",
        takes: Takes::Each(&[Text], 0),
        make: |of| texts(of, str::to_lowercase),
    },
    Scalar {
        names: &["upper"],
        usage: "upper(text)",
        about: "in capitals",
        takes: Takes::Each(&[Text], 0),
        make: |of| texts(of, str::to_uppercase),
    },
    Scalar {
        names: &["trim"],
        usage: "trim(text)",
        about: "without spaces at its ends",
        takes: Takes::Each(&[Text], 0),
        make: |of| texts(of, |text| text.trim_matches(' ').to_owned()),
    },
    Scalar {
        names: &["length", "char_length", "len"],
        usage: "length(text)",
        about: "how many characters",
        takes: Takes::Each(&[Text], 0),
        make: |of| {
            Some(row_by_row(of, Integer, |values| match values {
                [Datum::Text(text)] => Ok(Datum::count(text.chars().count())),
                _ => Ok(Datum::Null),
            }))
        },
    },
    Scalar {
        names: &["strpos", "instr"],
        usage: "strpos(text, part)",
        about: "at which character the part begins, from 1; 0 if it is not there",
        takes: Takes::Each(&[Text, Text], 0),
        make: |of| {
            Some(row_by_row(of, Integer, |values| match values {
                [Datum::Text(text), Datum::Text(part)] => {
                    let before = text.find(part.as_str()).and_then(|at| text.get(..at));
                    Ok(Datum::count(
                        before.map_or(0, |before| before.chars().count() + 1),
                    ))
                }
                _ => Ok(Datum::Null),
            }))
        },
    },
    Scalar {
        names: &["substr", "substring"],
        usage: "substr(text, from [, count])",
        about: "so many characters from that one on, from 1; all that follow unless told",
        takes: Takes::Each(&[Text, Integer, Integer], 1),
        make: |of| Some(row_by_row(of, Text, part_of)),
    },
    Scalar {
        names: &["replace"],
        usage: "replace(text, part, other)",
        about: "with each such part replaced",
        takes: Takes::Each(&[Text, Text, Text], 0),
        make: |of| {
            Some(row_by_row(of, Text, |values| match values {
                [Datum::Text(text), Datum::Text(part), Datum::Text(_)] if part.is_empty() => {
                    Ok(Datum::Text(text.clone()))
                }
                [Datum::Text(text), Datum::Text(part), Datum::Text(other)] => {
                    Ok(Datum::Text(text.replace(part.as_str(), other)))
                }
                _ => Ok(Datum::Null),
            }))
        },
    },
    Scalar {
        names: &["starts_with"],
        usage: "starts_with(text, part)",
        about: "whether it begins so",
        takes: Takes::Each(&[Text, Text], 0),
        make: |of| tested(of, |text, part| text.starts_with(part)),
    },
    Scalar {
        names: &["ends_with"],
        usage: "ends_with(text, part)",
        about: "whether it ends so",
        takes: Takes::Each(&[Text, Text], 0),
        make: |of| tested(of, |text, part| text.ends_with(part)),
    },
    Scalar {
        names: &["contains"],
        usage: "contains(text, part)",
        about: "whether that is in it",
        takes: Takes::Each(&[Text, Text], 0),
        make: |of| tested(of, |text, part| text.contains(part)),
    },
    Scalar {
        names: &["concat"],
        usage: "concat(x, …)",
        about: "as one text, without those that are null; `x || y` is null if one is",
        takes: Takes::Any,
        make: |of| Some(rows(&as_texts(of)?, Text, |values| Ok(joined(values)))),
    },
    Scalar {
        names: &["regexp_matches", "regexp_like"],
        usage: "regexp_matches(text, pattern)",
        about: "whether the regular expression is found in it; also `text ~ pattern`",
        takes: Takes::Each(&[Text, Text], 0),
        make: patterns::matches,
    },
    Scalar {
        names: &["regexp_extract"],
        usage: "regexp_extract(text, pattern [, group])",
        about: "what the regular expression finds in it, or what that group of it does",
        takes: Takes::Each(&[Text, Text, Integer], 1),
        make: patterns::extract,
    },
    Scalar {
        names: &["regexp_replace"],
        usage: "regexp_replace(text, pattern, other)",
        about: "with the first find of the regular expression replaced; `$1` is its first group",
        takes: Takes::Each(&[Text, Text, Text], 0),
        make: patterns::replace,
    },
    Scalar {
        names: &["year"],
        usage: "year(date)",
        about: "also `EXTRACT(YEAR FROM date)`",
        takes: Takes::Each(&[Date], 0),
        make: |of| part_of_date(of, 0..4),
    },
    Scalar {
        names: &["month"],
        usage: "month(date)",
        about: "from 1",
        takes: Takes::Each(&[Date], 0),
        make: |of| part_of_date(of, 5..7),
    },
    Scalar {
        names: &["day"],
        usage: "day(date)",
        about: "of the month, from 1",
        takes: Takes::Each(&[Date], 0),
        make: |of| part_of_date(of, 8..10),
    },
];

fn keeping_whole(
    of: &[Typed],
    whole: fn(i64) -> Option<i64>,
    real: fn(f64) -> f64,
) -> Option<Typed> {
    let one = of.first()?;
    if let Some(integer) = one.as_kind(Integer) {
        return Some(row_by_row(
            &[integer],
            Integer,
            move |values| match values {
                [Datum::Integer(number)] => whole(*number)
                    .map(Datum::Integer)
                    .ok_or_else(|| format!("{number} has no positive brother in 64 bits")),
                _ => Ok(Datum::Null),
            },
        ));
    }
    self::real(&[one.as_kind(Number)?], real)
}

/// What is no number (the root of -1) is null.
fn real(of: &[Typed], make: fn(f64) -> f64) -> Option<Typed> {
    Some(row_by_row(of, Number, move |values| match values {
        [Datum::Number(number)] => Ok(finite(make(*number))),
        _ => Ok(Datum::Null),
    }))
}

fn finite(number: f64) -> Datum {
    match number.is_finite() {
        true => Datum::Number(number),
        false => Datum::Null,
    }
}

fn round(values: &[Datum]) -> Result<Datum, String> {
    let (number, digits) = match values {
        [Datum::Number(number)] => (*number, 0),
        [Datum::Number(number), Datum::Integer(digits)] => (*number, *digits),
        _ => return Ok(Datum::Null),
    };
    let digits = i32::try_from(digits.clamp(-308, 308)).unwrap_or_default();
    let by = 10_f64.powi(digits.abs());
    let rounded = match digits < 0 {
        true => (number / by).round() * by,
        false => (number * by).round() / by,
    };
    // So many digits that nothing is left to round.
    Ok(finite(if rounded.is_finite() { rounded } else { number }))
}

fn texts(of: &[Typed], make: fn(&str) -> String) -> Option<Typed> {
    Some(row_by_row(of, Text, move |values| match values {
        [Datum::Text(text)] => Ok(Datum::Text(make(text))),
        _ => Ok(Datum::Null),
    }))
}

fn tested(of: &[Typed], test: fn(&str, &str) -> bool) -> Option<Typed> {
    Some(row_by_row(of, Flag, move |values| match values {
        [Datum::Text(text), Datum::Text(part)] => Ok(Datum::Flag(test(text, part))),
        _ => Ok(Datum::Null),
    }))
}

fn part_of(values: &[Datum]) -> Result<Datum, String> {
    let (text, from, count) = match values {
        [Datum::Text(text), Datum::Integer(from)] => (text, *from, i64::MAX),
        [
            Datum::Text(text),
            Datum::Integer(from),
            Datum::Integer(count),
        ] => (text, *from, *count),
        _ => return Ok(Datum::Null),
    };
    // Characters before the first one count, too: substr('abc', 0, 2) is 'a'.
    let end = from.saturating_add(count.max(0));
    let within = |place: &(i64, char)| place.0 >= from && place.0 < end;
    let places = (1..).zip(text.chars());
    Ok(Datum::Text(places.filter(within).map(|(_, c)| c).collect()))
}

fn part_of_date(of: &[Typed], digits: std::ops::Range<usize>) -> Option<Typed> {
    Some(row_by_row(of, Integer, move |values| match values {
        [Datum::Date(days)] => {
            let text = date_text(*days);
            let part = text.get(digits.clone()).and_then(|part| part.parse().ok());
            Ok(part.map_or(Datum::Null, Datum::Integer))
        }
        _ => Ok(Datum::Null),
    }))
}

fn extreme(of: &[Typed], wanted: std::cmp::Ordering) -> Option<Typed> {
    let kind = of.first()?.kind?;
    Some(rows(of, kind, move |values| {
        let some = values.iter().filter(|value| **value != Datum::Null);
        let better = some.reduce(|best, value| match value.order(best) {
            found if found == wanted => value,
            _ => best,
        });
        Ok(better.cloned().unwrap_or(Datum::Null))
    }))
}
