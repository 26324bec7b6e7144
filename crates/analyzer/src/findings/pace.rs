//! Rules about time passing: how regular the gaps are, and what changes.

use super::evidence::{Evidence, is_saturated, longest_of_all};
use super::rule::Rule;
use crate::basics::message::{Message, count, moment, shown_share, time};
use crate::message;
use crate::report::{Regularity, RegularityVerdict, Report, Severity};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "regular-gaps",
        severity: Severity::Low,
        title: "the gaps are alike: the GPU pays the same price every time",
        condition: regular,
        advice: "Gaps of one length are a cost per submission, not an accident: batch, so that it \
                 is paid less often.",
        disproved_by: "A run with twice as much work in a submission and gaps twice as long.",
    },
    Rule {
        id: "irregular-gaps",
        severity: Severity::Low,
        title: "the gaps are of every length: look at the CPU",
        condition: irregular,
        advice: "A fixed cost would make gaps alike. These follow what the program does between \
                 submissions: record with CPU samples, and look at the longest ones first.",
        disproved_by: "Gaps whose lengths follow the size of the work before them.",
    },
    Rule {
        id: "slowing-down",
        severity: Severity::Medium,
        title: "iterations take longer and longer",
        condition: slowing_down,
        advice: "Look for what grows with every iteration: a cache, a list, a key-value store; or \
                 for what heats up: compare machine.performance and machine.thermal.",
        disproved_by: "Iterations that do more work later by design, such as a longer context.",
    },
];

/// How alike the gaps are, where it matters.
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

/// Gaps are weighed by their length: what is told is where the idle time is.
fn range(found: &Regularity) -> Message {
    let (from, to) = (time(found.p10_ns), time(found.p90_ns));
    let lengths = match from == to {
        true => from,
        false => message!(
            "{} to {}, and half of it in gaps of at most {}",
            from,
            to,
            time(found.p50_ns)
        ),
    };
    message!(
        "at least eight tenths of the idle time in {} gaps is in gaps of {}",
        count(found.gaps),
        lengths,
    )
}

fn slowing_down(report: &Report) -> Option<Evidence> {
    const PERCENT: f64 = 10.0;
    let found = report.phases.iterations.as_ref()?;
    let drift = found.drift_pct.filter(|&drift| drift >= PERCENT)?;
    let text = message!(
        "of {} iterations those of the last third take {} longer than those of the first third \
         (median of all {}, shortest {}, longest {})",
        count(found.count),
        shown_share(format!("{drift:.0} %"), drift / 100.0),
        time(found.median_period_ns),
        time(found.min_period_ns),
        time(found.max_period_ns),
    );
    Some(Evidence::new(text).at([message!(
        "the first iteration, at {}",
        moment(found.start_ns)
    )]))
}
