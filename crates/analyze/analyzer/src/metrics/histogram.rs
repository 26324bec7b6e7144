//! Makes histograms of durations and of gap lengths.

use metalens_message::Ns;

use crate::report::Bucket;

/// Smallest lengths of the buckets: 0, 1, 5, 20, 100 µs, 1 ms, 10 ms.
const BUCKETS_NS: [u64; 7] = [0, 1_000, 5_000, 20_000, 100_000, 1_000_000, 10_000_000];

/// Counts lengths in the buckets of [`BUCKETS_NS`].
pub(crate) fn histogram(lengths: &[u64]) -> Vec<Bucket> {
    let ends = BUCKETS_NS
        .iter()
        .skip(1)
        .map(|&end| Some(end))
        .chain([None]);
    let mut buckets: Vec<Bucket> = BUCKETS_NS
        .iter()
        .zip(ends)
        .map(|(&from_ns, to_ns)| Bucket {
            from_ns: Ns(from_ns),
            to_ns: to_ns.map(Ns),
            count: 0,
            total_ns: Ns(0),
        })
        .collect();

    for &length in lengths {
        let next = BUCKETS_NS.partition_point(|&from| from <= length);
        if let Some(bucket) = buckets.get_mut(next.saturating_sub(1)) {
            bucket.count += 1;
            bucket.total_ns += Ns(length);
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_half_open() {
        let found = histogram(&[0, 999, 1_000, 4_999, 5_000, 10_000_000, u64::MAX / 4]);
        let counts: Vec<u64> = found.iter().map(|bucket| bucket.count).collect();
        assert_eq!(counts, [2, 2, 1, 0, 0, 0, 2]);
        assert_eq!(found[1].total_ns, Ns(5_999));
        assert_eq!((found[6].from_ns, found[6].to_ns), (Ns(10_000_000), None));
    }
}
