//! The sentences of a report: its notes, and a walk over all of them.

use std::iter::{once, zip};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;
use crate::basics::message::{Message, MessageMut, PlacedValue};

/// Something that a reader should know about the numbers. A report keeps the text in
/// `notes` and the rest in `note_details`.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// The sentence.
    pub text: String,
    /// All else that is known of it.
    pub detail: NoteDetail,
}

/// Id, severity and values of a note.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoteDetail {
    /// Stable name of the note's subject: `synthetic`, `truncated`, `encodings-lost`, …; empty
    /// if an earlier version of metalens wrote the note.
    pub id: String,
    /// Severity of the note.
    pub severity: NoteSeverity,
    /// Values of the note, in the order in which they stand in it.
    pub values: Vec<PlacedValue>,
}

/// How much a note matters.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoteSeverity {
    /// The note changes the meaning of every number: whoever shows numbers must show it.
    #[default]
    Loud,
    /// The note is worth knowing.
    Quiet,
}

impl Note {
    /// Makes a note that is worth knowing.
    #[must_use]
    pub fn quiet(id: &str, message: impl Into<Message>) -> Self {
        Self::new(id, NoteSeverity::Quiet, message.into())
    }

    /// Makes a note that changes the meaning of every number.
    #[must_use]
    pub fn loud(id: &str, message: impl Into<Message>) -> Self {
        Self::new(id, NoteSeverity::Loud, message.into())
    }

    fn new(id: &str, severity: NoteSeverity, message: Message) -> Self {
        let (text, values) = message.into_parts();
        let detail = NoteDetail {
            id: id.to_owned(),
            severity,
            values,
        };
        Self { text, detail }
    }

    /// Splits notes into the two lists that a report keeps.
    #[must_use]
    pub fn lists(notes: impl IntoIterator<Item = Self>) -> (Vec<String>, Vec<NoteDetail>) {
        let notes = notes.into_iter();
        notes.map(|note| (note.text, note.detail)).unzip()
    }

    /// Joins the two lists that a report keeps. A note of an earlier version of metalens has no
    /// details, and counts as loud.
    pub fn joined<'a>(
        texts: &'a [String],
        details: &'a [NoteDetail],
    ) -> impl Iterator<Item = Self> + Clone + use<'a> {
        let details = details.iter().cloned();
        let details = details.chain(std::iter::repeat(NoteDetail::default()));
        zip(texts, details).map(|(text, detail)| Self {
            text: text.clone(),
            detail,
        })
    }

    /// Lends text and values for a change of both.
    pub fn lend(&mut self) -> MessageMut<'_> {
        MessageMut {
            text: &mut self.text,
            values: &mut self.detail.values,
        }
    }

    /// Whether the note changes the meaning of every number.
    #[must_use]
    pub fn is_loud(&self) -> bool {
        self.detail.severity == NoteSeverity::Loud
    }
}

/// Lends the notes of two lists, and makes the lists equally long before.
pub fn notes_mut<'a>(
    texts: &'a mut [String],
    details: &'a mut Vec<NoteDetail>,
) -> impl Iterator<Item = MessageMut<'a>> {
    details.resize_with(texts.len(), NoteDetail::default);
    let pairs = zip(texts, details);
    pairs.map(|(text, detail)| MessageMut {
        text,
        values: &mut detail.values,
    })
}

impl Report {
    /// Adds a note at the end.
    pub fn add_note(&mut self, note: Note) {
        self.note_details
            .resize_with(self.notes.len(), NoteDetail::default);
        self.notes.push(note.text);
        self.note_details.push(note.detail);
    }

    /// The notes that change the meaning of every number.
    pub fn loud_notes(&self) -> impl Iterator<Item = Note> + Clone + use<'_> {
        Note::joined(&self.notes, &self.note_details).filter(Note::is_loud)
    }

    /// The notes that are worth knowing.
    pub fn quiet_notes(&self) -> impl Iterator<Item = Note> + Clone + use<'_> {
        Note::joined(&self.notes, &self.note_details).filter(|note| !note.is_loud())
    }

    /// Whether sentences come with their values. Reports of earlier versions of metalens have
    /// none; every other names its target and some numbers in the first sentence.
    #[must_use]
    pub fn has_values(&self) -> bool {
        !self.summary.busy_values.is_empty()
    }

    /// Lends every sentence in which names or numbers may stand, for a change.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = MessageMut<'_>> {
        let summary = &mut self.summary;
        let said = [
            (&mut summary.busy, &mut summary.busy_values),
            (&mut summary.idle, &mut summary.idle_values),
            (&mut summary.advice, &mut summary.advice_values),
        ];
        let fault = summary.cause.iter_mut();
        let fault = fault.zip(once(&mut summary.cause_values));
        let evidence_and_places = self.findings.iter_mut().flat_map(|finding| {
            let (places, values) = (&mut finding.look_at, &mut finding.look_at_values);
            values.resize_with(places.len(), Vec::new);
            once((&mut finding.evidence, &mut finding.evidence_values)).chain(zip(places, values))
        });
        let cuts = self.window.excluded.iter_mut();
        let cuts = cuts.map(|cut| (&mut cut.why, &mut cut.why_values));
        let targets = self.thresholds.iter_mut();
        let targets = targets.map(|target| (&mut target.why, &mut target.why_values));
        let warm_up = self.phases.warm_up.iter_mut();
        let warm_up = warm_up.map(|found| (&mut found.explanation, &mut found.explanation_values));
        let checks = self.sanity.checks.iter_mut();
        let checks = checks.map(|check| (&mut check.text, &mut check.text_values));
        let unavailable = self.not_recorded.iter_mut();
        let unavailable = unavailable.map(|one| (&mut one.why, &mut one.why_values));
        let work = self.work.iter_mut().flat_map(|work| {
            let timings = work.timings.iter_mut();
            let timings = timings.map(|found| MessageMut {
                text: &mut found.why,
                values: &mut found.why_values,
            });
            notes_mut(&mut work.notes, &mut work.note_details).chain(timings)
        });
        let pairs = (said.into_iter().chain(fault)).chain(evidence_and_places);
        let pairs = pairs.chain(cuts).chain(targets).chain(warm_up);
        let pairs = pairs.chain(checks).chain(unavailable);
        let messages = pairs.map(|(text, values)| MessageMut { text, values });
        let notes = notes_mut(&mut self.notes, &mut self.note_details);
        messages.chain(work).chain(notes)
    }
}
