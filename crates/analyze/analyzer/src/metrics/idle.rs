//! Computes the gaps and the idle time by cause.

use std::cmp::Reverse;

use metalens_message::Ns;
use rustc_hash::FxHashMap;

use super::gap_causes::{GapSplitter, IdleTotals, SplitGap};
use super::histogram::histogram;
use crate::basics::spans::Span;
use crate::basics::statistics::summarize;
use crate::report::{GapKind, GapParts, Gaps, IdleTime, TopGap};
use crate::subject::gaps::Gap;
use crate::subject::named_intervals::NamedIntervals;

/// Number of the longest gaps that a report lists.
pub const TOP_GAPS: usize = 10;
/// Number of pairs of kernels that it lists for their idle time.
const KINDS: usize = 10;
/// Number of further pairs that it lists because they are common.
const COMMON: usize = 4;

/// Gaps, and the idle time by cause.
pub(crate) struct Idle {
    /// Facts about the gaps.
    pub gaps: Gaps,
    /// Idle time by cause.
    pub time: IdleTime,
    /// Stretches of idle time that host work caused.
    pub host: Vec<Span>,
}

/// Splits every gap by cause, and sums up.
pub(crate) fn idle(gaps: &[Gap], splitter: &GapSplitter<'_>, kernels: &NamedIntervals) -> Idle {
    let mut totals = IdleTotals::default();
    let mut kinds = GapKinds::default();
    let mut host = Vec::new();
    for gap in gaps {
        let split = splitter.split(gap);
        totals.add(&split);
        kinds.add(gap, &split, kernels);
        if !split.host.is_empty() {
            host.push(split.host);
        }
    }

    Idle {
        gaps: gap_facts(gaps, splitter, kernels, kinds),
        time: totals.finish(),
        host,
    }
}

fn gap_facts(
    gaps: &[Gap],
    splitter: &GapSplitter<'_>,
    kernels: &NamedIntervals,
    kinds: GapKinds,
) -> Gaps {
    let mut lengths: Vec<u64> = gaps.iter().map(|gap| gap.span.length_ns()).collect();
    let histogram = histogram(&lengths);
    let below_1us = lengths.iter().filter(|&&length| length < 1_000).count() as u64;
    let statistics = summarize(&mut lengths);

    Gaps {
        count: gaps.len() as u64,
        total_ns: Ns(statistics.map_or(0, |statistics| statistics.total)),
        mean_ns: statistics.map(|statistics| Ns(statistics.mean)),
        median_ns: statistics.map(|statistics| Ns(statistics.median)),
        p95_ns: statistics.map(|statistics| Ns(statistics.p95)),
        p99_ns: statistics.map(|statistics| Ns(statistics.p99)),
        max_ns: statistics.map(|statistics| Ns(statistics.max)),
        below_1us,
        histogram,
        top: top_gaps(gaps, splitter, kernels),
        between: kinds.finish(kernels),
    }
}

fn top_gaps(gaps: &[Gap], splitter: &GapSplitter<'_>, kernels: &NamedIntervals) -> Vec<TopGap> {
    let mut longest: Vec<&Gap> = gaps.iter().collect();
    // No two gaps begin at the same time, so that the order is unique.
    let key = |gap: &&Gap| (Reverse(gap.span.length_ns()), gap.span.start_ns);
    // There may be a million gaps: only the longest are sorted.
    if longest.len() > TOP_GAPS {
        longest.select_nth_unstable_by_key(TOP_GAPS, key);
        longest.truncate(TOP_GAPS);
    }
    longest.sort_unstable_by_key(key);

    let name = |index: Option<usize>| index.and_then(|index| kernels.name_of(index));
    let top = longest.into_iter().map(|gap| {
        let parts = splitter.split(gap).parts;
        TopGap {
            start_ns: Ns(gap.span.start_ns),
            duration_ns: Ns(gap.span.length_ns()),
            before: name(gap.before()),
            after: name(gap.after()),
            cause: parts.cause(),
            parts,
            driver_event: None,
        }
    });
    top.collect()
}

/// Tallies of gaps by the kernels before and after them.
#[derive(Default)]
struct GapKinds {
    tallies: FxHashMap<Neighbors, GapTally>,
}

/// Kernels before and after a gap; `None` at the window's edges.
type Neighbors = (Option<usize>, Option<usize>);

/// Number and time of the gaps between the same kernels.
#[derive(Default)]
struct GapTally {
    count: u64,
    max_ns: u64,
    parts: GapParts,
}

impl GapKinds {
    fn add(&mut self, gap: &Gap, split: &SplitGap, kernels: &NamedIntervals) {
        let kernel = |index: Option<usize>| index.and_then(|index| kernels.number_of(index));
        let neighbors = (kernel(gap.before()), kernel(gap.after()));
        let tally = self.tallies.entry(neighbors).or_default();
        tally.count += 1;
        tally.max_ns = tally.max_ns.max(gap.span.length_ns());
        tally.parts.add(&split.parts);
    }

    /// Returns the kinds with the most idle time, and the most common of the others.
    fn finish(self, kernels: &NamedIntervals) -> Vec<GapKind> {
        let mut tallies: Vec<(Neighbors, GapTally)> = self.tallies.into_iter().collect();
        tallies.sort_by_key(|&(neighbors, ref tally)| (Reverse(tally.parts.total_ns()), neighbors));
        let rest = tallies.split_off(KINDS.min(tallies.len()));

        let mut common: Vec<(usize, (Neighbors, GapTally))> =
            rest.into_iter().enumerate().collect();
        common.sort_by_key(|&(place, (_, ref tally))| (Reverse(tally.count), place));
        common.truncate(COMMON);
        common.sort_by_key(|&(place, _)| place);
        tallies.extend(common.into_iter().map(|(_, kind)| kind));

        let name = |kernel: Option<usize>| kernel.map(|kernel| kernels.name(kernel).to_owned());
        let kinds = tallies.into_iter().map(|((before, after), tally)| GapKind {
            before: name(before),
            after: name(after),
            count: tally.count,
            total_ns: tally.parts.total_ns(),
            max_ns: Ns(tally.max_ns),
            cause: tally.parts.cause(),
        });
        kinds.collect()
    }
}
