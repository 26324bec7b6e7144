//! Rules about change over time.

use metalens_message::{
    Message, Share, count, counted, factor, kernel, message, moment, percent_to,
};

use super::evidence::Evidence;
use super::machine::said;
use super::rule::Rule;
use crate::report::{Effort, Report, Severity, Slowdown};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "slowing-down",
    severity: Severity::Medium,
    effort: Effort::Investigate,
    title: "steps or kernels take longer over time",
    condition: slowing_down,
    action: "look at the GPU's clock, and for what grows with every step",
    advice: "Look for what grows with every step (a cache, a list, a key-value \
             store) or what heats up: compare machine.performance and machine.thermal.",
    counter_evidence: "Later steps do more work by design, such as a longer context or larger inputs, or \
                       other processes use the GPU from then on.",
    ..Rule::USUAL
}];

fn slowing_down(report: &Report) -> Option<Evidence> {
    const PERCENT: f64 = 10.0;
    const FACTOR: f64 = 1.1;
    let main = report.steps.first();
    let kind = main.and_then(|main| main.kinds.first());
    let drift = kind.and_then(|kind| kind.drift_pct.filter(|&drift| drift >= PERCENT));
    let steps = main.zip(kind).zip(drift).map(|((main, kind), drift)| {
        message!(
            "of {}, the last third takes {} longer than the first third (median of all {}, shortest {}, \
             longest {})",
            counted(kind.count, main.noun()),
            percent_to(0, Share(drift / 100.0)),
            kind.median_ns.unwrap_or_default(),
            kind.min_ns,
            kind.max_ns,
        )
    });
    let slowdown = report.slowdown.as_ref();
    let is_much = |slowdown: &&Slowdown| slowdown.is_of_all() && slowdown.least.0 >= FACTOR;
    let kernels = slowdown
        .filter(|slowdown| steps.is_some() || is_much(slowdown))
        .map(kernels);
    let performance = report.machine.performance.as_ref();
    let changed = performance.filter(|performance| performance.changes > 0);
    let clock = changed.map(|clock| message!("the GPU's clock changed: {}", said(&clock.states)));
    let texts: Vec<Message> = steps.into_iter().chain(kernels).collect();
    (!texts.is_empty())
        .then(|| Evidence::new(Message::joined(texts.into_iter().chain(clock), "; ")))
}

/// Returns which kernels take longer, by how much, and what that says.
fn kernels(slowdown: &Slowdown) -> Message {
    /// Factor by which the factors of kernels at one clock may differ.
    const APART: f64 = 1.05;
    let (least, most) = (factor(slowdown.least), factor(slowdown.most));
    let range = match (slowdown.longer, least.text == most.text) {
        (1, _) | (_, true) => most,
        _ => message!("{} to {}", least, most),
    };
    let when = match slowdown.at_ns {
        Some(at_ns) => message!("from {} on", moment(at_ns)),
        None => "little by little".into(),
    };
    let others = slowdown.kernels - slowdown.longer;
    if slowdown.is_of_all() {
        let why = if slowdown.most.0 <= slowdown.least.0 * APART {
            "a lower GPU clock would explain that"
        } else {
            "look for what they share: clock, memory, other work on the GPU"
        };
        let kernels = count(slowdown.kernels);
        message!(
            "all {} kernels take {} times as long {}: {}",
            kernels,
            range,
            when,
            why
        )
    } else {
        let first = kernel(&slowdown.kernel);
        let more = (slowdown.longer > 1)
            .then(|| message!(" and {}", counted(slowdown.longer - 1, "other kernel")));
        let verb = if more.is_some() { "take" } else { "takes" };
        let rest = (others > 0).then(|| {
            message!(
                "; {} not, so that it is not the clock",
                counted(others, "kernel")
            )
        });
        message!(
            "{}{} {} {} times as long {}{}",
            first,
            more,
            verb,
            range,
            when,
            rest
        )
    }
}
