//! Type of a rule that reads a report.

use super::evidence::Evidence;
use crate::basics::message::Message;
use crate::basics::units::capital;
use crate::report::{Finding, Report, Severity};

/// A rule that turns numbers of a report into a finding.
pub(crate) struct Rule {
    /// Stable name: settings and gates refer to it.
    pub id: &'static str,
    /// Highest severity: a finding gets a lower one if little of the window is at stake.
    pub severity: Severity,
    /// Statement of what is wrong, as a clause without a capital.
    pub title: &'static str,
    /// Returns the evidence if the rule fires.
    pub condition: fn(&Report) -> Option<Evidence>,
    /// First step to take, as an imperative clause without a capital.
    pub action: &'static str,
    /// Advice on what to do, in full sentences.
    pub advice: &'static str,
    /// Observation that would disprove the finding.
    pub counter_evidence: &'static str,
}

impl Rule {
    /// Returns the finding of this rule.
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
            action: self.action.to_owned(),
            advice: self.advice.to_owned(),
            counter_evidence: self.counter_evidence.to_owned(),
        }
    }
}
