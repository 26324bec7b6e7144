//! A rule over a report.

use super::evidence::Evidence;
use crate::basics::message::Message;
use crate::basics::units::capital;
use crate::report::{Finding, Report, Severity};

/// A rule.
pub(crate) struct Rule {
    /// Its name, stable: settings and gates name it.
    pub id: &'static str,
    /// How much it matters at most: less, if little of the window is at stake.
    pub severity: Severity,
    /// What fired: a clause, as it stands within a sentence.
    pub title: &'static str,
    /// Whether it fires, and on what evidence.
    pub condition: fn(&Report) -> Option<Evidence>,
    /// What to do about it.
    pub advice: &'static str,
    /// What would show that it is wrong.
    pub disproved_by: &'static str,
}

impl Rule {
    /// Returns what a report says of it.
    pub(super) fn finding(&self, evidence: Evidence, report: &Report) -> Finding {
        let severity = evidence.severity(self.severity, report.window.span_ns);
        let gain = evidence.gain(report.window.span_ns);
        let (text, values) = evidence.text.into_parts();
        let places = evidence.look_at.into_iter().map(Message::into_parts);
        let (look_at, look_at_values) = places.unzip();
        Finding {
            id: self.id.to_owned(),
            severity,
            title: capital(self.title),
            gain,
            evidence: text,
            evidence_values: values,
            look_at,
            look_at_values,
            advice: self.advice.to_owned(),
            disproved_by: self.disproved_by.to_owned(),
        }
    }
}
