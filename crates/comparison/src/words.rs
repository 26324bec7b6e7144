//! Changes as people read them, in sentences and in tables.

use metalens_analyzer::units::{count, counted, percent, time};

use crate::change::{Change, Class};
use crate::number::Number;
use crate::unit::Unit;

/// `179.1 µs`, `1,000`, `3.4 %`.
#[must_use]
pub fn value(value: Number, unit: Unit) -> String {
    let size = magnitude(value.get().abs(), unit);
    match value.get() < 0.0 {
        true => format!("−{size}"),
        false => size,
    }
}

/// `+1.2 ms`, `−750`, `+3.4 pts`, `±0`.
#[must_use]
pub fn difference(change: Number, unit: Unit) -> String {
    let size = change.get().abs();
    let said = match unit {
        Unit::Ratio if size < 0.000_5 => "<0.1 pts".to_owned(),
        Unit::Ratio => format!("{:.1} pts", size * 100.0),
        _ => magnitude(size, unit),
    };
    match () {
        () if size == 0.0 => "±0".to_owned(),
        () if change.get() < 0.0 => format!("−{said}"),
        () => format!("+{said}"),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, not negative, and `as` saturates"
)]
fn magnitude(size: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns => time(size.round() as u64),
        // Between two counts lies a half.
        Unit::Count if size.fract() != 0.0 => format!("{size:.1}"),
        Unit::Count => count(size as u64),
        Unit::Ratio => percent(size),
    }
}

/// `−39.2 %`, `×12.4`; of nothing nothing can be said.
#[must_use]
pub fn share(change: &Change) -> String {
    match (change.absolute, change.relative) {
        (Some(by), _) if by.get() == 0.0 => "same".to_owned(),
        (Some(_), Some(share)) => relative(share),
        (Some(_), None) => "from 0".to_owned(),
        (None, _) => "–".to_owned(),
    }
}

/// `−39.2 %`, `+5.0 %`, `×12.4`.
#[must_use]
pub fn relative(share: f64) -> String {
    match share {
        _ if share == 0.0 => "±0 %".to_owned(),
        _ if share < 0.0 => format!("−{}", percent(-share)),
        _ if share < 2.0 => format!("+{}", percent(share)),
        _ if share < 98.95 => format!("×{:.1}", share + 1.0),
        _ => format!("×{:.0}", share + 1.0),
    }
}

/// `48.85 ms instead of 188.3 ms (−74.0 %)`.
#[must_use]
pub fn became(change: &Change, unit: Unit) -> Option<String> {
    let (was, now) = (
        value(change.base.median?, unit),
        value(change.new.median?, unit),
    );
    Some(match change.class {
        Class::Unchanged => match was == now {
            true => format!("unchanged, {now}"),
            false => format!("unchanged, {now} and {was} before"),
        },
        _ => format!("{now} instead of {was} ({})", share(change)),
    })
}

/// `between −75.1 % and −73.9 % with 90 % confidence`.
#[must_use]
pub fn sureness(change: &Change, unit: Unit) -> Option<String> {
    let interval = change.interval?;
    let ends = match change.base.median.map(Number::get) {
        Some(of) if of != 0.0 && unit != Unit::Ratio => {
            let end = |at: Number| relative(at.get() / of.abs());
            (end(interval.low), end(interval.high))
        }
        _ => (
            difference(interval.low, unit),
            difference(interval.high, unit),
        ),
    };
    let said = match ends.0 == ends.1 {
        true => ends.0,
        false => format!("between {} and {}", ends.0, ends.1),
    };
    Some(format!(
        "{said} with {} confidence",
        confidence(interval.confidence)
    ))
}

/// `90 %`, `96.8 %`.
#[must_use]
pub fn confidence(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// What a class is called.
#[must_use]
pub fn class(class: Class) -> &'static str {
    match class {
        Class::Added => "added",
        Class::Removed => "removed",
        Class::Grown => "grown",
        Class::Shrunk => "shrunk",
        Class::Unchanged => "unchanged",
        Class::Unstable => "unstable",
        Class::Unknown => "unknown",
    }
}

/// What the classes rest on.
pub(crate) fn method(sure: Option<f64>, base: usize, new: usize) -> String {
    let runs = match base == new {
        true => format!("{} a side", counted(new as u64, "run")),
        false => format!(
            "{} of base and {} of new",
            counted(base as u64, "run"),
            counted(new as u64, "run")
        ),
    };
    match sure {
        None if base.min(new) > 1 => format!(
            "{runs}, of which some are the same: the figures alone decide, and cannot tell a change \
             from noise"
        ),
        None => format!(
            "{runs}: the figures alone decide, and cannot tell a change from noise; three or more \
             a side can (--base A B C --new D E F)"
        ),
        Some(sure) => format!(
            "{runs}: changes are the median of all differences between the sides, and their \
             intervals hold with {} confidence",
            confidence(sure)
        ),
    }
}
