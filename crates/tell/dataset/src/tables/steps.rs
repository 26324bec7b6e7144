//! Defines `steps`: the steps of the main series, with what their time consists of.

use metalens_analyzer::{Analysis, FIGURES, Figure, StepParts};
use metalens_message::Quantity;

use super::field::{TableField, count, fill, ns, of_figure};
use crate::cells::MemoryTable;
use crate::error::Result;

pub(crate) fn table(analysis: &Analysis) -> Result<MemoryTable> {
    fill(&fields(), analysis.step_parts())
}

pub(crate) fn fields() -> Vec<TableField<StepParts>> {
    let mut fields: Vec<TableField<StepParts>> = vec![
        count(
            "number",
            "Number of the step in the whole recording, from 1.",
            |s| s.number.into(),
        ),
        ns("start_ns", "First start on the GPU.", |s| s.start_ns.into()),
        ns("end_ns", "First start on the GPU of the next step.", |s| {
            s.end_ns.into()
        }),
        ns("duration_ns", "Length of the step.", |s| {
            s.length_ns().into()
        }),
        ns("gpu_ns", "Time with work of the process on the GPU.", |s| {
            s.gpu_ns.into()
        }),
    ];
    let causes = FIGURES.iter().filter(|figure| figure.cause().is_some());
    fields.extend(causes.map(|figure| of_figure(figure, part)));
    fields
}

fn part(figure: &Figure, step: &StepParts) -> Option<f64> {
    Some(step.idle.get(figure.cause()?).number())
}
