//! Builds the remarks on a comparison, and the circumstances of both sides.

use metalens_analyzer::{Message, Note, PlacedValue};
use metalens_comparison::Comparison;

use super::cells::paths;
use crate::document::{Block, Fact, Section};
use crate::wording::plain;

/// The note that the headline of a first screen says, too.
const SAID: &str = "kernels-gone";

/// Returns the remarks that a reader should know beside the headline.
pub(super) fn remarks(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = fusion(comparison);
    let notes = Note::joined(&comparison.notes, &comparison.note_details);
    let notes = notes.map(|note| Block::Warning(note.message()));
    blocks.extend(notes);
    blocks.push(method(comparison));
    blocks
}

/// Returns how the changes were judged.
pub(super) fn method(comparison: &Comparison) -> Block {
    let method = &comparison.method;
    Block::Remark(Message::new(&method.says, &method.says_values))
}

/// Returns the notes that change the meaning of the numbers, and the number of the others.
pub(super) fn loud_notes(comparison: &Comparison) -> (Vec<Message>, usize) {
    let notes = Note::joined(&comparison.notes, &comparison.note_details);
    let (loud, others): (Vec<Note>, Vec<Note>) =
        notes.partition(|note| note.is_loud() && note.detail.id != SAID);
    (loud.iter().map(Note::message).collect(), others.len())
}

/// Returns the answer of the preset that asks whether kernels were fused, and its evidence.
pub(super) fn fusion(comparison: &Comparison) -> Vec<Block> {
    let Some(fusion) = &comparison.fusion else {
        return Vec::new();
    };
    let evidence = fusion.evidence.iter().enumerate();
    let evidence = evidence.map(|(at, text)| {
        let values = fusion.evidence_values.get(at);
        Message::new(text, values.map_or(&[], Vec::as_slice))
    });
    let answer = Block::Lead(Message::new(&fusion.says, &fusion.says_values));
    [Some(answer), Block::list(evidence)]
        .into_iter()
        .flatten()
        .collect()
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
