//! What became of one figure: both sides, the change, and what to call it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::Number;
use crate::statistics::{Interval, Rank, median, shift_ranked};
use crate::unit::Unit;

/// What became of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The side to compare with.
    pub base: Side,
    /// The side that is compared.
    pub new: Side,
    /// New less base: the Hodges–Lehmann estimate. Null if a side has no value.
    pub absolute: Option<Number>,
    /// That / the median of base; null if that is 0.
    pub relative: Option<f64>,
    /// Where the true change lies; null with fewer than two values on a side.
    pub interval: Option<Interval>,
    /// What to call it.
    pub class: Class,
    /// Whether that is for the better; null if nothing is known to have changed, or
    /// neither way is better.
    pub direction: Option<Direction>,
}

impl Change {
    /// Whether the change is more than the runs differ among themselves. `sign`: 1 of
    /// growth, -1 of the opposite.
    pub(crate) fn is_beyond_noise(&self, sign: f64) -> bool {
        let Some(interval) = self.interval else {
            return true;
        };
        let (low, high) = (interval.low.get(), interval.high.get());
        let nearest = if sign > 0.0 { low } else { -high };
        let spread = [&self.base, &self.new].map(|side| side.range().unwrap_or(0.0));
        let is_whole_range = match (self.base.max, self.new.min) {
            (Some(most), Some(least)) if sign > 0.0 => least.get() - most.get() >= low,
            _ => match (self.base.min, self.new.max) {
                (Some(least), Some(most)) => most.get() - least.get() <= high,
                _ => false,
            },
        };
        match is_whole_range {
            true => nearest > 0.0 && nearest >= spread[0].max(spread[1]),
            false => nearest > 0.0,
        }
    }
}

/// A figure of one side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Of each run, in the order of the runs; null where the run does not tell it.
    pub values: Vec<Option<Number>>,
    /// Their median, nearest rank; null of none.
    pub median: Option<Number>,
    /// The least.
    pub min: Option<Number>,
    /// The most.
    pub max: Option<Number>,
}

/// What a change is called.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// No run of base has it: of kernels only.
    Added,
    /// No run of new has it: of kernels only. It is gone, or called otherwise.
    Removed,
    /// More than noise and worth a word.
    Grown,
    /// The same, downwards.
    Shrunk,
    /// Nowhere near worth a word.
    Unchanged,
    /// The runs differ too much among themselves to decide.
    Unstable,
    /// A side has no value.
    Unknown,
}

/// Whether a change is for the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// It is.
    Better,
    /// It is for the worse.
    Worse,
}

/// Which way a figure should go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// The less, the better.
    Less,
    /// Neither.
    Neither,
}

/// The smallest change that is worth a word.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// Of times and counts: this share of the larger side.
    pub relative: f64,
    /// Of times: never less than this. Two ticks of the GPU's clock are 83 ns.
    pub time_ns: f64,
    /// Of ratios: this much, 0.01 being a point.
    pub ratio: f64,
}

impl Default for Floor {
    fn default() -> Self {
        Self {
            relative: 0.02,
            time_ns: 100.0,
            ratio: 0.005,
        }
    }
}

impl Floor {
    /// The floor of one figure. Seen from either side it is the same.
    fn of(&self, unit: Unit, base: f64, new: f64) -> f64 {
        let share = self.relative * base.abs().max(new.abs());
        match unit {
            Unit::Ns => share.max(self.time_ns),
            Unit::Count => share,
            Unit::Ratio => self.ratio,
        }
    }
}

impl Side {
    /// Of the values of each run.
    #[must_use]
    pub fn of(values: &[Option<Number>]) -> Self {
        let known = known(values);
        let number = |value: Option<f64>| value.and_then(Number::of);
        Self {
            values: values.to_vec(),
            median: number(median(&known)),
            min: number(known.iter().copied().min_by(f64::total_cmp)),
            max: number(known.iter().copied().max_by(f64::total_cmp)),
        }
    }

    /// From the least to the most.
    #[must_use]
    pub fn range(&self) -> Option<f64> {
        Some(self.max?.get() - self.min?.get())
    }
}

fn known(values: &[Option<Number>]) -> Vec<f64> {
    values.iter().flatten().map(|one| one.get()).collect()
}

/// How changes are judged: the same for all of a comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge {
    pub(crate) floor: Floor,
    /// Of all runs of both sides.
    runs: (usize, usize),
    /// Whether no run is among them twice: only then is there any confidence.
    are_independent: bool,
    rank: Option<Rank>,
}

impl Judge {
    pub(crate) fn new(floor: Floor, base: usize, new: usize) -> Self {
        Self {
            floor,
            runs: (base, new),
            are_independent: true,
            rank: Rank::of(base, new),
        }
    }

    /// Judges runs of which some are among them twice: by their figures alone.
    pub(crate) fn of_repeated(self) -> Self {
        Self {
            are_independent: false,
            rank: None,
            ..self
        }
    }

    pub(crate) fn confidence(&self) -> Option<f64> {
        self.rank.map(|rank| rank.confidence)
    }

    fn rank(&self, base: usize, new: usize) -> Option<Rank> {
        if (base, new) == self.runs || !self.are_independent {
            self.rank
        } else {
            Rank::of(base, new)
        }
    }

    /// What became of a figure.
    pub(crate) fn change(
        &self,
        (base, new): (&[Option<Number>], &[Option<Number>]),
        unit: Unit,
        wish: Wish,
    ) -> Change {
        let (was, now) = (known(base), known(new));
        let rank = self.rank(was.len(), now.len());
        let (base, new) = (Side::of(base), Side::of(new));
        let shift = shift_ranked(&was, &now, rank);
        let (Some(shift), Some(before), Some(after)) = (shift, base.median, new.median) else {
            return Change {
                base,
                new,
                absolute: None,
                relative: None,
                interval: None,
                class: Class::Unknown,
                direction: None,
            };
        };
        let floor = self.floor.of(unit, before.get(), after.get());
        let estimate = shift.estimate.get();
        let class = class(estimate, shift.interval, floor);
        Change {
            absolute: Some(shift.estimate),
            relative: relative(estimate, before.get()),
            interval: shift.interval,
            class,
            direction: direction(class, wish),
            base,
            new,
        }
    }
}

/// The documented rule.
pub(crate) fn class(estimate: f64, interval: Option<Interval>, floor: f64) -> Class {
    let (low, high) = interval.map_or((estimate, estimate), |one| (one.low.get(), one.high.get()));
    let is_small = |value: f64| value == 0.0 || value.abs() < floor;
    match () {
        () if is_small(low) && is_small(high) => Class::Unchanged,
        () if low > 0.0 && estimate >= floor => Class::Grown,
        () if high < 0.0 && estimate <= -floor => Class::Shrunk,
        () => Class::Unstable,
    }
}

fn direction(class: Class, wish: Wish) -> Option<Direction> {
    match (class, wish) {
        (Class::Grown, Wish::Less) => Some(Direction::Worse),
        (Class::Shrunk, Wish::Less) => Some(Direction::Better),
        _ => None,
    }
}

/// Of nothing there is no share.
pub(crate) fn relative(change: f64, of: f64) -> Option<f64> {
    let share = change / of.abs();
    share.is_finite().then_some(share + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> Vec<Option<Number>> {
        values.iter().map(|&one| Number::of(one)).collect()
    }

    fn change(base: &[f64], new: &[f64], unit: Unit) -> Change {
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        judge.change((&numbers(base), &numbers(new)), unit, Wish::Less)
    }

    #[test]
    fn classes() {
        use Class::{Grown, Shrunk, Unchanged, Unknown, Unstable};
        let cases: [(&[f64], &[f64], Unit, Class); 19] = [
            // One run a side: the figures alone.
            (&[1e6], &[1.1e6], Unit::Ns, Grown),
            (&[1e6], &[0.9e6], Unit::Ns, Shrunk),
            (&[1e6], &[1.01e6], Unit::Ns, Unchanged),
            (&[0.0], &[0.0], Unit::Count, Unchanged),
            (&[0.0], &[1.0], Unit::Count, Grown),
            (&[], &[1.0], Unit::Count, Unknown),
            (&[], &[], Unit::Count, Unknown),
            // Apart, and far enough.
            (
                &[100.0, 101.0, 99.0],
                &[110.0, 111.0, 109.0],
                Unit::Count,
                Grown,
            ),
            (
                &[110.0, 111.0, 109.0],
                &[100.0, 101.0, 99.0],
                Unit::Count,
                Shrunk,
            ),
            // Apart, and all of it below 2 %.
            (
                &[1000.0, 1001.0, 1002.0],
                &[1010.0, 1011.0, 1012.0],
                Unit::Count,
                Unchanged,
            ),
            // Near each other.
            (
                &[1000.0, 1005.0, 1002.0],
                &[1001.0, 1004.0, 999.0],
                Unit::Count,
                Unchanged,
            ),
            // In a muddle.
            (
                &[100.0, 150.0, 120.0],
                &[110.0, 160.0, 130.0],
                Unit::Count,
                Unstable,
            ),
            // Apart; the middle is below the floor and an end is not.
            (
                &[1000.0, 1010.0, 1000.0],
                &[1011.0, 1017.0, 1025.0],
                Unit::Count,
                Unstable,
            ),
            // 99 ns are two ticks of a clock and not worth a word; 200 are.
            (&[1000.0], &[1099.0], Unit::Ns, Unchanged),
            (&[1000.0], &[1200.0], Unit::Ns, Grown),
            // A point of a ratio is, a third of one is not.
            (&[0.1], &[0.11], Unit::Ratio, Grown),
            (&[0.1], &[0.103], Unit::Ratio, Unchanged),
            // Negative times: completions stamped early.
            (&[-1e6, -1e6], &[-2e6, -2e6], Unit::Ns, Shrunk),
            (&[0.0, 0.0], &[0.0, 0.0], Unit::Ns, Unchanged),
        ];
        for (base, new, unit, expected) in cases {
            let found = change(base, new, unit);
            assert_eq!(found.class, expected, "{base:?} {new:?}: {found:?}");
        }
    }

    #[test]
    fn of_nothing_there_is_no_share() {
        let found = change(&[0.0], &[5.0], Unit::Count);
        assert_eq!((found.relative, found.absolute), (None, Number::of(5.0)));
        let found = change(&[0.0], &[0.0], Unit::Count);
        assert_eq!(found.relative, None);
        let found = change(&[4.0], &[5.0], Unit::Count);
        assert_eq!(found.relative, Some(0.25));
    }

    #[test]
    fn a_run_that_does_not_tell_does_not_count() {
        let base = [Number::of(1.0), None, Number::of(3.0)];
        let judge = Judge::new(Floor::default(), 3, 3);
        let new = numbers(&[11.0, 12.0, 13.0]);
        let found = judge.change((&base, &new), Unit::Count, Wish::Neither);
        assert_eq!(found.base.median, Number::of(1.0));
        assert_eq!(found.base.values.len(), 3);
        // 2 against 3: 1 - 2/10.
        let confidence = found.interval.unwrap().confidence;
        assert!((confidence - 0.8).abs() < 1e-12, "{confidence}");
        assert_eq!(found.direction, None);
    }
}
