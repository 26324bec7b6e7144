//! Defines `phase_kernels`: the kernels whose work the process encoded during each of its phases.

use metalens_analyzer::{NamedPhase, PhaseKernel, Report};
use metalens_message::Ns;

use super::field::{TableField, columns, fill};
use crate::cells::MemoryTable;
use crate::error::Result;

/// A kernel in a phase, or all kernels that the report does not list.
pub(crate) struct PhaseRow<'t> {
    phase: &'t NamedPhase,
    kernel: Option<&'t PhaseKernel>,
    instances: u64,
    total_ns: Ns,
    /// Summed durations of all work of the phase.
    phase_ns: Ns,
}

pub(crate) fn table(report: &Report) -> Result<MemoryTable> {
    let phases = report.phases.signposts.iter();
    let own = phases.filter(|phase| phase.is_analyzed);
    fill(&fields(), own.flat_map(rows))
}

/// Returns the rows of a phase: its kernels, and one with the rest if there are more.
fn rows(phase: &NamedPhase) -> Vec<PhaseRow<'_>> {
    let Some(encoded) = &phase.encoded else {
        return Vec::new();
    };
    let row = |kernel, instances, total_ns| PhaseRow {
        phase,
        kernel,
        instances,
        total_ns,
        phase_ns: encoded.total_ns,
    };
    let (mut instances, mut total_ns) = (encoded.intervals, encoded.total_ns);
    let mut rows = Vec::new();
    for kernel in &encoded.kernels {
        instances = instances.saturating_sub(kernel.instances);
        total_ns = total_ns.saturating_sub(kernel.total_ns);
        rows.push(row(Some(kernel), kernel.instances, kernel.total_ns));
    }

    if instances > 0 {
        rows.push(row(None, instances, total_ns));
    }
    rows
}

pub(crate) fn fields<'t>() -> Vec<TableField<PhaseRow<'t>>> {
    columns! { r:
        "phase" TEXT "Name of the phase." = r.phase.name.as_str();
        "subsystem" TEXT "Subsystem of the log." = r.phase.subsystem.as_deref();
        "category" TEXT "Category of the log." = r.phase.category.as_deref();
        "kernel" TEXT "Kernel; null in the row of all after the first 20."
            = r.kernel.map(|kernel| kernel.name.as_str());
        "channel" TEXT "GPU channel." = r.kernel.and_then(|kernel| kernel.channel.as_deref());
        "instances" COUNT "GPU intervals." = r.instances;
        "total_ns" NS "Summed durations inside the window." = r.total_ns;
        "time_pct" RATIO "Share of the GPU time of the phase."
            = metalens_message::ratio(r.total_ns, r.phase_ns).map(|share| share * 100.0);
    }
}
