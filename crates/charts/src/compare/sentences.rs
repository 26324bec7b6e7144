//! Describes a comparison in the sentences of a picture.

use metalens_analyzer::Report;
use metalens_analyzer::units::{count, counted, percent};
use metalens_comparison::Comparison;

/// Returns the change of the wall time, with the name of the program if it is the same.
pub(crate) fn headline(
    comparison: &Comparison,
    base: &Report,
    new: &Report,
    shown: impl Fn(&str) -> String,
) -> String {
    let verdict = comparison.verdict().text;
    if base.process.name == new.process.name {
        format!("{}: {verdict}", shown(&new.process.name))
    } else {
        verdict
    }
}

/// Tells how many runs the figures are from, and which of them are drawn.
pub(crate) fn runs(comparison: &Comparison) -> String {
    let (base, new) = (comparison.base.runs.len(), comparison.new.runs.len());
    if base <= 1 && new <= 1 {
        return "One run each: noise between runs is unknown".to_owned();
    }
    format!(
        "{} against {}: the figures are of all of them, the drawing is of the run with the median \
         length of each side",
        base,
        counted(new as u64, "run"),
    )
}

/// Formats a difference with its sign.
pub(crate) fn signed(before: u64, now: u64, format: impl Fn(u64) -> String) -> String {
    match now.cmp(&before) {
        std::cmp::Ordering::Less => format!("−{}", format(before - now)),
        std::cmp::Ordering::Equal => "±0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", format(now - before)),
    }
}

/// Formats a relative change, such as `−39.2 %` or `×12.4`. A change from 0 has no share.
pub(crate) fn relative(before: u64, now: u64) -> String {
    match times(now, before) {
        _ if now == before => "same".to_owned(),
        None => "from 0".to_owned(),
        Some(is) if is < 1.0 => format!("−{}", percent(1.0 - is)),
        Some(is) if is < 3.0 => format!("+{}", percent(is - 1.0)),
        Some(is) => format!("×{}", digits(is)),
    }
}

/// Formats a factor, such as `2.46`, `12.3` or `1,234`.
fn digits(times: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded, and not negative"
    )]
    match times {
        _ if times < 9.995 => format!("{times:.2}"),
        _ if times < 99.95 => format!("{times:.1}"),
        _ => count(times.round() as u64),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are shown")]
fn times(now: u64, before: u64) -> Option<f64> {
    (before > 0).then(|| now as f64 / before as f64)
}

/// Returns the loud notes of both, which change the meaning of every number, each with the sides
/// that it applies to.
pub(crate) fn loud(base: &Report, new: &Report) -> Vec<String> {
    let loud = |report: &Report| -> Vec<String> {
        let notes = report.loud_notes();
        notes.map(|note| note.text).collect()
    };
    let (before, now) = (loud(base), loud(new));
    let first = before.iter().map(|note| {
        let sides = if now.contains(note) {
            "base and new"
        } else {
            "base"
        };
        format!("{sides}: {note}")
    });
    let rest = now.iter().filter(|note| !before.contains(note));
    first
        .chain(rest.map(|note| format!("new: {note}")))
        .collect()
}
