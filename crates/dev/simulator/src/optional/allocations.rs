//! Simulates the Metal resources that processes allocate and free.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::Optional;
use crate::error::Error;
use crate::plan::{Buffer, Plan, ProcessIndex};
use crate::random::Random;
use crate::sheet::functions::{self, Stack};
use crate::sheet::{Kind, Part, sorted, table};
use crate::values::checks::Place;
use crate::values::stream::one;

/// Largest number of resources of an entry; a larger number is probably a typing error.
const RESOURCES_MAX: usize = 1_000_000;

/// Id of the first resource.
const FIRST_ID: u64 = 0x8d43_8949;

/// Resources that a function of a process allocates, once or again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Allocation {
    /// Function that allocates them.
    pub caller: String,
    /// Label of the resources; by default one that Metal makes up from the id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Bytes of each resource.
    pub bytes: u64,
    /// Number of resources at each step.
    #[serde(default = "one")]
    pub count: NonZeroU32,
    /// Number of command buffers per step, which is at the first encoding of each; only one step,
    /// at the first encoding of all, if absent.
    pub every: Option<NonZeroU32>,
    /// Largest number of steps.
    pub steps: Option<u32>,
    /// Number of command buffers until the resources are freed, at the commit of one: 0 is the
    /// first one of the step. Never freed if absent.
    pub lives: Option<u32>,
    /// True if the resources lie inside a larger one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inside: bool,
    /// True if the resources were made before the recording, which has only their ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub before: bool,
}

/// Checks the entries of a process.
pub(crate) fn check(place: &Place, allocation: &Allocation) -> Result<(), Error> {
    place.name("caller", &allocation.caller)?;
    place.text("label", &allocation.label)?;
    place.bytes("bytes", allocation.bytes)
}

/// Returns resources that live long, or not at all, or lie inside others.
pub(crate) fn random(random: &mut Random) -> Allocation {
    Allocation {
        caller: (*random.one_of(&["forward", "grow<T>", "-[Cache add:]"])).to_owned(),
        label: (*random.one_of(&["", "activations", "a & b"])).to_owned(),
        bytes: random.between(0, 1 << 22),
        count: NonZeroU32::MIN.saturating_add(random.below(3)),
        every: random.optional_count(1, 4),
        steps: random.optional_count(3, 4).map(NonZeroU32::get),
        lives: random.once_in(2).then(|| random.below(5)),
        inside: random.once_in(4),
        before: random.once_in(4),
    }
}

/// A Metal resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedAllocation {
    pub(crate) process: ProcessIndex,
    /// Index of the function in the callers of the process.
    pub(crate) caller: usize,
    /// Label of the resource; empty if it has none.
    pub(crate) label: String,
    pub(crate) id: u64,
    /// Bytes in its row.
    pub(crate) bytes: u64,
    /// True if it lies inside another one.
    pub(crate) inside: bool,
    /// Time when it was made; `None` if that was before the recording.
    pub(crate) made_ns: Option<u64>,
    /// Time when it was freed; `None` if it never was.
    pub(crate) freed_ns: Option<u64>,
}

/// Plans the resources of the processes whose applications were recorded, with new ids.
pub(crate) fn plan<'s>(
    processes: impl Iterator<Item = (ProcessIndex, &'s [Allocation])>,
    plan: &Plan,
) -> Result<Vec<PlannedAllocation>, Error> {
    let mut planned = Vec::new();
    for (process, allocations) in processes.filter(|(process, _)| plan.is_instrumented(*process)) {
        for (caller, allocation) in allocations.iter().enumerate() {
            add(&mut planned, plan, process, caller, allocation)?;
        }
    }
    for (id, allocation) in (FIRST_ID..).zip(&mut planned) {
        allocation.id = id;
    }
    Ok(planned)
}

fn add(
    allocations: &mut Vec<PlannedAllocation>,
    plan: &Plan,
    process: ProcessIndex,
    caller: usize,
    allocation: &Allocation,
) -> Result<(), Error> {
    let own = plan.buffers.iter();
    let mut own: Vec<&Buffer> = own.filter(|buffer| buffer.process == process).collect();
    own.sort_by_key(|buffer| plan.encoder(buffer.first_encoder).start_ns);

    let step = allocation
        .every
        .map_or(own.len().max(1), |every| every.get() as usize);
    let starts = (0..own.len())
        .step_by(step)
        .take(allocation.steps.map_or(usize::MAX, |steps| steps as usize));
    let count = allocation.count.get() as usize;
    if starts.len().saturating_mul(count) > RESOURCES_MAX {
        let problem = format!("makes more than {RESOURCES_MAX} resources");
        let field = format!("process[{}].allocation[{caller}]", process.get());
        return Err(Error::field(&field, problem, "fewer or larger resources"));
    }

    for start in starts {
        let made_ns = plan.encoder(own[start].first_encoder).start_ns;
        let end = allocation
            .lives
            .and_then(|lives| own.get(start + lives as usize));
        let freed_ns = end.map(|buffer| buffer.committed_ns.max(made_ns));
        for _ in 0..count {
            allocations.push(PlannedAllocation {
                process,
                caller,
                label: allocation.label.clone(),
                id: 0,
                bytes: allocation.bytes,
                inside: allocation.inside,
                made_ns: (!allocation.before).then_some(made_ns),
                freed_ns,
            });
        }
    }
    Ok(())
}

table! {
    ALLOCATIONS: "metal-resource-allocations", "Which resources were allocated and freed.";
    |plan, optional| for (at_ns, event, lifetime_ns, allocation) in events(optional) => {
        let label = match allocation.label.as_str() {
            "" => format!("Resource 0x{:x}", allocation.id),
            label => label.to_owned(),
        };
        let parts = [
            Part::Text(Kind::ObjectLabel, &label),
            Part::Number(Kind::SizeInBytes, allocation.bytes),
        ];
        "timestamp" "Timestamp" StartTime = at_ns;
        "duration" "Lifetime" Duration = lifetime_ns;
        "process" "Process" Process = allocation.process;
        "thread" "Thread" Thread = allocation.process;
        "resource-id" "ID" HardwareTraceId = allocation.id;
        "parent-resource-id" "Parent ID" HardwareTraceId = u64::MAX;
        "label" "Label" ObjectLabel = &label;
        "vidmem-bytes" "Video Memory Bytes" SizeInBytes;
        "sysmem-bytes" "System Memory Bytes" SizeInBytes = allocation.bytes;
        "resource-size" "Resource Size" SizeInBytes = allocation.bytes;
        "event-label" "Description" FormattedLabel = &parts;
        "gpu" "Metal Device" DeviceName;
        "resource-type" "Resource Type" ObjectLabel = "Buffer";
        "event-type" "Event Type" AllocationEvent = event;
        "backtrace" "Backtrace" Backtrace = &stack(plan, allocation);
        "event-icon" "Event Icon" Event = "Buffer";
    }
}

/// Returns an event for each resource that was made, and for each that was freed, with its lifetime.
fn events(optional: &Optional) -> Vec<(u64, &'static str, u64, &PlannedAllocation)> {
    let events = optional.allocations.iter().flat_map(|allocation| {
        let made = allocation
            .made_ns
            .map(|at_ns| (at_ns, "Allocation", 0, allocation));
        let lifetime = |at_ns: u64| allocation.made_ns.map_or(0, |made_ns| at_ns - made_ns);
        let freed = allocation
            .freed_ns
            .map(|at_ns| (at_ns, "Deallocation", lifetime(at_ns), allocation));
        made.into_iter().chain(freed)
    });
    sorted(events, |(at_ns, ..)| *at_ns)
}

fn stack<'p>(plan: &'p Plan, allocation: &PlannedAllocation) -> Stack<'p> {
    let (process, caller) = (allocation.process, allocation.caller);
    functions::allocation_stack(plan, process, caller, allocation.inside)
}

/// Metal resources that the process made in the recording. A resource inside another has no bytes.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocations {
    /// Number of resources that were made.
    pub allocations: u64,
    /// Number of them inside others.
    pub inside_others: u64,
    /// Sum of their bytes.
    pub bytes: u64,
    /// Number of them that were freed.
    pub freed: u64,
    /// Sum of the freed bytes.
    pub freed_bytes: u64,
    /// Number of resources from before the recording that were freed.
    pub freed_from_before: u64,
    /// Largest sum of live bytes.
    pub peak_bytes: u64,
    /// Allocations, bytes, and bytes that were never freed, by caller.
    pub callers: BTreeMap<String, (u64, u64, u64)>,
}

/// Counts the resources of the process, or returns `None` if there are none at all.
pub(crate) fn truth(
    planned: &[PlannedAllocation],
    plan: &Plan,
    target: ProcessIndex,
) -> Option<Allocations> {
    if planned.is_empty() {
        return None;
    }
    let mut truth = Allocations::default();
    let own = planned
        .iter()
        .filter(|allocation| allocation.process == target);
    let own: Vec<&PlannedAllocation> = own.collect();
    for allocation in &own {
        if allocation.made_ns.is_none() {
            truth.freed_from_before += u64::from(allocation.freed_ns.is_some());
            continue;
        }
        let bytes = own_bytes(allocation);
        truth.allocations += 1;
        truth.inside_others += u64::from(allocation.inside);
        truth.bytes += bytes;
        let caller = plan.process(target).callers[allocation.caller].clone();
        let sums = truth.callers.entry(caller).or_default();
        (sums.0, sums.1) = (sums.0 + 1, sums.1 + bytes);
        if allocation.freed_ns.is_some() {
            truth.freed += 1;
            truth.freed_bytes += bytes;
        } else {
            sums.2 += bytes;
        }
        // Memory only grows when a resource is made: count all that live at each such moment.
        truth.peak_bytes = truth
            .peak_bytes
            .max(live(&own, allocation.made_ns.unwrap_or(0)));
    }
    Some(truth)
}

fn live(own: &[&PlannedAllocation], at_ns: u64) -> u64 {
    own.iter()
        .filter(|allocation| {
            allocation.made_ns.is_some_and(|made_ns| made_ns <= at_ns)
                && allocation.freed_ns.is_none_or(|freed_ns| freed_ns > at_ns)
        })
        .map(|allocation| own_bytes(allocation))
        .sum()
}

const fn own_bytes(allocation: &PlannedAllocation) -> u64 {
    if allocation.inside {
        0
    } else {
        allocation.bytes
    }
}
