//! `kernels`: the report's kernels.

use metalens_analyzer::{Kernel, Report};

use super::{Field, count, fill, ns, ratio, text};
use crate::cells::{Table, Value};
use crate::error::Result;
use crate::words::named_by;

pub(crate) fn table(report: &Report) -> Result<Table> {
    fill(&fields(), &report.kernels)
}

pub(crate) fn fields<'t>() -> Vec<Field<&'t Kernel>> {
    vec![
        text("kernel", "What it is called.", |k| Value::Text(&k.name)),
        text(
            "channel",
            "Where it ran; null where the recording has none.",
            |k| Value::text(k.channel.as_deref()),
        ),
        text(
            "named_by",
            "What named it: shader-profiler, encoder-label, debug-group, command-buffer-label, none.",
            |k| Value::Text(named_by(k.named_by)),
        ),
        ratio(
            "time_pct",
            "Its share of all kernels' summed durations, percent.",
            |k| Value::Number(k.time_pct),
        ),
        ns("total_ns", "Its summed durations.", |k| {
            Value::whole(k.total_ns)
        }),
        count("instances", "How many intervals.", |k| {
            Value::whole(k.instances)
        }),
        ns("avg_ns", "Mean duration, to the nearest nanosecond.", |k| {
            Value::whole(k.avg_ns)
        }),
        ns("med_ns", "Median duration, nearest rank.", |k| {
            Value::whole(k.med_ns)
        }),
        ns("min_ns", "Shortest.", |k| Value::whole(k.min_ns)),
        ns("max_ns", "Longest.", |k| Value::whole(k.max_ns)),
        ns("stddev_ns", "Standard deviation of the population.", |k| {
            Value::whole(k.stddev_ns)
        }),
        ns("p95_ns", "95 % are not longer, nearest rank.", |k| {
            Value::whole(k.p95_ns)
        }),
        ns("p99_ns", "99 % are not longer, nearest rank.", |k| {
            Value::whole(k.p99_ns)
        }),
    ]
}
