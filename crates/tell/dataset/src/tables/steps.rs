//! Defines `steps`: the steps of the main series, with what their time consists of.

use metalens_analyzer::{Analysis, FIGURES, Figure, StepParts};
use metalens_message::Quantity;

use super::field::{TableField, columns, fill, of_figure};
use crate::cells::MemoryTable;
use crate::error::Result;

pub(crate) fn table(analysis: &Analysis) -> Result<MemoryTable> {
    fill(&fields(), analysis.step_parts())
}

pub(crate) fn fields() -> Vec<TableField<StepParts>> {
    let mut fields: Vec<TableField<StepParts>> = columns! { s:
        "number" COUNT "Number of the step in the whole recording, from 1." = s.number;
        "start_ns" NS "First start on the GPU." = s.start_ns;
        "end_ns" NS "First start on the GPU of the next step." = s.end_ns;
        "duration_ns" NS "Length of the step." = s.length_ns();
        "gpu_ns" NS "Time with work of the process on the GPU." = s.gpu_ns;
    };
    let causes = FIGURES.iter().filter(|figure| figure.cause().is_some());
    fields.extend(causes.map(|figure| of_figure(figure, part)));
    fields
}

fn part(figure: &Figure, step: &StepParts) -> Option<f64> {
    Some(step.idle.get(figure.cause()?).number())
}
