//! Describes a comparison in the sentences of a picture.

use metalens_analyzer::Report;
use metalens_comparison::Comparison;
use metalens_text::units::counted;

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

/// Returns the loud notes of both, which change the meaning of every number, each with the sides
/// that it applies to.
pub(crate) fn loud(base: &Report, new: &Report) -> Vec<String> {
    let loud = |report: &Report| -> Vec<String> {
        let notes = report.loud_notes();
        notes.map(|note| note.text().to_owned()).collect()
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
