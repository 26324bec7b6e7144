//! Defines `kernels`: the kernels of the report.

use metalens_analyzer::{Kernel, Report};

use super::field::{TableField, columns, fill};
use crate::cells::MemoryTable;
use crate::error::Result;
use crate::report_names::named_by;

pub(crate) fn table(report: &Report) -> Result<MemoryTable> {
    fill(&fields(), &report.kernels)
}

pub(crate) fn fields<'t>() -> Vec<TableField<&'t Kernel>> {
    columns! { k:
        "kernel" TEXT "Kernel." = k.name.as_str();
        "channel" TEXT "GPU channel." = k.channel.as_deref();
        "named_by" TEXT "Source of the name: shader-profiler, dispatches, encoder-label, \
            debug-group, command-buffer-label, none." = named_by(k.named_by);
        "time_pct" RATIO "Share of the summed durations of all kernels." = k.time_pct;
        "total_ns" NS "Summed durations." = k.total_ns;
        "instances" COUNT "GPU intervals." = k.instances;
        "avg_ns" NS "Mean duration." = k.avg_ns;
        "med_ns" NS "Median duration." = k.med_ns;
        "min_ns" NS "Shortest duration." = k.min_ns;
        "max_ns" NS "Longest duration." = k.max_ns;
        "stddev_ns" NS "Standard deviation (population)." = k.stddev_ns;
        "p95_ns" NS "95th percentile." = k.p95_ns;
        "p99_ns" NS "99th percentile." = k.p99_ns;
        "spilled_instances" COUNT "GPU intervals with spilled registers."
            = k.spills.map(|spills| spills.instances);
        "spilled_bytes" COUNT "Most bytes of spilled registers." = k.spills.map(|spills| spills.max_bytes);
        "shader_ns" NS "Time for which samples say which shader ran." = k.shader_ns;
    }
}
