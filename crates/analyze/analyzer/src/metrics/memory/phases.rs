//! Divides allocations among the phases that the process named.

use std::collections::BTreeMap;

use metalens_trace::Names;

use super::lives::Life;
use super::{LISTED, turnover_when};
use crate::basics::spans::{Span, union};
use crate::report::{MemoryPhase, Turnover};
use crate::subject::chosen_processes::ChosenProcesses;
use crate::subject::signposts::Signposts;

/// Returns the phases with their allocations, the most bytes first, and what lies in none of them.
/// Phases with one name are one.
pub(super) fn phases(
    lives: &[Life],
    signposts: &Signposts,
    chosen: &ChosenProcesses,
    names: &Names,
) -> (Vec<MemoryPhase>, Option<Turnover>) {
    let mut by_name: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
    for (kind, times) in signposts.kinds() {
        if chosen.contains(kind.process) && !times.spans.is_empty() {
            let spans = by_name.entry(names.text(kind.name)).or_default();
            spans.extend(&times.spans);
        }
    }
    if by_name.is_empty() {
        return (Vec::new(), None);
    }

    let mut every: Vec<Span> = Vec::new();
    let mut phases: Vec<MemoryPhase> = Vec::new();
    for (name, mut spans) in by_name {
        spans.sort_unstable();
        let spans = union(spans);
        phases.push(MemoryPhase {
            name: name.to_owned(),
            turnover: turnover_when(lives, |at_ns| is_inside(at_ns, &spans)),
        });
        every.extend(spans);
    }
    every.sort_unstable();
    let every = union(every);
    // The order by name stays where bytes are equal.
    phases.sort_by_key(|phase| std::cmp::Reverse(phase.turnover.bytes));
    phases.truncate(LISTED);
    let outside = turnover_when(lives, |at_ns| !is_inside(at_ns, &every));
    (phases, Some(outside))
}

fn is_inside(at_ns: u64, disjoint: &[Span]) -> bool {
    let after = disjoint.partition_point(|span| span.start_ns <= at_ns);
    let last = after.checked_sub(1).and_then(|index| disjoint.get(index));
    last.is_some_and(|span| at_ns < span.end_ns)
}
