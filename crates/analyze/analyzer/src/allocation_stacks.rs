//! Collapses the stacks of Metal allocations, weighted by their bytes or their number.

use metalens_trace::{Names, ProcessId, Target as RunTarget, Trace};
use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::metrics::cpu::samples::Sample;
use crate::metrics::cpu::stacks::{CollapsedStacks, StackLabels, collapse};
use crate::metrics::cpu::tally::Members;
use crate::metrics::memory::first_table;
use crate::metrics::memory::lives::{Life, Lives};
use crate::report::WeightUnit;
use crate::request::Request;
use crate::subject::chosen_processes::choose;
use crate::subject::processes::ProcessUse;
use crate::tables::allocations::AllocationTables;

/// Stacks of the allocations of one process, or of all if none was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocationStacks {
    /// Stacks, weighted by bytes or by the number of allocations.
    pub stacks: CollapsedStacks,
    /// Number of allocations.
    pub allocations: u64,
    /// Allocated bytes. Those inside other resources have none of their own.
    pub bytes: u64,
}

/// Chosen allocations, and the weight of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AllocationChoice {
    /// True for those only that were never freed.
    pub only_live: bool,
    /// True if each allocation counts 1, in place of its bytes.
    pub by_count: bool,
}

/// Returns the stacks of Metal allocations. The trace must have been read with
/// [`allocation_selection`](crate::allocation_selection).
pub fn allocation_stacks(
    mut trace: Trace,
    request: &Request,
    labels: StackLabels,
    choice: AllocationChoice,
) -> Result<AllocationStacks> {
    let tables = AllocationTables::take(&mut trace);
    let (table, _) = first_table(tables).map_err(|absent| {
        let why = absent.why.text;
        Error::NoAllocations { why }
    })?;
    let names = &trace.names;
    let lives = Lives::read(&table, names).made;
    let members = members(&lives, &trace, request)?;

    let (from, to) = (request.from_ns, request.to_ns);
    let in_time = from.unwrap_or(0)..to.unwrap_or(u64::MAX);
    let wanted = lives.iter().filter(|life| {
        let is_mine = members.as_ref();
        is_mine.is_none_or(|members| members.contains(life.process))
            && in_time.contains(&life.born_ns)
            && !(choice.only_live && life.freed_ns.is_some())
    });
    let sizes = wanted.clone().map(|life| life.bytes);
    let bytes = sizes.fold(0, u64::saturating_add);
    let samples: Vec<Sample> = wanted
        .map(|life| Sample {
            time_ns: life.born_ns,
            thread: life.thread,
            process: life.process,
            state: None,
            weight: Some(if choice.by_count { 1 } else { life.bytes }),
            stack: life.stack,
        })
        .collect();
    if samples.is_empty() {
        let why = "none of the process lies in this part of the recording".to_owned();
        return Err(Error::NoAllocations { why });
    }

    let unit = if choice.by_count {
        WeightUnit::Allocations
    } else {
        WeightUnit::Bytes
    };
    Ok(AllocationStacks {
        stacks: collapse(unit, &samples, names, labels),
        allocations: samples.len() as u64,
        bytes,
    })
}

/// Returns the processes that the stacks are about; `None` if they are about all.
fn members(lives: &[Life], trace: &Trace, request: &Request) -> Result<Option<Members>> {
    let target = &trace.run.target;
    let is_unnamed = matches!(target, RunTarget::AllProcesses | RunTarget::Unknown);
    if request.processes.is_empty() && is_unnamed {
        return Ok(None);
    }
    let names = &trace.names;
    let used = used(lives, names);
    match choose(&request.processes, &trace.run, names, &used) {
        Ok(chosen) => Ok(Some(Members::new(&chosen.processes, names))),
        Err(Error::NoGpuIntervals { wanted, .. }) => Err(Error::NoAllocations {
            why: format!("{wanted} made none"),
        }),
        Err(other) => Err(other),
    }
}

/// Returns all processes with allocations, in the form from which [`choose`] chooses.
fn used(lives: &[Life], names: &Names) -> Vec<ProcessUse> {
    let mut counts: FxHashMap<ProcessId, (u64, u64)> = FxHashMap::default();
    for life in lives {
        if let Some(process) = life.process {
            let (count, bytes) = counts.entry(process).or_default();
            *count += 1;
            *bytes = bytes.saturating_add(life.bytes);
        }
    }
    let mut used: Vec<ProcessUse> = counts
        .into_iter()
        .filter_map(|(id, (intervals, busy_ns))| {
            Some(ProcessUse {
                id,
                process: names.process(id)?,
                intervals,
                busy_ns,
            })
        })
        .collect();
    used.sort_by_key(|process| (std::cmp::Reverse(process.busy_ns), process.id));
    used
}
