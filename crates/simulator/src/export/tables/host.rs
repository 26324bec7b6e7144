//! What processes show of themselves on the CPU: signposts, stack samples, hangs.

use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet, Text};
use crate::export::functions;
use crate::plan::host::Marked;

/// `os-signpost`: a row where each begins, and one where it ends.
pub(super) fn signposts<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let ends = |marked: &'a Marked| {
        let first = if marked.end_ns.is_some() {
            "Begin"
        } else {
            "Event"
        };
        let end = marked.end_ns.map(|end_ns| (end_ns, "End", marked));
        std::iter::once((marked.start_ns, first, marked)).chain(end)
    };
    let mut rows: Vec<_> = sheet.plan().signposts.iter().flat_map(ends).collect();
    rows.sort_by_key(|(at_ns, _, _)| *at_ns);
    for (at_ns, event, marked) in rows {
        sheet.row(|cells| {
            cells.number(Number::EventTime, at_ns);
            cells.thread(marked.process);
            cells.process(marked.process);
            cells.text(Text::EventType, event);
            cells.text(Text::String, "Process");
            cells.number(Number::SignpostId, marked.id);
            cells.text(Text::SignpostName, &marked.name);
            cells.text(Text::FormatString, "");
            // Nobody has seen how a bundle stores the backtrace, the message and the location.
            cells.nothing();
            cells.text(Text::Subsystem, &marked.subsystem);
            cells.text(Text::Category, &marked.category);
            cells.nothing();
            cells.nothing();
        })?;
    }
    Ok(())
}

/// `time-profile`: the stacks of sampled threads.
pub(super) fn samples<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    for sample in &plan.samples {
        let process = sample.process;
        let stack = functions::stack(plan, process, sample.doing);
        let running = sample.doing.is_running();
        sheet.row(|cells| {
            cells.number(Number::SampleTime, sample.at_ns);
            cells.thread(process);
            cells.process(process);
            cells.number(Number::Core, 4 + process.get() as u64 % 4);
            cells.text(
                Text::ThreadState,
                if running { "Running" } else { "Blocked" },
            );
            cells.number(Number::Weight, sample.weight_ns);
            cells.stack(&stack);
        })?;
    }
    Ok(())
}

/// `potential-hangs`: when main threads did not answer.
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
