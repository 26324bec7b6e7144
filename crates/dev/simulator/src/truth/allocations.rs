//! Computes the truth about the Metal resources of the process, and memory wired for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::sweep::{Gap, Window};
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
    let own = plan
        .allocations
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
    let lives = |allocation: &&&PlannedAllocation| {
        allocation.made_ns.is_some_and(|made_ns| made_ns <= at_ns)
            && allocation.freed_ns.is_none_or(|freed_ns| freed_ns > at_ns)
    };
    own.iter()
        .filter(lives)
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

/// Memory that the driver wired for the process.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wired {
    /// Number of times before the window, and their bytes.
    pub before_window: (u64, u64),
    /// Number of times in the window, and their bytes.
    pub in_window: (u64, u64),
    /// Number of requests to unwire memory in the recording, and their bytes.
    pub unwired: (u64, u64),
    /// Time in gaps during which the driver wired memory.
    pub in_gaps_ns: u64,
}

/// Counts what was wired for the process, or returns `None` if nothing was for any.
pub(super) fn wired(
    plan: &Plan,
    target: ProcessIndex,
    window: Window,
    gaps: &[Gap],
) -> Option<Wired> {
    if plan.wiring.is_empty() {
        return None;
    }
    let mut truth = Wired::default();
    let own = plan.wiring.iter().filter(|wiring| wiring.process == target);
    let (mut covered_ns, mut ignored) = (0, (0, 0));
    for wiring in own {
        let sum = match wiring.start_ns {
            _ if wiring.unwire => &mut truth.unwired,
            start_ns if start_ns < window.start_ns => &mut truth.before_window,
            start_ns if start_ns < window.end_ns => &mut truth.in_window,
            _ => &mut ignored,
        };
        *sum = (sum.0 + 1, sum.1 + wiring.bytes);
        if wiring.unwire {
            continue;
        }
        // Time that an earlier one covers counts once.
        let start_ns = wiring.start_ns.max(covered_ns);
        for gap in gaps {
            let (from_ns, to_ns) = (gap.from_ns.max(start_ns), gap.to_ns.min(wiring.end_ns));
            truth.in_gaps_ns += to_ns.saturating_sub(from_ns);
        }
        covered_ns = covered_ns.max(wiring.end_ns);
    }
    Some(truth)
}
