//! Finds the fastest variant, and says how sure that is.

use metalens_comparison::{Change, ChangeClass, Direction, Number, TimeBasis};
use metalens_message::Message;

use crate::result::{Rival, Standing, VariantResult};
use crate::sentences::{alone, fastest, versus};
use crate::wall_time::{WALL, floor, needed, time_change};

/// Finds the fastest variant, and compares all others with it. None for a single variant, or without any time.
pub(crate) fn find_standing(variants: &[VariantResult], basis: TimeBasis) -> Option<Standing> {
    let mut order: Vec<(usize, f64)> = variants
        .iter()
        .enumerate()
        .filter_map(|(index, variant)| Some((index, variant.wall.median?.get())))
        .collect();
    order.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let ((best, least), others) = order.split_first()?;
    let fastest = variants.get(*best)?;
    if variants.len() < 2 {
        return None;
    }

    let others: Vec<Rival> = others
        .iter()
        .filter_map(|&(index, median)| {
            let other = variants.get(index)?;
            let [base, new] = [other, fastest].map(|side| side.time_per_unit(WALL, basis));
            let change = time_change(&base, &new, basis, false);
            let needed = needed(&change, basis);
            Some(Rival {
                variant: index,
                times: Number::new(median / least),
                says: versus(&fastest.name, &other.name, &change, basis, needed),
                runs_to_tell: needed,
                change,
            })
        })
        .collect();
    Some(Standing {
        best: *best,
        wins: !others.is_empty() && others.iter().all(|rival| is_won(&rival.change, basis)),
        others,
    })
}

/// Least confidence of a winner: that of three runs each.
pub(crate) const SURE: f64 = 0.9;

/// Share of the floor that the near end of a winner's interval has to reach. An interval that barely excludes
/// 0 is that of one in twenty pairs of equal programs, and runs that vary much reach the floor by chance.
const NEAR: f64 = 0.25;

/// Returns whether the change is for the better, large enough to count, and sure enough.
fn is_won(change: &Change, basis: TimeBasis) -> bool {
    let (Some(interval), Some(base)) = (change.interval, change.base_value()) else {
        return false;
    };
    let floor = floor(basis).relative;
    // The sum of many chances may miss the confidence by its last digit.
    change.direction == Some(Direction::Better)
        && change.relative.is_some_and(|share| share.abs() >= floor)
        && change.material_class() == ChangeClass::Shrunk
        && interval.confidence >= SURE - 1e-9
        && -interval.high.get() >= NEAR * floor * base.get()
}

/// Says which variant is the fastest, or how long the only one takes.
pub(crate) fn verdict(
    variants: &[VariantResult],
    standing: Option<&Standing>,
    basis: TimeBasis,
) -> Message {
    let (Some(standing), [_, _, ..]) = (standing, variants) else {
        return match variants {
            [only] => alone(&only.name, &only.wall, basis),
            [] => "No run is complete".into(),
            _ => "No run has a time".into(),
        };
    };
    if let ([only], 2) = (standing.others.as_slice(), variants.len()) {
        return only.says.clone();
    }

    let name = |index: usize| {
        variants
            .get(index)
            .map_or("", |variant| variant.name.as_str())
    };
    let rivals: Vec<(&str, ChangeClass)> = standing
        .others
        .iter()
        .filter(|rival| !is_won(&rival.change, basis))
        .map(|rival| (name(rival.variant), rival.change.material_class()))
        .collect();
    let best = variants.get(standing.best);
    let least = best.and_then(|best| best.wall.median);
    least.map_or_else(Message::default, |least| {
        fastest(name(standing.best), least, variants.len(), basis, &rivals)
    })
}

#[cfg(test)]
mod tests {
    use metalens_comparison::TimesPerUnit;
    use metalens_testing::Random;

    use super::*;

    /// The page that has the largest rate.
    const PAGE: &str = include_str!("../../../../docs/bench.md");
    const TRIALS: u64 = 1_000;

    /// Returns the times of runs that vary by a share `sigma`.
    fn times(random: &mut Random, runs: usize, sigma: f64) -> TimesPerUnit {
        let time = |_| Number::new(1e8 * (1.0 + sigma * random.normal()));
        TimesPerUnit {
            values: (0..runs).map(time).collect(),
            error_ns: 0.0,
        }
    }

    fn median(times: &TimesPerUnit) -> f64 {
        let times: Vec<f64> = times
            .values
            .iter()
            .flatten()
            .map(|time| time.get())
            .collect();
        metalens_comparison::median(&times).unwrap()
    }

    /// Returns whether the best of equal programs counts as the winner.
    fn has_winner(variants: usize, runs: usize, sigma: f64, seed: u64) -> bool {
        let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let programs = (0..variants).map(|_| times(&mut random, runs, sigma));
        let mut programs: Vec<TimesPerUnit> = programs.collect();
        programs.sort_by(|left, right| median(left).total_cmp(&median(right)));
        let basis = TimeBasis::Whole;
        programs[1..].iter().all(|other| {
            let change = time_change(other, &programs[0], basis, false);
            is_won(&change, basis)
        })
    }

    /// The fastest of several equal programs rarely wins by chance: it would have to beat all others
    /// by more than the floor.
    #[test]
    fn equal_programs_rarely_have_a_winner() {
        let mut largest = 0.0_f64;
        for variants in [2, 3, 6] {
            for runs in [5, 6, 8] {
                let shares = [0.01, 0.02, 0.05].map(|sigma| {
                    let is_won = |seed: &u64| has_winner(variants, runs, sigma, *seed);
                    let wins = (0..TRIALS).filter(is_won).count();
                    wins as f64 * 100.0 / TRIALS as f64
                });
                // The seeds are fixed, so that the rates are.
                assert!(shares.iter().all(|share| *share < 3.0), "{shares:?}");
                if runs == 6 {
                    largest = shares.into_iter().fold(largest, f64::max);
                }
            }
        }
        let said = format!("at most {largest:.1} % of a thousand benchmarks with six runs");
        assert!(PAGE.contains(&said), "docs/bench.md lacks: {said}");
    }
}
