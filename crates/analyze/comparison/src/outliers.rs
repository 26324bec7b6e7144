//! Finds the values that lie far from the rest, by a rule that these values cannot distort.
//!
//! A value is an outlier if both are true:
//!
//! * its modified z-score, 0.6745 (x - median) / MAD, is beyond ±3.5 (Iglewicz and
//!   Hoaglin, 1993). MAD is the median of all distances from the median. The factor
//!   0.6745 scales it to a standard deviation for normally distributed values;
//! * its distance from the median is at least the floor, the smallest change worth
//!   reporting. If more than half of the values are equal, MAD is 0 and only the floor
//!   decides.

use crate::statistics::median;

/// Smallest number of values among which outliers can be found.
pub(crate) const MIN_VALUES: usize = 5;

/// Modified z-score beyond which a value is an outlier.
pub(crate) const Z_SCORE_LIMIT: f64 = 3.5;

/// MAD of a normal distribution, in standard deviations.
const NORMAL: f64 = 0.6745;

/// The outliers among some values.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlierResult {
    /// Median of all values, nearest rank.
    pub median: f64,
    /// Median of all distances from `median`, nearest rank.
    pub mad: f64,
    /// The outliers, in the order of the values.
    pub outliers: Vec<OutlierValue>,
    /// The least and the greatest of the other values.
    pub others: (f64, f64),
}

/// A value that is far from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutlierValue {
    /// Index of the value.
    pub index: usize,
    /// Modified z-score. None if MAD is 0.
    pub score: Option<f64>,
}

/// Returns the outliers among values. Returns none for fewer than five, or if a value is
/// not finite.
#[must_use]
pub fn find_outliers(values: &[f64], floor: f64) -> Option<OutlierResult> {
    if values.len() < MIN_VALUES || !values.iter().all(|value| value.is_finite()) {
        return None;
    }

    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let mad = median(&distances)?;
    let is_far = |value: f64| {
        let distance = (value - middle).abs();
        distance > 0.0 && distance >= floor && NORMAL * distance > Z_SCORE_LIMIT * mad
    };

    let far = values.iter().enumerate();
    let outliers = far
        .filter(|&(_, &value)| is_far(value))
        .map(|(index, value)| OutlierValue {
            index,
            score: (mad > 0.0).then(|| NORMAL * (value - middle) / mad),
        });
    let others = || values.iter().copied().filter(|&value| !is_far(value));
    Some(OutlierResult {
        median: middle,
        mad,
        outliers: outliers.collect(),
        others: (others().reduce(f64::min)?, others().reduce(f64::max)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_by_hand() {
        let check = |values: &[f64], floor: f64, far: &[usize], others: (f64, f64)| {
            let found = find_outliers(values, floor).unwrap();
            let at: Vec<usize> = found.outliers.iter().map(|outlier| outlier.index).collect();
            assert_eq!((at.as_slice(), found.others), (far, others), "{values:?}");
        };
        // Median 89, distances 1 0 0 1 48: MAD 1, score 0.6745 × 48.
        check(&[88.0, 89.0, 89.0, 90.0, 41.0], 2.0, &[4], (88.0, 90.0));
        // Outliers on both sides do not hide each other while they are fewer than half.
        check(
            &[1.0, 2.0, 3.0, 2.0, 90.0, -90.0, 2.0],
            0.5,
            &[4, 5],
            (1.0, 3.0),
        );
        // All but one are equal: MAD is 0, and the floor decides.
        check(&[5.0, 5.0, 5.0, 5.0, 5.4], 0.5, &[], (5.0, 5.4));
        check(&[5.0, 5.0, 5.0, 5.0, 5.5], 0.5, &[4], (5.0, 5.0));
        check(&[5.0; 6], 0.0, &[], (5.0, 5.0));
        // Spread widely and evenly: there is no outlier.
        check(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.0, &[], (1.0, 6.0));
        // Just below and just above the limit: median 10, MAD 1, limit 3.5 / 0.6745 = 5.189.
        check(&[9.0, 10.0, 11.0, 9.0, 15.18], 0.0, &[], (9.0, 15.18));
        check(&[9.0, 10.0, 11.0, 9.0, 15.20], 0.0, &[4], (9.0, 11.0));
    }

    #[test]
    fn scores_and_refusals() {
        let found = find_outliers(&[88.0, 89.0, 89.0, 90.0, 41.0], 2.0).unwrap();
        assert_eq!((found.median, found.mad), (89.0, 1.0));
        assert_eq!(found.outliers[0].score, Some(-0.6745 * 48.0));
        let same = find_outliers(&[1.0, 1.0, 1.0, 1.0, 9.0], 1.0).unwrap();
        assert_eq!(same.outliers[0].score, None);

        assert_eq!(find_outliers(&[1.0, 2.0, 3.0, 4.0], 0.0), None);
        assert_eq!(find_outliers(&[1.0, 2.0, 3.0, 4.0, f64::NAN], 0.0), None);
    }
}
