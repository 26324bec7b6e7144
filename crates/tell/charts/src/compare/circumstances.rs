//! Describes whether two recordings were made under the same circumstances.

use metalens_comparison::Comparability;
use metalens_message::Message;
use metalens_text::units::counted;

/// Number of differences that are listed.
const NAMED: usize = 6;

/// Returns warnings that a reader needs before the numbers, one line each.
pub(super) fn warnings(circumstances: &Comparability) -> Vec<String> {
    let differ = circumstances.differ.iter().take(NAMED);
    let mut lines: Vec<String> = differ.map(|one| format!("DIFFERENT: {one}")).collect();
    if let more @ 1.. = circumstances.differ.len().saturating_sub(NAMED) {
        let more = counted(more as u64, "other circumstance");
        lines.push(format!("DIFFERENT: {more}"));
    }
    lines
}

/// Returns the equal and unknown circumstances, and notes.
pub(super) fn small_print(circumstances: &Comparability) -> Vec<String> {
    let lists = [
        (
            "The same in both",
            Message::joined(&circumstances.same, " · ").text,
        ),
        ("Not recorded", circumstances.unknown.join(", ")),
        ("Note", Message::joined(&circumstances.notes, "; ").text),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    lists
        .map(|(title, list)| format!("{title}: {list}."))
        .collect()
}
