//! Builds the document of a report. Each section has a file of its own.

mod brief;
mod engines;
mod findings;
mod gaps;
mod idle;
mod kernels;
mod latency;
mod machine;
mod memory;
mod notes;
mod phases;
mod processes;
mod program;
mod recording;
mod step;
mod verdict;
mod work;

use metalens_analyzer::Report;
use metalens_message::{message, process};

pub use brief::brief;
pub(crate) use kernels::estimates;

use crate::document::Document;
use crate::gate;
use crate::wording::plain;

/// Returns the document of a report, with its sections in the order in which people ask.
pub fn document(report: &Report) -> Document {
    let sections = [
        Some(verdict::verdict(report)),
        report.gate.as_ref().map(gate::section),
        step::step(report),
        Some(verdict::timeline(report)),
        idle::idle(report),
        Some(findings::findings(report)),
        Some(kernels::kernels(report)),
        kernels::channels(report),
        gaps::gaps(report),
        gaps::longest(report),
        engines::engines(report),
        latency::latency(report),
        kernels::pattern(report),
        work::work(report),
        Some(processes::gpu_time(report)),
        processes::processes(report),
        phases::phases(report),
        memory::memory(report),
        machine::machine(report),
        program::cpu(report),
        machine::counters(report),
        Some(recording::recording(report)),
        notes::notes(report),
        notes::not_recorded(report),
    ];
    Document {
        title: message!("GPU profile of {}", process(&report.process.name, true)),
        sections: sections.into_iter().flatten().collect(),
        footer: plain(format!(
            "metalens {}, {}. Times are exact to the nanosecond in report.json; here they are rounded.",
            env!("CARGO_PKG_VERSION"),
            report.schema
        )),
    }
}

/// Returns the document of a report for a pull request: its first line names the limits that failed, and its
/// picture follows the verdict.
pub fn for_comment(report: &Report) -> Document {
    let mut document = document(report);
    let mut sections = document.sections.iter();
    let picture = sections.position(|section| section.id == "timeline");
    if let Some(until) = picture.and_then(|at| document.sections.get_mut(1..=at)) {
        until.rotate_right(1);
    }
    let missed = report.gate.as_ref().filter(|gate| gate.missed);
    if let Some((opening, gate)) = document.sections.first_mut().zip(missed) {
        opening.blocks.insert(0, gate::verdict_line(gate));
    }
    document
}

#[cfg(test)]
mod tests {
    use metalens_comparison::{GateRow, GateSeverity, GateVerdict, LimitRule, Number, Unit};

    use super::*;
    use crate::document::Block;

    #[test]
    fn a_comment_begins_with_the_limits_that_failed() {
        let mut report = metalens_testing::analysis_of("eager").report;
        let number = |value: f64| Number::new(value).unwrap();
        report.gate = Some(metalens_comparison::GateResult {
            source: "[gate] of gate.toml".into(),
            missed: true,
            inconclusive: false,
            rows: vec![GateRow {
                what: "busy.ratio".to_owned(),
                channel: None,
                of: None,
                rule: LimitRule::Min,
                limit: number(0.6),
                value: Some(number(0.025)),
                unit: Unit::Ratio,
                by: Some(number(0.575)),
                severity: GateSeverity::Error,
                verdict: GateVerdict::Miss,
                why: "it is 2.5 %".into(),
            }],
        });
        let document = for_comment(&report);
        let first = document.sections.first().unwrap().blocks.first();
        let Some(Block::Failure(said)) = first else {
            panic!("{first:?}");
        };
        assert!(
            said.text.starts_with("Gate failed: busy share 2.5 %; "),
            "{said:?}"
        );
    }
}
