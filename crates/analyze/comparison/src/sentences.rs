//! Writes changes in sentences, in which each value keeps its type.

use metalens_message::{
    Message, Number, Share, Value, count, counted, message, number, percent, shown_share, ungrouped,
};
use metalens_text::number::{rounded, rounded_signed, whole};

use crate::by_turns::RunsToTell;
use crate::change::{Change, ChangeClass, ChangeSize, Floor, ends};
use crate::format;
use crate::unit::Unit;

/// Returns a value, such as `179.1 µs`, `1,000` or `3.4 %`.
pub fn value(value: Number, unit: Unit) -> Message {
    number(format::value(value, unit), value.get(), |number| {
        kind(number, unit)
    })
}

fn kind(number: f64, unit: Unit) -> Value {
    match unit {
        Unit::Ns if number < 0.0 => Value::SignedTime {
            ns: rounded_signed(number),
        },
        Unit::Ns => Value::Time {
            ns: rounded(number),
        },
        Unit::Count if number < 0.0 || number.fract() != 0.0 => Value::Number { number },
        Unit::Count => Value::Count {
            count: whole(number),
        },
        Unit::Bytes if number < 0.0 => Value::Number { number },
        Unit::Bytes => Value::Bytes {
            bytes: rounded(number),
        },
        Unit::Ratio => Value::Share { share: number },
    }
}

/// Returns a difference, such as `+1.2 ms`, `−750`, `+3.4 pts` or `±0`.
pub fn difference(change: Number, unit: Unit) -> Message {
    number(
        format::difference(change, unit),
        change.get(),
        |number| match unit {
            Unit::Ns => Value::SignedTime {
                ns: rounded_signed(number),
            },
            Unit::Count | Unit::Bytes => Value::Number { number },
            Unit::Ratio => Value::Points { points: number },
        },
    )
}

/// Returns a relative change, such as `−39.2 %` or `×12.4`. A change from 0 has no share.
pub fn share(change: &Change) -> Message {
    let share = change.relative.unwrap_or(f64::NAN);
    number(format::share(change), share, |change| Value::Change {
        change,
    })
}

/// Returns a share as a change, such as `−39.2 %` or `×12.4`.
pub fn relative(share: f64) -> Message {
    number(format::relative(share), share, |change| Value::Change {
        change,
    })
}

/// Returns a change, such as `188.3 ms → 48.85 ms (−74.0 %)`.
pub(crate) fn became(change: &Change, unit: Unit) -> Option<Message> {
    let (was, now) = (
        value(change.base_value()?, unit),
        value(change.new_value()?, unit),
    );

    Some(match change.class {
        ChangeClass::Unchanged if was.text == now.text => {
            message!("{}, {}", unchanged(change), now)
        }
        ChangeClass::Unchanged => message!("{}, {} → {}", unchanged(change), was, now),
        _ => message!("{} → {} ({})", was, now, share(change)),
    })
}

/// Says that a figure did not change: beyond noise if that is known, else beyond the floor.
pub(crate) fn unchanged(change: &Change) -> &'static str {
    if change.interval.is_some() {
        format::NO_CHANGE
    } else {
        format::NO_DIFFERENCE
    }
}

/// Returns the interval of a change, such as `between −75.1 % and −73.9 % with 90 % confidence`.
pub fn sureness(change: &Change, unit: Unit) -> Option<Message> {
    let interval = change.interval?;
    let (low, high) = match change.base_value().map(Number::get) {
        Some(base) if base != 0.0 && unit != Unit::Ratio => {
            let end = |end: Number| relative(end.get() / base.abs());
            (end(interval.low), end(interval.high))
        }
        _ => (
            difference(interval.low, unit),
            difference(interval.high, unit),
        ),
    };

    let range = if low.text == high.text {
        low
    } else {
        message!("between {} and {}", low, high)
    };
    Some(message!(
        "{} with {} confidence",
        range,
        confidence(interval.confidence)
    ))
}

/// Returns how far a change goes, such as `by 1.1–2.1 % (90 %), maybe less than the 2 % that counts`. Without
/// an interval it is the change itself.
pub fn extent(change: &Change, floor: &Floor) -> Option<Message> {
    let base = change.base_value()?.get();
    let by = change.absolute?.get();
    let (low, high) = ends(by, change.interval);
    let range = range(change.class, base, low, high)?;
    Some(message!("{}{}", range, certainty(change, floor)))
}

/// Returns the speed of new as a multiple of that of base if it takes less time, and its time as a
/// multiple of base's if it takes more: `1.33 ± 0.02 (90 %)`. None if a time is not above 0.
fn times(change: &Change, floor: &Floor) -> Option<(Message, Message)> {
    let base = change.base_value()?.get();
    let by = change.absolute?.get();
    let is_less = change.class == ChangeClass::Shrunk;
    let factor = |by: f64| {
        let (was, now) = (base, base + by);
        let factor = if is_less { was / now } else { now / was };
        (was > 0.0 && now > 0.0 && factor.is_finite()).then_some(factor)
    };
    let middle = factor(by)?;
    let (low, high) = ends(by, change.interval);
    let (low, high) = (factor(low)?, factor(high)?);
    let shown = factors(middle, low.min(high), low.max(high));
    Some((shown, certainty(change, floor)))
}

/// Says how much faster or slower one side is, as in `is 1.33 ± 0.02 times as fast as base (90 %)`; `None`
/// if a time is not above 0. Runs without an interval do not show that the next ones would differ, too:
/// `scope` says so.
pub fn relation(
    change: &Change,
    floor: &Floor,
    base: Option<Message>,
    scope: &'static str,
) -> Option<Message> {
    let (times, sure) = times(change, floor)?;
    let base = base.map(|base| message!(" as {}", base));
    let scope = scope_of(change, scope);
    Some(if change.class == ChangeClass::Shrunk {
        message!("is {} times as fast{}{}{}", times, base, scope, sure)
    } else {
        message!("takes {} times as long{}{}{}", times, base, scope, sure)
    })
}

/// Says how many runs would show a difference.
pub fn more_runs(needed: RunsToTell, base: Number) -> Message {
    let share = percent(Share(needed.difference.get() / base.get().abs()));
    let runs = count(needed.runs);
    let about = if needed.runs >= 1_000 {
        message!("{} and more", runs)
    } else {
        message!("about {}", runs)
    };
    message!(
        "; {} runs of each would show a difference of {}",
        about,
        share
    )
}

/// Returns a scope, if there is no interval.
pub(crate) fn scope_of(change: &Change, scope: &'static str) -> &'static str {
    match change.interval {
        Some(_) => "",
        None => scope,
    }
}

/// Returns a factor with half of its interval, or the ends of an interval that is far from even.
fn factors(middle: f64, low: f64, high: f64) -> Message {
    /// One side of an interval may be longer by so much, or by so small a part of the whole.
    const UNEVEN: (f64, f64) = (1.5, 0.05);
    let (below, above) = (middle - low, high - middle);
    let (narrow, wide) = (below.min(above), below.max(above));
    if wide == 0.0 {
        let digits = match middle {
            _ if middle < 1.1 => 3,
            _ if middle < 10.0 => 2,
            _ => usize::from(middle < 100.0),
        };
        return shown_factor(middle, digits);
    }
    let half = rounded_up(wide, certain_digits(wide));
    // A half that reaches 1 would say that there may be no change, which the interval excludes.
    let is_uneven = wide > narrow * UNEVEN.0 && wide > middle * UNEVEN.1;
    if is_uneven || middle - half <= 1.0 {
        let digits = certain_digits(narrow);
        return message!(
            "{} to {}",
            shown_factor(low, digits),
            shown_factor(high, digits)
        );
    }
    let digits = certain_digits(wide);
    message!(
        "{} ± {}",
        shown_factor(middle, digits),
        shown_factor(half, digits)
    )
}

fn shown_factor(factor: f64, digits: usize) -> Message {
    number(format!("{factor:.digits$}"), factor, |factor| {
        Value::Factor { factor }
    })
}

/// Returns as many digits as the interval leaves certain.
fn certain_digits(size: f64) -> usize {
    match size {
        _ if size >= 1.0 => 0,
        _ if size >= 0.1 => 1,
        _ if size >= 0.01 => 2,
        _ => 3,
    }
}

/// Rounds up, to so many digits.
pub(crate) fn rounded_up(size: f64, digits: usize) -> f64 {
    let unit = 10_f64.powi(digits.try_into().unwrap_or(0));
    // What is above by the error of a difference is not above.
    (size * unit - 1e-6).ceil() / unit
}

/// Says how sure a change is, and whether it is large enough to count. Empty without an interval.
fn certainty(change: &Change, floor: &Floor) -> Message {
    let Some(interval) = change.interval else {
        return Message::default();
    };
    let counts = percent(Share(floor.relative));
    let size = match change.size {
        Some(ChangeSize::Small) => Some(message!(", less than the {} that counts", counts)),
        Some(ChangeSize::Borderline) => {
            Some(message!(", maybe less than the {} that counts", counts))
        }
        Some(ChangeSize::Large) | None => None,
    };
    message!(" ({}){}", confidence(interval.confidence), size)
}

/// Returns the range of a change as shares of base; as times if base is 0.
fn range(class: ChangeClass, base: f64, low: f64, high: f64) -> Option<Message> {
    // A decrease is told by its size, too: faster by 20 %.
    let (least, most) = if class == ChangeClass::Shrunk {
        (-high, -low)
    } else {
        (low, high)
    };

    let (from, to) = if base == 0.0 {
        let time = |ns: f64| Number::new(ns).map(|ns| value(ns, Unit::Ns));
        (time(least)?, time(most)?)
    } else if most / base < 2.0 {
        (percent(Share(least / base)), percent(Share(most / base)))
    } else {
        (relative(least / base), relative(most / base))
    };
    if from.text == to.text {
        return Some(message!("by {}", to));
    }
    // A unit that both have stands once, behind them.
    Some(match from.text.strip_suffix(" %") {
        Some(digits) if to.text.ends_with(" %") && !from.text.starts_with('<') => {
            let from = shown_share(digits.to_owned(), Share(least / base));
            message!("by {}–{}", from, to)
        }
        _ => message!("by {} to {}", from, to),
    })
}

/// Returns a confidence, such as `90 %` or `96.8 %`.
pub(crate) fn confidence(share: f64) -> Message {
    let text = format!("{:.1}", share * 100.0);
    let text = format!("{} %", text.strip_suffix(".0").unwrap_or(&text));
    shown_share(text, Share(share))
}

/// Returns the first items of a list, and the number of the others: `a, b, c and 2 more`.
pub fn first_few(items: Vec<Message>, most: usize) -> Message {
    let more = items.len().saturating_sub(most);
    let more = (more > 0).then(|| message!(" and {} more", ungrouped(more as u64)));
    message!(
        "{}{}",
        Message::joined(items.into_iter().take(most), ", "),
        more
    )
}

/// Returns the numbers of runs of both sides.
pub(crate) fn runs(base: usize, new: usize) -> Message {
    if base == new {
        message!("{} per side", counted(new as u64, "run"))
    } else {
        message!(
            "{} of base and {} of new",
            counted(base as u64, "run"),
            counted(new as u64, "run")
        )
    }
}

/// Describes how the changes were judged.
pub(crate) fn method(sure: Option<f64>, base: usize, new: usize) -> Message {
    let runs = runs(base, new);
    match sure {
        None if base.min(new) > 1 => message!(
            "{}, some of them the same run: the figures alone decide, because the noise between \
             runs is unknown",
            runs
        ),
        None => message!(
            "{}: the figures alone decide, because the noise between runs is unknown; record three \
             or more per side (--base A B C --new D E F)",
            runs
        ),
        Some(sure) => message!(
            "{}: base is the median of its runs, a change is the median of all differences between \
             the sides (Hodges–Lehmann), and new is base plus the change; the interval of a change \
             has {} confidence",
            runs,
            confidence(sure)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_the_half_of_their_interval_or_both_ends() {
        let check = |middle: f64, ends: (f64, f64), expected: &str| {
            assert_eq!(
                factors(middle, ends.0, ends.1).text,
                expected,
                "{middle} {ends:?}"
            );
        };
        check(1.33, (1.31, 1.35), "1.33 ± 0.02");
        check(1.33, (1.312, 1.35), "1.33 ± 0.02");
        check(1.017, (1.0164, 1.0176), "1.017 ± 0.001");
        check(12.4, (12.0, 12.9), "12.4 ± 0.5");
        check(130.0, (120.0, 140.0), "130 ± 10");
        // Without an interval.
        check(4.0, (4.0, 4.0), "4.00");
        check(1.05, (1.05, 1.05), "1.050");
        check(12.9, (12.9, 12.9), "12.9");
        // Uneven, or with a half that reaches 1.
        check(2.5, (1.67, 5.0), "1.7 to 5.0");
        check(1.03, (1.01, 1.079), "1.01 to 1.08");
    }
}
