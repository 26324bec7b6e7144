//! How a picture says whether two recordings were made alike.

use metalens_analyzer::units::counted;
use metalens_comparison::Comparable;

/// So many differences are named.
const NAMED: usize = 6;

/// What a reader must know before the numbers, one line each.
pub(super) fn warnings(found: &Comparable) -> Vec<String> {
    let named = found.differ.iter().take(NAMED);
    let mut lines: Vec<String> = named.map(|one| format!("NOT ALIKE: {one}")).collect();
    if let more @ 1.. = found.differ.len().saturating_sub(NAMED) {
        let more = counted(more as u64, "other circumstance");
        lines.push(format!("NOT ALIKE: {more}"));
    }
    lines
}

/// What is no reason to doubt the numbers, and what nobody knows.
pub(super) fn small_print(found: &Comparable) -> Vec<String> {
    let said = [
        ("The same in both", found.same.join(" · ")),
        ("Not known to be the same", found.unknown.join(", ")),
        ("And", found.notes.join("; ")),
    ];
    let said = said.into_iter().filter(|(_, what)| !what.is_empty());
    said.map(|(how, what)| format!("{how}: {what}.")).collect()
}
