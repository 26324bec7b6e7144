//! Builds the sections on notes, and on things that were not recorded.

use metalens_analyzer::Report;
use metalens_message::{count, message};

use crate::document::{Block, Fact, Section};

/// Returns the quiet notes, and the checks that fail; `None` if there are none.
pub(super) fn notes(report: &Report) -> Option<Section> {
    let notes = report.quiet_notes();
    let notes = notes.map(|note| note.message.clone());
    let failed = report.sanity.checks.iter().filter(|check| !check.ok);
    let failed = failed.map(|check| check.text.clone());
    let section = Section::new("notes", "Notes", 8);
    Block::list(notes.chain(failed)).map(|list| section.with(list))
}

/// Returns the things that were not recorded, with reasons; `None` if everything was.
pub(super) fn not_recorded(report: &Report) -> Option<Section> {
    let missing = report.not_recorded.iter();
    let missing = missing.map(|part| Fact::new(&part.what, part.why.clone()));
    let missing: Vec<Fact> = missing.collect();
    if missing.is_empty() {
        return None;
    }
    let title = message!("Not recorded ({})", count(missing.len() as u64));
    let section = Section::new("not-recorded", title, 9).folded();
    Some(section.with(Block::Missing(missing)))
}
