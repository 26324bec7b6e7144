//! Writes raw events of the GPU's driver, from which Instruments derives the table of GPU
//! intervals.
//!
//! The events and their arguments are those of real bundles of an M1 and an M2. Only the arguments
//! that tell of GPU intervals are written; the others are 0. The codes of channels other than
//! Vertex, Fragment and Compute are unknown, so that their work has no event. Only bundles have these tables: an
//! export of `xctrace` has them if somebody asks for them, and metalens does not.

use super::inputs::{MACH_EPOCH, timebase};
use super::store::Store;
use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet};
use crate::plan::{Kick, Plan, ProcessIndex};
use crate::scenario::Clock;

/// Class of the driver's events.
const CLASS: u64 = 0x85;

/// An event of the driver.
struct Event {
    at_ns: u64,
    /// Process of its thread; `None` for a thread of the system.
    process: Option<ProcessIndex>,
    subclass: u64,
    code: u64,
    arguments: [u64; 4],
}

/// Writes the encoders of every command buffer, and its commit.
pub(super) fn commands(store: &mut Store<'_>) -> Result<(), Error> {
    let plan = store.plan();
    for buffer in &plan.buffers {
        let pid = u64::from(plan.process(buffer.process).pid);
        let event = |at_ns, code, arguments| Event {
            at_ns,
            process: Some(buffer.process),
            subclass: 0x08,
            code,
            arguments,
        };
        for encoder in plan.encoders_of(buffer) {
            let arguments = [buffer.id, encoder.id, pid, 0];
            write(store, &event(encoder.start_ns, 0x01, arguments))?;
        }
        write(
            store,
            &event(buffer.committed_ns, 0x07, [buffer.id, 0, 0, 0]),
        )?;
    }
    Ok(())
}

/// Writes the time of every kick on its channel, in ticks.
pub(super) fn execution(store: &mut Store<'_>) -> Result<(), Error> {
    let plan = store.plan();
    for (kick, channel) in known_channels(plan) {
        let event = Event {
            at_ns: kick.end_ns(),
            process: None,
            subclass: 0x90,
            code: 0x2A + channel,
            arguments: [
                u64::from(kick.submission),
                0,
                ticks(kick.start_ns, plan.clock),
                ticks(kick.end_ns(), plan.clock),
            ],
        };
        write(store, &event)?;
    }
    Ok(())
}

/// Writes the encoder of every submission with a known owner.
pub(super) fn submissions(store: &mut Store<'_>) -> Result<(), Error> {
    let plan = store.plan();
    for (kick, channel) in known_channels(plan).filter(|(kick, _)| kick.attributed) {
        let event = Event {
            at_ns: plan.buffer(kick.buffer).committed_ns,
            process: None,
            subclass: 0x93,
            code: 0x30B + channel,
            arguments: [
                plan.encoder(kick.encoder).id,
                0,
                u64::from(kick.submission),
                0,
            ],
        };
        write(store, &event)?;
    }
    Ok(())
}

/// Returns the kicks on channels with a known code, with the distance of that code from the first.
fn known_channels(plan: &Plan) -> impl Iterator<Item = (&Kick, u64)> {
    plan.kicks.iter().filter_map(|kick| {
        let channel = match plan.channels.text(kick.channel) {
            "Vertex" => 0,
            "Fragment" => 1,
            "Compute" => 2,
            _ => return None,
        };
        Some((kick, channel))
    })
}

/// Returns the first tick at or after an instant.
fn ticks(ns: u64, clock: Clock) -> u64 {
    let (numerator, denominator) = timebase(clock);
    MACH_EPOCH + (ns * denominator).div_ceil(numerator)
}

fn write(store: &mut Store<'_>, event: &Event) -> Result<(), Error> {
    store.row(|cells| {
        cells.number(Number::EventTime, event.at_ns);
        match event.process {
            Some(process) => cells.thread(process),
            None => cells.nothing(),
        }
        cells.number(Number::Core, 0);
        // Neither state nor stacks.
        for _ in 0..3 {
            cells.nothing();
        }
        for number in [CLASS, event.subclass, event.code, POINT] {
            cells.raw(number);
        }
        for argument in event.arguments {
            cells.raw(argument);
        }
    })
}

/// Function of an event that neither starts nor ends anything.
const POINT: u64 = 0;
