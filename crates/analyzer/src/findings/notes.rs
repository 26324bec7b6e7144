//! What a reader should know about the numbers, in sentences.

use crate::basics::units::counted;
use crate::report::Report;
use crate::subject::Subject;
use crate::subject::timeline::Interval;
use crate::tables::commands::{APPLICATION, COMPLETIONS, ENCODERS, SUBMISSIONS};
use crate::tables::gpu::GPU_STATES;

/// Whether a note changes what every number means, so that whoever shows numbers
/// must show it: it begins with a word in capitals.
#[must_use]
pub fn is_loud(note: &str) -> bool {
    ["SYNTHETIC", "SIMULATED", "TRUNCATED"]
        .iter()
        .any(|word| note.starts_with(word))
}

/// What the numbers of a report leave to say.
pub(crate) fn report_notes(subject: &Subject, report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(subject.target.note.clone());
    let window = subject.window();
    let reaches_out = |one: &&Interval| one.span.clip(window) != one.span;
    let cut = subject.mine.iter().filter(reaches_out).count();
    if cut > 0 {
        notes.push(format!(
            "{cut} of the target's intervals reach out of the window and count with the part inside"
        ));
    }
    notes.extend(contradictions(subject));
    notes.extend(uncommitted(subject));
    notes.extend(ledger_notes(subject, report));
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

/// Names the tables in which rows contradict each other.
fn contradictions(subject: &Subject) -> impl Iterator<Item = String> {
    let buffers = &subject.buffers;
    let is_mine = |id| buffers.binary_search_by_key(&id, |one| one.id).is_ok();
    let found = subject.commands.contradictions(is_mine).into_iter();
    found
        .filter(|&(.., count)| count > 0)
        .map(|(table, what, count)| {
            format!(
                "{table} has a second, different time for the same {what} in {}; the first row of \
                 each counts",
                counted(count as u64, "row")
            )
        })
}

/// Counts the command buffers that the queue depth leaves out.
fn uncommitted(subject: &Subject) -> Option<String> {
    let known = |known: bool| {
        let buffers = subject.buffers.iter();
        buffers
            .filter(move |one| one.committed_ns().is_some() == known)
            .count()
    };
    // Without any commit there is no queue depth at all.
    (known(true) > 0 && known(false) > 0).then(|| {
        format!(
            "commits not recorded: {} of the process's {} command buffers; start latency, cadence \
             and queue depth leave them out",
            known(false),
            subject.buffers.len()
        )
    })
}

/// What the ledger could not join, and what it joined by other tables.
fn ledger_notes(subject: &Subject, report: &Report) -> Vec<String> {
    let ledger = &report.ledger;
    let present = subject.commands.tables;
    let mut notes = Vec::new();
    let tables = [
        (present.encoders, ENCODERS.schema, "when work was encoded"),
        (
            present.completions,
            COMPLETIONS.schema,
            "when work was known to be done",
        ),
    ];
    for (_, table, what) in tables.into_iter().filter(|(there, ..)| !there) {
        notes.push(format!(
            "{table} is not in the input, so it is unknown {what}, and the idle time cannot be \
             explained"
        ));
    }
    if let Some(recovered) = ledger.recovered {
        notes.push(format!(
            "the encoder list lost {} of the encodings that end a gap; {} were found in {APPLICATION} \
             and {} in {SUBMISSIONS}, which has the time up to the commit",
            recovered.from_intervals + recovered.from_submissions,
            recovered.from_intervals,
            recovered.from_submissions,
        ));
    }
    if present.encoders && ledger.without_encoding > 0 {
        notes.push(format!(
            "{} of {} gaps end with work whose encoding is not in the recording: they are \
             unexplained",
            ledger.without_encoding, ledger.pairs
        ));
    }
    if present.completions && ledger.without_completion > 0 {
        notes.push(format!(
            "{} of {} gaps begin with work whose completion is not in the recording: they are \
             unexplained",
            ledger.without_completion, ledger.pairs
        ));
    }
    notes
}
