//! Changes as people read them in tables.

use metalens_analyzer::units::{count, percent, time};

use crate::change::Change;
use crate::number::Number;
use crate::unit::Unit;

/// `179.1 µs`, `1,000`, `3.4 %`.
pub(crate) fn value(value: Number, unit: Unit) -> String {
    let size = magnitude(value.get().abs(), unit);
    match value.get() < 0.0 {
        true => format!("−{size}"),
        false => size,
    }
}

/// `+1.2 ms`, `−750`, `+3.4 pts`, `±0`.
pub(crate) fn difference(change: Number, unit: Unit) -> String {
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
pub(crate) fn share(change: &Change) -> String {
    match (change.absolute, change.relative) {
        (Some(by), _) if by.get() == 0.0 => "same".to_owned(),
        (Some(_), Some(share)) => relative(share),
        (Some(_), None) => "from 0".to_owned(),
        (None, _) => "–".to_owned(),
    }
}

/// `−39.2 %`, `+5.0 %`, `×12.4`.
pub(crate) fn relative(share: f64) -> String {
    match share {
        _ if share == 0.0 => "±0 %".to_owned(),
        _ if share < 0.0 => format!("−{}", percent(-share)),
        _ if share < 2.0 => format!("+{}", percent(share)),
        _ if share < 98.95 => format!("×{:.1}", share + 1.0),
        _ => format!("×{:.0}", share + 1.0),
    }
}
