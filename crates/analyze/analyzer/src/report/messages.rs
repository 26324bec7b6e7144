//! Types of a report's notes, and an iterator over all its sentences.

use metalens_message::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GateResult, Report};

/// Note that a reader needs to interpret the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Stable id of the note: `synthetic`, `truncated`, `encodings-lost`, …
    pub id: String,
    /// Severity of the note.
    pub severity: NoteSeverity,
    /// The note, one sentence or more.
    #[serde(flatten)]
    pub message: Message,
}

/// Severity of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoteSeverity {
    /// The note changes the meaning of every number, and must be shown wherever numbers are.
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
        Self {
            id: id.to_owned(),
            severity,
            message,
        }
    }

    /// Returns the text of the note.
    pub fn text(&self) -> &str {
        &self.message.text
    }

    /// Returns whether the note changes the meaning of every number.
    pub fn is_loud(&self) -> bool {
        self.severity == NoteSeverity::Loud
    }
}

impl Report {
    /// Returns the notes that change the meaning of every number.
    pub fn loud_notes(&self) -> impl Iterator<Item = &Note> + Clone {
        self.notes.iter().filter(|note| note.is_loud())
    }

    /// Returns the notes that are useful, and may be left out.
    pub fn quiet_notes(&self) -> impl Iterator<Item = &Note> + Clone {
        self.notes.iter().filter(|note| !note.is_loud())
    }

    /// Borrows every sentence that may contain names or numbers, for a change.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        let summary = &mut self.summary;
        let lead = [
            &mut summary.busy,
            &mut summary.idle,
            &mut summary.advice,
            &mut self.verdict.why,
        ];
        let findings = self.findings.iter_mut().flat_map(|finding| {
            let evidence = std::iter::once(&mut finding.evidence);
            evidence.chain(&mut finding.look_at)
        });
        let excluded = self.window.excluded.iter_mut().map(|cut| &mut cut.why);
        let gate = self.gate.iter_mut().flat_map(GateResult::messages_mut);
        let checks = self.sanity.checks.iter_mut().map(|check| &mut check.text);
        let not_recorded = self.not_recorded.iter_mut().map(|part| &mut part.why);
        let work = self.work.iter_mut().flat_map(|work| &mut work.notes);
        let work = work.map(|note| &mut note.message);
        let notes = self.notes.iter_mut().map(|note| &mut note.message);

        let of_steps = summary.steps.iter_mut().chain(&mut summary.slow);
        (lead.into_iter().chain(&mut summary.cause))
            .chain(of_steps)
            .chain(findings)
            .chain(excluded)
            .chain(gate)
            .chain(checks)
            .chain(not_recorded)
            .chain(work)
            .chain(notes)
    }
}
