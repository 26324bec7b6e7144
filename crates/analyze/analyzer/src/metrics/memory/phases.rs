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
    // Sums of bytes in the order of births, because there may be as many allocations as phases.
    let mut sum: u128 = 0;
    let sums = lives.iter().map(|life| {
        sum += u128::from(life.bytes);
        sum
    });
    let sums: Vec<u128> = sums.collect();
    let before = |at_ns: u64| {
        let after = lives.partition_point(|life| life.born_ns < at_ns);
        let last = after.checked_sub(1).and_then(|index| sums.get(index));
        last.copied().unwrap_or_default()
    };
    let mut phases: Vec<(u128, &str, Vec<Span>)> = Vec::new();
    for (name, mut spans) in by_name {
        spans.sort_unstable();
        let spans = union(spans);
        every.extend(&spans);
        let bytes = spans.iter();
        let bytes = bytes.map(|span| before(span.end_ns) - before(span.start_ns));
        phases.push((bytes.sum(), name, spans));
    }
    every.sort_unstable();
    let every = union(every);
    // The order by name stays where bytes are equal.
    phases.sort_by_key(|&(bytes, ..)| std::cmp::Reverse(bytes));
    phases.truncate(LISTED);
    let phases = phases.into_iter().map(|(_, name, spans)| MemoryPhase {
        name: name.to_owned(),
        turnover: turnover_when(lives, |at_ns| is_inside(at_ns, &spans)),
    });
    let phases = phases.collect();
    let outside = turnover_when(lives, |at_ns| !is_inside(at_ns, &every));
    (phases, Some(outside))
}

fn is_inside(at_ns: u64, disjoint: &[Span]) -> bool {
    let after = disjoint.partition_point(|span| span.start_ns <= at_ns);
    let last = after.checked_sub(1).and_then(|index| disjoint.get(index));
    last.is_some_and(|span| at_ns < span.end_ns)
}
