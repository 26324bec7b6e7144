//! Computes the shift between two sides of few runs, and the confidence in it.

mod looks;
mod rounds;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use looks::bounded_mean;
use metalens_message::Number;
use metalens_text::number::Float;
pub(crate) use rounds::shift_by_rounds;

/// Confidence to reach. Few runs have less, and the result says so.
const WANTED: f64 = 0.95;

/// Confidence interval of the true shift.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfidenceInterval {
    /// Lower end of the interval.
    pub low: Number,
    /// Upper end of the interval.
    pub high: Number,
    /// Probability that an interval made like this covers the true shift: exact for any
    /// distribution of the values.
    pub confidence: f64,
}

/// Shift between two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Hodges–Lehmann estimate: the median of all differences between the sides, or the mean of the
    /// two in the middle.
    pub estimate: Number,
    /// Confidence interval of the true shift. None with fewer than two values on a side.
    pub interval: Option<ConfidenceInterval>,
}

impl Shift {
    /// Returns the shift between sides whose differences are these: the median, and an interval between the
    /// differences of this rank from either end.
    fn of(mut differences: Vec<f64>, rank: Option<Rank>) -> Option<Self> {
        differences.sort_by(f64::total_cmp);
        let count = differences.len();
        let difference = |index: usize| Number::new(*differences.get(index)?);
        let interval = rank.and_then(|rank| {
            Some(ConfidenceInterval {
                low: difference(rank.k - 1)?,
                high: difference(count.checked_sub(rank.k)?)?,
                confidence: rank.confidence,
            })
        });
        Some(Self {
            estimate: Number::new(median_of_sorted(&differences)?)?,
            interval,
        })
    }

    /// Returns the shift with an interval whose ends are so much further away.
    #[must_use]
    pub(crate) fn widened(self, by: f64) -> Self {
        let moved = |end: Number, by: f64| Number::new(end.get() + by).unwrap_or(end);
        let interval = self.interval.map(|interval| ConfidenceInterval {
            low: moved(interval.low, -by),
            high: moved(interval.high, by),
            ..interval
        });
        Self { interval, ..self }
    }
}

/// Returns the shift from `base` to `new`; none if a side is empty.
pub fn shift(base: &[f64], new: &[f64]) -> Option<Shift> {
    shift_ranked(base, new, Rank::for_counts(base.len(), new.len()))
}

/// Returns the shift from `base` to `new` with a rank that is already known.
pub(crate) fn shift_ranked(base: &[f64], new: &[f64], rank: Option<Rank>) -> Option<Shift> {
    let pairs = new
        .iter()
        .flat_map(|now| base.iter().map(move |was| now - was));
    Shift::of(pairs.collect(), rank)
}

/// Rank of the sorted differences, counted from either end, that are the ends of the interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rank {
    /// The rank, counted from 1.
    pub(crate) k: usize,
    /// Exact confidence of the interval with this rank.
    pub(crate) confidence: f64,
}

impl Rank {
    /// Returns the rank for these numbers of values; none with fewer than two on a side.
    pub(crate) fn for_counts(base: usize, new: usize) -> Option<Self> {
        Self::of_chances((base.min(new) > 1).then(|| mann_whitney(base, new))?)
    }

    /// Returns the largest rank with the wanted confidence, else the first. A rank k fails to cover the shift
    /// on one side with the first k of these probabilities.
    fn of_chances(chances: Vec<f64>) -> Option<Self> {
        let (mut best, mut below) = (None, 0.0);
        for (k, chance) in (1..).zip(chances) {
            below += chance;
            let confidence = 1.0 - 2.0 * below;
            if best.is_some() && confidence < WANTED {
                break;
            }
            best = Some(Self { k, confidence });
        }
        best
    }
}

/// Returns the probability of each value of the Mann–Whitney statistic if the sides are alike. The
/// statistic is the number of pairs in which new is the smaller, from 0 to half of all pairs.
///
/// The largest of all values belongs to base with probability m/(m+n), and then it is above all n
/// of new: P(u; m, n) = m/(m+n) P(u-n; m-1, n) + n/(m+n) P(u; m, n-1).
fn mann_whitney(base: usize, new: usize) -> Vec<f64> {
    let most = base * new / 2;
    let certain = || {
        let mut chances = vec![0.0; most + 1];
        if let Some(first) = chances.first_mut() {
            *first = 1.0;
        }
        chances
    };

    // The entry chances[n][u] is for the m of this round of the loop.
    let mut chances: Vec<Vec<f64>> = (0..=new).map(|_| certain()).collect();
    for m in 1..=base {
        let mut next = vec![certain()];
        for n in 1..=new {
            let values = (m + n).float();
            let row = (0..=most)
                .map(|u| {
                    m.float() / values * chance(chances.get(n), u.checked_sub(n))
                        + n.float() / values * chance(next.get(n - 1), Some(u))
                })
                .collect();
            next.push(row);
        }
        chances = next;
    }
    chances.pop().unwrap_or_default()
}

fn chance(row: Option<&Vec<f64>>, u: Option<usize>) -> f64 {
    u.and_then(|u| row?.get(u).copied()).unwrap_or(0.0)
}

/// Returns the sum of the squared distances of values from their mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().float();
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Returns the median of several runs: the mean of the two values in the middle if their number is
/// even. None without a value.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// Returns the [`median`] of the values that are known.
pub(crate) fn median_of_known(values: &[Option<Number>]) -> Option<f64> {
    let known: Vec<f64> = values.iter().flatten().map(|value| value.get()).collect();
    median(&known)
}

/// Returns the median of values in ascending order.
fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let count = sorted.len();
    let value = |index: usize| sorted.get(index).copied();
    let (low, high) = (value(count.checked_sub(1)? / 2)?, value(count / 2)?);
    // Half of the difference is 0 for equal values, however large they are.
    Some(low + (high - low) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the confidence by enumeration. If the sides are alike, the ranks 1..=m+n fall on
    /// the sides in all ways with equal probability. The interval covers 0 unless fewer than k
    /// pairs have the other sign.
    fn enumerated(base: usize, new: usize, k: usize) -> f64 {
        let all = base + new;
        let (mut covered, mut ways) = (0_u32, 0_u32);
        for mask in 0_u32..1 << all {
            if mask.count_ones() as usize != base {
                continue;
            }
            ways += 1;

            let side = |of_base: bool| {
                let ranks = (0..all).filter(move |at| (mask >> at & 1 == 1) == of_base);
                ranks.map(|rank| rank as f64).collect::<Vec<_>>()
            };
            let (was, now) = (side(true), side(false));

            let mut differences: Vec<f64> = now
                .iter()
                .flat_map(|now| was.iter().map(move |was| now - was))
                .collect();
            differences.sort_by(f64::total_cmp);
            let (low, high) = (differences[k - 1], differences[differences.len() - k]);
            covered += u32::from(low <= 0.0 && high >= 0.0);
        }
        f64::from(covered) / f64::from(ways)
    }

    #[test]
    fn the_confidence_is_exact() {
        for base in 2..=6 {
            for new in 2..=6 {
                let rank = Rank::for_counts(base, new).unwrap();
                let expected = enumerated(base, new, rank.k);
                let found = rank.confidence;
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{base} {new}: {found} {expected}"
                );
                // The next rank would have too little confidence.
                let next = enumerated(base, new, rank.k + 1);
                assert!(next < WANTED, "{base} {new}: {next}");
                assert!(rank.k == 1 || expected >= WANTED, "{base} {new}");
            }
        }
    }

    /// Checks the table in the crate's documentation.
    #[test]
    fn confidences_by_hand() {
        let check = |base: usize, new: usize, expected: Option<(usize, f64)>| {
            let found = Rank::for_counts(base, new).map(|rank| (rank.k, rank.confidence));
            let close = match (found, expected) {
                (Some((k, is)), Some((wanted, should))) => {
                    k == wanted && (is - should).abs() < 1e-9
                }
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(close, "{base} {new}: {found:?}");
        };
        check(1, 1, None);
        check(1, 9, None);
        check(0, 3, None);
        check(2, 2, Some((1, 1.0 - 2.0 / 6.0)));
        check(3, 3, Some((1, 0.9)));
        check(4, 4, Some((1, 1.0 - 2.0 / 70.0)));
        // C(10, 5) = 252; u = 0, 1, 2 happen in 1 + 1 + 2 ways.
        check(5, 5, Some((3, 1.0 - 2.0 * 4.0 / 252.0)));
        // Tables of the rank sum test: the critical value of U is 23 (two-sided 5 %).
        assert_eq!(Rank::for_counts(10, 10).unwrap().k, 24);
        assert_eq!(Rank::for_counts(8, 12).unwrap().k, 23);
    }

    #[test]
    fn shifts_by_hand() {
        let check = |base: &[f64], new: &[f64], estimate: f64, range: Option<(f64, f64)>| {
            let found = shift(base, new).unwrap();
            assert_eq!(found.estimate.get(), estimate, "{base:?} {new:?}");
            let interval = found
                .interval
                .map(|interval| (interval.low.get(), interval.high.get()));
            assert_eq!(interval, range, "{base:?} {new:?}");
        };
        check(&[10.0], &[12.0], 2.0, None);
        check(&[10.0], &[12.0, 14.0], 3.0, None);
        // 1 2 3 against 11 12 14: 8 9 9 10 10 11 11 12 13.
        check(
            &[2.0, 1.0, 3.0],
            &[14.0, 11.0, 12.0],
            10.0,
            Some((8.0, 13.0)),
        );
        // -1 0 0 1: the two in the middle.
        check(&[5.0, 6.0], &[5.0, 6.0], 0.0, Some((-1.0, 1.0)));
        check(&[0.0, 0.0], &[1.0, 2.0], 1.5, Some((1.0, 2.0)));
        assert_eq!(shift(&[], &[1.0]), None);
        assert_eq!(shift(&[f64::MAX], &[-f64::MAX]), None, "no figure");
    }

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle() {
        let cases: [(&[f64], Option<f64>); 7] = [
            (&[], None),
            (&[7.0], Some(7.0)),
            (&[3.0, 1.0, 2.0], Some(2.0)),
            (&[4.0, 1.0, 3.0, 2.0], Some(2.5)),
            (&[1.0, 100.0], Some(50.5)),
            (&[5.0, 5.0, 5.0, 9.0], Some(5.0)),
            (&[-3.0, -1.0], Some(-2.0)),
        ];
        for (values, expected) in cases {
            assert_eq!(median(values), expected, "{values:?}");
        }
    }
}
