//! Computes the change of one figure between two sides, and its class.

pub(crate) use metalens_analyzer::Preference;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::{ConfidenceInterval, Rank, Shift, median, shift_ranked};
use crate::unit::Unit;
use metalens_message::Number;
use metalens_text::number::Float;

/// Smallest number of runs in a baseline, and of a side whose limits are judged: fewer have no
/// useful range.
pub const LEAST_RUNS: usize = 3;

/// Largest distance of two runs of one program on a steady machine, as a share of the lower: runs
/// that vary by ±10 % are at most 22 % apart.
pub(crate) const STEADY: f64 = 0.25;

/// The change of one figure between two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The figure on the base side.
    pub base: SideValues,
    /// The figure on the new side.
    pub new: SideValues,
    /// New minus base: the Hodges–Lehmann estimate. Null if a side has no value.
    pub absolute: Option<Number>,
    /// `absolute` divided by `fitted.base`. Null if that is 0.
    pub relative: Option<f64>,
    /// Values of both sides that add up with `absolute`. Null if a side has no value.
    pub fitted: Option<FittedValues>,
    /// Confidence interval of the true change. Null with fewer than two values on a side.
    pub interval: Option<ConfidenceInterval>,
    /// Noise of a run, in the unit of the values: 1.4826 times the median distance of the thirds of the runs
    /// from the median of their side; of the runs, where a kernel has instances of several lengths. Null if it
    /// is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Number>,
    /// Largest error of the change that the runs do not show, in the unit of the values: that of an estimate, or of
    /// another session by chance. Null if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Number>,
    /// Class of the change.
    pub class: ChangeClass,
    /// Size of the change, compared with the floor. Null if the class is neither grown nor shrunk.
    pub size: Option<ChangeSize>,
    /// Direction of the change: better or worse. Null if the class is neither grown nor shrunk, if the
    /// figure has no better side, or if it sums over different amounts of work. Without an interval,
    /// it is that of these runs, and noise is unknown.
    pub direction: Option<Direction>,
}

impl Change {
    /// Returns the value of base to show beside the change; that of its runs if there is no change.
    pub fn base_value(&self) -> Option<Number> {
        self.fitted.map(|sides| sides.base).or(self.base.median)
    }

    /// Returns the value of new to show beside the change; that of its runs if there is no change.
    pub fn new_value(&self) -> Option<Number> {
        self.fitted.map(|sides| sides.new).or(self.new.median)
    }

    /// Returns the change with the noise that values of both sides tell, such as the thirds of each run.
    pub(crate) fn with_noise(self, base: &[f64], new: &[f64]) -> Self {
        Self {
            noise: noise(base, new),
            ..self
        }
    }

    /// Returns the class, where a change that is certainly smaller than the floor counts as none.
    pub fn material_class(&self) -> ChangeClass {
        match self.size {
            Some(ChangeSize::Small) => ChangeClass::Unchanged,
            _ => self.class,
        }
    }

    /// Returns whether the change is known and may be large enough to count.
    pub fn is_material(&self) -> bool {
        let class = self.material_class();
        matches!(class, ChangeClass::Grown | ChangeClass::Shrunk)
    }

    /// Returns whether the sides are apart. `sign` is 1 for growth and -1 for the opposite.
    ///
    /// The interval has to exclude 0. With one run on a side, which has no interval, each run of
    /// new has to be beyond each run of base.
    pub(crate) fn is_apart(&self, sign: f64) -> bool {
        match self.interval {
            Some(interval) if sign > 0.0 => interval.low.get() > 0.0,
            Some(interval) => interval.high.get() < 0.0,
            None => self.is_beyond_each_run(sign, 0.0),
        }
    }

    /// Returns whether the interval is too uncertain to decide alone: that of three runs against
    /// three, or of fewer. By chance, three runs against three are all slower one time in twenty.
    pub(crate) fn has_low_confidence(&self) -> bool {
        /// Above the confidence of three runs against three, below that of three against four.
        const LOW: f64 = 0.92;
        self.interval
            .is_none_or(|interval| interval.confidence < LOW)
    }

    /// Returns whether each run of new is beyond each run of base, and by more than this share of
    /// it. `sign` is 1 for growth and -1 for the opposite.
    ///
    /// No other run of new that is worse can change that, unlike a rule about how much runs vary.
    pub(crate) fn is_beyond_each_run(&self, sign: f64, share: f64) -> bool {
        // A run that is given twice may be on both sides; then the figures alone decide.
        if self.is_without_noise() {
            return true;
        }
        let (nearest, farthest) = if sign > 0.0 {
            (self.new.min, self.base.max)
        } else {
            (self.new.max, self.base.min)
        };
        nearest.zip(farthest).is_some_and(|(nearest, farthest)| {
            let by = (nearest.get() - farthest.get()) * sign;
            by > 0.0 && by > share * farthest.get().abs()
        })
    }

    /// Returns whether both sides have several runs, and no interval: a run is given twice.
    fn is_without_noise(&self) -> bool {
        let has_several = |side: &SideValues| side.values.iter().flatten().count() > 1;
        self.interval.is_none() && has_several(&self.base) && has_several(&self.new)
    }

    /// Returns whether a side has fewer runs than [`LEAST_RUNS`]. A run that did not record the
    /// value counts, so that its absence turns no miss into a warning.
    pub(crate) fn has_few_runs(&self) -> bool {
        let is_few = |side: &SideValues| side.values.len() < LEAST_RUNS;
        is_few(&self.base) || is_few(&self.new)
    }
}

/// Values of both sides that add up with the change between them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FittedValues {
    /// Median of the runs of base.
    pub base: Number,
    /// `base` plus the change. It may differ from the median of the runs of new.
    pub new: Number,
}

/// The values of a figure on one side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideValues {
    /// Value of each run, in the order of the runs. Null where a run did not record it.
    pub values: Vec<Option<Number>>,
    /// Median of the values; the mean of the two in the middle if their number is even. Null if
    /// there are none.
    pub median: Option<Number>,
    /// The least value. Null if there are none.
    pub min: Option<Number>,
    /// The greatest value. Null if there are none.
    pub max: Option<Number>,
}

/// Class of a change.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ChangeClass {
    /// Absent from every run of base. Only kernels have this class.
    Added,
    /// Absent from every run of new. Only kernels have this class: the kernel is gone or was renamed.
    Removed,
    /// The value increased: the interval of the change is above 0. Without an interval, the
    /// increase is at least the floor.
    Grown,
    /// The value decreased: the interval of the change is below 0. Without an interval, the
    /// decrease is at least the floor.
    Shrunk,
    /// No change beyond noise: the interval holds 0, and the change is certainly smaller than the
    /// floor. Without an interval, the difference is smaller than the floor.
    Unchanged,
    /// The interval holds 0 and reaches beyond the floor: the runs vary too much to tell.
    Unstable,
    /// A side has no value.
    Unknown,
}

/// Size of a change, compared with the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeSize {
    /// The whole interval is below the floor.
    Small,
    /// The floor is inside the interval.
    Borderline,
    /// The whole interval reaches the floor.
    Large,
}

/// Direction of a change: for the better or for the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The change is for the better.
    Better,
    /// The change is for the worse.
    Worse,
}

/// The smallest change that is worth reporting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// Floor for times and counts, as a share of the larger side.
    pub relative: f64,
    /// Least floor for times, in nanoseconds. Two ticks of the GPU's clock are 83 ns.
    pub time_ns: f64,
    /// Floor for ratios, as an absolute difference: 0.01 is one percentage point.
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
    /// Returns the floor for times per unit of work, without the least difference of a single time: they
    /// are means of many.
    #[must_use]
    pub(crate) fn of_means(self) -> Self {
        Self {
            time_ns: 0.0,
            ..self
        }
    }

    /// Returns the floor of one figure. It is the same when the sides are swapped.
    pub(crate) fn for_values(&self, unit: Unit, base: f64, new: f64) -> f64 {
        let share = self.relative * base.abs().max(new.abs());
        match unit {
            Unit::Ns => share.max(self.time_ns),
            Unit::Count | Unit::Bytes => share,
            Unit::Ratio => self.ratio,
        }
    }
}

impl SideValues {
    /// Returns the value of a run.
    pub(crate) fn of_run(&self, run: usize) -> Option<Number> {
        self.values.get(run).copied().flatten()
    }

    /// Summarizes the values of each run.
    #[must_use]
    pub fn from_values(values: &[Option<Number>]) -> Self {
        let known = known(values);
        let number = |value: Option<f64>| value.and_then(Number::new);
        Self {
            values: values.to_vec(),
            median: number(median(&known)),
            min: number(known.iter().copied().min_by(f64::total_cmp)),
            max: number(known.iter().copied().max_by(f64::total_cmp)),
        }
    }
}

/// Returns the values of the runs that have one.
pub(crate) fn known(values: &[Option<Number>]) -> Vec<f64> {
    values.iter().flatten().map(|value| value.get()).collect()
}

/// Rules by which all changes of a comparison are judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge {
    /// The smallest change that is worth reporting.
    pub(crate) floor: Floor,
    /// Numbers of runs of base and new.
    runs: (usize, usize),
    /// False if a run is given twice. Then there is no confidence.
    are_independent: bool,
    /// Rank of the interval for `runs`. None if there is no interval.
    rank: Option<Rank>,
    /// Largest error of the change that is not noise, because the values are estimates.
    error: f64,
}

impl Judge {
    pub(crate) fn new(floor: Floor, base: usize, new: usize) -> Self {
        Self {
            floor,
            runs: (base, new),
            are_independent: true,
            rank: Rank::for_counts(base, new),
            error: 0.0,
        }
    }

    /// Returns the same rules without confidence, for sides with a run that is given twice.
    pub(crate) fn without_confidence(self) -> Self {
        Self {
            are_independent: false,
            rank: None,
            ..self
        }
    }

    /// Returns the same rules for values that are estimates, of which the change may be wrong by so
    /// much. The interval reaches further by that, and a change within it is none.
    pub(crate) fn with_error(self, error: f64) -> Self {
        Self { error, ..self }
    }

    /// Returns the same rules with another floor.
    pub(crate) fn with_floor(self, floor: Floor) -> Self {
        Self { floor, ..self }
    }

    pub(crate) fn confidence(&self) -> Option<f64> {
        self.rank.map(|rank| rank.confidence)
    }

    fn rank(&self, base: usize, new: usize) -> Option<Rank> {
        if (base, new) == self.runs || !self.are_independent {
            self.rank
        } else {
            Rank::for_counts(base, new)
        }
    }

    /// Computes the change of a figure from the values of both sides.
    pub(crate) fn change(
        &self,
        base: &[Option<Number>],
        new: &[Option<Number>],
        unit: Unit,
        preference: Preference,
    ) -> Change {
        let (was, now) = (known(base), known(new));
        let rank = self.rank(was.len(), now.len());
        let shift = shift_ranked(&was, &now, rank);
        self.judged(base, new, shift, unit, preference)
    }

    /// Judges a change again with an interval that reaches at least so far on both sides of it.
    pub(crate) fn at_least(&self, change: &Change, reach: f64, unit: Unit) -> Change {
        let (Some(estimate), Some(interval)) = (change.absolute, change.interval) else {
            return change.clone();
        };
        let end = |end: f64| Number::new(end).unwrap_or(estimate);
        let interval = ConfidenceInterval {
            low: end(interval.low.get().min(estimate.get() - reach)),
            high: end(interval.high.get().max(estimate.get() + reach)),
            ..interval
        };
        let shift = Shift {
            estimate,
            interval: Some(interval),
        };
        let (base, new) = (&change.base.values, &change.new.values);
        Change {
            noise: change.noise,
            error: change.error,
            ..self.judged(base, new, Some(shift), unit, Preference::Lower)
        }
    }

    /// Judges a figure whose shift is known; none is a change of class `unknown`.
    pub(crate) fn judged(
        &self,
        base: &[Option<Number>],
        new: &[Option<Number>],
        shift: Option<Shift>,
        unit: Unit,
        preference: Preference,
    ) -> Change {
        let (base, new) = (SideValues::from_values(base), SideValues::from_values(new));

        let (Some(shift), Some(before), Some(after)) = (shift, base.median, new.median) else {
            return Change {
                base,
                new,
                absolute: None,
                relative: None,
                fitted: None,
                interval: None,
                noise: None,
                error: None,
                class: ChangeClass::Unknown,
                size: None,
                direction: None,
            };
        };

        let shift = shift.widened(self.error);
        let floor = self.floor.for_values(unit, before.get(), after.get());
        let floor = match shift.interval {
            Some(_) => floor,
            None => floor.max(self.error),
        };
        let estimate = shift.estimate.get();
        let class = class(estimate, shift.interval, floor);
        let fitted = fitted(before.get(), estimate);

        Change {
            absolute: Some(shift.estimate),
            relative: fitted.and_then(|fitted| relative(estimate, fitted.base.get())),
            fitted,
            interval: shift.interval,
            noise: None,
            error: Number::new(self.error).filter(|error| error.get() > 0.0),
            class,
            size: size(class, estimate, shift.interval, floor),
            direction: direction(class, preference),
            base,
            new,
        }
    }
}

/// Returns the noise of values; `None` if a side has none.
fn noise(base: &[f64], new: &[f64]) -> Option<Number> {
    /// Standard deviation of a normal distribution, in median distances.
    const NORMAL: f64 = 1.4826;
    let mut distances = Vec::new();
    for side in [base, new] {
        let middle = median(side)?;
        distances.extend(side.iter().map(|value| (value - middle).abs()));
    }
    Number::new(NORMAL * median(&distances)?)
}

/// Returns the thirds of all runs as values.
pub(crate) fn thirds(runs: &[Option<[u64; 3]>]) -> Vec<f64> {
    runs.iter()
        .flatten()
        .flatten()
        .map(|&ns| ns.float())
        .collect()
}

/// Returns values of both sides that add up with the change.
fn fitted(base: f64, change: f64) -> Option<FittedValues> {
    Some(FittedValues {
        base: Number::new(base)?,
        new: Number::new(base + change)?,
    })
}

/// Returns both ends of the interval. Without one, both are the estimate.
pub(crate) fn ends(estimate: f64, interval: Option<ConfidenceInterval>) -> (f64, f64) {
    interval.map_or((estimate, estimate), |interval| {
        (interval.low.get(), interval.high.get())
    })
}

/// Applies the rule in the crate's documentation.
pub(crate) fn class(
    estimate: f64,
    interval: Option<ConfidenceInterval>,
    floor: f64,
) -> ChangeClass {
    let (low, high) = ends(estimate, interval);
    let is_small = |value: f64| value == 0.0 || value.abs() < floor;
    // One run a side has no noise to compare with, so only the floor can excuse a difference.
    let is_excused = interval.is_none() && is_small(estimate);

    if low > 0.0 && !is_excused {
        ChangeClass::Grown
    } else if high < 0.0 && !is_excused {
        ChangeClass::Shrunk
    } else if is_small(low) && is_small(high) {
        ChangeClass::Unchanged
    } else {
        ChangeClass::Unstable
    }
}

/// Returns the size of a change; none without one.
fn size(
    class: ChangeClass,
    estimate: f64,
    interval: Option<ConfidenceInterval>,
    floor: f64,
) -> Option<ChangeSize> {
    let (low, high) = ends(estimate, interval);
    let (least, most) = match class {
        ChangeClass::Grown => (low, high),
        ChangeClass::Shrunk => (-high, -low),
        _ => return None,
    };
    Some(if least >= floor {
        ChangeSize::Large
    } else if most >= floor {
        ChangeSize::Borderline
    } else {
        ChangeSize::Small
    })
}

/// Returns whether a change of a class is better or worse; none without a preference.
pub(crate) fn direction(class: ChangeClass, preference: Preference) -> Option<Direction> {
    match (class, preference) {
        (ChangeClass::Grown, Preference::Lower) => Some(Direction::Worse),
        (ChangeClass::Shrunk, Preference::Lower) => Some(Direction::Better),
        _ => None,
    }
}

/// Returns a change as a share of a value. None if that value is 0.
pub(crate) fn relative(change: f64, of: f64) -> Option<f64> {
    let share = change / of.abs();
    share.is_finite().then_some(share + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> Vec<Option<Number>> {
        values.iter().map(|&value| Number::new(value)).collect()
    }

    fn change(base: &[f64], new: &[f64], unit: Unit) -> Change {
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        judge.change(&numbers(base), &numbers(new), unit, Preference::Lower)
    }

    #[test]
    fn changes_have_the_expected_class() {
        use ChangeClass::{Grown, Shrunk, Unchanged, Unknown, Unstable};
        let cases: [(&[f64], &[f64], Unit, ChangeClass); 19] = [
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
            // Apart, and all of it below 2 %: a change, however small.
            (
                &[1000.0, 1001.0, 1002.0],
                &[1010.0, 1011.0, 1012.0],
                Unit::Count,
                Grown,
            ),
            // Near each other.
            (
                &[1000.0, 1005.0, 1002.0],
                &[1001.0, 1004.0, 999.0],
                Unit::Count,
                Unchanged,
            ),
            // The ranges of the sides overlap.
            (
                &[100.0, 150.0, 120.0],
                &[110.0, 160.0, 130.0],
                Unit::Count,
                Unstable,
            ),
            // Apart, but the estimate is below the floor and one end is not.
            (
                &[1000.0, 1010.0, 1000.0],
                &[1011.0, 1017.0, 1025.0],
                Unit::Count,
                Grown,
            ),
            // 99 ns is about two ticks of the clock and below the floor; 200 ns is above it.
            (&[1000.0], &[1099.0], Unit::Ns, Unchanged),
            (&[1000.0], &[1200.0], Unit::Ns, Grown),
            // One percentage point is above the floor, a third of a point is not.
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

    /// Computed by hand: the floor is 2 % of the larger side.
    #[test]
    fn changes_have_a_size_and_values_that_add_up() {
        use ChangeSize::{Borderline, Large, Small};
        type Case<'a> = (&'a [f64], &'a [f64], Option<ChangeSize>, (f64, f64));
        let cases: [Case<'_>; 6] = [
            (
                &[1000.0, 1001.0, 1002.0],
                &[1010.0, 1011.0, 1012.0],
                Some(Small),
                (1001.0, 1011.0),
            ),
            (
                &[1000.0, 1010.0, 1000.0],
                &[1011.0, 1017.0, 1025.0],
                Some(Borderline),
                (1000.0, 1015.0),
            ),
            (
                &[100.0, 101.0, 99.0],
                &[90.0, 91.0, 89.0],
                Some(Large),
                (100.0, 90.0),
            ),
            (
                &[1000.0, 1005.0, 1002.0],
                &[1001.0, 1004.0, 999.0],
                None,
                (1002.0, 1001.0),
            ),
            // The median of new is 7, and the change −3: 9 − 3 is 6.
            (&[8.0, 9.0, 20.0], &[5.0, 7.0, 7.0], Some(Large), (9.0, 6.0)),
            // Two runs: the mean of both, so that no count falls below 0.
            (&[1.0, 3.0], &[0.0, 0.0], Some(Large), (2.0, 0.0)),
        ];
        for (base, new, size, fitted) in cases {
            let found = change(base, new, Unit::Count);
            assert_eq!(found.size, size, "{base:?} {new:?}: {found:?}");
            let values = found.fitted.unwrap();
            assert_eq!(
                (values.base.get(), values.new.get()),
                fitted,
                "{base:?} {new:?}"
            );
        }
    }

    #[test]
    fn a_change_from_zero_has_no_share() {
        let found = change(&[0.0], &[5.0], Unit::Count);
        assert_eq!((found.relative, found.absolute), (None, Number::new(5.0)));
        let found = change(&[0.0], &[0.0], Unit::Count);
        assert_eq!(found.relative, None);
        let found = change(&[4.0], &[5.0], Unit::Count);
        assert_eq!(found.relative, Some(0.25));
    }

    #[test]
    fn a_run_without_a_value_does_not_count() {
        let base = [Number::new(1.0), None, Number::new(3.0)];
        let judge = Judge::new(Floor::default(), 3, 3);
        let new = numbers(&[11.0, 12.0, 13.0]);
        let found = judge.change(&base, &new, Unit::Count, Preference::None);
        assert_eq!(found.base.median, Number::new(2.0));
        assert_eq!(found.base.values.len(), 3);

        // 10./10.
        let confidence = found.interval.unwrap().confidence;
        assert!((confidence - 0.8).abs() < 1e-12, "{confidence}");
        assert_eq!(found.direction, None);
    }
}
