//! What a reader should know about the numbers.

use crate::basics::message::{Message, Value, counted, table, ungrouped};
use crate::message;
use crate::report::{Note, Report};
use crate::subject::Subject;
use crate::subject::timeline::Interval;
use crate::tables::commands::{APPLICATION, COMPLETIONS, ENCODERS, SUBMISSIONS};
use crate::tables::gpu::GPU_STATES;

/// Returns what the numbers of a report leave to say.
pub(crate) fn report_notes(subject: &Subject, report: &Report) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(subject.target.note.clone());
    let window = subject.window();
    let reaches_out = |one: &&Interval| one.span.clip(window) != one.span;
    let cut = subject.mine.iter().filter(reaches_out).count();
    if cut > 0 {
        let text = message!(
            "{} of the target's intervals reach out of the window and count with the part inside",
            ungrouped(cut as u64)
        );
        notes.push(Note::quiet("intervals-cut", text));
    }
    notes.extend(contradictions(subject));
    notes.extend(uncommitted(subject));
    notes.extend(ledger_notes(subject, report));
    notes.extend(active_time(report));
    notes
}

/// Names the tables in which rows contradict each other.
fn contradictions(subject: &Subject) -> impl Iterator<Item = Note> {
    let buffers = &subject.buffers;
    let is_mine = |id| buffers.binary_search_by_key(&id, |one| one.id).is_ok();
    let found = subject.commands.contradictions(is_mine).into_iter();
    let found = found.filter(|&(.., count)| count > 0);
    found.map(|(name, what, count)| {
        let text = message!(
            "{} has a second, different time for the same {} in {}; the first row of each counts",
            table(name),
            what,
            counted(count as u64, "row")
        );
        Note::quiet("rows-contradict", text)
    })
}

/// Counts the command buffers that the queue depth leaves out.
fn uncommitted(subject: &Subject) -> Option<Note> {
    let known = |known: bool| {
        let buffers = subject.buffers.iter();
        let buffers = buffers.filter(move |one| one.committed_ns().is_some() == known);
        buffers.count() as u64
    };
    // Without any commit there is no queue depth at all.
    (known(true) > 0 && known(false) > 0).then(|| {
        let text = message!(
            "commits not recorded: {} of the process's {} command buffers; start latency, cadence \
             and queue depth leave them out",
            ungrouped(known(false)),
            ungrouped(subject.buffers.len() as u64)
        );
        Note::quiet("commits-missing", text)
    })
}

/// What the ledger could not join, and what it joined by other tables.
fn ledger_notes(subject: &Subject, report: &Report) -> Vec<Note> {
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
    for (_, name, what) in tables.into_iter().filter(|(there, ..)| !there) {
        let text = message!(
            "{} is not in the input, so it is unknown {}, and the idle time cannot be explained",
            table(name),
            what
        );
        notes.push(Note::quiet("table-missing", text));
    }
    if let Some(recovered) = ledger.recovered {
        let text = message!(
            "the encoder list lost {} of the encodings that end a gap; {} were found in {} and {} \
             in {}, which has the time up to the commit",
            ungrouped(recovered.from_intervals + recovered.from_submissions),
            ungrouped(recovered.from_intervals),
            table(APPLICATION.schema),
            ungrouped(recovered.from_submissions),
            table(SUBMISSIONS.schema)
        );
        notes.push(Note::quiet("encodings-recovered", text));
    }
    if present.encoders && ledger.without_encoding > 0 {
        let text = message!(
            "{} of {} gaps end with work whose encoding is not in the recording: they are \
             unexplained",
            ungrouped(ledger.without_encoding),
            ungrouped(ledger.pairs)
        );
        notes.push(Note::quiet("encodings-lost", text));
    }
    if present.completions && ledger.without_completion > 0 {
        let text = message!(
            "{} of {} gaps begin with work whose completion is not in the recording: they are \
             unexplained",
            ungrouped(ledger.without_completion),
            ungrouped(ledger.pairs)
        );
        notes.push(Note::quiet("completions-lost", text));
    }
    notes
}

/// Whether the GPU's own Active time contradicts the intervals, or is unknown.
fn active_time(report: &Report) -> Option<Note> {
    let busy = &report.busy;
    match busy.machine_active_ns {
        Some(active) if active != busy.machine_busy_ns => {
            let text = message!(
                "two tables disagree: the intervals of all processes cover {} of the window, the \
                 GPU says it was active for {}",
                exact(busy.machine_busy_ns),
                exact(active)
            );
            Some(Note::quiet("tables-disagree", text))
        }
        Some(_) => None,
        None => {
            let text = message!(
                "{} is not in the input, so the GPU's own Active time is unknown",
                table(GPU_STATES.schema)
            );
            Some(Note::quiet("table-missing", text))
        }
    }
}

/// A time to the nanosecond, however long it is.
fn exact(ns: u64) -> Message {
    Message::value(format!("{ns} ns"), Value::Time { ns })
}
