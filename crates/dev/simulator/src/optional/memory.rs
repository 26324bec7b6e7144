//! Simulates amounts of memory over time: what Metal allocated for a process, and what the system wired.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::Optional;
use crate::error::Error;
use crate::plan::sweep::Window;
use crate::plan::{Plan, ProcessIndex};
use crate::random::Random;
use crate::sheet::{Kind, Part, sorted, table};
use crate::values::checks::Place;
use crate::values::kinds::Role;
use crate::values::nanos::Nanos;

/// Bytes allocated for the recorded process if the scenario gives no amount.
const DEFAULT_BYTES: u64 = 65_536;

/// Memory that Metal has allocated for a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected levels such as [{ at = \"700ms\", bytes = 65536 }], or a growth such as \
                 { start-bytes = 65536, step-bytes = 4096, every = 8 }"
)]
pub enum Memory {
    /// Explicit amounts, each from an instant on.
    Levels(Vec<Level>),
    /// An amount that grows with the work.
    Growth(Growth),
}

/// An amount of memory from an instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Level {
    /// Instant, counted from the start of the recording.
    pub at: Nanos,
    /// Bytes allocated or wired from this instant on.
    pub bytes: u64,
}

/// Memory that grows, or shrinks, as command buffers are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Growth {
    /// Bytes when the first encoding starts.
    pub start_bytes: u64,
    /// Change with each step, positive or negative; the amount never falls below zero.
    pub step_bytes: i64,
    /// Number of command buffers per step. The amount changes when the last of them is committed.
    pub every: NonZeroU32,
}

/// Checks the memory of a process.
pub(crate) fn check(place: &Place, memory: &Memory) -> Result<(), Error> {
    match memory {
        Memory::Levels(levels) if levels.is_empty() => place.refuse(
            "memory",
            "is an empty list",
            "one level or more; without levels, leave the field out",
        ),
        Memory::Levels(levels) => check_levels(place, "memory", levels),
        Memory::Growth(growth) => {
            place.bytes("memory.start-bytes", growth.start_bytes)?;
            place.bytes("memory.step-bytes", growth.step_bytes.unsigned_abs())
        }
    }
}

/// Checks that levels are in order.
pub(crate) fn check_levels(place: &Place, field: &str, levels: &[Level]) -> Result<(), Error> {
    let mut free_ns = 0;
    place.each(field, levels, |place, level| {
        place.instant("at", level.at, free_ns)?;
        free_ns = level.at.get() + 1;
        place.bytes("bytes", level.bytes)
    })
}

/// Returns levels, or an amount that grows or shrinks; nothing in most draws.
pub(crate) fn random(random: &mut Random) -> Option<Memory> {
    match random.below(8) {
        0 => Some(Memory::Levels(random_levels(random))),
        1 => Some(Memory::Growth(Growth {
            start_bytes: random.between(0, 1 << 20),
            step_bytes: i64::from(random.below(20_000)) - 10_000,
            every: NonZeroU32::MIN.saturating_add(random.below(4)),
        })),
        _ => None,
    }
}

pub(crate) fn random_levels(random: &mut Random) -> Vec<Level> {
    let mut at_ns = 0;
    let mut level = |_| {
        at_ns += random.between(1, 100_000);
        Level {
            at: Nanos::new(at_ns),
            bytes: random.between(0, 1 << 22),
        }
    };
    (0..3).map(&mut level).collect()
}

/// A period with the same amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryInterval {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) bytes: u64,
}

/// Plans the memory of each process that the table covers.
pub(crate) fn plan<'s>(
    processes: impl Iterator<Item = (ProcessIndex, Option<&'s Memory>)>,
    plan: &Plan,
) -> Vec<(ProcessIndex, Vec<MemoryInterval>)> {
    let default = Growth {
        start_bytes: DEFAULT_BYTES,
        step_bytes: 0,
        every: NonZeroU32::MIN,
    };
    let mut planned = Vec::new();
    for (process, memory) in processes.filter(|(process, _)| plan.is_instrumented(*process)) {
        let intervals = match memory {
            Some(Memory::Levels(levels)) => plan_levels(levels, plan),
            Some(Memory::Growth(growth)) => intervals(grown(plan, process, *growth), plan),
            None if plan.process(process).role == Role::Target => {
                intervals(grown(plan, process, default), plan)
            }
            None => continue,
        };
        planned.push((process, intervals));
    }
    planned
}

/// Plans the periods with the same amount of memory.
pub(crate) fn plan_levels(levels: &[Level], plan: &Plan) -> Vec<MemoryInterval> {
    let cut = |level: &Level| (plan.clock.cut(level.at.get()), level.bytes);
    intervals(levels.iter().map(cut).collect(), plan)
}

/// Returns the levels of memory that grows by a step for every `growth.every` commits.
fn grown(plan: &Plan, process: ProcessIndex, growth: Growth) -> Vec<(u64, u64)> {
    let own = || {
        plan.buffers
            .iter()
            .filter(|buffer| buffer.process == process)
    };
    let Some(start_ns) = own()
        .map(|buffer| plan.encoder(buffer.first_encoder).start_ns)
        .min()
    else {
        return Vec::new();
    };

    let mut bytes = growth.start_bytes;
    let mut levels = vec![(start_ns, bytes)];
    if growth.step_bytes == 0 {
        return levels;
    }

    let mut commits: Vec<u64> = own().map(|buffer| buffer.committed_ns).collect();
    commits.sort_unstable();
    for step in commits.chunks_exact(growth.every.get() as usize) {
        bytes = bytes.saturating_add_signed(growth.step_bytes);
        levels.extend(step.last().map(|at_ns| (*at_ns, bytes)));
    }
    levels
}

/// Extends each level to the next one, and the last level to the end of the run.
fn intervals(levels: Vec<(u64, u64)>, plan: &Plan) -> Vec<MemoryInterval> {
    let wall_ns = plan.wall_ns;
    let ends = levels.iter().skip(1).map(|(at_ns, _)| *at_ns);
    let ends: Vec<u64> = ends.chain([wall_ns]).collect();
    levels
        .into_iter()
        .zip(ends)
        .map(|((start_ns, bytes), end_ns)| MemoryInterval {
            start_ns: start_ns.min(wall_ns),
            end_ns: end_ns.min(wall_ns),
            bytes,
        })
        .filter(|interval| interval.start_ns < interval.end_ns)
        .collect()
}

table! {
    ALLOCATED_SIZE: "metal-current-allocated-size", "How much memory Metal had allocated.";
    |_, optional| for (interval, process) in allocated(optional) => {
        "start" "Creation" StartTime = interval.start_ns;
        "duration" "Duration" Duration = interval.end_ns - interval.start_ns;
        "end" "End" StartTime = interval.end_ns;
        "process" "Process" Process = process;
        "current-allocated-size" "Current Allocated Size" SizeInBytes = interval.bytes;
        "label" "Label" FormattedLabel = &[Part::Number(Kind::SizeInBytes, interval.bytes)];
        "track-name" "Track" FormattedLabel = &[Part::Process(process)];
        "color" "Color" Color = 1_u64;
    }
}

fn allocated(optional: &Optional) -> Vec<(&MemoryInterval, ProcessIndex)> {
    let rows = optional.memory.iter().flat_map(|(process, intervals)| {
        let of_process = intervals.iter();
        of_process.map(|interval| (interval, *process))
    });
    sorted(rows, |(interval, _)| interval.start_ns)
}

table! {
    WIRED: "metal-wired-sysmem-level-interval", "How much system memory was wired for the GPU.";
    |_, optional| for interval in &optional.wired => {
        "start" "Creation" StartTime = interval.start_ns;
        "duration" "Duration" Duration = interval.end_ns - interval.start_ns;
        "bytes" "Bytes" SizeInBytes = interval.bytes;
        "color" "Color" Color = 1_u64;
        "gpu" "Metal Device" DeviceName;
        "event-label" "Description" Narrative = &[Part::Number(Kind::SizeInBytes, interval.bytes)];
        "event-type" "Event Type" MemoryEvent = "Wired System Memory";
    }
}

/// Memory that Metal had allocated for the process inside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocated {
    /// Bytes at the start of the window, or the first level inside it if none came before.
    pub first_bytes: u64,
    /// Largest number of bytes inside the window.
    pub peak_bytes: u64,
    /// Bytes at the end of the window.
    pub last_bytes: u64,
}

/// Computes the memory of the process, or `None` if none was recorded inside the window.
pub(crate) fn truth(
    planned: &[(ProcessIndex, Vec<MemoryInterval>)],
    target: ProcessIndex,
    window: Window,
) -> Option<Allocated> {
    let (_, levels) = planned.iter().find(|(process, _)| *process == target)?;
    let during = levels
        .iter()
        .filter(|memory| memory.start_ns < window.end_ns && memory.end_ns > window.start_ns);
    let bytes: Vec<u64> = during.map(|memory| memory.bytes).collect();
    Some(Allocated {
        first_bytes: *bytes.first()?,
        peak_bytes: *bytes.iter().max()?,
        last_bytes: *bytes.last()?,
    })
}
