//! Finds intervals far longer than others of the same name.

use std::cmp::Reverse;

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
    let mut outliers: Vec<(u64, usize, usize)> = Vec::new();
    let mut slow = vec![0; lengths.by_kernel.len()];
    for (index, kernel, length, usual) in lengths.rows() {
        if length > usual.median.saturating_mul(TIMES) {
            outliers.push((length - usual.median, index, kernel));
            slow.get_mut(kernel)
                .into_iter()
                .for_each(|count| *count += 1);
        }
    }
    outliers.retain(|&(_, _, kernel)| {
        let instances = lengths.by_kernel.get(kernel).map_or(0, |usual| usual.count);
        let slow = slow.get(kernel).copied().unwrap_or(0);
        instances >= INSTANCES && slow * FEW <= instances.max(FEW)
    });
    let excess_ns = outliers.iter().map(|(excess, ..)| excess).sum();

    let count = outliers.len() as u64;
    outliers.sort_unstable_by_key(|&(excess, index, _)| (Reverse(excess), index));
    let longest = outliers.into_iter().take(TOP);
    let top = longest.filter_map(|(excess, index, kernel)| {
        let median_ns = lengths.by_kernel.get(kernel)?.median;
        Some(Outlier {
            name: lengths.kernels.name(kernel).to_owned(),
            channel: lengths.channel(kernel, names),
            start_ns: mine.get(index)?.span.start_ns,
            duration_ns: median_ns + excess,
            median_ns,
        })
    });
    Outliers {
        count,
        excess_ns,
        top: top.collect(),
    }
}
