//! Formats values and changes for tables.

use metalens_text::units::{bytes, count, percent, time};

use crate::change::{Change, ChangeClass, ChangeSize, Direction};
use crate::unit::Unit;
use metalens_message::Number;
use metalens_text::number::{rounded, whole};

/// Words for single runs that differ by less than the floor.
pub(crate) const NO_DIFFERENCE: &str = "no difference that counts";
/// Words for several runs that do not differ by more than noise.
pub(crate) const NO_CHANGE: &str = "no significant change";

/// Formats a value, such as `179.1 µs`, `1,000` or `3.4 %`.
pub(crate) fn value(value: Number, unit: Unit) -> String {
    let size = magnitude(value.get().abs(), unit);
    if value.get() < 0.0 {
        format!("−{size}")
    } else {
        size
    }
}

/// Formats a difference, such as `+1.2 ms`, `−750`, `+3.4 pts` or `±0`.
pub(crate) fn difference(change: Number, unit: Unit) -> String {
    let size = change.get().abs();
    let text = match unit {
        Unit::Ratio if size < 0.000_5 => "<0.1 pts".to_owned(),
        Unit::Ratio => format!("{:.1} pts", size * 100.0),
        _ => magnitude(size, unit),
    };
    if size == 0.0 {
        "±0".to_owned()
    } else if change.get() < 0.0 {
        format!("−{text}")
    } else {
        format!("+{text}")
    }
}

/// Formats a value without its sign.
fn magnitude(size: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns => time(rounded(size)),
        // The median of two counts may end in one half.
        Unit::Count if size.fract() != 0.0 => format!("{size:.1}"),
        Unit::Count => count(whole(size)),
        Unit::Bytes => bytes(rounded(size)),
        Unit::Ratio => percent(size),
    }
}

/// Formats a relative change, such as `−39.2 %` or `×12.4`.
pub(crate) fn share(change: &Change) -> String {
    match (change.absolute, change.relative) {
        (Some(by), _) if by.get() == 0.0 => "same".to_owned(),
        (Some(_), Some(share)) => relative(share),
        (Some(_), None) => "from 0".to_owned(),
        (None, _) => "–".to_owned(),
    }
}

/// Formats a share as a change, such as `−39.2 %`, `+5.0 %` or `×12.4`.
pub(crate) fn relative(share: f64) -> String {
    match share {
        _ if share == 0.0 => "±0 %".to_owned(),
        _ if share < 0.0 => format!("−{}", percent(-share)),
        // Half as much again is a share; a percentage near 100 % is said as one of a whole.
        _ if share < 0.95 => format!("+{}", percent(share)),
        _ if share < 98.95 => format!("×{:.1}", share + 1.0),
        _ => format!("×{:.0}", share + 1.0),
    }
}

/// Names the class of a change with its size: `regressed`, `regressed, small`. A change without a
/// better direction increased or decreased. Without an interval (`is_sure` is false), noise is
/// unknown, so the value of new is only higher or lower.
pub fn class(
    class: ChangeClass,
    size: Option<ChangeSize>,
    direction: Option<Direction>,
    is_sure: bool,
) -> &'static str {
    match (class, is_sure) {
        (ChangeClass::Grown, false) => return "higher",
        (ChangeClass::Shrunk, false) => return "lower",
        (ChangeClass::Unchanged, false) => return NO_DIFFERENCE,
        _ => {}
    }
    match (plain_class(class, direction), size) {
        ("regressed", Some(ChangeSize::Small)) => "regressed, small",
        ("regressed", Some(ChangeSize::Borderline)) => "regressed, borderline",
        ("improved", Some(ChangeSize::Small)) => "improved, small",
        ("improved", Some(ChangeSize::Borderline)) => "improved, borderline",
        ("increased", Some(ChangeSize::Small)) => "increased, small",
        ("increased", Some(ChangeSize::Borderline)) => "increased, borderline",
        ("decreased", Some(ChangeSize::Small)) => "decreased, small",
        ("decreased", Some(ChangeSize::Borderline)) => "decreased, borderline",
        (plain, _) => plain,
    }
}

/// Names the class of a change without its size.
fn plain_class(class: ChangeClass, direction: Option<Direction>) -> &'static str {
    match (class, direction) {
        (ChangeClass::Added, _) => "added",
        (ChangeClass::Removed, _) => "removed",
        (ChangeClass::Grown | ChangeClass::Shrunk, Some(Direction::Worse)) => "regressed",
        (ChangeClass::Grown | ChangeClass::Shrunk, Some(Direction::Better)) => "improved",
        (ChangeClass::Grown, None) => "increased",
        (ChangeClass::Shrunk, None) => "decreased",
        (ChangeClass::Unchanged, _) => NO_CHANGE,
        (ChangeClass::Unstable, _) => "inconclusive",
        (ChangeClass::Unknown, _) => "not recorded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a change beyond noise has regressed or improved.
    #[test]
    fn single_runs_are_higher_or_lower() {
        use ChangeClass::{Added, Grown, Shrunk, Unchanged, Unknown};
        use ChangeSize::{Large, Small};
        use Direction::{Better, Worse};
        type Case = (
            ChangeClass,
            ChangeSize,
            Option<Direction>,
            [&'static str; 2],
        );
        let cases: [Case; 7] = [
            (Grown, Large, Some(Worse), ["regressed", "higher"]),
            (Shrunk, Large, Some(Better), ["improved", "lower"]),
            (Grown, Large, None, ["increased", "higher"]),
            (Shrunk, Small, None, ["decreased, small", "lower"]),
            (
                Unchanged,
                Large,
                None,
                ["no significant change", "no difference that counts"],
            ),
            (Added, Large, None, ["added", "added"]),
            (Unknown, Large, None, ["not recorded", "not recorded"]),
        ];
        for (kind, size, direction, expected) in cases {
            let size = matches!(kind, Grown | Shrunk).then_some(size);
            let found = [true, false].map(|is_sure| class(kind, size, direction, is_sure));
            assert_eq!(found, expected, "{kind:?}");
        }
    }
}
