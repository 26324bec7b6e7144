//! Divides the window into buckets of equal length: how much of each was busy, or idle and why.

use metalens_analyzer::Analysis;
use serde::Serialize;

use super::packed::Packed;
use super::pieces::{IntervalPiece, Stretch, number_of, put_parts};

/// Largest number of buckets of all lanes.
const MOST_CELLS: usize = 98_304;

/// The buckets as the page's script reads them.
#[derive(Debug, Serialize)]
pub(super) struct Buckets {
    count: usize,
    width_ns: u64,
    /// Busy time by bucket: lane after lane, then other processes.
    busy: String,
    /// Idle time by bucket: the causes as bits, then the time of each of them.
    idle: String,
}

/// Buckets that are being filled.
pub(super) struct BucketBuilder {
    width_ns: u64,
    busy: Vec<Vec<u64>>,
    idle: Vec<[u64; 7]>,
}

impl BucketBuilder {
    /// Fills the buckets with everything in a recording: `lanes` lanes, and one of other processes.
    pub(super) fn of(
        analysis: &Analysis,
        pieces: &[IntervalPiece<'_>],
        others: &[Stretch],
        lanes: usize,
        span_ns: u64,
    ) -> Self {
        let mut builder = Self::new(lanes + 1, span_ns);
        builder.busy(pieces, others, lanes);
        let start_ns = analysis.report.window.start_ns;
        for one in analysis.idle() {
            let (from, to) = (one.start_ns - start_ns, one.end_ns - start_ns);
            builder.idle(number_of(&one), from, to);
        }
        builder
    }

    fn new(lanes: usize, span_ns: u64) -> Self {
        let most = (MOST_CELLS / lanes.max(1)).clamp(4_096, 32_768);
        let width_ns = span_ns.div_ceil(most as u64).max(1);
        let count = usize::try_from(span_ns.div_ceil(width_ns)).unwrap_or(most);
        Self {
            width_ns,
            busy: vec![vec![0; count]; lanes],
            idle: vec![[0; 7]; count],
        }
    }

    /// Adds the busy time of each lane. Overlapping intervals count once.
    fn busy(&mut self, pieces: &[IntervalPiece<'_>], others: &[Stretch], others_lane: usize) {
        let mut until = vec![0; self.busy.len()];
        let mine = pieces
            .iter()
            .map(|one| (one.lane, one.start_ns, one.end_ns));
        let others = others.iter().map(|&(from, to)| (others_lane, from, to));
        for (lane, from, to) in mine.chain(others) {
            let (Some(row), Some(until)) = (self.busy.get_mut(lane), until.get_mut(lane)) else {
                continue;
            };
            add(row, self.width_ns, from.max(*until), to);
            *until = to.max(*until);
        }
    }

    fn idle(&mut self, cause: usize, from: u64, to: u64) {
        for (at, ns) in split(self.width_ns, from, to) {
            let bucket = self.idle.get_mut(at).and_then(|all| all.get_mut(cause));
            if let Some(bucket) = bucket {
                *bucket += ns;
            }
        }
    }

    /// Returns the buckets as the page's script reads them.
    pub(super) fn finish(self) -> Buckets {
        let count = self.idle.len();
        let (mut busy, mut idle) = (Packed::default(), Packed::default());
        self.busy.iter().flatten().for_each(|&ns| busy.put(ns));
        for parts in self.idle {
            put_parts(&mut idle, parts);
        }
        Buckets {
            count,
            width_ns: self.width_ns,
            busy: busy.into_text(),
            idle: idle.into_text(),
        }
    }
}

/// Adds a stretch to a row of buckets.
pub(super) fn add(row: &mut [u64], width_ns: u64, from: u64, to: u64) {
    for (at, ns) in split(width_ns, from, to) {
        if let Some(bucket) = row.get_mut(at) {
            *bucket += ns;
        }
    }
}

/// Splits a stretch of time among its buckets.
fn split(width_ns: u64, from: u64, to: u64) -> impl Iterator<Item = (usize, u64)> {
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= to {
            return None;
        }
        let bucket = at / width_ns;
        let end = ((bucket + 1) * width_ns).min(to);
        let ns = end - at;
        at = end;
        Some((usize::try_from(bucket).ok()?, ns))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    /// 0         10        20        30
    /// |---------|---------|---------|
    ///        [--------------)
    /// ```
    #[test]
    fn buckets_of_a_stretch() {
        let check = |from: u64, to: u64, expected: &[(usize, u64)]| {
            assert_eq!(split(10, from, to).collect::<Vec<_>>(), expected);
        };
        check(7, 22, &[(0, 3), (1, 10), (2, 2)]);
        check(10, 20, &[(1, 10)]);
        check(5, 5, &[]);
        check(9, 4, &[]);
    }
}
