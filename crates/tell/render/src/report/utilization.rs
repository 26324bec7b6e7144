//! Builds the section on the utilization.

use metalens_analyzer::Report;
use metalens_message::{Message, Ns, Share, message};

use crate::document::{Block, Section};

/// Returns the busy share of each idea of the run time, if one is known.
pub(super) fn utilization(report: &Report) -> Option<Section> {
    let remark = Block::Remark(efficiency(report)?);
    Some(Section::new("utilization", "Utilization", 5).with(remark))
}

/// Returns the GPU time as a share of each definition of the run time.
fn efficiency(report: &Report) -> Option<Message> {
    let efficiency = &report.efficiency;
    let part = |share: Option<Share>, ns: Option<Ns>, name: &'static str| {
        Some(message!("{} of {} ({})", share?, name, ns?))
    };
    let parts = [
        part(
            efficiency.of_program,
            efficiency.program_ns,
            "the time from first encoding to last completion",
        ),
        part(
            efficiency.of_wall,
            efficiency.wall_ns,
            "the whole recording",
        ),
    ];
    let parts: Vec<Message> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| message!("The GPU time is {}", Message::joined(parts, ", ")))
}
