//! What a reader should know about the numbers, in sentences.

use metalens_trace::Trace;

use crate::kernel::NamedBy;
use crate::report::Report;
use crate::spans::Span;
use crate::target::Target;
use crate::timeline::{ENCODERS, GPU_INTERVALS, GPU_STATES, Interval};

/// What the reading of the trace left to say.
pub(crate) fn trace_notes(trace: &Trace) -> Vec<String> {
    let ambiguities = trace.ambiguities(&[GPU_INTERVALS, GPU_STATES, ENCODERS]);
    let notes = trace.notes.iter().chain(&ambiguities);
    notes.map(ToString::to_string).collect()
}

/// What the numbers of a report leave to say.
pub(crate) fn report_notes(
    target: &Target,
    report: &Report,
    mine: &[Interval],
    window: Span,
) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(target.note.clone());
    let cut = mine
        .iter()
        .filter(|one| one.span.clip(window) != one.span)
        .count();
    if cut > 0 {
        notes.push(format!(
            "{cut} of the target's intervals reach out of the window and count with the part inside"
        ));
    }
    if report
        .kernels
        .iter()
        .all(|kernel| kernel.named_by == NamedBy::None)
    {
        notes.push(
            "none of the work is labelled, so kernels cannot be told apart: give encoders and \
             command buffers a label (setLabel; MLX: a build with MLX_METAL_DEBUG=ON; candle: its \
             debug-labels feature)"
                .to_owned(),
        );
    }
    let busy = &report.busy;
    match busy.machine_active_ns {
        Some(active) if active != busy.machine_busy_ns => notes.push(format!(
            "two tables disagree: the intervals of all processes cover {} ns of the window, the \
             GPU says it was active for {active} ns",
            busy.machine_busy_ns
        )),
        Some(_) => {}
        None => notes.push(format!(
            "{GPU_STATES} is not in the input, so the GPU's own Active time is unknown"
        )),
    }
    notes
}
