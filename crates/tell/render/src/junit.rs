//! Writes the limits of a gate as JUnit XML, which CI systems read.

use metalens_comparison::{Comparison, GateResult, GateRow, GateSeverity, GateVerdict};

use crate::gate::{limit, name};
use crate::html::escape::escaped;

/// Returns a test suite for each comparison that has a gate, with a test for each limit. Comparisons have
/// names.
pub fn junit<'a>(comparisons: impl Iterator<Item = (&'a str, &'a Comparison)>) -> String {
    let suites = comparisons.filter_map(|(name, comparison)| {
        let gate = comparison.gate.as_ref()?;
        let why = if comparison.is_refused() {
            comparison.headline.text.as_str()
        } else {
            // A gate that measures nothing fails although no limit does.
            "no limit was measurable"
        };
        Some(suite(&escaped(name), gate, &escaped(why)))
    });
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{}</testsuites>\n",
        suites.collect::<String>()
    )
}

/// Returns the test suite of a gate. Its name is escaped, and why it fails if no limit does.
fn suite(suite: &str, gate: &GateResult, why_missed: &str) -> String {
    let mut cases: Vec<(Option<&str>, String)> = gate
        .rows
        .iter()
        .map(|row| {
            let name = escaped(&format!("{} {}", name(row).text, limit(row).text));
            (outcome(row), case(suite, &name, outcome(row), &why(row)))
        })
        .collect();
    let number = |cases: &[(Option<&str>, String)], wanted: &str| {
        let outcomes = cases.iter().filter(|(outcome, _)| *outcome == Some(wanted));
        outcomes.count()
    };
    if gate.missed && number(&cases, FAILURE) == 0 {
        let failure = case(suite, "gate", Some(FAILURE), why_missed);
        cases.push((Some(FAILURE), failure));
    }
    format!(
        "  <testsuite name=\"{suite}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
        cases.len(),
        number(&cases, FAILURE),
        number(&cases, SKIPPED),
        cases
            .iter()
            .map(|(_, case)| case.as_str())
            .collect::<String>()
    )
}

/// Element of a test that fails.
const FAILURE: &str = "failure";
/// Element of a test that decides nothing.
const SKIPPED: &str = "skipped";

/// Returns the element that a test has inside; none if it passes.
fn outcome(row: &GateRow) -> Option<&'static str> {
    match (row.verdict, row.severity) {
        (GateVerdict::Pass, _) => None,
        // A gate that cannot decide does not pass.
        (GateVerdict::Miss | GateVerdict::Inconclusive, GateSeverity::Error) => Some(FAILURE),
        _ => Some(SKIPPED),
    }
}

/// Returns the reason for a verdict, escaped.
fn why(row: &GateRow) -> String {
    let word = match row.verdict {
        GateVerdict::Inconclusive => "inconclusive: ",
        GateVerdict::NotMeasurable => "not measurable: ",
        GateVerdict::Miss | GateVerdict::Pass => "",
    };
    escaped(&format!("{word}{}", row.why))
}

/// Returns a test. All texts are escaped.
fn case(suite: &str, name: &str, outcome: Option<&str>, why: &str) -> String {
    let inside = outcome.map_or_else(
        || "/>".to_owned(),
        |outcome| format!("><{outcome} message=\"{why}\"/></testcase>"),
    );
    format!("    <testcase classname=\"{suite}\" name=\"{name}\"{inside}\n")
}
