//! Counts findings over many reports.

use std::cmp::Reverse;

use metalens_analyzer::{Effort, Finding, Severity};
use metalens_message::Ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A finding, and the number of reports that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingTotal {
    /// Id of the rule that found it.
    pub id: String,
    /// Highest severity that the finding has in any recording.
    pub severity: Severity,
    /// Title of the finding, in one sentence.
    pub title: String,
    /// Effort of the first step. Null if the reports do not have it.
    pub effort: Effort,
    /// Number of reports with the finding.
    pub reports: u64,
    /// Upper bound of the time that the advice can save: the largest of the reports. Null if no
    /// report has one.
    pub saves_ns: Option<Ns>,
}

/// A finding without its sentences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowFinding {
    /// Id of the rule that found it.
    pub id: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// Title of the finding, in one sentence.
    pub title: String,
    /// Effort of the first step.
    pub effort: Effort,
    /// Upper bound of the time that the advice can save, in nanoseconds. Null if it is unknown.
    pub saves_ns: Option<Ns>,
}

impl From<&Finding> for RowFinding {
    fn from(finding: &Finding) -> Self {
        Self {
            id: finding.id.clone(),
            severity: finding.severity,
            title: finding.title.clone(),
            effort: finding.effort,
            saves_ns: finding.gain.map(|gain| gain.saves_ns),
        }
    }
}

/// Counts findings over reports, each given by its findings: the most severe first, then those of
/// most reports.
pub fn total_findings<'a>(
    reports: impl IntoIterator<Item = &'a [RowFinding]>,
) -> Vec<FindingTotal> {
    let mut totals: Vec<FindingTotal> = Vec::new();
    for finding in reports.into_iter().flatten() {
        match totals.iter_mut().find(|total| total.id == finding.id) {
            Some(total) => {
                total.severity = total.severity.min(finding.severity);
                total.reports += 1;
                total.saves_ns = total.saves_ns.max(finding.saves_ns);
            }
            None => totals.push(FindingTotal {
                id: finding.id.clone(),
                severity: finding.severity,
                title: finding.title.clone(),
                effort: finding.effort,
                reports: 1,
                saves_ns: finding.saves_ns,
            }),
        }
    }
    totals.sort_by_key(|total| (total.severity, Reverse((total.reports, total.saves_ns))));
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_once_for_each_report() {
        let finding = |id: &str, severity: Severity, saves_ns: Option<Ns>| RowFinding {
            id: id.to_owned(),
            severity,
            title: id.to_owned(),
            effort: Effort::SmallChange,
            saves_ns,
        };
        let one = [
            finding("serialized", Severity::Medium, Some(Ns(5))),
            finding("unlabeled", Severity::Low, None),
        ];
        let other = [
            finding("contention", Severity::High, None),
            finding("serialized", Severity::High, Some(Ns(3))),
        ];
        let totals = total_findings([&one[..], &other[..], &[]]);
        let shown = totals.iter().map(|total| {
            format!(
                "{} {:?} {} {:?}",
                total.id,
                total.severity,
                total.reports,
                total.saves_ns.map(|ns| ns.0)
            )
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "serialized High 2 Some(5)",
                "contention High 1 None",
                "unlabeled Low 1 None"
            ]
        );
    }
}
