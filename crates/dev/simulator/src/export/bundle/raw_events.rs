//! Writes raw events of the GPU's driver, from which Instruments derives the table of GPU
//! intervals.
//!
//! The events and their arguments are those of real bundles of an M1 and an M2. Only the arguments
//! about GPU intervals are written; the others are 0. The codes of channels other than Vertex,
//! Fragment and Compute are unknown, so their work has no event.

use super::store::Store;
use crate::error::Error;
use crate::export::cells::{Cells, Number, Sheet};
use crate::export::dates;
use crate::export::schema::Schema;
use crate::plan::{Kick, Plan, ProcessIndex};
use crate::scenario::kinds::Clock;

pub(super) const KDEBUG: Schema = Schema {
    name: "kdebug",
    documentation: "",
    columns: &[
        ("time", "Timestamp", "event-time"),
        ("thread", "Thread", "thread"),
        ("core-index", "Core Index", "core"),
        ("thread-state", "Thread State", "thread-state"),
        ("cp-kernel-callstack", "CP Kernel Callstack", "kperf-bt"),
        ("cp-user-callstack", "CP User Callstack", "kperf-bt"),
        ("class", "Class", "kdebug-class"),
        ("subclass", "Subclass", "kdebug-subclass"),
        ("code", "Code", "kdebug-code"),
        ("function", "Qualifier", "kdebug-func"),
        ("arg1", "Argument 1", "kdebug-arg"),
        ("arg2", "Argument 2", "kdebug-arg"),
        ("arg3", "Argument 3", "kdebug-arg"),
        ("arg4", "Argument 4", "kdebug-arg"),
    ],
};

pub(super) const TIME_INFO: Schema = Schema {
    name: "time-info",
    documentation: "",
    columns: &[
        ("update-time", "Update Time", "sample-time"),
        ("mabs-epoch", "Run Epoch", "mach-absolute-time"),
        ("mct-epoch", "Continuous Epoch", "mach-continuous-time"),
        ("timebase-info", "Timebase", "mach-timebase-info"),
        ("trace-start-time", "Trace Start Time", "time-since-epoch"),
    ],
};

/// Mach ticks at the start of a run, some hours after the machine was started.
pub(super) const MACH_EPOCH: u64 = 1_000_000_000_000;

/// Bit that marks a time as nanoseconds since 1970.
const SINCE_EPOCH: u64 = 1 << 63;

/// Returns the nanoseconds per tick as a fraction: 125 / 3 as on Apple silicon, or 1 for a clock
/// that resolves every nanosecond.
pub(super) const fn timebase(clock: Clock) -> (u64, u64) {
    match clock {
        Clock::Free => (1, 1),
        Clock::Mhz24 => (125, 3),
    }
}

/// Writes the clock of the machine at the start of the run.
pub(super) fn time_info(sheet: &mut Store<'_>) -> Result<(), Error> {
    let start_ns = dates::start_ns_since_1970(sheet.plan().run);
    let (numerator, denominator) = timebase(sheet.plan().clock);
    sheet.row(|cells| {
        cells.number(Number::SampleTime, 0);
        cells.raw(MACH_EPOCH);
        cells.raw(MACH_EPOCH + 2_400_000_000);
        cells.raw((numerator << 32) | denominator);
        cells.raw(SINCE_EPOCH | start_ns);
    })
}

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
pub(super) fn commands(sheet: &mut Store<'_>) -> Result<(), Error> {
    let plan = sheet.plan();
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
            write(sheet, &event(encoder.start_ns, 0x01, arguments))?;
        }
        write(
            sheet,
            &event(buffer.committed_ns, 0x07, [buffer.id, 0, 0, 0]),
        )?;
    }
    Ok(())
}

/// Writes the time of every kick on its channel, in ticks.
pub(super) fn execution(sheet: &mut Store<'_>) -> Result<(), Error> {
    let plan = sheet.plan();
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
        write(sheet, &event)?;
    }
    Ok(())
}

/// Writes the encoder of every submission with a known owner.
pub(super) fn submissions(sheet: &mut Store<'_>) -> Result<(), Error> {
    let plan = sheet.plan();
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
        write(sheet, &event)?;
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

fn write(sheet: &mut Store<'_>, event: &Event) -> Result<(), Error> {
    sheet.row(|cells| {
        cells.number(Number::EventTime, event.at_ns);
        match event.process {
            Some(process) => cells.thread(process),
            None => cells.nothing(),
        }
        cells.number(Number::Core, 0);
        // Real rows have neither a thread state nor stacks.
        for _ in 0..3 {
            cells.nothing();
        }
        for value in [CLASS, event.subclass, event.code, POINT] {
            cells.raw(value);
        }
        for argument in event.arguments {
            cells.raw(argument);
        }
    })
}

/// Function of an event that neither starts nor ends anything.
const POINT: u64 = 0;
