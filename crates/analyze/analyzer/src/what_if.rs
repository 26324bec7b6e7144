//! Predicts what a change of the program would leave, by a replay of the recorded command buffers.

use std::collections::BTreeMap;

use metalens_trace::Trace;

use crate::analyze::sanity_of;
use crate::basics::spans::Span;
use crate::basics::statistics::ratio;
use crate::error::{Error, Result};
use crate::findings::distrust_of;
use crate::findings::notes::about_missing_work;
use crate::measure::Measured;
use crate::metrics::busy_window::BusyWindow;
use crate::metrics::figures::FiguresInput;
use crate::replay::{limited_by, program::Change};
use crate::report::{Note, WHAT_IF_SCHEMA, WhatIf};
use crate::request::Request;

/// Change of a program.
pub struct ProgramChange<'a> {
    /// Number of waits that are in flight: 1 as recorded, 0 if the program never waits.
    pub in_flight: Option<usize>,
    /// Number of recorded command buffers that become one.
    pub per_buffer: usize,
    /// True if a command buffer is prepared during a wait, and committed after it.
    pub encode_ahead: bool,
    /// Factor of host work and encoding.
    pub host: f64,
    /// Factor of the driver's work.
    pub driver: f64,
    /// Factor of latencies.
    pub latency: f64,
    /// False if no other process uses the GPU.
    pub others: bool,
    /// Returns the factor of a kernel's GPU time.
    pub kernel: &'a dyn Fn(&str) -> f64,
}

/// Predicts the time of a changed program. The trace must have been read with
/// [`selection`](crate::selection).
pub fn what_if(trace: Trace, request: &Request, wanted: &ProgramChange<'_>) -> Result<WhatIf> {
    let measured = Measured::new(trace, request, None)?;
    let notes = loud_notes(&measured)?;
    let names = &measured.kernels.named;
    let factors = (0..names.count()).map(|kernel| (kernel, (wanted.kernel)(names.name(kernel))));
    let kernels: BTreeMap<usize, f64> = factors.filter(|&(_, factor)| factor != 1.0).collect();
    let changed_kernels = kernels
        .keys()
        .map(|&kernel| names.name(kernel).to_owned())
        .collect();
    let change = Change {
        host: wanted.host,
        encode: wanted.host,
        driver: wanted.driver,
        gpu: 1.0,
        latency: wanted.latency,
        kernels,
        others: wanted.others,
        encode_ahead: wanted.encode_ahead,
    };

    let input = FiguresInput {
        subject: &measured.subject,
        skips_warm_up: request.skip_warm_up,
        occupancy: &measured.occupancy,
        kernels: &measured.kernels,
        names: &measured.recording.names,
    };
    let steady = measured.figures.steady.as_ref();
    let starts = &measured.figures.iteration_starts;
    let (pace, (program, left_out, is_sample)) = input.replayed(steady, starts, |recorded| {
        let steps = recorded.steps;
        (recorded.program(), steps.left_out, steps.is_sample)
    });
    let command_buffers = program.commands.len();
    if command_buffers < 2 {
        return Err(Error::NoReplay);
    }

    let before_ns = program.time(&Change::NONE);
    let limited_before = limited_by(&program, &Change::NONE);
    let mut program = match wanted.in_flight {
        Some(1) | None => program,
        Some(times) => program.with_in_flight(times),
    };
    if wanted.per_buffer > 1 {
        program = program.merged(wanted.per_buffer);
    }
    let after_ns = program.time(&change);
    let waiting = measured.subject.waiting;
    Ok(WhatIf {
        schema: WHAT_IF_SCHEMA.to_owned(),
        command_buffers: command_buffers as u64,
        left_out: left_out as u64,
        is_sample,
        driver: measured.subject.chain.source,
        is_paced: pace.is_some(),
        waiting,
        before_ns,
        after_ns,
        speedup: ratio(before_ns, after_ns),
        limited_before,
        limited_by: limited_by(&program, &change),
        changed_kernels,
        notes,
    })
}

/// Returns the notes that change the meaning of the prediction. Fails if nothing follows from the
/// recording.
fn loud_notes(measured: &Measured) -> Result<Vec<Note>> {
    let (recording, subject) = (&measured.recording, &measured.subject);
    let gaps: Vec<Span> = measured.occupancy.gaps.iter().map(|gap| gap.span).collect();
    let busy_window = BusyWindow {
        chosen: &subject.chosen,
        window: subject.window(),
        busy: &measured.occupancy.busy,
        gaps: &gaps,
    };
    let source = recording.source.kind;
    let sanity = sanity_of(
        recording,
        subject,
        &measured.figures.work,
        busy_window,
        None,
    );
    if let Some(why) = distrust_of(&sanity, source) {
        return Err(Error::NoPrediction { why: why.text });
    }
    let notes = recording.notes.iter().chain(&subject.chosen.note).cloned();
    let notes = notes.chain(about_missing_work(&sanity, source));
    Ok(notes.filter(Note::is_loud).collect())
}
