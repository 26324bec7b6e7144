//! Defines `gaps`: the stretches without GPU work of the analyzed process, with their causes.

use metalens_analyzer::{Analysis, ExplainedGap, FIGURES, Figure};
use metalens_message::Quantity;

use super::field::{TableField, columns, fill, of_figure};
use crate::cells::MemoryTable;
use crate::error::Result;

pub(crate) fn table(analysis: &Analysis) -> Result<MemoryTable> {
    fill(&fields(), analysis.gaps())
}

pub(crate) fn fields<'t>() -> Vec<TableField<ExplainedGap<'t>>> {
    let mut fields: Vec<TableField<ExplainedGap<'t>>> = columns! { g:
        "start_ns" NS "Start of the gap." = g.start_ns;
        "end_ns" NS "End of the gap." = g.start_ns.saturating_add(g.duration_ns);
        "duration_ns" NS "Length of the gap." = g.duration_ns;
        "before" TEXT "Kernel before the gap." = g.before;
        "after" TEXT "Kernel after the gap." = g.after;
        "cause" TEXT "Largest cause: completion, host, encoding, driver-wait, driver, start-latency, \
            submission, queued, contention, unknown."
            = g.cause.name();
    };
    let causes = FIGURES.iter().filter(|figure| figure.cause().is_some());
    fields.extend(causes.map(|figure| of_figure(figure, part)));
    let waits: Vec<TableField<ExplainedGap<'t>>> = columns! { g:
        "serialized" FLAG "True if the program waited for the previous work before it encoded the \
            next; null if unknown."
            = g.serialized;
    };
    fields.extend(waits);
    fields
}

fn part(figure: &Figure, gap: &ExplainedGap<'_>) -> Option<f64> {
    Some(gap.parts.get(figure.cause()?).number())
}
