//! Checks single values of a scenario: durations, names, texts and numbers.

use super::lengths::Lengths;
use super::nanos::Nanos;
use crate::error::Error;

const TEXT_CHARS_MAX: usize = 200;
/// Largest amount of memory, in bytes: more than any machine has.
const BYTES_MAX: u64 = 1 << 46;
/// Shortest period of samples, in nanoseconds: faster sampling is not possible.
const PERIOD_NS_MIN: u64 = 1_000;

const LENGTH_NS_MAX: u64 = 60_000_000_000;

pub(crate) fn lengths(field: &str, lengths: &Lengths, shortest_ns: u64) -> Result<(), Error> {
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

pub(crate) fn name(field: &str, value: &str) -> Result<(), Error> {
    if value.trim().is_empty() {
        return Err(Error::field(field, "is blank", "a name"));
    }
    text(field, value)
}

/// Checks a text. XML cannot represent most control characters, escaped or not.
pub(crate) fn text(field: &str, value: &str) -> Result<(), Error> {
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

pub(crate) fn within(field: &str, value: u32, min: u32, max: u32) -> Result<(), Error> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(Error::field(
        field,
        format!("is {value}"),
        format!("{min} to {max}"),
    ))
}

pub(crate) fn bytes(field: &str, bytes: u64) -> Result<(), Error> {
    if bytes <= BYTES_MAX {
        return Ok(());
    }
    let allowed = format!("at most {BYTES_MAX}");
    Err(Error::field(field, format!("is {bytes}"), allowed))
}

/// Checks the time between two samples.
pub(crate) fn period(field: &str, period: Nanos) -> Result<(), Error> {
    instant(field, period, PERIOD_NS_MIN)
}

pub(crate) fn instant(field: &str, time: Nanos, least_ns: u64) -> Result<(), Error> {
    lengths(field, &Lengths::Fixed(time), least_ns.min(LENGTH_NS_MAX))
}
