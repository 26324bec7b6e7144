//! Builds the remarks on a comparison, and the circumstances of both sides.

use metalens_analyzer::{Message, Note, PlacedValue};
use metalens_comparison::Comparison;

use super::cells::paths;
use crate::document::{Block, Fact, Section};
use crate::wording::plain;

/// Returns the remarks that a reader should know beside the headline.
pub(super) fn remarks(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(fusion) = &comparison.fusion {
        blocks.push(Block::Lead(Message::new(&fusion.says, &fusion.says_values)));
        let evidence = fusion.evidence.iter().enumerate();
        let evidence = evidence.map(|(at, text)| {
            let values = fusion.evidence_values.get(at);
            Message::new(text, values.map_or(&[], Vec::as_slice))
        });
        blocks.extend(Block::list(evidence));
    }
    let notes = Note::joined(&comparison.notes, &comparison.note_details);
    let notes = notes.map(|note| Block::Warning(note.message()));
    blocks.extend(notes);
    let method = &comparison.method;
    blocks.push(Block::Remark(Message::new(
        &method.says,
        &method.says_values,
    )));
    blocks
}

/// Returns the section with the compared runs and their circumstances, equal or not.
pub(super) fn comparable(comparison: &Comparison) -> Section {
    let comparable = &comparison.comparable;
    let mut facts = vec![
        Fact::new("base", paths(&comparison.base)),
        Fact::new("new", paths(&comparison.new)),
    ];
    for difference in &comparable.differ {
        facts.push(Fact::new("DIFFERENT", plain(difference.to_string())));
    }
    if !comparable.same.is_empty() {
        let same = joined(&comparable.same, &comparable.same_values, " · ");
        facts.push(Fact::new("same", same));
    }
    if !comparable.unknown.is_empty() {
        facts.push(Fact::new(
            "not recorded",
            plain(comparable.unknown.join(", ")),
        ));
    }

    for (at, note) in comparable.notes.iter().enumerate() {
        let values = comparable.note_values.get(at);
        let note = Message::new(note, values.map_or(&[], Vec::as_slice));
        facts.push(Fact::new("note", note));
    }
    let title = if comparable.comparable {
        "Recorded under the same conditions, as far as known"
    } else {
        "Recorded under DIFFERENT conditions"
    };

    Section::new("comparable", title, 6)
        .folded()
        .with(Block::Facts(facts))
}

fn joined(texts: &[String], values: &[Vec<PlacedValue>], between: &str) -> Message {
    let texts = texts.iter().enumerate();
    let messages = texts.map(|(at, text)| {
        let values = values.get(at);
        Message::new(text, values.map_or(&[], Vec::as_slice))
    });
    Message::joined(messages, between)
}
