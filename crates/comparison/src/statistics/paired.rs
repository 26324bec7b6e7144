//! Few pairs of runs, such as with and without something: what their differences
//! say, and how surely. Nothing is taken for granted of how they are distributed.
//!
//! ```text
//! differences, sorted   d1 ─── d2 ─── d3 ─── d4 ─── d5
//!                       └──────── the median ────────┘   unless all five fell on one side of it:
//!                                                        2 × ½⁵ = 6.25 %, so surely to 93.75 %
//! ```
//!
//! An order statistic of independent pairs: the interval from the k-th smallest to
//! the k-th largest of n differences holds the median with probability
//! `1 − 2·P(at most k−1 of n coins show heads)`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The interval is the narrowest that is at least as sure as this, or else the
/// whole range.
const SURE: f64 = 0.9;

/// What the differences of pairs come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Differences {
    /// How many pairs.
    pub pairs: u64,
    /// Their median, nearest rank.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// What holds the true median, and how surely. Null of a single pair, of which nothing follows.
    pub interval: Option<Interval>,
    /// What they come to.
    pub verdict: Direction,
}

/// What holds the true median.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// From here.
    pub low: f64,
    /// To here.
    pub high: f64,
    /// With this probability, which is of so few pairs exactly what it is.
    pub confidence: f64,
}

/// What differences come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// More, by more than pairs differ from each other.
    More,
    /// Less, likewise.
    Less,
    /// Pairs differ from each other by more than they are apart: nothing can be told.
    Unstable,
    /// Too few pairs to be at least 90 % sure of anything.
    TooFew,
}

impl Differences {
    /// Of these, in any order; none of none, or of what is no number.
    #[must_use]
    pub fn of(differences: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = differences.into_iter().collect();
        if sorted.iter().any(|one| !one.is_finite()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let median = *sorted.get(sorted.len().div_ceil(2) - 1)?;
        let interval = interval(&sorted);
        Some(Self {
            pairs: sorted.len() as u64,
            median,
            min,
            max,
            interval,
            verdict: direction(interval, median, max - min),
        })
    }
}

fn interval(sorted: &[f64]) -> Option<Interval> {
    let pairs = sorted.len();
    let ranks = 1..=pairs / 2;
    let sure = |&rank: &usize| confidence(pairs, rank) >= SURE;
    let rank = ranks.rev().find(sure).unwrap_or(1);
    (pairs > 1).then_some(Interval {
        low: *sorted.get(rank - 1)?,
        high: *sorted.get(pairs - rank)?,
        confidence: confidence(pairs, rank),
    })
}

/// That the median of what `pairs` are drawn from lies between the smallest and
/// the largest of this rank.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "nobody makes so many runs that their number is not exact"
)]
fn confidence(pairs: usize, rank: usize) -> f64 {
    // P(exactly so many of the pairs lie below the median), from none up.
    let mut exactly = 0.5_f64.powf(pairs as f64);
    let mut outside = 0.0;
    for below in 0..rank {
        outside += exactly;
        exactly *= (pairs - below) as f64 / (below + 1) as f64;
    }
    1.0 - 2.0 * outside
}

fn direction(interval: Option<Interval>, median: f64, range: f64) -> Direction {
    let Some(interval) = interval.filter(|one| one.confidence >= SURE) else {
        return Direction::TooFew;
    };
    if range > median.abs() {
        return Direction::Unstable;
    }
    match (interval.low > 0.0, interval.high < 0.0) {
        (true, _) => Direction::More,
        (_, true) => Direction::Less,
        _ => Direction::Unstable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Median, interval with its confidence, verdict: worked out by hand.
    #[test]
    fn few_pairs() {
        use Direction::{Less, More, TooFew, Unstable};
        let check = |of: &[f64], median: f64, interval: Option<[f64; 3]>, verdict| {
            let found = Differences::of(of.iter().copied()).unwrap();
            let ends = found
                .interval
                .map(|one| [one.low, one.high, one.confidence]);
            assert_eq!(
                (found.median, ends, found.verdict),
                (median, interval, verdict)
            );
        };
        check(&[7.0], 7.0, None, TooFew);
        check(&[9.0, 7.0], 7.0, Some([7.0, 9.0, 0.5]), TooFew);
        check(&[9.0, 7.0, 8.0, 8.5], 8.0, Some([7.0, 9.0, 0.875]), TooFew);
        let five = [9.0, 7.0, 8.0, 8.5, 7.5];
        check(&five, 8.0, Some([7.0, 9.0, 0.9375]), More);
        let five = five.map(|one| -one);
        check(&five, -8.0, Some([-9.0, -7.0, 0.9375]), Less);
        // Wider than its middle is from nothing, though all are above it.
        check(
            &[1.0, 2.0, 3.0, 4.0, 5.0],
            3.0,
            Some([1.0, 5.0, 0.9375]),
            Unstable,
        );
        check(
            &[-1.0, 2.0, 1.5, 1.0, 1.0],
            1.0,
            Some([-1.0, 2.0, 0.9375]),
            Unstable,
        );
        // No difference at all is none that can be told.
        check(&[0.0; 5], 0.0, Some([0.0, 0.0, 0.9375]), Unstable);
        // Of eight the second: 1 - 2 (1 + 8) / 256.
        let eight = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0].map(|one| 100.0 + one);
        check(&eight, 104.0, Some([102.0, 107.0, 0.9296875]), More);
    }

    #[test]
    fn no_numbers() {
        assert_eq!(Differences::of([]), None);
        assert_eq!(Differences::of([1.0, f64::NAN]), None);
        assert_eq!(Differences::of([1.0, f64::INFINITY]), None);
    }

    /// Counted: of all ways in which pairs can fall on either side of the median,
    /// how many leave it inside.
    #[test]
    fn confidence_is_counted() {
        for pairs in 1..=12_usize {
            for rank in 1..=pairs / 2 {
                let all = 1_u32 << pairs;
                let inside = (0..all).filter(|ways| {
                    let below = ways.count_ones() as usize;
                    below >= rank && pairs - below >= rank
                });
                let counted = inside.count() as f64 / f64::from(all);
                let found = confidence(pairs, rank);
                assert!(
                    (found - counted).abs() < 1e-12,
                    "{pairs} {rank}: {found} {counted}"
                );
            }
        }
    }
}
