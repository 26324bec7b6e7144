//! Defines `kernels`: the kernels of the report.

use metalens_analyzer::{Kernel, Report};

use super::field::{TableField, count, fill, ns, ratio, text};
use crate::cells::{CellValue, MemoryTable};
use crate::error::Result;
use crate::report_names::named_by;

pub(crate) fn table(report: &Report) -> Result<MemoryTable> {
    fill(&fields(), &report.kernels)
}

pub(crate) fn fields<'t>() -> Vec<TableField<&'t Kernel>> {
    vec![
        text("kernel", "Name of the kernel.", |k| {
            CellValue::Text(&k.name)
        }),
        text(
            "channel",
            "GPU channel that it ran on; null if the recording has none.",
            |k| CellValue::text(k.channel.as_deref()),
        ),
        text(
            "named_by",
            "Source of the name: shader-profiler, encoder-label, debug-group, command-buffer-label, none.",
            |k| CellValue::Text(named_by(k.named_by)),
        ),
        ratio(
            "time_pct",
            "Share of the summed durations of all kernels, in percent.",
            |k| CellValue::Number(k.time_pct),
        ),
        ns("total_ns", "Summed durations.", |k| {
            CellValue::integer(k.total_ns)
        }),
        count("instances", "Number of GPU intervals.", |k| {
            CellValue::integer(k.instances)
        }),
        ns("avg_ns", "Mean duration, rounded to a nanosecond.", |k| {
            CellValue::integer(k.avg_ns)
        }),
        ns("med_ns", "Median duration, nearest rank.", |k| {
            CellValue::integer(k.med_ns)
        }),
        ns("min_ns", "Shortest duration.", |k| {
            CellValue::integer(k.min_ns)
        }),
        ns("max_ns", "Longest duration.", |k| {
            CellValue::integer(k.max_ns)
        }),
        ns(
            "stddev_ns",
            "Standard deviation of the durations (population).",
            |k| CellValue::integer(k.stddev_ns),
        ),
        ns(
            "p95_ns",
            "95th percentile of the durations, nearest rank.",
            |k| CellValue::integer(k.p95_ns),
        ),
        ns(
            "p99_ns",
            "99th percentile of the durations, nearest rank.",
            |k| CellValue::integer(k.p99_ns),
        ),
        count(
            "spilled_instances",
            "Number of GPU intervals with spilled registers; null if it was not recorded.",
            |k| CellValue::integer_or_absent(k.spills.map(|spills| spills.instances)),
        ),
        count(
            "spilled_bytes",
            "Largest number of bytes of spilled registers; null if it was not recorded.",
            |k| CellValue::integer_or_absent(k.spills.map(|spills| spills.max_bytes)),
        ),
        ns(
            "shader_ns",
            "Time for which samples say which shader ran; null if there are none.",
            |k| CellValue::integer_or_absent(k.shader_ns),
        ),
    ]
}
