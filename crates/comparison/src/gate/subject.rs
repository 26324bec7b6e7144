//! Judges one limit of one figure or kernel.
//!
//! A relative limit (`grow`, `shrink`) is missed if the change is beyond it and beyond noise.
//! Beyond noise means that the interval excludes 0; of three runs against three, the sides must
//! also be apart by the spread of the wider one. With fewer runs on a side, times that are beyond a
//! relative limit are a warning, unless they are so far off that steady runs cannot be.
//! Growth from 0 exceeds every share. `scripts/bench-gate` measures the rule.

use metalens_analyzer::message::{counted, percent, ungrouped};
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
                return RuleOutcome::Missing(self.why_unknown().into());
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
        let is_real = change.is_beyond_noise(sign);
        let became = sentences::became(change, self.unit)?;
        let sure = sentences::sureness(change, self.unit);
        let sure = sure.map(|sure| message!("; {}", sure));
        let is_doubtful = change.has_few_runs() && self.is_doubtful(share);
        let noise = if is_beyond && !is_real {
            "; not counted: the sides are closer together than the runs of one side are"
        } else if is_beyond && is_doubtful {
            TOO_FEW
        } else {
            ""
        };
        Some(Measurement {
            value: share,
            by: share.map(|share| share - limit),
            is_miss: is_beyond && is_real,
            is_doubtful,
            why: message!("{}{}{}", became, sure, noise),
        })
    }

    /// Returns whether a change may be that of the machine from run to run. Counts of work are not.
    fn is_doubtful(&self, share: Option<f64>) -> bool {
        self.unit != Unit::Count && share.is_some_and(|share| share <= DOUBTFUL)
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
        let is_doubtful = change.has_few_runs() && self.is_doubtful(value);
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
        let cases: [Case<'_>; 17] = [
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
            // Beyond the limit, but only 1 apart while each side spreads by 10.
            (
                LimitRule::Grow,
                0.05,
                &[90.0, 95.0, 100.0],
                &[101.0, 106.0, 111.0],
                (Pass, None),
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
}
