//! Rules about change over time.

use metalens_message::{Share, counted, message, percent_to};

use super::evidence::Evidence;
use super::machine::said;
use super::rule::Rule;
use crate::report::{Effort, Report, Severity};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "slowing-down",
    severity: Severity::Medium,
    effort: Effort::Investigate,
    title: "steps take longer over time",
    condition: slowing_down,
    action: "look at the GPU's clock, and for what grows with every step",
    advice: "Look for what grows with every step (a cache, a list, a key-value \
             store) or what heats up: compare machine.performance and machine.thermal.",
    counter_evidence: "Later steps do more work by design, such as a longer context.",
    ..Rule::USUAL
}];

fn slowing_down(report: &Report) -> Option<Evidence> {
    const PERCENT: f64 = 10.0;
    let main = report.steps.first()?;
    let kind = main.kinds.first()?;
    let drift = kind.drift_pct.filter(|&drift| drift >= PERCENT)?;
    let performance = report.machine.performance.as_ref();
    let changed = performance.filter(|performance| performance.changes > 0);
    let clock = changed.map(|clock| message!("; the GPU's clock changed: {}", said(&clock.states)));
    let text = message!(
        "of {}, the last third takes {} longer than the first third (median of all {}, shortest {}, \
         longest {}){}",
        counted(kind.count, main.noun()),
        percent_to(0, Share(drift / 100.0)),
        kind.median_ns.unwrap_or_default(),
        kind.min_ns,
        kind.max_ns,
        clock,
    );
    Some(Evidence::new(text))
}
