//! Bounds a mean at every look: whoever looks after each value, and stops when the bounds tell enough, is wrong no
//! more often than with a single look.
//!
//! The bounds are those of the values that a t test does not refuse if the true mean, in standard deviations, may
//! be anything of a normal distribution around 0 with the variance 1 / [`PRIOR`]. By Ville's inequality its
//! likelihood ratio exceeds 1 / a at any look with a probability of at most a (Lai 1976; Wang and Ramdas 2024).
//! Values need to be nearly normally distributed; their deviation may be anything.

use metalens_text::number::Float;

use super::squares;

/// Inverse of the variance of the true mean in standard deviations: the bounds are narrowest from five to twenty
/// values.
const PRIOR: f64 = 0.3;

/// Returns the mean of values, and the distance beyond which the true mean lies on one side, at any look, with at
/// most this chance. The distance is infinite while the values are too few; none without a value.
pub(crate) fn bounded_mean(values: &[f64], chance: f64) -> Option<(f64, f64)> {
    let count = values.len().float();
    let mean = values.iter().sum::<f64>() / count;
    // Both sides, of which each has half of the chance.
    let chance = 2.0 * chance;
    let shrunk = PRIOR / (count + PRIOR);
    let ratio = (chance * chance * shrunk).powf(-1.0 / count);
    let left = 1.0 - ratio * shrunk;
    let distance = if left > 0.0 {
        (squares(values) / count * (ratio - 1.0) / left).sqrt()
    } else {
        f64::INFINITY
    };
    mean.is_finite().then_some((mean, distance))
}

#[cfg(test)]
mod tests {
    use metalens_testing::Random;

    use super::*;

    #[test]
    fn bounds_by_hand() {
        let check = |values: &[f64], expected: f64| {
            let (mean, distance) = bounded_mean(values, 0.05).unwrap();
            let is_close = (distance - expected).abs() < 1e-3 || distance == expected;
            assert!(mean == 2.0 && is_close, "{values:?}: {distance}");
        };
        check(&[2.0], f64::INFINITY);
        check(&[1.0, 3.0], f64::INFINITY);
        check(&[2.0; 9], 0.0);
        // Eight values, 8 squares: shrunk 0.3 / 8.3, ratio (0.01 × 0.03614)^(−1/8) = 2.6930,
        // √(8 / 8 × 1.6930 / (1 − 2.6930 × 0.03614)) = 1.3694.
        check(&[1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0], 1.369);
        assert_eq!(bounded_mean(&[], 0.05), None);
    }

    /// Looks after each of a hundred values: the true mean is rarely ever beyond the bound.
    #[test]
    fn bounds_hold_at_every_look() {
        let mut random = Random::new(5);
        let mut is_ever_beyond = |_: &u32| {
            let values: Vec<f64> = (0..100).map(|_| random.normal()).collect();
            (2..=100).any(|count| {
                let (mean, distance) = bounded_mean(&values[..count], 0.05).unwrap();
                mean > distance
            })
        };
        let beyond = (0..1_000).filter(|trial| is_ever_beyond(trial)).count();
        assert!((10..=50).contains(&beyond), "{beyond} of 1000 for 5 %");
    }
}
