//! Checks single values of a scenario: durations, names, texts and numbers.

use super::super::lengths::Lengths;
use super::super::nanos::Nanos;
use crate::error::Error;

const TEXT_CHARS_MAX: usize = 200;

pub(super) const LENGTH_NS_MAX: u64 = 60_000_000_000;

pub(super) fn lengths(field: &str, lengths: &Lengths, shortest_ns: u64) -> Result<(), Error> {
    let (least, most) = (Nanos::new(shortest_ns), Nanos::new(LENGTH_NS_MAX));
    let allowed = format!("{least} to {most}");
    let Some((shortest, longest)) = lengths.bounds() else {
        return Err(Error::field(field, "has an empty cycle", allowed));
    };
    if let Lengths::Range([low, high]) = lengths
        && low > high
    {
        return Err(Error::field(
            field,
            format!("has {low} as the shortest and {high} as the longest"),
            "[shortest, longest], the shortest first",
        ));
    }

    if shortest < shortest_ns {
        return Err(Error::field(
            field,
            format!("can be {}", Nanos::new(shortest)),
            allowed,
        ));
    }
    if longest > LENGTH_NS_MAX {
        let problem = format!("can be {}", Nanos::new(longest));
        return Err(Error::field(field, problem, allowed));
    }
    Ok(())
}

pub(super) fn name(field: &str, value: &str) -> Result<(), Error> {
    if value.trim().is_empty() {
        return Err(Error::field(field, "is blank", "a name"));
    }
    text(field, value)
}

/// Checks a text. XML cannot represent most control characters, escaped or not.
pub(super) fn text(field: &str, value: &str) -> Result<(), Error> {
    let chars = value.chars().count();
    if chars > TEXT_CHARS_MAX {
        return Err(Error::field(
            field,
            format!("has {chars} characters"),
            format!("at most {TEXT_CHARS_MAX}"),
        ));
    }
    if value
        .chars()
        .any(|character| character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}'))
    {
        return Err(Error::field(
            field,
            "contains a control character",
            "printable text",
        ));
    }
    Ok(())
}

pub(super) fn within(field: &str, value: u32, min: u32, max: u32) -> Result<(), Error> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(Error::field(
        field,
        format!("is {value}"),
        format!("{min} to {max}"),
    ))
}
