//! Builds the drawing of one step: what its time consists of, and what the best change leaves of it.

use metalens_analyzer::message::count;
use metalens_analyzer::{Cause, Finding, Gain, Report, StepParts, message};
use metalens_text::units::rough_time;

use crate::document::{BarPart, Block, Chart, Drawing, Section, StepBar};
use crate::wording::plain;

/// Returns the typical step as a bar, above what the best change leaves; `None` if no steps are known.
pub(super) fn step(report: &Report) -> Option<Section> {
    let main = report.steps.first()?;
    let kind = main.kinds.first()?;
    let typical = kind.typical.as_ref()?;
    let mut bars = vec![StepBar {
        name: format!("a {}", main.name),
        parts: parts(typical),
        told: None,
    }];
    let changed = best(report).and_then(|gain| {
        let left_ns = gain.step?.median_ns.min(typical.length_ns());
        let gpu_ns = typical.gpu_ns.min(left_ns);
        let option = gain.change?.option();
        Some(StepBar {
            name: "changed".to_owned(),
            parts: vec![(BarPart::Gpu, gpu_ns), (BarPart::Rest, left_ns - gpu_ns)],
            told: Some(format!("{}: what-if {option}", rough_time(left_ns))),
        })
    });
    bars.extend(changed);
    let chart = Chart {
        id: "step".to_owned(),
        drawing: Drawing::Step(bars),
    };
    let title = message!(
        "One {}, the typical one: number {}",
        plain(&main.name),
        count(typical.number)
    );
    Some(
        Section::new("step", "One step", 2)
            .titled(title)
            .with(Block::Chart(chart)),
    )
}

/// Returns the largest gain that was replayed.
fn best(report: &Report) -> Option<Gain> {
    let gain = |finding: &Finding| finding.gain.filter(|gain| gain.step.is_some());
    let gains = report.findings.iter().filter_map(gain);
    gains.max_by_key(|gain| gain.saves_ns)
}

/// Returns the parts of a step, in the order of time.
fn parts(step: &StepParts) -> Vec<(BarPart, u64)> {
    let idle = Cause::ALL.map(|cause| (BarPart::Idle(cause), step.idle.get(cause)));
    let all = std::iter::once((BarPart::Gpu, step.gpu_ns)).chain(idle);
    all.filter(|&(_, ns)| ns > 0).collect()
}
