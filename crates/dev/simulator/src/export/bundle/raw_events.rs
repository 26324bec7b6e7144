//! Writes raw events of the GPU's driver, from which Instruments derives the table of GPU
//! intervals.
//!
//! The events and their arguments are those of real bundles of an M1 and an M2. Only the arguments
//! about GPU intervals are written; the others are 0. The codes of channels other than Vertex,
//! Fragment and Compute are unknown, so their work has no event.

use crate::export::dates;
use crate::optional::Optional;
use crate::plan::{Kick, Plan, ProcessIndex};
use crate::sheet::table;
use crate::values::kinds::Clock;

table! {
    TIME_INFO: "time-info", "";
    |plan, _| for (numerator, denominator) in [timebase(plan.clock)] => {
        "update-time" "Update Time" SampleTime;
        "mabs-epoch" "Run Epoch" MachAbsoluteTime = MACH_EPOCH;
        "mct-epoch" "Continuous Epoch" MachContinuousTime = MACH_EPOCH + 2_400_000_000;
        "timebase-info" "Timebase" MachTimebaseInfo = (numerator << 32) | denominator;
        "trace-start-time" "Trace Start Time" TimeSinceEpoch
            = SINCE_EPOCH | dates::start_ns_since_1970(plan.run);
    }
}

/// Mach ticks at the start of a run, some hours after the machine was started.
const MACH_EPOCH: u64 = 1_000_000_000_000;

/// Bit that marks a time as nanoseconds since 1970.
const SINCE_EPOCH: u64 = 1 << 63;

/// Returns the nanoseconds per tick as a fraction: 125 / 3 as on Apple silicon, or 1 for a clock
/// that resolves every nanosecond.
const fn timebase(clock: Clock) -> (u64, u64) {
    match clock {
        Clock::Free => (1, 1),
        Clock::Mhz24 => (125, 3),
    }
}

/// An event of the kernel.
pub(super) struct Event {
    pub(super) at_ns: u64,
    /// Process of its thread; `None` for a thread of the system.
    pub(super) process: Option<ProcessIndex>,
    pub(super) class: u64,
    pub(super) subclass: u64,
    pub(super) code: u64,
    pub(super) arguments: [u64; 4],
}

/// Declares a table of the events that a function returns.
macro_rules! kdebug {
    ($form:ident, $events:ident) => {
        $crate::sheet::table! {
            $form: "kdebug", "";
            |plan, _| for event in $events(plan) => {
                "time" "Timestamp" EventTime = event.at_ns;
                "thread" "Thread" Thread = event.process;
                "core-index" "Core Index" Core;
                // Real rows have neither a thread state nor stacks.
                "thread-state" "Thread State" ThreadState;
                "cp-kernel-callstack" "CP Kernel Callstack" KperfStack;
                "cp-user-callstack" "CP User Callstack" KperfStack;
                "class" "Class" KdebugClass = event.class;
                "subclass" "Subclass" KdebugSubclass = event.subclass;
                "code" "Code" KdebugCode = event.code;
                // The events neither start nor end anything.
                "function" "Qualifier" KdebugFunction = 0_u64;
                "arg1" "Argument 1" KdebugArgument = event.arguments[0];
                "arg2" "Argument 2" KdebugArgument = event.arguments[1];
                "arg3" "Argument 3" KdebugArgument = event.arguments[2];
                "arg4" "Argument 4" KdebugArgument = event.arguments[3];
            }
        }
    };
}
pub(super) use kdebug;

kdebug!(COMMANDS, commands);
kdebug!(EXECUTION, execution);
kdebug!(SUBMISSIONS, submissions);

/// Class of the driver's events.
const CLASS: u64 = 0x85;

/// Returns the encoders of every command buffer, and its commit.
fn commands(plan: &Plan) -> impl Iterator<Item = Event> {
    plan.buffers.iter().flat_map(|buffer| {
        let pid = u64::from(plan.process(buffer.process).pid);
        let event = |at_ns, code, arguments| Event {
            at_ns,
            process: Some(buffer.process),
            class: CLASS,
            subclass: 0x08,
            code,
            arguments,
        };
        let encoders = plan.encoders_of(buffer).iter();
        let commit = event(buffer.committed_ns, 0x07, [buffer.id, 0, 0, 0]);
        encoders
            .map(move |encoder| event(encoder.start_ns, 0x01, [buffer.id, encoder.id, pid, 0]))
            .chain([commit])
    })
}

/// Returns the time of every kick on its channel, in ticks.
fn execution(plan: &Plan) -> impl Iterator<Item = Event> {
    known_channels(plan).map(|(kick, channel)| Event {
        at_ns: kick.end_ns(),
        process: None,
        class: CLASS,
        subclass: 0x90,
        code: 0x2A + channel,
        arguments: [
            u64::from(kick.submission),
            0,
            ticks(kick.start_ns, plan.clock),
            ticks(kick.end_ns(), plan.clock),
        ],
    })
}

/// Returns the encoder of every submission with a known owner.
fn submissions(plan: &Plan) -> impl Iterator<Item = Event> {
    let attributed = known_channels(plan).filter(|(kick, _)| kick.attributed);
    attributed.map(|(kick, channel)| Event {
        at_ns: plan.buffer(kick.buffer).committed_ns,
        process: None,
        class: CLASS,
        subclass: 0x93,
        code: 0x30B + channel,
        arguments: [
            plan.encoder(kick.encoder).id,
            0,
            u64::from(kick.submission),
            0,
        ],
    })
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
