//! Computes the change of a figure between two sides that were recorded alternately, and the number
//! of runs that would show a change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Floor, Judge, Preference, known};
use crate::statistics::{shift_by_rounds, squares};
use crate::unit::Unit;
use metalens_message::Number;
use metalens_text::number::{Float, whole};

/// Smallest number of rounds that are compared round by round: fewer cannot have a confidence of
/// 95 %, while two sides of five runs can.
pub const LEAST_ROUNDS: usize = 6;

/// Sum of the standard normal quantiles of 97.5 % and 80 %: a true difference of this many standard
/// errors is found in four of five attempts.
const POWER: f64 = 1.960 + 0.842;
/// Efficiency of ranks, compared with means, for normally distributed values.
const RANKS: f64 = 0.955;
/// Largest number of runs that is stated.
const MOST_RUNS: f64 = 1_000.0;

/// Number of runs of each side that would probably show a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsToTell {
    /// Number of runs of each side, if they vary as these do; at most 1,000.
    pub runs: u64,
    /// Difference that so many runs would show in four of five attempts, in the unit of the figure.
    pub difference: Number,
}

/// Returns the values of the rounds in which both sides have one, if these are enough to compare
/// round by round.
fn rounds(base: &[Option<Number>], new: &[Option<Number>]) -> Option<(Vec<f64>, Vec<f64>)> {
    let both = base
        .iter()
        .zip(new)
        .filter_map(|(was, now)| Some(((*was)?.get(), (*now)?.get())));
    let (was, now): (Vec<f64>, Vec<f64>) = both.unzip();
    (was.len() >= LEAST_ROUNDS).then_some((was, now))
}

/// Returns whether so many runs of each side are compared round by round.
pub fn is_by_rounds(base: &[Option<Number>], new: &[Option<Number>]) -> bool {
    rounds(base, new).is_some()
}

/// Returns the change of a figure of which less is better. Value i of each side is of round i. Six
/// rounds and more are compared round by round, fewer as any two sides are. `error` is the largest
/// error of the change if the values are estimates.
pub fn change_by_turns(
    base: &[Option<Number>],
    new: &[Option<Number>],
    unit: Unit,
    floor: Floor,
    error: f64,
) -> Change {
    let judge = Judge::new(floor, base.len(), new.len()).with_error(error);
    match rounds(base, new).and_then(|(was, now)| shift_by_rounds(&was, &now)) {
        Some(shift) => judge.judged(base, new, Some(shift), unit, Preference::Lower),
        None => judge.change(base, new, unit, Preference::Lower),
    }
}

/// Returns the change of a figure of which less is better, between two sides in any order. `error`
/// is the largest error of the change if the values are estimates.
pub fn change_of_sides(
    base: &[Option<Number>],
    new: &[Option<Number>],
    unit: Unit,
    floor: Floor,
    error: f64,
) -> Change {
    let judge = Judge::new(floor, base.len(), new.len()).with_error(error);
    judge.change(base, new, unit, Preference::Lower)
}

/// Returns the number of runs that would show the estimated change, or the smallest that counts if
/// the estimate is below it. None if the runs do not vary, or if there are fewer than two.
pub fn runs_to_tell(change: &Change, floor: Floor, unit: Unit) -> Option<RunsToTell> {
    let (base, new) = (&change.base.values, &change.new.values);
    let spread = match rounds(base, new) {
        Some((was, now)) => {
            let differences: Vec<f64> = was.iter().zip(&now).map(|(was, now)| now - was).collect();
            deviation(&differences)?
        }
        None => deviation(&known(base))?.hypot(deviation(&known(new))?),
    };
    let least = floor.for_values(unit, change.base.median?.get(), change.new.median?.get());
    let difference = change.absolute?.get().abs().max(least);
    let runs = (POWER * spread / difference).powi(2) / RANKS;
    if spread <= 0.0 || !runs.is_finite() {
        return None;
    }

    let present = known(base).len().min(known(new).len()) + 1;
    let least = present.max(LEAST_ROUNDS).float();
    Some(RunsToTell {
        runs: whole(runs.ceil().clamp(least, MOST_RUNS.max(least))),
        difference: Number::new(difference)?,
    })
}

/// Returns the standard deviation of a sample; none of fewer than two values.
fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    Some((squares(values) / (values.len() - 1).float()).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::ChangeClass;

    fn numbers(values: &[f64]) -> Vec<Option<Number>> {
        values.iter().map(|&value| Number::new(value)).collect()
    }

    fn change(base: &[f64], new: &[f64]) -> Change {
        let sides = (numbers(base), numbers(new));
        change_by_turns(&sides.0, &sides.1, Unit::Count, Floor::default(), 0.0)
    }

    /// Rounds that differ by more than the sides hide a change from five rounds, not from six.
    #[test]
    fn six_rounds_are_compared_round_by_round() {
        let base = [100.0, 150.0, 120.0, 180.0, 110.0, 160.0];
        let new = base.map(|value| value - 5.0);
        assert_eq!(change(&base[..5], &new[..5]).class, ChangeClass::Unstable);
        let found = change(&base, &new);
        assert_eq!(found.class, ChangeClass::Shrunk);
        assert_eq!(found.absolute, Number::new(-5.0));
        // A round without a value on one side does not count, and five are left.
        let mut gone = numbers(&new);
        gone[2] = None;
        let found = change_by_turns(&numbers(&base), &gone, Unit::Count, Floor::default(), 0.0);
        assert_eq!(found.class, ChangeClass::Unstable);
    }

    /// By hand: both sides have a deviation of 10, so a difference has √200 = 14.1; for a
    /// difference of 20 that is (2.802 × 14.1 / 20)² / 0.955 = 4.1 runs, but no fewer than six.
    #[test]
    fn numbers_of_runs_by_hand() {
        let check = |base: &[f64], new: &[f64], expected: Option<(u64, f64)>| {
            let change = change(base, new);
            let found = runs_to_tell(&change, Floor::default(), Unit::Count);
            let found =
                found.map(|needed| (needed.runs, (needed.difference.get() * 10.0).round() / 10.0));
            assert_eq!(found, expected, "{base:?} {new:?}");
        };
        let (low, high) = ([990.0, 1000.0, 1010.0], [1010.0, 1020.0, 1030.0]);
        check(&low, &high, Some((6, 20.4)));
        // The estimate is 0, so the floor of 2 % counts: (2.802 × 141.4 / 20)² / 0.955 = 411.
        let wide = [900.0, 1000.0, 1100.0];
        check(&wide, &wide, Some((412, 20.0)));
        check(&[5.0, 5.0], &[5.0, 5.0], None);
        check(&[5.0], &[6.0], None);
    }
}
