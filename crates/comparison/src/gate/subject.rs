//! Judges one limit of one figure or kernel.
//!
//! A relative limit (`grow`, `shrink`) is missed if the change is beyond it and beyond noise.
//! Beyond noise means that the interval excludes 0; of times of three runs against three, each run
//! of new must also be beyond the limit of each run of base. With fewer runs on a side, times that
//! are beyond a relative limit are a warning, unless they are so far off that steady runs cannot
//! be. Growth from 0 exceeds every share. `scripts/bench-gate` measures the rule.
//!
//! A worse run of new never turns a failure into a pass: no part of the rule asks how much the runs
//! of new vary.

use metalens_analyzer::message::{counted, kernel, percent, ungrouped};
use metalens_analyzer::{Message, message};

use super::{GateRow, GateSeverity, GateVerdict, KernelFigure, Limit, LimitRule};
use crate::change::Change;
use crate::number::Number;
use crate::sentences;
use crate::unit::Unit;

/// The figure or kernel that a limit applies to.
pub(super) struct GateSubject<'a> {
    pub(super) what: &'a str,
    pub(super) channel: Option<&'a str>,
    pub(super) figure: Option<KernelFigure>,
    pub(super) unit: Unit,
    pub(super) change: Option<&'a Change>,
    pub(super) base: Presence,
    pub(super) new: Presence,
    /// Singular noun for the things that the figure sums up, such as `gap`. Empty if there is
    /// always at least one of them.
    pub(super) thing: &'static str,
    /// Reason why nothing has to be measured, if there is one.
    pub(super) excuse: Option<Message>,
    /// Name of the kernel that was probably meant, if none has the name.
    pub(super) meant: Option<&'a str>,
}

/// Presence of a figure in the runs of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// Every run that has anything to measure has the figure.
    Known,
    /// This many runs lack the figure.
    Partly(usize),
    /// None of the runs has anything to measure: without gaps there is no mean gap.
    Nothing,
    /// None of the runs has the figure.
    Unknown,
}

impl Presence {
    /// Takes the values of each run and the counts of the things that they sum up.
    pub(super) fn from_values(
        values: &[Option<Number>],
        counts: Option<&Vec<Option<Number>>>,
    ) -> Self {
        let is_nothing = |run: usize| {
            let count = counts.and_then(|counts| *counts.get(run)?);
            count.is_some_and(|count| count.get() == 0.0)
        };

        let lacking = values.iter().enumerate().filter(|(_, one)| one.is_none());
        let unknown = lacking.filter(|&(run, _)| !is_nothing(run)).count();

        match (unknown, values.iter().any(Option::is_some)) {
            (0, true) => Self::Known,
            (0, false) if !values.is_empty() => Self::Nothing,
            (unknown, true) => Self::Partly(unknown),
            (_, false) => Self::Unknown,
        }
    }
}

/// Outcome of one rule.
enum RuleOutcome {
    /// The figure was measured.
    Measured(Measurement),
    /// The figure is missing where it is needed.
    Missing(Message),
    /// There is nothing to compare with, which is allowed.
    Nothing(Message),
}

/// The measurement of a figure.
struct Measurement {
    /// Value in the unit of the limit. None for growth from 0, which exceeds every share.
    value: Option<f64>,
    /// Distance of the value beyond the limit; negative within it. None without a value.
    by: Option<f64>,
    is_miss: bool,
    /// Whether a miss may be noise, because there are too few runs.
    is_doubtful: bool,
    why: Message,
}

/// Change of a time, as a share, up to which fewer than three runs do not fail a gate. Two runs
/// that vary by ±10 % are at most 22 % apart.
const DOUBTFUL: f64 = 0.25;

/// Why a miss is only a warning.
const TOO_FEW: &str = "; with fewer than three runs per side, a warning up to 25 %";

/// Reason not to count a change beyond the limit: the interval contains 0.
const OVERLAP: &str = "; not counted: the runs of the sides overlap";
/// Reason not to count a change beyond the limit: three runs against three could be so by chance.
const NOT_ALL: &str =
    "; not counted: not every run of new is beyond the limit of every run of base";
/// Reason why a large miss of few runs is only a warning.
const FEW_NOT_ALL: &str = "; with fewer than three runs per side, a warning: not every run of new \
                           is beyond the limit of every run of base";

impl GateSubject<'_> {
    /// Returns a row for each rule of a limit, and whether the figure was measured.
    pub(super) fn judge(&self, limit: &Limit) -> impl Iterator<Item = (GateRow, bool)> {
        let rules = [
            (LimitRule::Max, limit.max),
            (LimitRule::Min, limit.min),
            (LimitRule::Grow, limit.grow),
            (LimitRule::Shrink, limit.shrink),
            (LimitRule::Range, limit.range),
        ];

        let (severity, optional) = (limit.severity, limit.optional);
        let rules = rules.into_iter();
        let rules = rules.filter_map(|(rule, value)| Some((rule, value.and_then(Number::new)?)));
        rules.map(move |(rule, value)| self.row(rule, value, severity, optional))
    }

    fn row(
        &self,
        rule: LimitRule,
        limit: Number,
        severity: GateSeverity,
        optional: bool,
    ) -> (GateRow, bool) {
        use GateVerdict::{Miss, NotMeasurable, Pass};

        let (verdict, measured, why) = match self.outcome(rule, limit.get()) {
            RuleOutcome::Measured(measured) => {
                let verdict = if measured.is_miss { Miss } else { Pass };
                let why = measured.why.clone();
                (verdict, Some(measured), why)
            }
            RuleOutcome::Missing(why) if optional => {
                let why = message!("{}; the limit is optional", why);
                (NotMeasurable, None, why)
            }
            RuleOutcome::Missing(why) => (Miss, None, why),
            RuleOutcome::Nothing(why) => (NotMeasurable, None, why),
        };

        let missed = measured.as_ref().filter(|measured| measured.is_miss);
        let is_doubtful = missed.is_some_and(|missed| missed.is_doubtful);
        let row = GateRow {
            what: self.what.to_owned(),
            channel: self.channel.map(str::to_owned),
            of: self.figure,
            rule,
            limit,
            by: missed.and_then(|missed| Number::new(missed.by?)),
            value: measured
                .as_ref()
                .and_then(|measured| Number::new(measured.value?)),
            unit: if rule.is_relative() {
                Unit::Ratio
            } else {
                self.unit
            },
            severity: if is_doubtful {
                GateSeverity::Warn
            } else {
                severity
            },
            verdict,
            why: why.text,
            why_values: why.values,
        };
        (row, measured.is_some())
    }

    fn outcome(&self, rule: LimitRule, limit: f64) -> RuleOutcome {
        if let Some(why) = &self.excuse {
            return RuleOutcome::Nothing(why.clone());
        }
        let change = match (self.new, self.change) {
            (Presence::Nothing, _) if rule.is_upper() => return self.without_any(),
            (Presence::Nothing, _) => {
                return RuleOutcome::Missing(message!("new has no {}s", self.thing));
            }
            (Presence::Unknown, _) | (_, None) => {
                let meant = self.meant.map(kernel);
                let meant = meant.map(|meant| message!("; did you mean {}?", meant));
                return RuleOutcome::Missing(message!("{}{}", self.why_unknown(), meant));
            }
            (_, Some(change)) => change,
        };

        if rule.is_relative()
            && let Some(outcome) = self.without_base()
        {
            return outcome;
        }

        let Some(measured) = self.measure(rule, limit, change) else {
            return RuleOutcome::Missing("the values are too large to compare".into());
        };
        match self.new {
            Presence::Partly(unknown) if !measured.is_miss => RuleOutcome::Missing(message!(
                "not recorded in {} of {} of new; in the others: {}",
                ungrouped(unknown as u64),
                counted(change.new.values.len() as u64, "run"),
                measured.why
            )),
            _ => RuleOutcome::Measured(measured),
        }
    }

    /// Returns the outcome of a relative rule for which base has nothing to compare with.
    fn without_base(&self) -> Option<RuleOutcome> {
        match (self.base, self.figure) {
            (Presence::Unknown, Some(_)) => Some(RuleOutcome::Nothing(
                "not in base, so there is nothing to compare with".into(),
            )),
            (Presence::Unknown, None) => Some(RuleOutcome::Missing(
                "not recorded in base, but recorded in new".into(),
            )),
            (Presence::Nothing, _) => {
                let why = message!("base has no {}s to compare with", self.thing);
                Some(RuleOutcome::Nothing(why))
            }
            _ => None,
        }
    }

    /// Returns the outcome of an upper limit for new without any gap: no gap is too long.
    fn without_any(&self) -> RuleOutcome {
        RuleOutcome::Measured(Measurement {
            value: None,
            by: None,
            is_miss: false,
            is_doubtful: false,
            why: message!("new has no {}s", self.thing),
        })
    }

    fn why_unknown(&self) -> &'static str {
        let is_in_base = !matches!(self.base, Presence::Unknown | Presence::Nothing);
        match (self.figure, self.change) {
            (Some(_), None) => "no kernel on either side has a matching name",
            (Some(_), _) => "not in new: the kernel is gone or was renamed",
            (None, _) if is_in_base => "not recorded in new, but recorded in base",
            (None, _) => "not recorded on either side",
        }
    }

    /// Measures the figure. Returns none if its values are too large to compare.
    fn measure(&self, rule: LimitRule, limit: f64, change: &Change) -> Option<Measurement> {
        let now = change.new.median?.get();
        match rule {
            LimitRule::Max => Some(self.absolute(now, now - limit)),
            LimitRule::Min => Some(self.absolute(now, limit - now)),
            LimitRule::Grow => self.relative(change, limit, 1.0),
            LimitRule::Shrink => self.relative(change, limit, -1.0),
            LimitRule::Range => self.range(change, now, limit),
        }
    }

    fn absolute(&self, value: f64, by: f64) -> Measurement {
        Measurement {
            value: Some(value),
            by: Some(by),
            is_miss: by > 0.0,
            is_doubtful: false,
            why: message!("the median of new is {}", self.shown(value)),
        }
    }

    fn shown(&self, value: f64) -> Option<Message> {
        Number::new(value).map(|value| sentences::value(value, self.unit))
    }

    /// Measures a change. `sign` is 1 if growth is limited and -1 if shrinkage is.
    fn relative(&self, change: &Change, limit: f64, sign: f64) -> Option<Measurement> {
        let by = change.absolute?.get() * sign;
        let share = match change.relative {
            Some(share) => Some(share * sign),
            None => (by == 0.0).then_some(0.0),
        };

        let is_beyond = share.map_or(by > 0.0, |share| share > limit);
        let is_apart = change.is_apart(sign);
        let is_of_all = change.is_beyond_each_run(sign, limit);
        let has_few_runs = change.has_few_runs();
        // Counts of work do not vary as times do. Of fewer runs, a warning needs no such care.
        let is_certain =
            is_of_all || self.unit == Unit::Count || has_few_runs || !change.has_low_confidence();
        let is_doubtful = has_few_runs && self.is_doubtful(share, is_of_all);

        let became = sentences::became(change, self.unit)?;
        let sure = sentences::sureness(change, self.unit);
        let sure = sure.map(|sure| message!("; {}", sure));
        let noise = match (is_beyond, is_apart, is_certain) {
            (true, false, _) => OVERLAP,
            (true, true, false) => NOT_ALL,
            (true, true, true) if is_doubtful && is_of_all => TOO_FEW,
            (true, true, true) if is_doubtful => FEW_NOT_ALL,
            _ => "",
        };
        Some(Measurement {
            value: share,
            by: share.map(|share| share - limit),
            is_miss: is_beyond && is_apart && is_certain,
            is_doubtful,
            why: message!("{}{}{}", became, sure, noise),
        })
    }

    /// Returns whether a change may be that of the machine from run to run: a small one, or one that
    /// not each run of new shows. Counts of work are not.
    fn is_doubtful(&self, share: Option<f64>, is_of_all: bool) -> bool {
        let is_small = share.is_some_and(|share| share <= DOUBTFUL);
        self.unit != Unit::Count && (is_small || !is_of_all)
    }

    fn range(&self, change: &Change, now: f64, limit: f64) -> Option<Measurement> {
        let most = change.base.max?.get();
        let value = match now - most {
            by if by <= 0.0 => Some(by.max(-most.abs()) / most.abs().max(f64::MIN_POSITIVE)),
            _ if most == 0.0 => None,
            by => Some(by / most.abs()),
        };

        let side = if now > most { "above" } else { "not above" };
        let share = value.map(|value| message!(" ({})", percent(value.abs())));
        let is_miss = value.is_none_or(|value| value > limit);
        let is_doubtful = change.has_few_runs() && self.is_doubtful(value, true);
        let noise = if is_miss && is_doubtful { TOO_FEW } else { "" };
        Some(Measurement {
            value,
            by: value.map(|value| value - limit),
            is_miss,
            is_doubtful,
            why: message!(
                "the median of new, {}, is {} the largest value of base, {}{}{}",
                self.shown(now),
                side,
                self.shown(most),
                share,
                noise
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::change::{Floor, Judge, Preference};

    fn numbers(values: &[f64]) -> Vec<Option<Number>> {
        // NaN stands for a run without a value.
        values.iter().map(|&one| Number::new(one)).collect()
    }

    /// Judges runs with these values, and these counts of the things that they sum up.
    fn judged(
        rule: LimitRule,
        limit: f64,
        (base, new): (&[f64], &[f64]),
        counts: Option<(&[f64], &[f64])>,
    ) -> (GateVerdict, Option<f64>) {
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        let change = judge.change(
            (&numbers(base), &numbers(new)),
            Unit::Count,
            Preference::Lower,
        );
        let counts = counts.map(|(base, new)| (numbers(base), numbers(new)));

        let subject = GateSubject {
            what: "x",
            channel: None,
            figure: None,
            unit: Unit::Count,
            base: Presence::from_values(
                &change.base.values,
                counts.as_ref().map(|counts| &counts.0),
            ),
            new: Presence::from_values(&change.new.values, counts.as_ref().map(|counts| &counts.1)),
            change: Some(&change),
            thing: "gap",
            excuse: None,
            meant: None,
        };

        let limit = Number::new(limit).unwrap();
        let (row, is_measured) = subject.row(rule, limit, GateSeverity::Error, false);
        assert!(is_measured || row.value.is_none(), "{row:?}");

        let (optional, _) = subject.row(rule, limit, GateSeverity::Error, true);
        let expected = if is_measured {
            row.verdict
        } else {
            GateVerdict::NotMeasurable
        };
        assert_eq!(optional.verdict, expected, "{optional:?}");
        (row.verdict, row.by.map(|by| (by.get() * 1e6).round() / 1e6))
    }

    /// Judges figures that some or all runs lack.
    #[test]
    fn limits_with_missing_values_are_judged() {
        use GateVerdict::{Miss, NotMeasurable, Pass};
        const NONE: f64 = f64::NAN;
        type Case<'a> = (LimitRule, &'a [f64], &'a [f64], GateVerdict);
        let cases: [Case<'_>; 12] = [
            (LimitRule::Max, &[1.0], &[NONE], Miss),
            (LimitRule::Max, &[NONE], &[NONE], Miss),
            (LimitRule::Max, &[NONE], &[10.0], Pass),
            (LimitRule::Min, &[1.0], &[NONE], Miss),
            (LimitRule::Grow, &[1.0], &[NONE], Miss),
            (LimitRule::Grow, &[NONE], &[1.0], Miss),
            (LimitRule::Shrink, &[1.0], &[NONE], Miss),
            (LimitRule::Range, &[1.0], &[NONE], Miss),
            // A run of new lacks it: exactly that run may have missed the limit.
            (LimitRule::Grow, &[9.0, 9.0, 9.0], &[9.0, NONE, 9.0], Miss),
            (LimitRule::Max, &[9.0, 9.0, 9.0], &[9.0, 9.0, NONE], Miss),
            // The remaining values of base are enough to compare with.
            (LimitRule::Grow, &[9.0, NONE, 9.0], &[9.0, 9.0, 9.0], Pass),
            (
                LimitRule::Grow,
                &[9.0, NONE, 9.0],
                &[19.0, 19.0, 19.0],
                Miss,
            ),
        ];
        for (rule, base, new, expected) in cases {
            let (found, _) = judged(rule, 10.0, (base, new), None);
            let found = match rule {
                LimitRule::Max | LimitRule::Min => found,
                _ => judged(rule, 0.1, (base, new), None).0,
            };
            assert_eq!(found, expected, "{rule:?} {base:?} {new:?}");
        }

        // Without a gap no gap is too long, and nothing can have grown from none.
        let cases: [Case<'_>; 8] = [
            (LimitRule::Max, &[5.0], &[NONE], Pass),
            (LimitRule::Grow, &[5.0], &[NONE], Pass),
            (LimitRule::Range, &[NONE], &[NONE], Pass),
            (LimitRule::Min, &[5.0], &[NONE], Miss),
            (LimitRule::Shrink, &[5.0], &[NONE], Miss),
            (LimitRule::Grow, &[NONE], &[5.0], NotMeasurable),
            (LimitRule::Max, &[NONE], &[15.0], Miss),
            (LimitRule::Grow, &[5.0, 5.0, 5.0], &[5.0, NONE, 5.0], Pass),
        ];
        for (rule, base, new, expected) in cases {
            let count = |values: &[f64]| -> Vec<f64> {
                let counts = values.iter().map(|one| f64::from(u8::from(!one.is_nan())));
                counts.collect()
            };
            let (was, now) = (count(base), count(new));
            let (found, _) = judged(rule, 10.0, (base, new), Some((&was, &now)));
            assert_eq!(found, expected, "{rule:?} {base:?} {new:?}");
        }
    }

    #[test]
    fn limits_are_judged_as_computed_by_hand() {
        use GateVerdict::{Miss, Pass};
        type Case<'a> = (
            LimitRule,
            f64,
            &'a [f64],
            &'a [f64],
            (GateVerdict, Option<f64>),
        );
        let cases: [Case<'_>; 16] = [
            (LimitRule::Max, 10.0, &[1.0], &[10.0], (Pass, None)),
            (LimitRule::Max, 10.0, &[], &[12.0], (Miss, Some(2.0))),
            (LimitRule::Min, 10.0, &[1.0], &[7.0], (Miss, Some(3.0))),
            (
                LimitRule::Grow,
                0.05,
                &[100.0],
                &[110.0],
                (Miss, Some(0.05)),
            ),
            (LimitRule::Grow, 0.05, &[100.0], &[105.0], (Pass, None)),
            (LimitRule::Grow, 0.05, &[0.0], &[1.0], (Miss, None)),
            (LimitRule::Shrink, 0.05, &[0.0], &[1.0], (Pass, None)),
            (LimitRule::Grow, 0.0, &[0.0], &[0.0], (Pass, None)),
            // Growth from 0 within the noise.
            (
                LimitRule::Grow,
                0.05,
                &[0.0, 0.0, 3.0],
                &[0.0, 5.0, 9.0],
                (Pass, None),
            ),
            (
                LimitRule::Shrink,
                0.05,
                &[100.0],
                &[80.0],
                (Miss, Some(0.15)),
            ),
            // Beyond the limit, and 6 apart: more than the spread of either side.
            (
                LimitRule::Grow,
                0.05,
                &[99.0, 100.0, 101.0],
                &[107.0, 108.0, 109.0],
                (Miss, Some(0.03)),
            ),
            // With many runs the interval is not the whole range and decides alone.
            (
                LimitRule::Shrink,
                0.05,
                &[101.0, 106.0, 111.0, 103.0, 104.0, 108.0],
                &[90.0, 95.0, 100.0, 92.0, 93.0, 97.0],
                // Of base's median of 105, not of the lower of the two in its middle.
                (Miss, Some(0.054762)),
            ),
            (
                LimitRule::Range,
                0.05,
                &[90.0, 100.0, 80.0],
                &[103.0, 104.0, 105.0],
                (Pass, None),
            ),
            (
                LimitRule::Range,
                0.05,
                &[90.0, 100.0, 80.0],
                &[110.0, 112.0, 90.0],
                (Miss, Some(0.05)),
            ),
            (LimitRule::Range, 0.0, &[0.0], &[3.0], (Miss, None)),
            (LimitRule::Range, 0.0, &[0.0], &[0.0], (Pass, None)),
        ];
        for (rule, limit, base, new, expected) in cases {
            let found = judged(rule, limit, (base, new), None);
            assert_eq!(found, expected, "{rule:?} {limit} {base:?} {new:?}");
        }
    }

    /// Each verdict follows from the values: the limit is 5 %, and warnings end at 25 %.
    #[test]
    fn noise_excuses_times_and_no_counts() {
        use GateSeverity::{Error, Warn};
        use LimitRule::{Grow, Shrink};
        use Unit::{Count, Ns};
        type Case<'a> = (Unit, LimitRule, &'a [f64], &'a [f64], Option<GateSeverity>);
        let cases: [Case<'_>; 18] = [
            // Apart, but 101 is not 5 % above 100.
            (Ns, Grow, &[90.0, 95.0, 100.0], &[101.0, 106.0, 111.0], None),
            (
                Count,
                Grow,
                &[90.0, 95.0, 100.0],
                &[101.0, 106.0, 111.0],
                Some(Error),
            ),
            // 106 is 6 % above 100, however much the worse runs of new vary.
            (
                Ns,
                Grow,
                &[90.0, 95.0, 100.0],
                &[106.0, 106.0, 107.0],
                Some(Error),
            ),
            (
                Ns,
                Grow,
                &[90.0, 95.0, 100.0],
                &[106.0, 300.0, 900.0],
                Some(Error),
            ),
            (
                Ns,
                Grow,
                &[20.0, 20.0, 20.0],
                &[33.0, 40.0, 60.0],
                Some(Error),
            ),
            (
                Count,
                Grow,
                &[300.0, 300.0, 300.0],
                &[500.0, 600.0, 900.0],
                Some(Error),
            ),
            (
                Ns,
                Shrink,
                &[90.0, 95.0, 100.0],
                &[85.0, 40.0, 10.0],
                Some(Error),
            ),
            (Ns, Shrink, &[90.0, 95.0, 100.0], &[86.0, 40.0, 10.0], None),
            // The runs of the sides overlap.
            (Ns, Grow, &[90.0, 95.0, 100.0], &[99.0, 120.0, 130.0], None),
            (
                Count,
                Grow,
                &[90.0, 95.0, 100.0],
                &[99.0, 120.0, 130.0],
                None,
            ),
            // A fourth run makes the interval sure enough to decide alone.
            (
                Ns,
                Grow,
                &[90.0, 95.0, 100.0],
                &[101.0, 106.0, 111.0, 111.0],
                Some(Error),
            ),
            // Few runs.
            (Ns, Grow, &[100.0], &[110.0], Some(Warn)),
            (Ns, Grow, &[100.0], &[126.0], Some(Error)),
            (Ns, Grow, &[100.0, 101.0], &[110.0, 190.0], Some(Error)),
            (Ns, Grow, &[100.0, 101.0], &[102.0, 190.0], Some(Warn)),
            (Ns, Grow, &[90.0, 100.0, 150.0], &[130.0], None),
            (Count, Grow, &[300.0], &[310.0], None),
            (Count, Grow, &[300.0], &[330.0], Some(Error)),
        ];
        for (unit, rule, base, new, expected) in cases {
            let judge = Judge::new(Floor::default(), base.len(), new.len());
            let sides = (numbers(base), numbers(new));
            let found = missed_share(&judge, rule, (&sides.0, &sides.1), unit);
            assert_eq!(found, expected, "{unit:?} {rule:?} {base:?} {new:?}");
        }
    }

    /// Returns the severity with which a limit of 5 % is missed, if it is.
    fn missed_share(
        judge: &Judge,
        rule: LimitRule,
        sides: (&[Option<Number>], &[Option<Number>]),
        unit: Unit,
    ) -> Option<GateSeverity> {
        let change = judge.change(sides, unit, Preference::Lower);
        let subject = GateSubject {
            what: "x",
            channel: None,
            figure: None,
            unit,
            change: Some(&change),
            base: Presence::Known,
            new: Presence::Known,
            thing: "",
            excuse: None,
            meant: None,
        };
        let limit = Number::new(0.05).unwrap();
        let (row, _) = subject.row(rule, limit, GateSeverity::Error, false);
        (row.verdict == GateVerdict::Miss).then_some(row.severity)
    }

    /// Runs of both sides, in steps that are about the limit; the rule; and the unit.
    fn any_case() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, LimitRule, Unit)> {
        let side = || proptest::collection::vec(0_u8..8, 1..9);
        let rule = prop_oneof![
            Just(LimitRule::Grow),
            Just(LimitRule::Shrink),
            Just(LimitRule::Range)
        ];
        (
            side(),
            side(),
            rule,
            prop_oneof![Just(Unit::Ns), Just(Unit::Count)],
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, max_global_rejects: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// A failure stays one if a run of new becomes worse, or if a run is added that is worse than
        /// all others of new; and so for a run of base that becomes better.
        #[test]
        fn a_worse_run_never_turns_a_failure_into_a_pass(
            (base, new, rule, unit) in any_case(),
            at in any::<prop::sample::Index>(),
            apart in 0_u8..12,
            by in 0_u8..40,
        ) {
            // Steps of 3 %: two of them are beyond the limit.
            let sign = if rule.is_upper() { 1.0 } else { -1.0 };
            let values = |steps: &[u8], apart: u8| -> Vec<Option<Number>> {
                let values = steps.iter().map(|&step| {
                    200.0 + 6.0 * (f64::from(step) + f64::from(apart) * sign)
                });
                values.map(Number::new).collect()
            };
            let fails = |base: &[Option<Number>], new: &[Option<Number>]| {
                let judge = Judge::new(Floor::default(), base.len(), new.len());
                missed_share(&judge, rule, (base, new), unit) == Some(GateSeverity::Error)
            };
            let (base, new) = (values(&base, 0), values(&new, apart));
            prop_assume!(fails(&base, &new));

            let by = f64::from(by) * sign;
            let moved = |side: &[Option<Number>], by: f64| {
                let mut side = side.to_vec();
                let one = at.get(&side).unwrap().get();
                let one_at = at.index(side.len());
                side[one_at] = Number::new((one + by).max(1.0));
                side
            };
            prop_assert!(fails(&base, &moved(&new, by)), "a run of new became worse");
            prop_assert!(fails(&moved(&base, -by), &new), "a run of base became better");

            let worst = new.iter().flatten().map(|one| one.get());
            let worst = if rule.is_upper() {
                worst.fold(f64::MIN, f64::max)
            } else {
                worst.fold(f64::MAX, f64::min)
            };
            let mut more = new.clone();
            more.push(Number::new((worst + by).max(1.0)));
            prop_assert!(fails(&base, &more), "a run was added to new");
        }
    }
}
