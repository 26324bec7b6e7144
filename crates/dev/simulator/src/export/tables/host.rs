//! Writes the tables of processes on the CPU: their signposts, stack samples and hangs.

use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::export::functions;
use crate::export::schema::Schema;
use crate::plan::PlannedSignpost;

pub(super) const OS_SIGNPOST: Schema = Schema {
    name: "os-signpost",
    documentation: "What processes marked with signposts.",
    columns: &[
        ("time", "Timestamp", "event-time"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
        ("event-type", "Event Type", "event-type"),
        ("scope", "Scope", "string"),
        (
            "identifier",
            "Signpost identifier",
            "os-signpost-identifier",
        ),
        ("name", "Name", "signpost-name"),
        ("format-string", "Format String", "format-string"),
        ("backtrace", "Backtrace", "text-backtrace"),
        ("subsystem", "Subsystem", "subsystem"),
        ("category", "Category", "category"),
        ("message", "Message", "os-log-metadata"),
        ("emit-location", "Emit Location", "return-location"),
    ],
};

/// Writes `os-signpost`: a row for the start of each signpost, and one for its end.
pub(super) fn signposts<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let events = |signpost: &'a PlannedSignpost| {
        let first = if signpost.end_ns.is_some() {
            "Begin"
        } else {
            "Event"
        };
        let end = signpost.end_ns.map(|end_ns| (end_ns, "End", signpost));
        std::iter::once((signpost.start_ns, first, signpost)).chain(end)
    };
    let mut rows: Vec<_> = sheet.plan().signposts.iter().flat_map(events).collect();
    rows.sort_by_key(|(at_ns, _, _)| *at_ns);

    for (at_ns, event, signpost) in rows {
        sheet.row(|cells| {
            cells.number(Number::EventTime, at_ns);
            cells.thread(signpost.process);
            cells.process(signpost.process);
            cells.text(Text::EventType, event);
            cells.text(Text::String, "Process");
            cells.number(Number::SignpostId, signpost.id);
            cells.text(Text::SignpostName, &signpost.name);
            cells.text(Text::FormatString, "");
            // No real bundle shows how the backtrace, the message and the location are stored.
            cells.nothing();
            cells.text(Text::Subsystem, &signpost.subsystem);
            cells.text(Text::Category, &signpost.category);
            cells.nothing();
            cells.nothing();
        })?;
    }
    Ok(())
}

pub(super) const TIME_PROFILE: Schema = Schema {
    name: "time-profile",
    documentation: "What threads were doing, sampled.",
    columns: &[
        ("time", "Sample Time", "sample-time"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
        ("core", "Core", "core"),
        ("thread-state", "State", "thread-state"),
        ("weight", "Weight", "weight"),
        ("stack", "Backtrace", "backtrace"),
    ],
};

/// Writes `time-profile`: the stacks of sampled threads.
pub(super) fn samples<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    for sample in &plan.samples {
        let process = sample.process;
        let stack = functions::stack(plan, process, sample.kind);
        let is_running = sample.kind.is_running();
        sheet.row(|cells| {
            cells.number(Number::SampleTime, sample.at_ns);
            cells.thread(process);
            cells.process(process);
            cells.number(Number::Core, 4 + process.get() as u64 % 4);
            cells.text(
                Text::ThreadState,
                if is_running { "Running" } else { "Blocked" },
            );
            cells.number(Number::Weight, sample.weight_ns);
            cells.stack(&stack);
        })?;
    }
    Ok(())
}

pub(super) const POTENTIAL_HANGS: Schema = Schema {
    name: "potential-hangs",
    documentation: "When main threads did not respond.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("hang-type", "Hang Type", "hang-type"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
    ],
};

/// Writes `potential-hangs`: times when main threads did not respond.
pub(super) fn hangs<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    for hang in &sheet.plan().hangs {
        sheet.row(|cells| {
            cells.number(Number::StartTime, hang.start_ns);
            cells.number(Number::Duration, hang.duration_ns);
            cells.text(Text::HangType, &hang.kind);
            cells.thread(hang.process);
            cells.process(hang.process);
        })?;
    }
    Ok(())
}
