//! A rule over a report.

use super::evidence::Evidence;
use crate::report::{Finding, Report, Severity};

/// A rule.
pub(crate) struct Rule {
    /// Its name, stable: settings and gates name it.
    pub id: &'static str,
    /// How much it matters at most: less, if little of the window is at stake.
    pub severity: Severity,
    /// One sentence; what fired.
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
        Finding {
            id: self.id.to_owned(),
            severity: evidence.severity(self.severity, report.window.span_ns),
            title: self.title.to_owned(),
            gain: evidence.gain(report.window.span_ns),
            evidence: evidence.text,
            look_at: evidence.look_at,
            advice: self.advice.to_owned(),
            disproved_by: self.disproved_by.to_owned(),
        }
    }
}
