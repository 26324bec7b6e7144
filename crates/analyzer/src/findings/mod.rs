//! What the numbers mean: rules over a report, each with the numbers it rests
//! on, what to do, and what would show it wrong.
//!
//! A rule is data: it reads the report and nothing else, so that whoever has
//! the report can check it. Thresholds stand as constants beside their rules,
//! each with its reason.

mod evidence;
mod idle;
mod machine;
mod pace;
mod trust;
mod work;

use crate::error::{Error, Result};
use crate::report::{Finding, Report, Severity};
pub(crate) use evidence::Evidence;

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

/// Every rule, by what it is about.
fn rules() -> impl Iterator<Item = &'static Rule> {
    let groups = [
        idle::RULES,
        work::RULES,
        pace::RULES,
        machine::RULES,
        trust::RULES,
    ];
    groups.into_iter().flatten()
}

/// The ids of all findings there are, in the order of their rules.
#[must_use]
pub fn ids() -> Vec<&'static str> {
    rules().map(|rule| rule.id).collect()
}

/// Refuses ids that no rule has: a typing error must not silence a finding.
pub(crate) fn check(ignored: &[String]) -> Result<()> {
    let known = ids();
    let unknown = ignored.iter().find(|id| !known.contains(&id.as_str()));
    unknown.map_or(Ok(()), |id| {
        Err(Error::Setting {
            what: format!("no finding is called {id}"),
            wanted: format!("one of {}", known.join(", ")),
        })
    })
}

/// What is found in a report: what matters most first, then what could gain
/// most, then in the order of the rules.
#[must_use]
pub(crate) fn findings(report: &Report, ignored: &[String]) -> Vec<Finding> {
    let wanted = rules().filter(|rule| !ignored.iter().any(|id| id == rule.id));
    let mut found: Vec<Finding> = wanted
        .filter_map(|rule| Some(rule.finding((rule.condition)(report)?, report)))
        .collect();
    found.sort_by_key(|finding| {
        let gain = finding.gain.map_or(0, |gain| gain.at_most_ns);
        (finding.severity, std::cmp::Reverse(gain))
    });
    found
}

impl Rule {
    fn finding(&self, evidence: Evidence, report: &Report) -> Finding {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_apart_and_say_everything() {
        let mut ids = ids();
        assert!(ids.len() >= 20, "{ids:?}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), rules().count());
        for rule in rules() {
            for text in [rule.title, rule.advice, rule.disproved_by] {
                assert!(text.len() > 20, "{}: {text:?}", rule.id);
                assert!(!text.contains("  "), "{}: {text:?}", rule.id);
            }
        }
    }
}
