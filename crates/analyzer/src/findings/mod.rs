//! What the numbers mean: rules over a report, each with the numbers it rests
//! on, what to do, and what would show it wrong.
//!
//! A rule is data: it reads the report and nothing else, so that whoever has
//! the report can check it. Thresholds stand as constants beside their rules,
//! each with its reason.
//!
//! A new finding is a [`Rule`] in the list of the file that is about its subject.
//! Beside the rules: whether the targets were met ([`verdicts`]), what a reader should
//! know about the numbers ([`notes`]), and the report in four sentences ([`summary`]).

mod evidence;
mod idle;
mod machine;
pub(crate) mod notes;
mod pace;
mod rule;
pub(crate) mod summary;
mod trust;
pub(crate) mod verdicts;
mod work;

use self::rule::Rule;
use crate::error::{Error, Result};
use crate::report::{Finding, Report};

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

/// What a finding says, as a clause within a sentence.
pub(crate) fn clause(id: &str) -> &'static str {
    rules()
        .find(|rule| rule.id == id)
        .map_or("", |rule| rule.title)
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
