//! Whether values rise or fall with time, and how fast, by ranks: one wild value does
//! not make a trend, and does not hide one.
//!
//! * Mann–Kendall: S counts the pairs that rise less those that fall. Without a trend
//!   S is about normal around 0; its variance is exact, ties among values and among
//!   times included (Kendall, 1970). The p-value is two-sided, with the correction for
//!   continuity.
//! * Theil–Sen: the slope is the median of the slopes of all pairs at different times.
//!   Of more than [`ALL_PAIRS`] points only those pairs are taken that lie half the
//!   points apart (Theil's incomplete method).

/// Fewer points have no trend: chance alone would show one too often.
pub const LEAST_POINTS: usize = 8;

/// Of up to so many points every pair's slope is taken.
pub const ALL_PAIRS: usize = 2_000;

/// A trend, and how likely chance alone would show one as strong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Pairs that rise less pairs that fall.
    pub s: i64,
    /// How likely an S as far from 0 is where there is no trend.
    pub p: f64,
    /// How fast values change: theirs, by the unit of time.
    pub slope: f64,
    /// The value that the line of that slope has at time 0: the median of what is left
    /// of the values without it.
    pub intercept: f64,
}

/// The trend of points (time, value). None of fewer than [`LEAST_POINTS`], of points of
/// one time or one value, or of what is no number.
#[must_use]
pub fn trend(points: &[(f64, f64)]) -> Option<Trend> {
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
        intercept: middle(left)?,
    })
}

/// Pairs that rise with time less pairs that fall; pairs of one time are neither.
fn rising(sorted: &[(f64, f64)]) -> i64 {
    let mut s = 0_i64;
    for (at, (time, value)) in sorted.iter().enumerate() {
        for (later, next) in sorted.iter().skip(at + 1) {
            if later > time {
                s += i64::from(next > value) - i64::from(next < value);
            }
        }
    }
    s
}

/// The variance of S over all orders of the values.
fn variance(sorted: &[(f64, f64)]) -> f64 {
    let n = to_float(sorted.len() as u64);
    let times = Ties::of(sorted.iter().map(|point| point.0).collect());
    let values = Ties::of(sorted.iter().map(|point| point.1).collect());
    let all = n * (n - 1.0) * (2.0 * n + 5.0);
    (all - times.third - values.third) / 18.0
        + times.pairs * values.pairs / (2.0 * n * (n - 1.0))
        + times.triples * values.triples / (9.0 * n * (n - 1.0) * (n - 2.0))
}

/// What ties take from the variance: sums over the groups of t equal ones.
#[derive(Default)]
struct Ties {
    /// t (t - 1)
    pairs: f64,
    /// t (t - 1) (t - 2)
    triples: f64,
    /// t (t - 1) (2 t + 5)
    third: f64,
}

impl Ties {
    fn of(mut values: Vec<f64>) -> Self {
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
    let of = |&(before, was): &(f64, f64), &(after, is): &(f64, f64)| {
        (after > before).then(|| (is - was) / (after - before))
    };
    let slopes: Vec<f64> = match sorted.len() <= ALL_PAIRS {
        true => {
            let pairs = sorted.iter().enumerate().flat_map(|(at, first)| {
                let later = sorted.iter().skip(at + 1);
                later.filter_map(move |second| of(first, second))
            });
            pairs.collect()
        }
        false => {
            let half = sorted.len().div_ceil(2);
            let pairs = sorted.iter().zip(sorted.iter().skip(half));
            pairs
                .filter_map(|(first, second)| of(first, second))
                .collect()
        }
    };
    middle(slopes)
}

/// The median; of an even number of values the mean of the two in the middle.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied();
    let (low, high) = (at(values.len().checked_sub(1)? / 2)?, at(values.len() / 2)?);
    Some(low + (high - low) / 2.0)
}

#[expect(clippy::cast_precision_loss, reason = "numbers of runs")]
fn to_float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9 * expected.abs().max(1.0)
    }

    /// Every order of the values, by Heap's method.
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

    /// The variance is that of S over all orders, with ties on either side.
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
    fn what_has_no_trend() {
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

    /// Half the points apart is as good as all pairs, of many points on a line.
    #[test]
    fn many_points() {
        let points = (0..2_500).map(|at| (f64::from(at), 7.0 + 0.5 * f64::from(at)));
        let points: Vec<(f64, f64)> = points.collect();
        let found = trend(&points).unwrap();
        assert!(close(found.slope, 0.5) && close(found.intercept, 7.0) && found.p < 1e-9);
    }
}
