//! Intervals far longer than others of the same name.

use std::cmp::Reverse;

use metalens_trace::Names;

use super::work::Work;
use crate::report::{Outlier, Outliers};
use crate::subject::timeline::Interval;

/// How many times its kernel's median an outlier must take more than.
const TIMES: u64 = 5;

/// The median of fewer says little.
const INSTANCES: u64 = 10;

/// How many a report lists.
const TOP: usize = 10;

/// More than [`TIMES`] the median of its kernel, so that it is slow in itself,
/// and not below the 99th percentile, so that a kernel of two usual lengths
/// (small and large inputs) is not full of outliers.
pub(super) fn outliers(mine: &[Interval], work: &Work<'_>, names: &Names) -> Outliers {
    let mut found: Vec<(u64, usize, usize)> = Vec::new();
    let mut excess_ns: u64 = 0;
    for (at, kernel, length, usual) in work.rows() {
        let slow = length > usual.median.saturating_mul(TIMES) && length >= usual.p99;
        if slow && usual.count >= INSTANCES {
            let excess = length - usual.median;
            excess_ns += excess;
            found.push((excess, at, kernel));
        }
    }
    let count = found.len() as u64;
    found.sort_unstable_by_key(|&(excess, at, _)| (Reverse(excess), at));
    let top = found.into_iter().take(TOP);
    let top = top.filter_map(|(excess, at, kernel)| {
        let median_ns = work.usual.get(kernel)?.median;
        Some(Outlier {
            name: work.kernels.name(kernel).to_owned(),
            channel: work.channel(kernel, names),
            start_ns: mine.get(at)?.span.start_ns,
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
