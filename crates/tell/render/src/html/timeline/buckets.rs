//! Divides the window into buckets of equal length: how much of each was busy, or idle and why.

use std::collections::BTreeSet;

use metalens_analyzer::{Analysis, Cause};
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
    /// Lane and color of each row of busy time. Other processes have a lane after the last one, and
    /// color 0.
    rows: Vec<[usize; 2]>,
    /// Busy time by bucket, row after row. The rows of a lane sum to its busy time.
    busy: String,
    /// Number of intervals of the process that begin in each bucket.
    begun: String,
    /// Idle time by bucket: the causes as bits, then the time of each of them.
    idle: String,
}

/// Buckets that are being filled.
pub(super) struct BucketBuilder {
    width_ns: u64,
    rows: Vec<[usize; 2]>,
    busy: Vec<Vec<u64>>,
    begun: Vec<u64>,
    idle: Vec<[u64; Cause::ALL.len()]>,
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
        let mine: BTreeSet<[usize; 2]> = pieces
            .iter()
            .map(|piece| [piece.lane, piece.color])
            .collect();
        let rows = mine.into_iter().chain([[lanes, 0]]).collect();
        let mut builder = Self::new(rows, span_ns);
        builder.busy(pieces, others, lanes);
        let start_ns = analysis.report.window.start_ns.0;
        for stretch in analysis.idle() {
            let (from, to) = (stretch.start_ns - start_ns, stretch.end_ns - start_ns);
            builder.idle(number_of(&stretch), from, to);
        }
        builder
    }

    fn new(rows: Vec<[usize; 2]>, span_ns: u64) -> Self {
        let most = (MOST_CELLS / rows.len().max(1)).clamp(4_096, 32_768);
        let width_ns = span_ns.div_ceil(most as u64).max(1);
        let count = usize::try_from(span_ns.div_ceil(width_ns)).unwrap_or(most);
        Self {
            width_ns,
            busy: vec![vec![0; count]; rows.len()],
            rows,
            begun: vec![0; count],
            idle: vec![[0; Cause::ALL.len()]; count],
        }
    }

    /// Adds the busy time of each lane. Overlapping intervals count once, for the first of them.
    fn busy(&mut self, pieces: &[IntervalPiece<'_>], others: &[Stretch], others_lane: usize) {
        for piece in pieces {
            let at = usize::try_from(piece.start_ns / self.width_ns).ok();
            if let Some(begun) = at.and_then(|at| self.begun.get_mut(at)) {
                *begun += 1;
            }
        }

        let mut until = vec![0; others_lane + 1];
        let mine = pieces
            .iter()
            .map(|piece| ([piece.lane, piece.color], piece.start_ns, piece.end_ns));
        let others = others
            .iter()
            .map(|&(from, to)| ([others_lane, 0], from, to));
        for (place, from, to) in mine.chain(others) {
            let row = self.rows.binary_search(&place).ok();
            let row = row.and_then(|row| self.busy.get_mut(row));
            let (Some(row), Some(until)) = (row, until.get_mut(place[0])) else {
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
        let [mut busy, mut begun, mut idle] = [(); 3].map(|()| Packed::default());
        self.busy.iter().flatten().for_each(|&ns| busy.put(ns));
        self.begun.iter().for_each(|&count| begun.put(count));
        for parts in self.idle {
            put_parts(&mut idle, parts);
        }
        Buckets {
            count,
            width_ns: self.width_ns,
            rows: self.rows,
            busy: busy.into_text(),
            begun: begun.into_text(),
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
