//! CAST: values of one kind as values of another, and all of them as text.

use super::datum::Datum;
use super::relation::{Typed, called, row_by_row};
use crate::cells::Kind::{self, Date, Flag, Integer, Number, Text};
use crate::hive::{date_text, day};

/// `CAST(x AS kind)`; what cannot be read as that fails the query, or is null.
pub(crate) fn cast(value: &Typed, wanted: Kind, or_null: bool) -> Option<Typed> {
    if let Some(same) = value.as_kind(wanted) {
        return Some(same);
    }
    if wanted == Text {
        return as_texts(std::slice::from_ref(value))?.pop();
    }
    let known = matches!(
        (value.kind?, wanted),
        (Text, _)
            | (Number | Kind::Id | Integer | Flag, Integer | Kind::Id)
            | (Flag, Number)
            | (Integer, Flag)
    );
    let made = move |values: &[Datum]| values.first().and_then(|value| converted(value, wanted));
    known.then(|| {
        row_by_row(
            std::slice::from_ref(value),
            wanted,
            move |values| match made(values) {
                Some(made) => Ok(made),
                None if or_null => Ok(Datum::Null),
                None => {
                    let text = values.first().map(shown).unwrap_or_default();
                    Err(format!("'{text}' cannot become {}", called(Some(wanted))))
                }
            },
        )
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the number was tested to be within 63 bits"
)]
fn converted(value: &Datum, wanted: Kind) -> Option<Datum> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    let integer = |number: f64| {
        let whole = number.round_ties_even();
        (-BEYOND..BEYOND).contains(&whole).then_some(whole as i64)
    };
    Some(match (value, wanted) {
        (Datum::Text(text), Integer) => Datum::Integer(text.trim().parse().ok()?),
        (Datum::Text(text), Kind::Id) => Datum::Id(text.trim().parse().ok()?),
        (Datum::Text(text), Number) => Datum::Number(text.trim().parse().ok()?),
        (Datum::Text(text), Date) => Datum::Date(day(text.trim())?),
        (Datum::Text(text), Flag) => match text.trim().to_lowercase().as_str() {
            "true" => Datum::Flag(true),
            "false" => Datum::Flag(false),
            _ => return None,
        },
        (Datum::Number(number), Integer) => Datum::Integer(integer(*number)?),
        (Datum::Number(number), Kind::Id) => Datum::Id(integer(*number)?.try_into().ok()?),
        (Datum::Integer(number), Kind::Id) => Datum::Id((*number).try_into().ok()?),
        (Datum::Id(number), Integer) => Datum::Integer((*number).try_into().ok()?),
        (Datum::Flag(flag), Integer) => Datum::Integer(i64::from(*flag)),
        (Datum::Flag(flag), Kind::Id) => Datum::Id(u64::from(*flag)),
        (Datum::Flag(flag), Number) => Datum::Number(f64::from(u8::from(*flag))),
        (Datum::Integer(number), Flag) => Datum::Flag(*number != 0),
        _ => return None,
    })
}

pub(crate) fn as_texts(of: &[Typed]) -> Option<Vec<Typed>> {
    let text = |one: &Typed| match one.kind {
        None | Some(Text) => one.as_kind(Text),
        Some(_) => Some(row_by_row(std::slice::from_ref(one), Text, |values| {
            Ok(joined(values))
        })),
    };
    of.iter().map(text).collect()
}

pub(crate) fn joined(values: &[Datum]) -> Datum {
    Datum::Text(values.iter().map(shown).collect())
}

/// A value as text.
fn shown(value: &Datum) -> String {
    match value {
        Datum::Null => String::new(),
        Datum::Integer(number) => number.to_string(),
        Datum::Id(number) => number.to_string(),
        Datum::Number(number) => format!("{number:?}"),
        Datum::Flag(flag) => flag.to_string(),
        Datum::Text(text) => text.clone(),
        Datum::Date(days) => date_text(*days),
    }
}
