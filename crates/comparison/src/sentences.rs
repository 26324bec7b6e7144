//! Changes in sentences: what stands in them keeps its type.

use metalens_analyzer::message::{Value, counted, number, shown_share};
use metalens_analyzer::{Message, message};

use crate::change::{Change, Class};
use crate::number::Number;
use crate::unit::Unit;
use crate::words;

/// `179.1 µs`, `1,000`, `3.4 %`.
#[must_use]
pub fn value(value: Number, unit: Unit) -> Message {
    number(words::value(value, unit), value.get(), |number| {
        kind(number, unit)
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, not negative, and `as` saturates"
)]
fn kind(number: f64, unit: Unit) -> Value {
    match unit {
        Unit::Ns if number < 0.0 => Value::SignedTime {
            ns: number.round() as i64,
        },
        Unit::Ns => Value::Time {
            ns: number.round() as u64,
        },
        Unit::Count if number < 0.0 || number.fract() != 0.0 => Value::Number { number },
        Unit::Count => Value::Count {
            count: number as u64,
        },
        Unit::Ratio => Value::Share { share: number },
    }
}

/// `+1.2 ms`, `−750`, `+3.4 pts`, `±0`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded, and `as` saturates"
)]
#[must_use]
pub fn difference(change: Number, unit: Unit) -> Message {
    number(
        words::difference(change, unit),
        change.get(),
        |number| match unit {
            Unit::Ns => Value::SignedTime {
                ns: number.round() as i64,
            },
            Unit::Count => Value::Number { number },
            Unit::Ratio => Value::Points { points: number },
        },
    )
}

/// `−39.2 %`, `×12.4`; of nothing nothing can be said.
#[must_use]
pub fn share(change: &Change) -> Message {
    let share = change.relative.unwrap_or(f64::NAN);
    number(words::share(change), share, |change| Value::Change {
        change,
    })
}

/// `−39.2 %`, `+5.0 %`, `×12.4`.
#[must_use]
pub fn relative(share: f64) -> Message {
    number(words::relative(share), share, |change| Value::Change {
        change,
    })
}

/// `48.85 ms instead of 188.3 ms (−74.0 %)`.
pub(crate) fn became(change: &Change, unit: Unit) -> Option<Message> {
    let (was, now) = (
        value(change.base.median?, unit),
        value(change.new.median?, unit),
    );
    Some(match change.class {
        Class::Unchanged if was.text == now.text => message!("unchanged, {}", now),
        Class::Unchanged => message!("unchanged, {} and {} before", now, was),
        _ => message!("{} instead of {} ({})", now, was, share(change)),
    })
}

/// `between −75.1 % and −73.9 % with 90 % confidence`.
pub(crate) fn sureness(change: &Change, unit: Unit) -> Option<Message> {
    let interval = change.interval?;
    let (low, high) = match change.base.median.map(Number::get) {
        Some(of) if of != 0.0 && unit != Unit::Ratio => {
            let end = |at: Number| relative(at.get() / of.abs());
            (end(interval.low), end(interval.high))
        }
        _ => (
            difference(interval.low, unit),
            difference(interval.high, unit),
        ),
    };
    let said = if low.text == high.text {
        low
    } else {
        message!("between {} and {}", low, high)
    };
    Some(message!(
        "{} with {} confidence",
        said,
        confidence(interval.confidence)
    ))
}

/// `90 %`, `96.8 %`.
fn confidence(share: f64) -> Message {
    let text = format!("{:.1}", share * 100.0);
    let text = format!("{} %", text.strip_suffix(".0").unwrap_or(&text));
    shown_share(text, share)
}

/// What the classes rest on.
pub(crate) fn method(sure: Option<f64>, base: usize, new: usize) -> Message {
    let of_new = counted(new as u64, "run");
    let runs = if base == new {
        message!("{} a side", of_new)
    } else {
        message!(
            "{} of base and {} of new",
            counted(base as u64, "run"),
            of_new
        )
    };
    match sure {
        None if base.min(new) > 1 => message!(
            "{}, of which some are the same: the figures alone decide, and cannot tell a change \
             from noise",
            runs
        ),
        None => message!(
            "{}: the figures alone decide, and cannot tell a change from noise; three or more a \
             side can (--base A B C --new D E F)",
            runs
        ),
        Some(sure) => message!(
            "{}: changes are the median of all differences between the sides, and their intervals \
             hold with {} confidence",
            runs,
            confidence(sure)
        ),
    }
}
