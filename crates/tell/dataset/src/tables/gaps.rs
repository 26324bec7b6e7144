//! Defines `gaps`: the stretches without GPU work of the analyzed process, with their causes.

use metalens_analyzer::{Analysis, ExplainedGap};

use super::field::{TableField, field, fill, ns, text};
use crate::cells::{CellKind, CellValue, MemoryTable};
use crate::error::Result;

pub(crate) fn table(analysis: &Analysis) -> Result<MemoryTable> {
    fill(&fields(), analysis.gaps())
}

pub(crate) fn fields<'t>() -> Vec<TableField<ExplainedGap<'t>>> {
    vec![
        ns(
            "start_ns",
            "Start of the gap, since the start of the recording.",
            |g| CellValue::integer(g.start_ns),
        ),
        ns("end_ns", "End of the gap.", |g| {
            CellValue::integer(g.start_ns.saturating_add(g.duration_ns))
        }),
        ns("duration_ns", "Length of the gap.", |g| {
            CellValue::integer(g.duration_ns)
        }),
        text(
            "before",
            "Kernel before the gap; null at the start of the window.",
            |g| CellValue::text(g.before),
        ),
        text(
            "after",
            "Kernel after the gap; null at the end of the window.",
            |g| CellValue::text(g.after),
        ),
        text(
            "cause",
            "Largest cause of the gap: completion, host, encoding, driver-wait, driver, \
             start-latency, submission, queued, contention, unknown.",
            |g| CellValue::Text(g.cause.name()),
        ),
        ns(
            "completion_ns",
            "Completion latency: until the program was notified that the previous work was done.",
            |g| CellValue::integer(g.parts.completion_ns),
        ),
        ns(
            "host_ns",
            "Host work: the program was notified, and had not started to encode.",
            |g| CellValue::integer(g.parts.host_ns),
        ),
        ns("encoding_ns", "Encoding of the next work.", |g| {
            CellValue::integer(g.parts.encoding_ns)
        }),
        ns(
            "driver_wait_ns",
            "Waiting for the driver: the next work was committed, and the driver had not begun.",
            |g| CellValue::integer(g.parts.driver_wait_ns),
        ),
        ns(
            "driver_ns",
            "Driver: it worked on the next work, up to the submission to the GPU.",
            |g| CellValue::integer(g.parts.driver_ns),
        ),
        ns(
            "start_latency_ns",
            "GPU start latency: the next work was submitted to the GPU, and had not started.",
            |g| CellValue::integer(g.parts.start_latency_ns),
        ),
        ns(
            "submission_ns",
            "Submission latency, where the driver's times are not recorded: the next work was \
             committed, and had not started on the GPU.",
            |g| CellValue::integer(g.parts.submission_ns),
        ),
        ns(
            "queued_ns",
            "Queued: the GPU, or the driver where its times are not recorded, had the next work before the gap began.",
            |g| CellValue::integer(g.parts.queued_ns),
        ),
        ns(
            "contention_ns",
            "Contention: another process used the GPU while the next work waited.",
            |g| CellValue::integer(g.parts.contention_ns),
        ),
        ns(
            "unknown_ns",
            "Unknown: the recording does not show the cause.",
            |g| CellValue::integer(g.parts.unknown_ns),
        ),
        field(
            "serialized",
            CellKind::Flag,
            "",
            "True if the program waited for the previous work before it encoded the next; \
             null if the tables do not join the two.",
            |g| CellValue::flag(g.serialized),
        ),
    ]
}
