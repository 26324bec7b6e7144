//! Finds intervals far longer than others of the same name.

use std::cmp::Reverse;

use metalens_message::Ns;
use metalens_trace::Names;

use super::interval_lengths::IntervalLengths;
use crate::report::{Outlier, Outliers};
use crate::subject::interval::Interval;

/// Factor by which an outlier exceeds the median of its kernel.
const TIMES: u64 = 5;

/// Smallest number of instances whose median counts.
const INSTANCES: u64 = 10;

/// Number of outliers that a report lists.
const TOP: usize = 10;

/// Largest share of outliers, as one instance in this many: a kernel of two usual lengths (small and
/// large inputs) has none.
const FEW: u64 = 20;

/// Returns the outliers: intervals of more than [`TIMES`] the median of their kernel.
pub(super) fn outliers(
    mine: &[Interval],
    lengths: &IntervalLengths<'_>,
    names: &Names,
) -> Outliers {
    let slow = || {
        let rows = lengths.rows();
        rows.filter(|&(_, _, length, usual)| length > usual.median.saturating_mul(TIMES))
    };
    let mut counts: Vec<u64> = vec![0; lengths.by_kernel.len()];
    for (_, kernel, ..) in slow() {
        if let Some(count) = counts.get_mut(kernel) {
            *count += 1;
        }
    }
    let are_few = |kernel: usize, instances: u64| {
        let count = counts.get(kernel).copied().unwrap_or(0);
        instances >= INSTANCES && count * FEW <= instances.max(FEW)
    };
    let mut outliers: Vec<(u64, usize, usize)> = slow()
        .filter(|&(_, kernel, _, usual)| are_few(kernel, usual.count))
        .map(|(index, kernel, length, usual)| (length - usual.median, index, kernel))
        .collect();
    let excess_ns = Ns(outliers.iter().map(|(excess, ..)| excess).sum());

    let count = outliers.len() as u64;
    outliers.sort_unstable_by_key(|&(excess, index, _)| (Reverse(excess), index));
    let longest = outliers.into_iter().take(TOP);
    let top = longest.filter_map(|(excess, index, kernel)| {
        let median_ns = lengths.by_kernel.get(kernel)?.median;
        Some(Outlier {
            name: lengths.kernels.name(kernel).to_owned(),
            channel: lengths.channel(kernel, names),
            start_ns: Ns(mine.get(index)?.span.start_ns),
            duration_ns: Ns(median_ns + excess),
            median_ns: Ns(median_ns),
        })
    });
    Outliers {
        count,
        excess_ns,
        top: top.collect(),
    }
}
