//! Computes the differences of few pairs of runs, such as with and without the recorder, and the
//! confidence in them, without any assumption about their distribution.
//!
//! ```text
//! differences, sorted   d1 ─── d2 ─── d3 ─── d4 ─── d5
//!                       └── contains the true median ──┘   unless all five fell on one side of it:
//!                                                          2 × ½⁵ = 6.25 %, so confidence 93.75 %
//! ```
//!
//! The interval consists of order statistics of independent pairs. From the k-th smallest to the
//! k-th largest of n differences it contains the median with probability

use serde::{Deserialize, Serialize};

use super::median_of_sorted;

/// Least confidence of the interval: it is the narrowest one that reaches this, or else the whole
/// range.
const MIN_CONFIDENCE: f64 = 0.9;

/// Summary of the differences of pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Differences {
    /// Number of compared pairs.
    pub pairs: u64,
    /// Median difference; the mean of the two in the middle if their number is even.
    pub median: f64,
    /// Least difference of all pairs.
    pub min: f64,
    /// Greatest difference of all pairs.
    pub max: f64,
    /// Confidence interval of the true median. Null for a single pair, which allows no conclusion.
    pub interval: Option<MedianInterval>,
    /// Conclusion from the differences.
    pub verdict: PairedVerdict,
}

/// Confidence interval of the true median.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MedianInterval {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Exact probability that the interval contains the true median.
    pub confidence: f64,
}

/// Conclusion from the differences of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PairedVerdict {
    /// More, by more than the pairs differ from each other.
    More,
    /// Less, by more than the pairs differ from each other.
    Less,
    /// Inconclusive: the pairs differ from each other by more than their median.
    Unstable,
    /// Too few pairs for a confidence of 90 %.
    TooFew,
}

impl Differences {
    /// Summarizes differences, in any order. Returns none if there are none, or if one is not
    /// finite.
    #[must_use]
    pub fn summarize(differences: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = differences.into_iter().collect();
        if sorted.iter().any(|one| !one.is_finite()) {
            return None;
        }

        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let median = median_of_sorted(&sorted)?;
        let interval = interval(&sorted);
        Some(Self {
            pairs: sorted.len() as u64,
            median,
            min,
            max,
            interval,
            verdict: verdict(interval, median, max - min),
        })
    }
}

fn interval(sorted: &[f64]) -> Option<MedianInterval> {
    let pairs = sorted.len();
    let ranks = 1..=pairs / 2;
    let is_confident = |&rank: &usize| confidence(pairs, rank) >= MIN_CONFIDENCE;
    let rank = ranks.rev().find(is_confident).unwrap_or(1);
    (pairs > 1).then_some(MedianInterval {
        low: *sorted.get(rank - 1)?,
        high: *sorted.get(pairs - rank)?,
        confidence: confidence(pairs, rank),
    })
}

/// Returns the probability that the true median lies between the smallest and the largest
/// difference of this rank.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "nobody makes so many runs that their number is not exact"
)]
fn confidence(pairs: usize, rank: usize) -> f64 {
    // Probability that exactly `below` pairs lie below the median.
    let mut exactly = 0.5_f64.powf(pairs as f64);
    let mut outside = 0.0;
    for below in 0..rank {
        outside += exactly;
        exactly *= (pairs - below) as f64 / (below + 1) as f64;
    }
    1.0 - 2.0 * outside
}

fn verdict(interval: Option<MedianInterval>, median: f64, range: f64) -> PairedVerdict {
    let Some(interval) = interval.filter(|one| one.confidence >= MIN_CONFIDENCE) else {
        return PairedVerdict::TooFew;
    };
    if range > median.abs() {
        return PairedVerdict::Unstable;
    }
    if interval.low > 0.0 {
        PairedVerdict::More
    } else if interval.high < 0.0 {
        PairedVerdict::Less
    } else {
        PairedVerdict::Unstable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Median, interval with its confidence, and verdict were worked out by hand.
    #[test]
    fn few_pairs_have_no_verdict() {
        use PairedVerdict::{Less, More, TooFew, Unstable};
        let check = |of: &[f64], median: f64, interval: Option<[f64; 3]>, verdict| {
            let found = Differences::summarize(of.iter().copied()).unwrap();
            let ends = found
                .interval
                .map(|one| [one.low, one.high, one.confidence]);
            assert_eq!(
                (found.median, ends, found.verdict),
                (median, interval, verdict)
            );
        };
        check(&[7.0], 7.0, None, TooFew);
        check(&[9.0, 7.0], 8.0, Some([7.0, 9.0, 0.5]), TooFew);
        check(&[9.0, 7.0, 8.0, 8.5], 8.25, Some([7.0, 9.0, 0.875]), TooFew);
        let five = [9.0, 7.0, 8.0, 8.5, 7.5];
        check(&five, 8.0, Some([7.0, 9.0, 0.9375]), More);
        let five = five.map(|one| -one);
        check(&five, -8.0, Some([-9.0, -7.0, 0.9375]), Less);
        // The range is wider than the median, although all differences are positive.
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
        // Without any difference there is no verdict.
        check(&[0.0; 5], 0.0, Some([0.0, 0.0, 0.9375]), Unstable);
        //  256./ 256.
        let eight = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0].map(|one| 100.0 + one);
        check(&eight, 104.5, Some([102.0, 107.0, 0.9296875]), More);
    }

    #[test]
    fn values_that_are_not_finite_are_refused() {
        assert_eq!(Differences::summarize([]), None);
        assert_eq!(Differences::summarize([1.0, f64::NAN]), None);
        assert_eq!(Differences::summarize([1.0, f64::INFINITY]), None);
    }

    /// Counts the ways in which pairs can fall on either side of the median and leave it inside.
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
