//! Notes about the numbers of a report.

use metalens_message::{Message, Ns, Value, counted, message, name, table, ungrouped};

use crate::metrics::sanity::rows_by_table;
use crate::report::{DoubtReason, Note, Report, Sanity, SourceKind};
use crate::subject::Subject;
use crate::subject::interval::Interval;
use crate::tables::commands::{APPLICATION, COMPLETIONS, ENCODERS, SUBMISSIONS};
use crate::tables::gpu::{GPU_INTERVALS, GPU_STATES};
use crate::tables::raw::KERNEL_EVENTS;
use crate::tables::times::RowsOutside;

/// Returns the notes about the numbers of a report.
pub(crate) fn report_notes(
    subject: &Subject,
    report: &Report,
    outside: &[RowsOutside],
) -> Vec<Note> {
    let mut notes = Vec::new();
    notes.extend(rows_outside(report, outside));
    notes.extend(about_missing_work(&report.sanity, report.source.kind));
    notes.extend(subject.chosen.note.clone());
    let window = subject.window();
    let reaches_out = |interval: &&Interval| interval.span.clip(window) != interval.span;
    let cut = subject.mine.iter().filter(reaches_out).count();
    if cut > 0 {
        let text = message!(
            "{} intervals of the process extend beyond the window; only the part inside counts",
            ungrouped(cut as u64)
        );
        notes.push(Note::quiet("intervals-cut", text));
    }
    notes.extend(reused(report));
    notes.extend(contradictions(subject));
    notes.extend(uncommitted(subject));
    notes.extend(cause_notes(subject, report));
    notes.extend(active_time(report));
    notes.extend(lifetimes(report));
    notes.extend(unnamed(report));
    notes
}

/// Counts the CPU samples with functions that keep their address.
fn unnamed(report: &Report) -> Option<Note> {
    let cpu = report.cpu.as_ref().filter(|cpu| cpu.unnamed > 0)?;
    Some(Note::quiet(
        "functions-unnamed",
        unnamed_functions(cpu.unnamed, cpu.samples),
    ))
}

/// Returns the sentence on CPU samples with functions that keep their address.
pub(crate) fn unnamed_functions(unnamed: u64, samples: u64) -> Message {
    message!(
        "{} of {} CPU samples have functions without a name, which keep their address: the input \
         lacks the symbols, and where the innermost function has none, it is unknown whether the \
         thread was running or waiting",
        ungrouped(unnamed),
        ungrouped(samples)
    )
}

/// Counts the rows that are outside of the recording.
fn rows_outside(report: &Report, outside: &[RowsOutside]) -> Option<Note> {
    let wall_ns = report.run.duration_ns?;
    (!outside.is_empty()).then(|| {
        let text = message!(
            "{}: times outside of the recording, which lasted {}. What has such a time was left out, \
             and there is no verdict: the input was edited or damaged",
            rows_by_table(outside),
            wall_ns
        );
        Note::loud("rows-outside-recording", text)
    })
}

/// Returns the notes about work of the process that is not in the figures.
pub(crate) fn about_missing_work(
    sanity: &Sanity,
    source: SourceKind,
) -> impl Iterator<Item = Note> {
    // The reader of a log has a note of its own.
    let is_read = source != SourceKind::Log;
    let without = without_interval(sanity).filter(|_| is_read);
    without.into_iter().chain(without_process(sanity))
}

/// Counts the command buffers that were encoded and completed, and have no GPU interval.
fn without_interval(sanity: &Sanity) -> Option<Note> {
    let (without, finished) = (sanity.buffers_without_interval?, sanity.buffers_finished?);
    (without > 0).then(|| {
        let text = message!(
            "{} of {} command buffers of the process were encoded and completed, and have no GPU \
             interval: their work is missing in all figures, unless they had none for the GPU",
            ungrouped(without),
            ungrouped(finished)
        );
        Note::loud("intervals-missing", text)
    })
}

/// Counts the GPU intervals without a process that may be of this one.
fn without_process(sanity: &Sanity) -> Option<Note> {
    let mut doubtful = sanity.doubtful.iter();
    let nameless = doubtful.find(|rows| rows.reason == DoubtReason::WithoutProcess)?;
    let text = message!(
        "{} GPU intervals in the window name no process, beside {} of this one, and may be of it: the \
         encodings and completions do not tell. They count as work of other processes",
        ungrouped(nameless.rows),
        ungrouped(nameless.of - nameless.rows)
    );
    Some(Note::loud("intervals-without-process", text))
}

/// Label of the intervals that MoltenVK, OpenGL and OpenCL get on the channel Compute.
const LIFETIMES: &str = "GL/CL";

/// Counts the intervals that may be no work of the GPU. The authors of one program saw that an interval
/// of this label lasts from the commit of a command buffer to its completion.
fn lifetimes(report: &Report) -> Option<Note> {
    let lifetimes = report.kernels.iter().filter(|kernel| {
        let is_label = kernel.name.split(':').any(|part| part.trim() == LIFETIMES);
        is_label && kernel.channel.as_deref() == Some("Compute")
    });
    let (count, total_ns) = lifetimes.fold((0, Ns(0)), |(count, total_ns), kernel| {
        (count + kernel.instances, total_ns + kernel.total_ns)
    });
    (count > 0).then(|| {
        let text = message!(
            "{} on the channel Compute {} the label {} ({} in all). With MoltenVK, such an \
             interval lasts from commit to completion, so GPU busy is too large by the time when \
             nothing else ran; the channels Vertex and Fragment show its work",
            counted(count, "interval"),
            if count == 1 { "has" } else { "have" },
            name(LIFETIMES),
            total_ns,
        );
        Note::loud("lifetimes-count-as-busy", text)
    })
}

/// Returns the note of a report whose GPU intervals are computed from raw events.
pub(crate) fn intervals_from_raw_events() -> Note {
    let text = message!(
        "{} is missing or empty, so the GPU intervals are computed from raw {} events: times, \
         channels, command buffers, encoders and processes, without labels, on the channels Vertex, \
         Fragment and Compute. The rule was checked only on recordings of an M1, an M2 and an M2 \
         Ultra; `metalens verify --compare` compares both if a recording has both",
        table(GPU_INTERVALS.schema),
        table(KERNEL_EVENTS.schema),
    );
    Note::loud("intervals-from-raw-events", text)
}

/// Counts the command buffers that were committed several times.
fn reused(report: &Report) -> Option<Note> {
    let counts = &report.counts;
    (counts.reused_command_buffers > 0).then(|| {
        let text = message!(
            "{} of {} command buffers were committed several times, as Metal 4 allows. Their \
             submission and completion latency, their size, and the causes of the gaps after them \
             are unknown, and so are the queue depth and the number of commits",
            ungrouped(counts.reused_command_buffers),
            ungrouped(counts.command_buffers)
        );
        Note::loud("reused-command-buffers", text)
    })
}

/// Names the tables of encodings in which rows contradict each other.
fn contradictions(subject: &Subject) -> impl Iterator<Item = Note> {
    let tables = subject.commands.contradictions().into_iter();
    let contradicted = tables.filter(|&(.., count)| count > 0);
    let completions = subject.commands.contradicted_completions() as u64;
    let completions = (completions > 0).then(|| {
        let text = message!(
            "{} has times that contradict the commits of {}, or each other; these completions are \
             unknown",
            table(COMPLETIONS.schema),
            counted(completions, "command buffer")
        );
        Note::quiet("rows-contradict", text)
    });
    let encodings = contradicted.map(|(name, what, count)| {
        let text = message!(
            "{} has a second, different time for the same {} in {}; these encodings are unknown",
            table(name),
            what,
            counted(count as u64, "row")
        );
        Note::quiet("rows-contradict", text)
    });
    completions.into_iter().chain(encodings)
}

/// Counts the command buffers that the queue depth leaves out.
fn uncommitted(subject: &Subject) -> Option<Note> {
    let known = |known: bool| {
        let own = subject.buffers.iter().filter(|buffer| !buffer.is_reused);
        let buffers = own.filter(move |buffer| buffer.committed_ns().is_some() == known);
        buffers.count() as u64
    };
    // Without any commit there is no queue depth at all.
    (known(true) > 0 && known(false) > 0).then(|| {
        let text = message!(
            "the commits of {} of {} command buffers are not recorded; submission latency, commit \
             interval and queue depth leave these buffers out",
            ungrouped(known(false)),
            ungrouped(subject.buffers.len() as u64)
        );
        Note::quiet("commits-missing", text)
    })
}

/// Returns notes about gaps whose cause is unknown, or known from other tables.
fn cause_notes(subject: &Subject, report: &Report) -> Vec<Note> {
    let ledger = &report.idle;
    let present = subject.commands.tables;
    let mut notes = Vec::new();
    let is_log = report.source.is_log();
    let tables = [
        (
            present.encoders,
            ENCODERS.schema,
            "encode",
            "encoding times",
        ),
        (
            present.completions,
            COMPLETIONS.schema,
            "completed",
            "completion times",
        ),
    ];
    for (_, schema, key, what) in tables.into_iter().filter(|(there, ..)| !there) {
        let lacks = if is_log {
            message!("no command buffer of the log has {}", name(key))
        } else {
            message!("{} is not recorded", table(schema))
        };
        let text = message!(
            "{}, so {} and the causes of idle time are unknown",
            lacks,
            what
        );
        notes.push(Note::quiet("table-missing", text));
    }

    if let Some(recovered) = ledger.recovered {
        let text = message!(
            "the encoder list lost {} of the encodings that end a gap: {} were found in {}, and \
             {} in {}, where encoding includes the time up to the commit",
            ungrouped(recovered.from_intervals + recovered.from_submissions),
            ungrouped(recovered.from_intervals),
            table(APPLICATION.schema),
            ungrouped(recovered.from_submissions),
            table(SUBMISSIONS.schema)
        );
        notes.push(Note::quiet("encodings-recovered", text));
    }

    let encodings = present.encoders.then_some(ledger.without_encoding);
    let completions = present.completions.then_some(ledger.without_completion);
    let lost = [
        ("encodings-lost", "encoding after", encodings),
        ("completions-lost", "completion before", completions),
    ];
    for (id, what, gaps) in lost {
        let Some(gaps) = gaps.filter(|gaps| *gaps > 0) else {
            continue;
        };
        let text = message!(
            "the {} {} of {} gaps is not recorded: their cause is unknown",
            what,
            ungrouped(gaps),
            ungrouped(ledger.pairs)
        );
        notes.push(Note::quiet(id, text));
    }
    notes
}

/// Returns a note if the Active time of the GPU contradicts the intervals, or is unknown.
fn active_time(report: &Report) -> Option<Note> {
    let busy = &report.busy;
    match busy.machine_active_ns {
        Some(active) if active != busy.machine_busy_ns => {
            let text = message!(
                "two tables disagree: the intervals of all processes cover {} of the window, but \
                 according to its own states the GPU was active for {}. Over whole recordings, half of \
                 the real ones differ by 7 to 184 µs; in the window of a program, none does",
                exact(busy.machine_busy_ns),
                exact(active)
            );
            Some(Note::quiet("tables-disagree", text))
        }
        Some(_) => None,
        None if report.source.is_log() => None,
        None => {
            let text = message!(
                "{} is not recorded, so the Active time of the GPU is unknown",
                table(GPU_STATES.schema)
            );
            Some(Note::quiet("table-missing", text))
        }
    }
}

/// Returns a time in nanoseconds, however long it is.
fn exact(Ns(ns): Ns) -> Message {
    Message::value(format!("{ns} ns"), Value::Time { ns })
}
