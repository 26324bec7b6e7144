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
mod utilization;
mod verdict;
mod work;

use metalens_analyzer::message::process;
use metalens_analyzer::{Report, message};

pub use brief::brief;

use crate::document::Document;
use crate::gate;
use crate::wording::plain;

/// Returns the document of a report, with its sections in the order in which people ask.
#[must_use]
pub fn document(report: &Report) -> Document {
    let sections = [
        Some(verdict::verdict(report)),
        report.gate.as_ref().map(gate::section),
        Some(verdict::timeline(report)),
        idle::idle(report),
        Some(findings::findings(report)),
        Some(utilization::utilization(report)),
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
