//! Computes the truth about the Metal resources of the process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::plan::{Plan, PlannedAllocation, ProcessIndex};

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
pub(super) fn allocations(plan: &Plan, target: ProcessIndex) -> Option<Allocations> {
    if plan.allocations.is_empty() {
        return None;
    }
    let mut truth = Allocations::default();
    let own = plan.allocations.iter().filter(|one| one.process == target);
    let own: Vec<&PlannedAllocation> = own.collect();
    for one in &own {
        if one.made_ns.is_none() {
            truth.freed_from_before += u64::from(one.freed_ns.is_some());
            continue;
        }
        let bytes = own_bytes(one);
        truth.allocations += 1;
        truth.inside_others += u64::from(one.inside);
        truth.bytes += bytes;
        let caller = plan.process(target).callers[one.caller].clone();
        let sums = truth.callers.entry(caller).or_default();
        (sums.0, sums.1) = (sums.0 + 1, sums.1 + bytes);
        if one.freed_ns.is_some() {
            truth.freed += 1;
            truth.freed_bytes += bytes;
        } else {
            sums.2 += bytes;
        }
        // Memory only grows when a resource is made: count all that live at each such moment.
        truth.peak_bytes = truth.peak_bytes.max(live(&own, one.made_ns.unwrap_or(0)));
    }
    Some(truth)
}

fn live(own: &[&PlannedAllocation], at_ns: u64) -> u64 {
    let lives = |one: &&&PlannedAllocation| {
        one.made_ns.is_some_and(|made_ns| made_ns <= at_ns)
            && one.freed_ns.is_none_or(|freed_ns| freed_ns > at_ns)
    };
    own.iter().filter(lives).map(|one| own_bytes(one)).sum()
}

const fn own_bytes(one: &PlannedAllocation) -> u64 {
    if one.inside { 0 } else { one.bytes }
}
