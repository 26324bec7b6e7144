//! Orders the runs of a benchmark.

/// One run of one variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Number of the round, from 1.
    pub round: u32,
    /// Index of the variant.
    pub variant: usize,
}

/// Returns all runs in their order: each round has one of each variant, and every second round goes
/// backwards.
pub fn turns(variants: usize, rounds: u32) -> impl Iterator<Item = Turn> {
    (1..=rounds).flat_map(move |round| {
        (0..variants).map(move |place| {
            let variant = if round.is_multiple_of(2) {
                variants - 1 - place
            } else {
                place
            };
            Turn { round, variant }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_round_goes_backwards() {
        let check = |variants: usize, rounds: u32, expected: &str| {
            let letters = turns(variants, rounds).map(|turn| char::from(b"ABC"[turn.variant]));
            assert_eq!(letters.collect::<String>(), expected);
        };
        check(2, 4, "ABBAABBA");
        check(3, 3, "ABCCBAABC");
        check(1, 3, "AAA");
        check(2, 0, "");
    }

    /// With an even number of rounds, a steady drift adds the same to every variant.
    #[test]
    fn a_steady_drift_favors_none() {
        for variants in 1..6 {
            let mut sums = vec![0; variants];
            for (index, turn) in turns(variants, 4).enumerate() {
                sums[turn.variant] += index;
            }
            assert!(sums.iter().all(|&sum| sum == sums[0]), "{sums:?}");
        }
    }
}
