//! Rules about change over time.

use super::evidence::Evidence;
use super::machine::said;
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
    action: "look at the GPU's clock, and for what grows with every iteration",
    advice: "Look for what grows with every iteration (a cache, a list, a key-value \
             store) or what heats up: compare machine.performance and machine.thermal.",
    knobs: &[],
    counter_evidence: "Later iterations do more work by design, such as a longer context.",
}];

fn slowing_down(report: &Report) -> Option<Evidence> {
    const PERCENT: f64 = 10.0;
    let iterations = report.phases.iterations.as_ref()?;
    let drift = iterations.drift_pct.filter(|&drift| drift >= PERCENT)?;
    let performance = report.machine.performance.as_ref();
    let changed = performance.filter(|performance| performance.changes > 0);
    let clock = changed.map(|clock| message!("; the GPU's clock changed: {}", said(&clock.states)));
    let text = message!(
        "of {} iterations, the last third takes {} longer than the first third (median of all {}, \
         shortest {}, longest {}){}",
        count(iterations.count),
        shown_share(format!("{drift:.0} %"), drift / 100.0),
        time(iterations.median_period_ns),
        time(iterations.min_period_ns),
        time(iterations.max_period_ns),
        clock,
    );
    Some(Evidence::new(text).at([message!(
        "first iteration: at {}",
        moment(iterations.start_ns)
    )]))
}
