//! `gaps`: when the target left the GPU idle, and where that time went.

use metalens_analyzer::{Analysis, ExplainedGap};

use super::{Field, field, fill, ns, text};
use crate::cells::{Kind, Table, Value};
use crate::error::Result;

pub(crate) fn table(analysis: &Analysis) -> Result<Table> {
    fill(&fields(), analysis.gaps())
}

pub(crate) fn fields<'t>() -> Vec<Field<ExplainedGap<'t>>> {
    vec![
        ns(
            "start_ns",
            "When it began, since the recording began.",
            |g| Value::whole(g.start_ns),
        ),
        ns("end_ns", "When it ended.", |g| {
            Value::whole(g.start_ns.saturating_add(g.duration_ns))
        }),
        ns("duration_ns", "How long it lasted.", |g| {
            Value::whole(g.duration_ns)
        }),
        text(
            "before",
            "The kernel before it; null at the window's start.",
            |g| Value::text(g.before),
        ),
        text(
            "after",
            "The kernel after it; null at the window's end.",
            |g| Value::text(g.after),
        ),
        text(
            "cause",
            "What most of it was spent on: completion, host, encode, launch, queued, foreign, \
             unexplained.",
            |g| Value::Text(g.cause.name()),
        ),
        ns(
            "completion_ns",
            "Until the program knew that the work before was done.",
            |g| Value::whole(g.parts.completion_ns),
        ),
        ns(
            "host_ns",
            "The program knew, and did something else than encode.",
            |g| Value::whole(g.parts.host_ns),
        ),
        ns("encoding_ns", "The program encoded the next work.", |g| {
            Value::whole(g.parts.encoding_ns)
        }),
        ns(
            "submission_ns",
            "The next work was encoded and on its way to the GPU.",
            |g| Value::whole(g.parts.submission_ns),
        ),
        ns(
            "queued_ns",
            "The GPU had the next work before the gap began.",
            |g| Value::whole(g.parts.queued_ns),
        ),
        ns(
            "contention_ns",
            "The next work was encoded, and another process held the GPU.",
            |g| Value::whole(g.parts.contention_ns),
        ),
        ns("unknown_ns", "The recording does not say.", |g| {
            Value::whole(g.parts.unknown_ns)
        }),
        field(
            "serialized",
            Kind::Flag,
            "",
            "Whether the program waited for the work before ere it began with what comes after; \
             null where that cannot be joined.",
            |g| Value::flag(g.serialized),
        ),
    ]
}
