//! Rules about change over time: how regular gaps and iterations are.

use super::evidence::{Evidence, is_saturated, longest_of_all};
use super::rule::Rule;
use crate::basics::message::{Message, count, moment, shown_share, time};
use crate::message;
use crate::report::{Regularity, RegularityVerdict, Report, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "regular-gaps",
        severity: Severity::Low,
        title: "gaps are uniform: a fixed cost per submission",
        condition: regular,
        action: "batch: submit more work at once, less often",
        advice: "Uniform gaps are a cost per submission, not an accident. Batch the work, so \
             that the program pays it less often.",
        counter_evidence: "With twice as much work per submission, gaps are twice as long.",
    },
    Rule {
        id: "irregular-gaps",
        severity: Severity::Low,
        title: "gaps vary widely: look at the CPU",
        condition: irregular,
        action: "record with CPU samples, and look at the longest gaps first",
        advice: "A fixed cost would make uniform gaps. These gaps follow what the program \
             does between submissions. Record with CPU samples, and look at the longest gaps \
             first.",
        counter_evidence: "The length of a gap follows the size of the work before it.",
    },
    Rule {
        id: "slowing-down",
        severity: Severity::Medium,
        title: "iterations take longer over time",
        condition: slowing_down,
        action: "look for what grows with every iteration",
        advice: "Look for what grows with every iteration (a cache, a list, a key-value \
             store) or what heats up: compare machine.performance and machine.thermal.",
        counter_evidence: "Later iterations do more work by design, such as a longer context.",
    },
];

/// Returns the regularity of the gaps, where the GPU is idle enough for it to matter.
fn gaps_that_matter(report: &Report, wanted: RegularityVerdict) -> Option<&Regularity> {
    let regularity = report.phases.regularity.as_ref()?;
    (regularity.verdict == wanted && !is_saturated(report)).then_some(regularity)
}

fn regular(report: &Report) -> Option<Evidence> {
    let found = gaps_that_matter(report, RegularityVerdict::Regular)?;
    Some(Evidence::new(range(found)))
}

fn irregular(report: &Report) -> Option<Evidence> {
    let found = gaps_that_matter(report, RegularityVerdict::Irregular)?;
    Some(Evidence::new(range(found)).at(longest_of_all(report)))
}

/// Returns the range of gap lengths that most idle time is in.
fn range(found: &Regularity) -> Message {
    let (from, to) = (time(found.p10_ns), time(found.p90_ns));
    let lengths = if from == to {
        from
    } else {
        message!(
            "{} to {}; half of it is in gaps of at most {}",
            from,
            to,
            time(found.p50_ns)
        )
    };
    message!(
        "at least {} of the idle time ({} gaps) is in gaps of {}",
        shown_share("80 %".to_owned(), 0.8),
        count(found.gaps),
        lengths,
    )
}

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
