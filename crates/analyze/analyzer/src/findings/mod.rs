//! Turns the numbers of a report into findings, notes and a summary.
//!
//! A rule is data. It reads the report and nothing else, so that everybody who has the report
//! can check it. Its limits are constants beside it, each with its reason.
//!
//! A new finding is a [`Rule`] in the list of the file that has its subject. Beside the rules
//! are the notes that a reader needs to interpret the numbers ([`notes`]), and the report in four
//! sentences ([`summary`]).

pub(crate) mod bound;
mod distrust;
mod evidence;
pub(crate) mod framework;
mod idle;
mod limits;
mod machine;
mod memory;
pub(crate) mod notes;
mod pace;
mod rule;
mod steps;
pub(crate) mod summary;
mod trust;
mod work;

use metalens_message::Ns;

pub(crate) use self::distrust::distrust_of;
pub use self::distrust::{distrust, doubt};
use self::rule::{Concern, Rule};
use crate::error::{Error, Result};
use crate::report::{Finding, Report};

/// Returns every rule, grouped by subject.
fn rules() -> impl Iterator<Item = &'static Rule> {
    let groups = [
        idle::RULES,
        work::RULES,
        limits::RULES,
        pace::RULES,
        machine::RULES,
        memory::RULES,
        trust::RULES,
    ];
    groups.into_iter().flatten()
}

/// Returns the ids of all findings, in the order of their rules.
pub fn ids() -> Vec<&'static str> {
    rules().map(|rule| rule.id).collect()
}

/// Returns the rule with this id.
fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// Rejects ids that no rule has: a typo must not silence a finding.
pub(crate) fn check(ignored: &[String]) -> Result<()> {
    let known = ids();
    let unknown = ignored.iter().find(|id| !known.contains(&id.as_str()));
    unknown.map_or(Ok(()), |id| {
        let known = known.join(", ");
        Err(Error::Setting(format!(
            "unknown finding {id}; expected one of {known}"
        )))
    })
}

/// Returns the findings of a report: by concern, severity and gain, then in the order of the rules.
/// A finding that another one contains is left out.
pub(crate) fn findings(report: &Report, ignored: &[String]) -> Vec<Finding> {
    let fired: Vec<_> = rules()
        .filter_map(|rule| Some((rule, (rule.condition)(report)?)))
        .collect();
    let ids: Vec<&str> = fired.iter().map(|(rule, _)| rule.id).collect();

    // Whoever hides a finding does not want to see its parts instead.
    let kept = fired.into_iter().filter(|(rule, _)| {
        let is_part = rule.within.iter().any(|id| ids.contains(id));
        !is_part && !ignored.iter().any(|id| id == rule.id)
    });
    let judged = kept.map(|(rule, evidence)| (rule.concern, rule.finding(evidence, report)));
    let mut findings: Vec<(Concern, Finding)> = judged.collect();
    findings.sort_by_key(|(concern, finding)| {
        let gain = finding.gain.map_or(Ns(0), |gain| gain.saves_ns);
        (*concern, finding.severity, std::cmp::Reverse(gain))
    });
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Returns the first finding that says that results or numbers may be wrong.
fn warning(findings: &[Finding]) -> Option<&'static Rule> {
    let first = rule(&findings.first()?.id)?;
    (first.concern != Concern::Speed).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_unique_ids_and_all_texts() {
        let mut ids = ids();
        assert!(ids.len() >= 25, "{ids:?}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), rules().count());
        for rule in rules() {
            assert!(rule.within.iter().all(|id| ids.contains(id)), "{}", rule.id);
            for text in [rule.title, rule.action, rule.advice, rule.counter_evidence] {
                assert!(text.len() > 20, "{}: {text:?}", rule.id);
                assert!(!text.contains("  "), "{}: {text:?}", rule.id);
            }
        }
    }

    #[test]
    fn the_docs_list_the_efforts() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/findings.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        for rule in rules() {
            let start = format!("\n* `{}` ({}): ", rule.id, rule.effort.label());
            assert!(docs.contains(&start), "docs/findings.md lacks {start}");
        }
    }
}
