//! Writes the limits of a gate as JUnit XML, which CI systems read.

use metalens_comparison::{Comparison, GateSeverity, GateVerdict};

use super::gate::{limit, name};
use crate::html::escape::escaped;

/// Returns a test suite for each comparison that has a gate, with a test for each limit. Comparisons have
/// names.
#[must_use]
pub fn junit<'a>(comparisons: impl Iterator<Item = (&'a str, &'a Comparison)>) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for (suite, comparison) in comparisons {
        let Some(gate) = &comparison.gate else {
            continue;
        };
        let (mut cases, mut failures, mut skipped) = (String::new(), 0, 0);
        for row in &gate.rows {
            let is_error = row.severity == GateSeverity::Error;
            let outcome = match row.verdict {
                GateVerdict::Pass => None,
                GateVerdict::Miss if is_error => Some("failure"),
                // A gate that cannot decide does not pass.
                GateVerdict::Inconclusive if is_error => Some("failure"),
                GateVerdict::Miss | GateVerdict::Inconclusive | GateVerdict::NotMeasurable => {
                    Some("skipped")
                }
            };
            failures += usize::from(outcome == Some("failure"));
            skipped += usize::from(outcome == Some("skipped"));

            let case = format!("{} {}", name(row).text, limit(row).text);
            let case = format!(
                "    <testcase classname=\"{}\" name=\"{}\"",
                escaped(suite),
                escaped(&case)
            );
            cases.push_str(&case);
            match outcome {
                None => cases.push_str("/>\n"),
                Some(outcome) => {
                    let word = match row.verdict {
                        GateVerdict::Inconclusive => "inconclusive: ",
                        GateVerdict::NotMeasurable => "not measurable: ",
                        GateVerdict::Miss | GateVerdict::Pass => "",
                    };
                    let why = escaped(&format!("{word}{}", row.why));
                    cases.push_str(&format!("><{outcome} message=\"{why}\"/></testcase>\n"));
                }
            }
        }
        // A gate that measures nothing fails although no limit does.
        if gate.missed && failures == 0 {
            failures = 1;
            cases.push_str(&format!(
                "    <testcase classname=\"{}\" name=\"gate\"><failure message=\"no limit was \
                 measurable\"/></testcase>\n",
                escaped(suite)
            ));
        }
        let tests = cases.matches("<testcase ").count();
        text.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" \
             skipped=\"{skipped}\">\n{cases}  </testsuite>\n",
            escaped(suite)
        ));
    }
    text.push_str("</testsuites>\n");
    text
}
