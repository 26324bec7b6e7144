//! Tests whether values rise or fall with time, and how fast. The test uses ranks, so that one wild
//! value neither makes nor hides a trend.
//!
//! * Mann–Kendall: S is the number of pairs that rise minus those that fall. Without a trend
//!   S is nearly normal around 0. Its variance is exact, including ties among values and
//!   among times (Kendall, 1970). The p-value is two-sided, with the correction for
//!   continuity.
//! * Theil–Sen: the slope is the median of the slopes of all pairs at different times.
//!   With more than [`ALL_PAIRS`] points, only pairs are used that lie half of the
//!   points apart (Theil's incomplete method).

use metalens_text::number::Float;

use crate::statistics::median;

/// Smallest number of points of a trend: with fewer, chance alone would show one too often.
pub(crate) const LEAST_POINTS: usize = 8;

/// Largest number of points of which every pair's slope is used.
pub(crate) const ALL_PAIRS: usize = 2_000;

/// A trend, and the probability of one this strong by chance alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    /// Number of pairs that rise minus pairs that fall.
    pub(crate) s: i64,
    /// Probability of an S this far from 0 if there is no trend.
    pub(crate) p: f64,
    /// Change of the value per unit of time.
    pub(crate) slope: f64,
    /// Value of the trend line at time 0: the median of the values after subtracting the slope.
    pub(crate) intercept: f64,
}

/// Returns the trend of points (time, value). Returns none for fewer than [`LEAST_POINTS`] points,
/// if all times or all values are equal, or if a number is not finite.
pub(crate) fn trend(points: &[(f64, f64)]) -> Option<Trend> {
    let is_finite = |&(time, value): &(f64, f64)| time.is_finite() && value.is_finite();
    if points.len() < LEAST_POINTS || !points.iter().all(is_finite) {
        return None;
    }

    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let s = rising(&sorted);
    let variance = variance(&sorted);
    if variance <= 0.0 {
        return None;
    }

    let distance = to_float(s.unsigned_abs().saturating_sub(1));
    let slope = slope(&sorted)?;
    let left: Vec<f64> = sorted
        .iter()
        .map(|(time, value)| value - slope * time)
        .collect();

    Some(Trend {
        s,
        p: libm::erfc(distance / (2.0 * variance).sqrt()),
        slope,
        intercept: median(&left)?,
    })
}

/// Returns the number of pairs that rise with time minus those that fall; pairs at one time count
/// as neither.
fn rising(sorted: &[(f64, f64)]) -> i64 {
    let mut s = 0_i64;
    for (index, (time, value)) in sorted.iter().enumerate() {
        for (later, next) in sorted.iter().skip(index + 1) {
            if later > time {
                s += i64::from(next > value) - i64::from(next < value);
            }
        }
    }
    s
}

/// Returns the variance of S over all orders of the values.
fn variance(sorted: &[(f64, f64)]) -> f64 {
    let n = to_float(sorted.len() as u64);
    let times = Ties::count(sorted.iter().map(|point| point.0).collect());
    let values = Ties::count(sorted.iter().map(|point| point.1).collect());
    let untied = n * (n - 1.0) * (2.0 * n + 5.0);
    (untied - times.third - values.third) / 18.0
        + times.pairs * values.pairs / (2.0 * n * (n - 1.0))
        + times.triples * values.triples / (9.0 * n * (n - 1.0) * (n - 2.0))
}

/// Terms that ties subtract from the variance: sums over the groups of t equal values.
#[derive(Default)]
struct Ties {
    /// Sum of t (t - 1).
    pairs: f64,
    /// Sum of t (t - 1) (t - 2).
    triples: f64,
    /// Sum of t (t - 1) (2 t + 5).
    third: f64,
}

impl Ties {
    fn count(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let mut ties = Self::default();
        for group in values.chunk_by(|a, b| a == b) {
            let t = to_float(group.len() as u64);
            ties.pairs += t * (t - 1.0);
            ties.triples += t * (t - 1.0) * (t - 2.0);
            ties.third += t * (t - 1.0) * (2.0 * t + 5.0);
        }
        ties
    }
}

fn slope(sorted: &[(f64, f64)]) -> Option<f64> {
    let mut slopes = Vec::new();
    if sorted.len() <= ALL_PAIRS {
        for (index, first) in sorted.iter().enumerate() {
            let later = sorted.iter().skip(index + 1);
            slopes.extend(later.filter_map(|second| slope_between(first, second)));
        }
    } else {
        let half = sorted.len().div_ceil(2);
        let pairs = sorted.iter().zip(sorted.iter().skip(half));
        slopes.extend(pairs.filter_map(|(first, second)| slope_between(first, second)));
    }
    median(&slopes)
}

/// Returns the slope between two points; none if they are at one time.
fn slope_between(&(earlier, was): &(f64, f64), &(later, is): &(f64, f64)) -> Option<f64> {
    (later > earlier).then(|| (is - was) / (later - earlier))
}

fn to_float(number: u64) -> f64 {
    number.float()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9 * expected.abs().max(1.0)
    }

    /// Visits every order of the values, by Heap's method.
    fn orders(values: &mut Vec<f64>, size: usize, see: &mut impl FnMut(&[f64])) {
        if size <= 1 {
            return see(values);
        }
        for at in 0..size {
            orders(values, size - 1, see);
            let other = if size.is_multiple_of(2) { at } else { 0 };
            values.swap(other, size - 1);
        }
    }

    /// Compares the variance with that of S over all orders, with ties on either side.
    #[test]
    fn the_variance_is_exact() {
        let check = |times: &[f64], values: &[f64]| {
            let (mut sum, mut count) = (0.0, 0.0);
            orders(&mut values.to_vec(), values.len(), &mut |order| {
                let points: Vec<_> = times.iter().copied().zip(order.iter().copied()).collect();
                let s = rising(&points) as f64;
                sum += s * s;
                count += 1.0;
            });
            let points: Vec<_> = times.iter().copied().zip(values.iter().copied()).collect();
            assert!(
                close(variance(&points), sum / count),
                "{times:?} {values:?}"
            );
        };
        let days = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        check(&days, &[3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0]);
        check(&days, &[3.0, 1.0, 3.0, 3.0, 9.0, 1.0, 6.0]);
        check(
            &[1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0],
            &[3.0, 1.0, 3.0, 3.0, 9.0, 1.0, 6.0],
        );
    }

    #[test]
    fn trends_by_hand() {
        let points = |values: &[f64]| -> Vec<(f64, f64)> {
            let times = (0..).map(f64::from);
            times.zip(values.iter().copied()).collect()
        };
        // All 28 pairs of 8 rise. Var = 8 × 7 × 21 / 18; z = 27 / √65.333 = 3.3404.
        let up = trend(&points(&[1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0])).unwrap();
        assert_eq!((up.s, up.slope, up.intercept), (28, 2.0, 1.0));
        assert!((up.p - 0.000_836_7).abs() < 1e-6, "{}", up.p);
        // One wild value changes neither direction nor slope.
        let wild = trend(&points(&[
            1.0, 3.0, 5.0, 7.0, 900.0, 11.0, 13.0, 15.0, 17.0,
        ]))
        .unwrap();
        assert!(wild.p < 0.01 && close(wild.slope, 2.0), "{wild:?}");
        // Mirrored, it falls as surely.
        let down = trend(&points(&[15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0])).unwrap();
        assert_eq!((down.s, down.slope, down.p), (-28, -2.0, up.p));
        // Up and down: S is 0, p is 1.
        let none = trend(&points(&[1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0])).unwrap();
        assert_eq!((none.s, none.p, none.slope), (0, 1.0, 0.0));
    }

    #[test]
    fn too_few_or_equal_points_have_no_trend() {
        let line = |count: i32| -> Vec<(f64, f64)> {
            (0..count)
                .map(|at| (f64::from(at), f64::from(at)))
                .collect()
        };
        assert_eq!(trend(&line(7)), None, "too few");
        assert!(trend(&line(8)).is_some());
        assert_eq!(trend(&[(1.0, 2.0); 9]), None, "one point");
        let at_once: Vec<_> = line(9).into_iter().map(|(_, value)| (0.0, value)).collect();
        assert_eq!(trend(&at_once), None, "one time");
        let same: Vec<_> = line(9).into_iter().map(|(time, _)| (time, 3.0)).collect();
        assert_eq!(trend(&same), None, "one value");
    }

    /// Pairs that lie half of the points apart find the slope of many points on a line.
    #[test]
    fn a_trend_of_many_points_is_found() {
        let points = (0..2_500).map(|at| (f64::from(at), 7.0 + 0.5 * f64::from(at)));
        let points: Vec<(f64, f64)> = points.collect();
        let found = trend(&points).unwrap();
        assert!(close(found.slope, 0.5) && close(found.intercept, 7.0) && found.p < 1e-9);
    }
}
