//! What a report says of the idle time: the gaps, and where their time went.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::histogram::histogram;
use super::ledger::{Book, Entry, Totals};
use crate::basics::spans::Span;
use crate::basics::statistics::summarize;
use crate::report::{GapKind, GapParts, Gaps, IdleTime, TopGap};
use crate::subject::gaps::Gap;
use crate::subject::named_intervals::NamedIntervals;

/// How many of the longest gaps a report lists.
const TOP_GAPS: usize = 10;
/// How many pairs of kernels it lists for their idle time…
const KINDS: usize = 10;
/// …and how many more for their number.
const COMMON: usize = 4;

/// The idle time, explained.
pub(crate) struct Idle {
    /// The gaps.
    pub gaps: Gaps,
    /// Where their time went.
    pub ledger: IdleTime,
    /// When the program was at work on something else.
    pub host: Vec<Span>,
}

/// Explains every gap, and sums up.
#[must_use]
pub(crate) fn idle(gaps: &[Gap], book: &Book<'_>, kernels: &NamedIntervals) -> Idle {
    let mut totals = Totals::default();
    let mut kinds = Kinds::default();
    let mut host = Vec::new();
    for gap in gaps {
        let entry = book.entry(gap);
        totals.add(&entry);
        kinds.add(gap, &entry, kernels);
        if !entry.host.is_empty() {
            host.push(entry.host);
        }
    }
    Idle {
        gaps: gap_facts(gaps, book, kernels, kinds),
        ledger: totals.finish(),
        host,
    }
}

fn gap_facts(gaps: &[Gap], book: &Book<'_>, kernels: &NamedIntervals, kinds: Kinds) -> Gaps {
    let mut lengths: Vec<u64> = gaps.iter().map(|gap| gap.span.length_ns()).collect();
    let (summary, histogram) = (summarize(&mut lengths), histogram(&lengths));
    Gaps {
        count: gaps.len() as u64,
        total_ns: summary.map_or(0, |summary| summary.total),
        mean_ns: summary.map(|summary| summary.mean),
        median_ns: summary.map(|summary| summary.median),
        p95_ns: summary.map(|summary| summary.p95),
        p99_ns: summary.map(|summary| summary.p99),
        max_ns: summary.map(|summary| summary.max),
        below_1us: lengths.iter().filter(|&&length| length < 1_000).count() as u64,
        histogram,
        top: top_gaps(gaps, book, kernels),
        between: kinds.finish(kernels),
    }
}

fn top_gaps(gaps: &[Gap], book: &Book<'_>, kernels: &NamedIntervals) -> Vec<TopGap> {
    let mut longest: Vec<&Gap> = gaps.iter().collect();
    // No two gaps begin at once, so that there is one order.
    let key = |gap: &&Gap| (Reverse(gap.span.length_ns()), gap.span.start_ns);
    if longest.len() > TOP_GAPS {
        longest.select_nth_unstable_by_key(TOP_GAPS, key);
        longest.truncate(TOP_GAPS);
    }
    longest.sort_unstable_by_key(key);
    let name = |at: Option<usize>| at.and_then(|at| kernels.name_of(at));
    let top = longest.into_iter().map(|gap| {
        let parts = book.entry(gap).parts;
        TopGap {
            start_ns: gap.span.start_ns,
            duration_ns: gap.span.length_ns(),
            before: name(gap.before()),
            after: name(gap.after()),
            cause: parts.cause(),
            parts,
        }
    });
    top.collect()
}

/// Gaps by the kernels before and after them.
#[derive(Default)]
struct Kinds {
    tallies: FxHashMap<Ends, Tally>,
}

/// The kernels before and after; none at the window's edges.
type Ends = (Option<usize>, Option<usize>);

#[derive(Default)]
struct Tally {
    count: u64,
    max_ns: u64,
    parts: GapParts,
}

impl Kinds {
    fn add(&mut self, gap: &Gap, entry: &Entry, kernels: &NamedIntervals) {
        let kernel = |at: Option<usize>| at.and_then(|at| kernels.number_of(at));
        let ends = (kernel(gap.before()), kernel(gap.after()));
        let tally = self.tallies.entry(ends).or_default();
        tally.count += 1;
        tally.max_ns = tally.max_ns.max(gap.span.length_ns());
        tally.parts.add(&entry.parts);
    }

    /// Those with the most idle time, and the commonest of the others.
    fn finish(self, kernels: &NamedIntervals) -> Vec<GapKind> {
        let mut tallies: Vec<(Ends, Tally)> = self.tallies.into_iter().collect();
        tallies.sort_by_key(|&(ends, ref tally)| (Reverse(tally.parts.total_ns()), ends));
        let rest = tallies.split_off(KINDS.min(tallies.len()));
        let mut common: Vec<(usize, (Ends, Tally))> = rest.into_iter().enumerate().collect();
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
            max_ns: tally.max_ns,
            cause: tally.parts.cause(),
        });
        kinds.collect()
    }
}
