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
    let births = Births::of(lives);
    let mut phases: Vec<(u64, &str, Vec<Span>)> = Vec::new();
    for (name, mut spans) in by_name {
        spans.sort_unstable();
        let spans = union(spans);
        every.extend(&spans);
        phases.push((births.bytes_in(&spans), name, spans));
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

/// Times at which resources were made, in order, with the bytes of all until then.
///
/// With them the bytes of a phase take no look at each allocation, of which there may be as many as
/// phases.
struct Births(Vec<(u64, u128)>);

impl Births {
    fn of(lives: &[Life]) -> Self {
        let births = lives
            .iter()
            .map(|life| (life.born_ns, u128::from(life.bytes)));
        let mut births: Vec<(u64, u128)> = births.collect();
        births.sort_unstable();
        let mut sum = 0;
        for (_, bytes) in &mut births {
            sum += *bytes;
            *bytes = sum;
        }
        Self(births)
    }

    fn bytes_in(&self, disjoint: &[Span]) -> u64 {
        let bytes = disjoint
            .iter()
            .map(|span| self.bytes_before(span.end_ns) - self.bytes_before(span.start_ns));
        u64::try_from(bytes.sum::<u128>()).unwrap_or(u64::MAX)
    }

    fn bytes_before(&self, at_ns: u64) -> u128 {
        let after = self.0.partition_point(|&(born_ns, _)| born_ns < at_ns);
        let last = after.checked_sub(1).and_then(|index| self.0.get(index));
        last.map_or(0, |&(_, bytes)| bytes)
    }
}

fn is_inside(at_ns: u64, disjoint: &[Span]) -> bool {
    let after = disjoint.partition_point(|span| span.start_ns <= at_ns);
    let last = after.checked_sub(1).and_then(|index| disjoint.get(index));
    last.is_some_and(|span| at_ns < span.end_ns)
}
