//! Computes the shift between two sides that were recorded alternately: one run of each in every
//! round, so that what slows a whole round down moves both.
//!
//! The estimate and the interval are those of Wilcoxon's signed ranks: the median of the means of
//! all two differences (each with itself, too), and the k-th smallest to the k-th largest of these
//! means. If both sides are alike, a difference of a round has either sign with the same
//! probability. Then the confidence depends on k and the number of rounds only.

use super::{Rank, Shift};

/// Returns the shift from base to new, of which each has one value for each round; none without a
/// round.
pub(crate) fn shift_by_rounds(base: &[f64], new: &[f64]) -> Option<Shift> {
    let differences: Vec<f64> = base.iter().zip(new).map(|(was, now)| now - was).collect();
    let means = (0..differences.len()).flat_map(|first| {
        let others = differences.get(first..).unwrap_or_default();
        let difference = others.first().copied().unwrap_or(0.0);
        others
            .iter()
            .map(move |other| f64::midpoint(difference, *other))
    });
    Shift::of(means.collect(), rank(differences.len()))
}

/// Returns the rank of the interval's ends among the sorted means; none with fewer than two rounds.
fn rank(rounds: usize) -> Option<Rank> {
    Rank::of_chances((rounds > 1).then(|| signed_ranks(rounds))?)
}

/// Returns the probability of each sum of the ranks with one sign, from 0 to half of the largest
/// sum: each rank has either sign with the same probability.
fn signed_ranks(rounds: usize) -> Vec<f64> {
    let most = rounds * (rounds + 1) / 4;
    let mut chances = vec![0.0; most + 1];
    if let Some(first) = chances.first_mut() {
        *first = 1.0;
    }
    for rank in 1..=rounds {
        let before = chances.clone();
        for (sum, chance) in chances.iter_mut().enumerate() {
            let with = sum.checked_sub(rank).and_then(|rest| before.get(rest));
            *chance = f64::midpoint(*chance, with.copied().unwrap_or(0.0));
        }
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::super::WANTED;
    use super::*;

    /// Computes the confidence by enumeration: all patterns of signs are equally likely, and the
    /// interval covers 0 unless fewer than k means have the other sign.
    fn enumerated(rounds: usize, k: usize) -> f64 {
        let covered = (0_u32..1 << rounds).filter(|signs| {
            let one = |at: usize| {
                let size = (at + 1) as f64;
                if signs >> at & 1 == 1 { size } else { -size }
            };
            let mut means: Vec<f64> = (0..rounds)
                .flat_map(|at| (at..rounds).map(move |other| one(at) + one(other)))
                .collect();
            means.sort_by(f64::total_cmp);
            means[k - 1] <= 0.0 && means[means.len() - k] >= 0.0
        });
        covered.count() as f64 / f64::from(1_u32 << rounds)
    }

    #[test]
    fn the_confidence_is_exact() {
        for rounds in 2..=12 {
            let rank = rank(rounds).unwrap();
            let expected = enumerated(rounds, rank.k);
            // Means that are 0 lie on both sides: they only make the interval cover more.
            assert!(
                rank.confidence <= expected + 1e-12,
                "{rounds}: {rank:?} {expected}"
            );
            assert!(rank.k == 1 || rank.confidence >= WANTED, "{rounds}");
        }
    }

    /// Tables of the signed rank test: the critical values for 5 %, two-sided, are 0, 2, 3, 5, 8,
    /// 13 and 25 for 6, 7, 8, 9, 10, 12 and 15 pairs.
    #[test]
    fn ranks_are_those_of_tables() {
        let check = |rounds: usize, critical: usize| {
            assert_eq!(rank(rounds).unwrap().k, critical + 1, "{rounds}");
        };
        check(6, 0);
        check(7, 2);
        check(8, 3);
        check(9, 5);
        check(10, 8);
        check(12, 13);
        check(15, 25);
        assert!((rank(6).unwrap().confidence - (1.0 - 2.0 / 64.0)).abs() < 1e-12);
        assert!((rank(5).unwrap().confidence - (1.0 - 2.0 / 32.0)).abs() < 1e-12);
        assert_eq!(rank(1), None);
    }

    #[test]
    fn shifts_by_hand() {
        let check = |base: &[f64], new: &[f64], estimate: f64, range: Option<(f64, f64)>| {
            let found = shift_by_rounds(base, new).unwrap();
            let interval = found
                .interval
                .map(|interval| (interval.low.get(), interval.high.get()));
            assert_eq!((found.estimate.get(), interval), (estimate, range));
        };
        check(&[10.0], &[12.0], 2.0, None);
        // Differences 1 and 3: means 1 2 3.
        check(&[10.0, 20.0], &[11.0, 23.0], 2.0, Some((1.0, 3.0)));
        // The rounds differ by far more than the sides do.
        let base = [10.0, 200.0, 30.0, 400.0, 50.0, 600.0];
        let new: Vec<f64> = base.iter().map(|value| value + 2.0).collect();
        check(&base, &new, 2.0, Some((2.0, 2.0)));
        assert_eq!(shift_by_rounds(&[], &[]), None);
    }
}
