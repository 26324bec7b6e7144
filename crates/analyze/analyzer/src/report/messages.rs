//! Types of a report's notes, and an iterator over all its sentences.

use std::iter::{once, zip};

use serde::{Deserialize, Serialize};

use super::Report;
use crate::basics::message::{Message, MessageMut, PlacedValue};

/// Note that a reader needs to interpret the numbers. A report keeps the text in `notes` and
/// the rest in `note_details`.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Text of the note, one sentence or more.
    pub text: String,
    /// Id, severity and values of the note.
    pub detail: NoteDetail,
}

/// Id, severity and values of a note.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NoteDetail {
    /// Stable id of the note: `synthetic`, `truncated`, `encodings-lost`, …; empty if an earlier
    /// version of metalens wrote the note.
    pub id: String,
    /// Severity of the note; `loud` if an earlier version of metalens wrote it.
    pub severity: NoteSeverity,
    /// Values of the note, in the order in which they appear in it.
    pub values: Vec<PlacedValue>,
}

/// Severity of a note.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NoteSeverity {
    /// The note changes the meaning of every number, and must be shown wherever numbers are.
    #[default]
    Loud,
    /// The note is useful, and may be left out.
    Quiet,
}

impl Note {
    /// Returns a note that is useful, and may be left out.
    #[must_use]
    pub fn quiet(id: &str, message: impl Into<Message>) -> Self {
        Self::new(id, NoteSeverity::Quiet, message.into())
    }

    /// Returns a note that changes the meaning of every number.
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

    /// Returns the sentence with its values.
    #[must_use]
    pub fn message(&self) -> Message {
        Message::new(&self.text, &self.detail.values)
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

    /// Borrows text and values, so that both can be changed together.
    pub fn lend(&mut self) -> MessageMut<'_> {
        MessageMut {
            text: &mut self.text,
            values: &mut self.detail.values,
        }
    }

    /// Returns whether the note changes the meaning of every number.
    #[must_use]
    pub fn is_loud(&self) -> bool {
        self.detail.severity == NoteSeverity::Loud
    }
}

/// Borrows the notes of two lists for a change, after making the lists equally long.
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
    /// Adds a note at the end of the notes.
    pub fn add_note(&mut self, note: Note) {
        self.note_details
            .resize_with(self.notes.len(), NoteDetail::default);
        self.notes.push(note.text);
        self.note_details.push(note.detail);
    }

    /// Returns the notes that change the meaning of every number.
    pub fn loud_notes(&self) -> impl Iterator<Item = Note> + Clone + use<'_> {
        Note::joined(&self.notes, &self.note_details).filter(Note::is_loud)
    }

    /// Returns the notes that are useful, and may be left out.
    pub fn quiet_notes(&self) -> impl Iterator<Item = Note> + Clone + use<'_> {
        Note::joined(&self.notes, &self.note_details).filter(|note| !note.is_loud())
    }

    /// Returns whether sentences come with their values. Reports of earlier versions of metalens
    /// have none; all others have a process and numbers in the first sentence.
    #[must_use]
    pub fn has_values(&self) -> bool {
        !self.summary.busy_values.is_empty()
    }

    /// Borrows every sentence that may contain names or numbers, for a change.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = MessageMut<'_>> {
        let summary = &mut self.summary;
        let summary_pairs = [
            (&mut summary.busy, &mut summary.busy_values),
            (&mut summary.idle, &mut summary.idle_values),
            (&mut summary.advice, &mut summary.advice_values),
            (&mut self.verdict.why, &mut self.verdict.why_values),
        ];
        let cause = summary.cause.iter_mut();
        let cause = cause.zip(once(&mut summary.cause_values));

        let evidence_and_places = self.findings.iter_mut().flat_map(|finding| {
            let (places, values) = (&mut finding.look_at, &mut finding.look_at_values);
            values.resize_with(places.len(), Vec::new);
            once((&mut finding.evidence, &mut finding.evidence_values)).chain(zip(places, values))
        });

        let cuts = self.window.excluded.iter_mut();
        let cuts = cuts.map(|cut| (&mut cut.why, &mut cut.why_values));
        let thresholds = self.thresholds.iter_mut();
        let thresholds = thresholds.map(|result| (&mut result.why, &mut result.why_values));
        let warm_up = self.phases.warm_up.iter_mut();
        let warm_up = warm_up.map(|found| (&mut found.explanation, &mut found.explanation_values));
        let checks = self.sanity.checks.iter_mut();
        let checks = checks.map(|check| (&mut check.text, &mut check.text_values));
        let not_recorded = self.not_recorded.iter_mut();
        let not_recorded = not_recorded.map(|part| (&mut part.why, &mut part.why_values));

        let work = self.work.iter_mut().flat_map(|work| {
            let timings = work.timings.iter_mut();
            let timings = timings.map(|check| MessageMut {
                text: &mut check.why,
                values: &mut check.why_values,
            });
            notes_mut(&mut work.notes, &mut work.note_details).chain(timings)
        });

        let pairs = (summary_pairs.into_iter().chain(cause)).chain(evidence_and_places);
        let pairs = pairs.chain(cuts).chain(thresholds).chain(warm_up);
        let pairs = pairs.chain(checks).chain(not_recorded);
        let messages = pairs.map(|(text, values)| MessageMut { text, values });
        let notes = notes_mut(&mut self.notes, &mut self.note_details);
        messages.chain(work).chain(notes)
    }
}
