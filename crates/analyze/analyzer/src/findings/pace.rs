//! Rules about change over time.

use super::evidence::Evidence;
use super::rule::{Concern, Rule};
use crate::basics::message::{count, moment, shown_share, time};
use crate::message;
use crate::report::{Effort, Report, Severity};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "slowing-down",
    concern: Concern::Speed,
    within: &[],
    severity: Severity::Medium,
    effort: Effort::Investigate,
    title: "iterations take longer over time",
    condition: slowing_down,
    action: "look for what grows with every iteration",
    advice: "Look for what grows with every iteration (a cache, a list, a key-value \
             store) or what heats up: compare machine.performance and machine.thermal.",
    knobs: &[],
    counter_evidence: "Later iterations do more work by design, such as a longer context.",
}];

fn slowing_down(report: &Report) -> Option<Evidence> {
    const PERCENT: f64 = 10.0;
    let found = report.phases.iterations.as_ref()?;
    let drift = found.drift_pct.filter(|&drift| drift >= PERCENT)?;
    let text = message!(
        "of {} iterations, the last third takes {} longer than the first third (median of all {}, \
         shortest {}, longest {})",
        count(found.count),
        shown_share(format!("{drift:.0} %"), drift / 100.0),
        time(found.median_period_ns),
        time(found.min_period_ns),
        time(found.max_period_ns),
    );
    Some(Evidence::new(text).at([message!("first iteration: at {}", moment(found.start_ns))]))
}
