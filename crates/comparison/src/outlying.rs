//! Which of many values lie far from the rest, by a rule that the far ones cannot bend.
//!
//! A value is far if both hold:
//!
//! * its modified z-score, 0.6745 (x - median) / MAD, is beyond ±3.5 (Iglewicz and
//!   Hoaglin, 1993). MAD is the median of all distances from the median; 0.6745
//!   makes it a standard deviation where values are normal;
//! * its distance from the median is at least the floor: the change that is worth a
//!   word. Where more than half of the values are equal MAD is 0, and the floor alone
//!   decides.

use crate::statistics::median;

/// Fewer values have no rest to be far from.
pub const LEAST_VALUES: usize = 5;

/// What is beyond this modified z-score is far.
pub const FAR: f64 = 3.5;

/// A normal distribution's MAD, in standard deviations.
const NORMAL: f64 = 0.6745;

/// The far ones of some values.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlying {
    /// The median of all values, nearest rank.
    pub median: f64,
    /// The median of all distances from it, nearest rank.
    pub mad: f64,
    /// Which are far, in the order of the values.
    pub far: Vec<Far>,
    /// The least and the most of the others.
    pub others: (f64, f64),
}

/// A value that is far from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Far {
    /// Where it is among the values.
    pub at: usize,
    /// Its modified z-score; none where MAD is 0.
    pub score: Option<f64>,
}

/// The values that are far from the others. None of fewer than [`LEAST_VALUES`], or of
/// values that are no numbers.
#[must_use]
pub fn outlying(values: &[f64], floor: f64) -> Option<Outlying> {
    if values.len() < LEAST_VALUES || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let mad = median(&distances)?;
    let is_far = |value: f64| {
        let distance = (value - middle).abs();
        distance > 0.0 && distance >= floor && NORMAL * distance > FAR * mad
    };
    let far = values.iter().enumerate();
    let far = far
        .filter(|&(_, &value)| is_far(value))
        .map(|(at, value)| Far {
            at,
            score: (mad > 0.0).then(|| NORMAL * (value - middle) / mad),
        });
    let others = || values.iter().copied().filter(|&value| !is_far(value));
    Some(Outlying {
        median: middle,
        mad,
        far: far.collect(),
        others: (others().reduce(f64::min)?, others().reduce(f64::max)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_values_by_hand() {
        let check = |values: &[f64], floor: f64, far: &[usize], others: (f64, f64)| {
            let found = outlying(values, floor).unwrap();
            let at: Vec<usize> = found.far.iter().map(|one| one.at).collect();
            assert_eq!((at.as_slice(), found.others), (far, others), "{values:?}");
        };
        // Median 89, distances 1 0 0 1 48: MAD 1, score 0.6745 × 48.
        check(&[88.0, 89.0, 89.0, 90.0, 41.0], 2.0, &[4], (88.0, 90.0));
        // Even the far ones are less than half: they do not hide each other.
        check(
            &[1.0, 2.0, 3.0, 2.0, 90.0, -90.0, 2.0],
            0.5,
            &[4, 5],
            (1.0, 3.0),
        );
        // All but one equal: MAD 0, the floor decides.
        check(&[5.0, 5.0, 5.0, 5.0, 5.4], 0.5, &[], (5.0, 5.4));
        check(&[5.0, 5.0, 5.0, 5.0, 5.5], 0.5, &[4], (5.0, 5.0));
        check(&[5.0; 6], 0.0, &[], (5.0, 5.0));
        // Spread wide and evenly: nobody is far.
        check(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.0, &[], (1.0, 6.0));
        // Just beyond and just not: median 10, MAD 1, the limit is 3.5 / 0.6745 = 5.189.
        check(&[9.0, 10.0, 11.0, 9.0, 15.18], 0.0, &[], (9.0, 15.18));
        check(&[9.0, 10.0, 11.0, 9.0, 15.20], 0.0, &[4], (9.0, 11.0));
    }

    #[test]
    fn scores_and_refusals() {
        let found = outlying(&[88.0, 89.0, 89.0, 90.0, 41.0], 2.0).unwrap();
        assert_eq!((found.median, found.mad), (89.0, 1.0));
        assert_eq!(found.far[0].score, Some(-0.6745 * 48.0));
        let same = outlying(&[1.0, 1.0, 1.0, 1.0, 9.0], 1.0).unwrap();
        assert_eq!(same.far[0].score, None);
        assert_eq!(outlying(&[1.0, 2.0, 3.0, 4.0], 0.0), None);
        assert_eq!(outlying(&[1.0, 2.0, 3.0, 4.0, f64::NAN], 0.0), None);
    }
}
