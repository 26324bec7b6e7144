//! Predicts what a change of the program would leave, by a replay of the recorded command buffers.

use std::collections::BTreeMap;

use metalens_message::{Factor, Message, Ns, ratio};
use metalens_trace::Trace;

use crate::basics::spans::Span;
use crate::error::{Error, Result};
use crate::findings::distrust_of;
use crate::findings::notes::about_missing_work;
use crate::metrics::busy_window::BusyWindow;
use crate::metrics::figures::FiguresInput;
use crate::questions::analyze::{sanity_of, selected_step};
use crate::questions::measure::Measured;
use crate::replay::program::Change;
use crate::replay::{Answers, limited_by};
use crate::report::{Alternative, HeldBy, Note, WHAT_IF_SCHEMA, Waiting, WhatIf, is_answer};
use crate::request::Request;
use crate::subject::submissions::Submissions;

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
    let step = selected_step(&trace, request)?;
    let measured = Measured::new(trace, request, step)?;
    let notes = loud_notes(&measured)?;
    let names = &measured.kernels.named;
    let factors = (0..names.count()).map(|kernel| (kernel, (wanted.kernel)(names.name(kernel))));
    let kernels: BTreeMap<usize, f64> = factors.filter(|&(_, factor)| factor != 1.0).collect();
    let changed_kernels = kernels
        .keys()
        .map(|&kernel| names.name(kernel).to_owned())
        .collect();
    let change = Change {
        in_flight: wanted.in_flight.unwrap_or(1),
        per_buffer: wanted.per_buffer,
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
        choice: request.step.as_ref(),
        occupancy: &measured.occupancy,
        kernels: &measured.kernels,
        names: &measured.recording.names,
    };
    let judged = measured.figures.judged.as_ref();
    let answers = input.replayed(judged, Answers::new);
    let program = &answers.likely;
    let submissions = &measured.subject.submissions;
    let command_buffers = program.measured();
    if command_buffers < 2 {
        return Err(Error::unanswered(
            "the commits of fewer than two command buffers of the process are recorded",
            "record with the template Metal System Trace, or export metal-gpu-intervals with its \
             column start-latency; a window must hold two command buffers",
        ));
    }

    let before_ns = answers.recorded.time_ns;
    let limited_before = limited_by(program, &Change::NONE);
    let asked = alternative(&answers, "", &change);
    let changes = if change == Change::NONE {
        alternatives(&answers)
    } else {
        Vec::new()
    };
    let waiting = measured.subject.waits.summary;
    Ok(WhatIf {
        schema: WHAT_IF_SCHEMA.to_owned(),
        command_buffers: command_buffers as u64,
        left_out: submissions.left_out as u64,
        is_sample: submissions.is_sample,
        driver: measured.subject.chain.source,
        is_paced: measured.subject.pace.is_some(),
        waiting,
        before_ns: Ns(before_ns),
        after_ns: asked.after_ns,
        least_ns: asked.least_ns,
        most_ns: asked.most_ns,
        speedup: asked.speedup,
        step_before: answers.recorded.step,
        step_after: asked.step,
        limited_before,
        limited_by: limited_by(program, &change),
        changed_kernels,
        changes,
        notes,
    })
}

/// Returns what each change leaves: the best first, by what is sure where there is only a range.
fn alternatives(answers: &Answers) -> Vec<Alternative> {
    const NONE: Change = Change::NONE;
    #[rustfmt::skip]
    let changes = [
        ("--in-flight 2", Change { in_flight: 2, ..NONE }),
        ("--in-flight 0", Change { in_flight: 0, ..NONE }),
        ("--per-buffer 10", Change { per_buffer: 10, ..NONE }),
        ("--encode-ahead", Change { encode_ahead: true, ..NONE }),
        ("--host 0.5x", Change { host: 0.5, encode: 0.5, ..NONE }),
        ("--driver 0.5x", Change { driver: 0.5, ..NONE }),
        ("--latency 0.5x", Change { latency: 0.5, ..NONE }),
        ("--kernel '*=0.5x'", Change { gpu: 0.5, ..NONE }),
        ("--no-others", Change { others: false, ..NONE }),
    ];
    let alternatives = changes.iter();
    let alternatives = alternatives.map(|(option, change)| alternative(answers, option, change));
    let mut alternatives: Vec<Alternative> = alternatives.collect();
    alternatives.sort_by_key(|each| (each.after_ns.unwrap_or(each.most_ns), each.least_ns));
    alternatives
}

/// Returns what a change leaves that an option asks for.
fn alternative(answers: &Answers, option: &str, change: &Change) -> Alternative {
    let left = answers.left(change);
    let (least_ns, most_ns) = left.range();
    let after_ns = is_answer(least_ns, most_ns).then_some(left.likely_ns);
    Alternative {
        option: option.to_owned(),
        after_ns,
        least_ns,
        most_ns,
        speedup: ratio(Ns(answers.recorded.time_ns), after_ns.unwrap_or_default()).map(Factor),
        step: left.step.filter(|_| after_ns.is_some()),
    }
}

/// Returns why nobody can tell what a program waits for, if that is so.
fn unknown(waiting: &Waiting, submissions: &Submissions) -> Option<&'static str> {
    let completed = submissions
        .list
        .iter()
        .filter(|each| each.completed_ns.is_some());
    if waiting.held_by == Some(HeldBy::OtherProcess) {
        Some("the program goes on after GPU work of another process")
    } else if 2 * completed.count() < submissions.list.len() {
        Some("most completions are not recorded, so that nothing tells what the program waits for")
    } else {
        None
    }
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
    let unknown = || unknown(&subject.waits.summary, &subject.submissions).map(Message::from);
    if let Some(why) = distrust_of(&sanity, source).or_else(unknown) {
        return Err(Error::unanswered(
            format!("no prediction follows from this recording: {why}"),
            "record again: `metalens analyze` says what is missing, above the figures",
        ));
    }
    let notes = recording.notes.iter().chain(&subject.chosen.note).cloned();
    let notes = notes.chain(about_missing_work(&sanity, source));
    Ok(notes.filter(Note::is_loud).collect())
}
