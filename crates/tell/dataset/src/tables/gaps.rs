//! Defines `gaps`: the stretches without GPU work of the analyzed process, with their causes.

use metalens_analyzer::{Analysis, ExplainedGap, FIGURES, Figure};
use metalens_message::Quantity;

use super::field::{TableField, field, fill, ns, of_figure, text};
use crate::cells::{CellKind, MemoryTable};
use crate::error::Result;

pub(crate) fn table(analysis: &Analysis) -> Result<MemoryTable> {
    fill(&fields(), analysis.gaps())
}

pub(crate) fn fields<'t>() -> Vec<TableField<ExplainedGap<'t>>> {
    let mut fields: Vec<TableField<ExplainedGap<'t>>> = vec![
        ns("start_ns", "Start of the gap.", |g| g.start_ns.into()),
        ns("end_ns", "End of the gap.", |g| {
            g.start_ns.saturating_add(g.duration_ns).into()
        }),
        ns("duration_ns", "Length of the gap.", |g| {
            g.duration_ns.into()
        }),
        text("before", "Kernel before the gap.", |g| g.before.into()),
        text("after", "Kernel after the gap.", |g| g.after.into()),
        text(
            "cause",
            "Largest cause: completion, host, encoding, driver-wait, driver, \
             start-latency, submission, queued, contention, unknown.",
            |g| g.cause.name().into(),
        ),
    ];
    let causes = FIGURES.iter().filter(|figure| figure.cause().is_some());
    fields.extend(causes.map(|figure| of_figure(figure, part)));
    fields.push(field(
        "serialized",
        CellKind::Flag,
        "",
        "True if the program waited for the previous work before it encoded the \
         next; null if unknown.",
        |g| g.serialized.into(),
    ));
    fields
}

fn part(figure: &Figure, gap: &ExplainedGap<'_>) -> Option<f64> {
    Some(gap.parts.get(figure.cause()?).number())
}
