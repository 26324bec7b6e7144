//! Defines `kernels`: the kernels of the report.

use metalens_analyzer::{Kernel, Report};

use super::field::{TableField, count, fill, ns, ratio, text};
use crate::cells::MemoryTable;
use crate::error::Result;
use crate::report_names::named_by;

pub(crate) fn table(report: &Report) -> Result<MemoryTable> {
    fill(&fields(), &report.kernels)
}

pub(crate) fn fields<'t>() -> Vec<TableField<&'t Kernel>> {
    vec![
        text("kernel", "Kernel.", |k| k.name.as_str().into()),
        text("channel", "GPU channel.", |k| k.channel.as_deref().into()),
        text(
            "named_by",
            "Source of the name: shader-profiler, encoder-label, debug-group, command-buffer-label, none.",
            |k| named_by(k.named_by).into(),
        ),
        ratio(
            "time_pct",
            "Share of the summed durations of all kernels.",
            |k| k.time_pct.into(),
        ),
        ns("total_ns", "Summed durations.", |k| k.total_ns.into()),
        count("instances", "GPU intervals.", |k| k.instances.into()),
        ns("avg_ns", "Mean duration.", |k| k.avg_ns.into()),
        ns("med_ns", "Median duration.", |k| k.med_ns.into()),
        ns("min_ns", "Shortest duration.", |k| k.min_ns.into()),
        ns("max_ns", "Longest duration.", |k| k.max_ns.into()),
        ns("stddev_ns", "Standard deviation (population).", |k| {
            k.stddev_ns.into()
        }),
        ns("p95_ns", "95th percentile.", |k| k.p95_ns.into()),
        ns("p99_ns", "99th percentile.", |k| k.p99_ns.into()),
        count(
            "spilled_instances",
            "GPU intervals with spilled registers.",
            |k| k.spills.map(|spills| spills.instances).into(),
        ),
        count("spilled_bytes", "Most bytes of spilled registers.", |k| {
            k.spills.map(|spills| spills.max_bytes).into()
        }),
        ns(
            "shader_ns",
            "Time for which samples say which shader ran.",
            |k| k.shader_ns.into(),
        ),
    ]
}
