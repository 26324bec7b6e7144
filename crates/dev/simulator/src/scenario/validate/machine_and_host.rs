//! Refuses impossible states, memory, counters, signposts, samples and hangs.

use super::checks::{LENGTH_NS_MAX, lengths, name, text};
use crate::error::Error;
use crate::export::CALLERS_MAX;
use crate::scenario::Process;
use crate::scenario::host::Signpost;
use crate::scenario::lengths::Lengths;
use crate::scenario::machine::{Level, Memory, StatePiece};
use crate::scenario::nanos::Nanos;
use crate::scenario::recording::Recording;

/// Largest amount of memory, in bytes: more than any machine has.
const BYTES_MAX: u64 = 1 << 46;
/// Largest number of counters: more than any GPU has.
const COUNTERS_MAX: usize = 64;
/// Largest value of a counter, since the table has 63 bits for its billionths.
const COUNTER_VALUE_MAX: u64 = 9_000_000_000;
/// Longest period of a counter, in nanoseconds, since the table has 32 bits for it.
const COUNTER_PERIOD_NS_MAX: u64 = 4_000_000_000;
/// Shortest period of samples, in nanoseconds: faster sampling is not possible.
const PERIOD_NS_MIN: u64 = 1_000;

/// Checks the states, the wired memory and the counters of a recording.
pub(super) fn recording(facts: &Recording) -> Result<(), Error> {
    pieces("recording.performance", &facts.performance)?;
    pieces("recording.thermal", &facts.thermal)?;
    levels("recording.wired", &facts.wired)?;
    if facts.counter.len() > COUNTERS_MAX {
        let many = format!("lists {} counters", facts.counter.len());
        let allowed = format!("at most {COUNTERS_MAX}");
        return Err(Error::field("recording.counter", many, allowed));
    }

    for (index, counter) in facts.counter.iter().enumerate() {
        let place = format!("recording.counter[{index}]");
        name(&format!("{place}.name"), &counter.name)?;
        if counter.largest() > COUNTER_VALUE_MAX {
            let problem = format!("can have the value {}", counter.largest());
            let allowed = format!("at most {COUNTER_VALUE_MAX}");
            return Err(Error::field(&place, problem, allowed));
        }
        let field = format!("{place}.period");
        period(&field, counter.period)?;
        if counter.period.get() > COUNTER_PERIOD_NS_MAX {
            let problem = format!("is {}", counter.period);
            return Err(Error::field(&field, problem, "at most 4s"));
        }
    }
    Ok(())
}

/// Checks the memory, signposts, samples, hangs and engines of a process.
pub(super) fn process(place: &str, process: &Process) -> Result<(), Error> {
    memory(&format!("{place}.memory"), process.memory.as_ref())?;
    if process.allocation.len() > CALLERS_MAX {
        let many = format!("lists {} allocations", process.allocation.len());
        let allowed = format!("at most {CALLERS_MAX}");
        return Err(Error::field(&format!("{place}.allocation"), many, allowed));
    }
    for (index, entry) in process.allocation.iter().enumerate() {
        let entry_place = format!("{place}.allocation[{index}]");
        name(&format!("{entry_place}.caller"), &entry.caller)?;
        text(&format!("{entry_place}.label"), &entry.label)?;
        bytes(&format!("{entry_place}.bytes"), entry.bytes)?;
    }
    for (index, wiring) in process.wiring.iter().enumerate() {
        let entry_place = format!("{place}.wiring[{index}]");
        instant(&format!("{entry_place}.start"), wiring.start, 0)?;
        instant(&format!("{entry_place}.length"), wiring.length, 1)?;
        bytes(&format!("{entry_place}.bytes"), wiring.bytes)?;
    }
    for (index, entry) in process.signpost.iter().enumerate() {
        signpost(&format!("{place}.signpost[{index}]"), entry)?;
    }
    if let Some(samples) = &process.samples {
        period(&format!("{place}.samples.period"), samples.period)?;
        name(
            &format!("{place}.samples.host-function"),
            &samples.host_function,
        )?;
    }

    for (index, hang) in process.hang.iter().enumerate() {
        let entry_place = format!("{place}.hang[{index}]");
        name(&format!("{entry_place}.kind"), &hang.kind)?;
        instant(&format!("{entry_place}.start"), hang.start, 0)?;
        instant(&format!("{entry_place}.length"), hang.length, 1)?;
    }
    for (index, work) in process.engine.iter().enumerate() {
        let entry_place = format!("{place}.engine[{index}]");
        instant(&format!("{entry_place}.start"), work.start, 0)?;
        instant(&format!("{entry_place}.length"), work.length, 1)?;
        instant(&format!("{entry_place}.every"), work.every, 1)?;
    }
    Ok(())
}

/// Checks that pieces are in order and do not overlap.
fn pieces(field: &str, pieces: &[StatePiece]) -> Result<(), Error> {
    let mut free_ns = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let place = format!("{field}[{index}]");
        name(&format!("{place}.state"), &piece.state)?;

        let start_ns = piece.start.get();
        instant(&format!("{place}.start"), piece.start, 0)?;
        if start_ns < free_ns {
            let early = format!("is {}, before the end of the previous piece", piece.start);
            let allowed = format!("{} or more", Nanos::new(free_ns));
            return Err(Error::field(&format!("{place}.start"), early, allowed));
        }
        if let Some(end) = piece.end {
            instant(&format!("{place}.end"), end, start_ns + 1)?;
        }
        free_ns = piece.end.map_or(start_ns + 1, Nanos::get);
    }
    Ok(())
}

/// Checks the memory of a process.
fn memory(field: &str, memory: Option<&Memory>) -> Result<(), Error> {
    match memory {
        None => Ok(()),
        Some(Memory::Levels(levels_given)) if levels_given.is_empty() => Err(Error::field(
            field,
            "is an empty list",
            "one level or more; without levels, leave the field out",
        )),
        Some(Memory::Levels(levels_given)) => levels(field, levels_given),
        Some(Memory::Growth(growth)) => {
            bytes(&format!("{field}.start-bytes"), growth.start_bytes)?;
            bytes(
                &format!("{field}.step-bytes"),
                growth.step_bytes.unsigned_abs(),
            )
        }
    }
}

fn levels(field: &str, levels: &[Level]) -> Result<(), Error> {
    let mut free_ns = 0;
    for (index, level) in levels.iter().enumerate() {
        let place = format!("{field}[{index}]");
        instant(&format!("{place}.at"), level.at, free_ns)?;
        bytes(&format!("{place}.bytes"), level.bytes)?;
        free_ns = level.at.get() + 1;
    }
    Ok(())
}

fn bytes(field: &str, bytes: u64) -> Result<(), Error> {
    if bytes <= BYTES_MAX {
        return Ok(());
    }
    let allowed = format!("at most {BYTES_MAX}");
    Err(Error::field(field, format!("is {bytes}"), allowed))
}

/// Checks a signpost, which has either times of its own or a period.
fn signpost(place: &str, signpost: &Signpost) -> Result<(), Error> {
    name(&format!("{place}.name"), &signpost.name)?;
    text(&format!("{place}.subsystem"), &signpost.subsystem)?;
    text(&format!("{place}.category"), &signpost.category)?;
    match (signpost.from, signpost.to, signpost.every) {
        (Some(from), to, None) => {
            instant(&format!("{place}.from"), from, 0)?;
            to.map_or(Ok(()), |to| {
                instant(&format!("{place}.to"), to, from.get() + 1)
            })
        }
        (None, None, Some(_)) => Ok(()),
        _ => Err(Error::field(
            place,
            "has no time, or times that contradict each other",
            "`from` with or without `to`, or `every` alone",
        )),
    }
}

fn period(field: &str, period: Nanos) -> Result<(), Error> {
    instant(field, period, PERIOD_NS_MIN)
}

fn instant(field: &str, time: Nanos, least_ns: u64) -> Result<(), Error> {
    lengths(field, &Lengths::Fixed(time), least_ns.min(LENGTH_NS_MAX))
}
