//! Judges one limit of one figure or kernel.
//!
//! A relative limit (`grow`, `shrink`) is missed if the change is beyond it and beyond noise.
//! Beyond noise means that the interval excludes 0; of times of three runs against three, each run
//! of new must also be beyond the limit of each run of base. With fewer runs on a side, times must
//! be so far off as steady runs cannot be. A change beyond the limit that may be noise is
//! inconclusive, unless it is certainly below the floor. So is any change if the runs of base are so far
//! apart that they hide it. Growth from 0 exceeds every share.
//! `scripts/bench-gate` measures the rule.
//!
//! A worse run of new never turns a failure into a pass: no part of the rule asks how much the runs
//! of new vary.

use metalens_analyzer::message::{counted, kernel, percent, ungrouped};
use metalens_analyzer::{Message, message};

use super::{GateRow, GateSeverity, GateVerdict, KernelFigure, Limit, LimitRule};
use crate::change::{Change, ChangeClass, STEADY, SideValues};
use crate::sentences;
use crate::unit::Unit;
use metalens_analyzer::Number;

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

        let runs = || {
            values
                .iter()
                .enumerate()
                .filter(|&(run, _)| !is_nothing(run))
        };
        let unknown = runs().filter(|(_, value)| value.is_none()).count();

        match (unknown, runs().any(|(_, value)| value.is_some())) {
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
    verdict: GateVerdict,
    why: Message,
}

/// Why a change beyond the limit is inconclusive: few runs that vary by ±10 % are so far apart, too.
const TOO_FEW: &str = "; inconclusive: fewer than three runs per side, and at most 25 %";
/// Why a change beyond the limit is inconclusive: the interval contains 0.
const OVERLAP: &str = "; inconclusive: the runs of the sides overlap";
/// Why a change beyond the limit is inconclusive: so few runs could be so by chance.
const NOT_ALL: &str =
    "; inconclusive: not every run of new is beyond the limit of every run of base";
/// Why a change within the limit is inconclusive: runs so far apart hide one beyond it.
const WIDE: &str = "; inconclusive: the runs of base are more than 25 % apart";
/// Why a change beyond the limit is none: it is certainly too small to count.
const SMALL: &str = "; no change that counts";

impl GateSubject<'_> {
    /// Returns a row for each rule of a limit, and whether the figure was measured.
    pub(super) fn judge(&self, limit: &Limit) -> impl Iterator<Item = (GateRow, bool)> {
        let pairs = [
            (LimitRule::Max, limit.max),
            (LimitRule::Min, limit.min),
            (LimitRule::Grow, limit.grow),
            (LimitRule::Shrink, limit.shrink),
            (LimitRule::Range, limit.range),
        ];

        let (severity, optional) = (limit.severity, limit.optional);
        let rules = pairs
            .into_iter()
            .filter_map(|(rule, value)| Some((rule, value.and_then(Number::new)?)));
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
                let why = measured.why.clone();
                (measured.verdict, Some(measured), why)
            }
            RuleOutcome::Missing(why) if optional => {
                let why = message!("{}; the limit is optional", why);
                (NotMeasurable, None, why)
            }
            RuleOutcome::Missing(why) => (Miss, None, why),
            RuleOutcome::Nothing(why) => (NotMeasurable, None, why),
        };

        let beyond = measured.as_ref().filter(|_| verdict != Pass);
        let row = GateRow {
            what: self.what.to_owned(),
            channel: self.channel.map(str::to_owned),
            of: self.figure,
            rule,
            limit,
            by: beyond.and_then(|beyond| Number::new(beyond.by?)),
            value: measured
                .as_ref()
                .and_then(|measured| Number::new(measured.value?)),
            unit: if rule.is_relative() {
                Unit::Ratio
            } else {
                self.unit
            },
            severity,
            verdict,
            why,
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
                return RuleOutcome::Missing(message!("there are no {}s", self.thing));
            }
            (Presence::Unknown, _) | (_, None) => {
                let similar = self.meant.map(kernel);
                let meant = similar.map(|meant| message!("; did you mean {}?", meant));
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
            Presence::Partly(unknown) if measured.verdict != GateVerdict::Miss => {
                RuleOutcome::Missing(message!(
                    "not recorded in {} of {} of new; in the others: {}",
                    ungrouped(unknown as u64),
                    counted(change.new.values.len() as u64, "run"),
                    measured.why
                ))
            }
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
            verdict: GateVerdict::Pass,
            why: message!("there are no {}s", self.thing),
        })
    }

    fn why_unknown(&self) -> &'static str {
        let is_in_base = !matches!(self.base, Presence::Unknown | Presence::Nothing);
        match (self.figure, self.change) {
            (Some(_), None) => "no kernel has a matching name",
            (Some(_), _) => "not in new: the kernel is gone or was renamed",
            (None, _) if is_in_base => "not recorded in new, but recorded in base",
            (None, _) => "not recorded",
        }
    }

    /// Measures the figure. Returns none if its values are too large to compare.
    fn measure(&self, rule: LimitRule, limit: f64, change: &Change) -> Option<Measurement> {
        let now = change.new.median?.get();
        match rule {
            LimitRule::Max => Some(self.absolute(change, now, now - limit)),
            LimitRule::Min => Some(self.absolute(change, now, limit - now)),
            LimitRule::Grow => self.relative(change, limit, 1.0),
            LimitRule::Shrink => self.relative(change, limit, -1.0),
            LimitRule::Range => self.range(change, now, limit),
        }
    }

    fn absolute(&self, change: &Change, value: f64, by: f64) -> Measurement {
        let whose = match change.new.values.len() {
            1 => "it is",
            _ => "the median of new is",
        };
        Measurement {
            value: Some(value),
            by: Some(by),
            verdict: if by > 0.0 {
                GateVerdict::Miss
            } else {
                GateVerdict::Pass
            },
            why: message!("{} {}", whose, self.shown(value)),
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
        // Counts of work do not vary as times do.
        let is_certain =
            is_of_all || self.unit == Unit::Count || !has_few_runs && !change.has_low_confidence();
        let is_too_few = has_few_runs && self.is_steady(share);
        let is_none = !has_few_runs && change.material_class() == ChangeClass::Unchanged;

        let became = sentences::became(change, self.unit)?;
        let sure = sentences::sureness(change, self.unit).map(|sure| message!("; {}", sure));
        let (verdict, noise) = match (is_beyond, is_apart, is_certain) {
            (false, _, _) if self.is_hidden(change, limit, sign) => {
                (GateVerdict::Inconclusive, WIDE)
            }
            (false, _, _) => (GateVerdict::Pass, ""),
            (true, true, true) if is_too_few => (GateVerdict::Inconclusive, TOO_FEW),
            (true, true, true) => (GateVerdict::Miss, ""),
            _ if is_none => (GateVerdict::Pass, SMALL),
            (true, false, _) => (GateVerdict::Inconclusive, OVERLAP),
            (true, true, false) => (GateVerdict::Inconclusive, NOT_ALL),
        };
        Some(Measurement {
            value: share,
            by: share.map(|share| share - limit),
            verdict,
            why: message!("{}{}{}", became, sure, noise),
        })
    }

    /// Returns whether the runs of base are so far apart that a change beyond the limit would not be
    /// seen, and a run of new is beyond the limit of a run of base.
    fn is_hidden(&self, change: &Change, limit: f64, sign: f64) -> bool {
        let ends = |side: &SideValues| Some((side.min?.get(), side.max?.get()));
        let (Some((least, most)), Some((fastest, slowest))) =
            (ends(&change.base), ends(&change.new))
        else {
            return false;
        };
        let is_wide = most > least * (1.0 + STEADY);
        let is_beyond = if sign > 0.0 {
            slowest > least * (1.0 + limit)
        } else {
            fastest < most * (1.0 - limit)
        };
        self.unit != Unit::Count && is_wide && is_beyond
    }

    /// Returns whether a change may be that of a steady machine from run to run. That of a count of
    /// work is not.
    fn is_steady(&self, share: Option<f64>) -> bool {
        self.unit != Unit::Count && share.is_some_and(|share| share <= STEADY)
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
        let is_too_few = change.has_few_runs() && self.is_steady(value);
        let is_beyond = value.is_none_or(|value| value > limit);
        let (verdict, noise) = if is_beyond && is_too_few {
            (GateVerdict::Inconclusive, TOO_FEW)
        } else if is_beyond {
            (GateVerdict::Miss, "")
        } else {
            (GateVerdict::Pass, "")
        };
        Some(Measurement {
            value,
            by: value.map(|value| value - limit),
            verdict,
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
            &numbers(base),
            &numbers(new),
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
        use GateVerdict::{Inconclusive, Miss, Pass};
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
                (Inconclusive, None),
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

    /// Each verdict follows from the values: the limit is 5 %, and few runs are inconclusive up to 25 %.
    #[test]
    fn noise_makes_times_inconclusive_and_no_counts() {
        use GateVerdict::{Inconclusive, Miss, Pass};
        use LimitRule::{Grow, Shrink};
        use Unit::{Count, Ns};
        type Case<'a> = (Unit, LimitRule, &'a [f64], &'a [f64], GateVerdict);
        let cases: [Case<'_>; 22] = [
            // Apart, but 101 is not 5 % above 100.
            (
                Ns,
                Grow,
                &[90.0, 95.0, 100.0],
                &[101.0, 106.0, 111.0],
                Inconclusive,
            ),
            (
                Count,
                Grow,
                &[90.0, 95.0, 100.0],
                &[101.0, 106.0, 111.0],
                Miss,
            ),
            // 106 is 6 % above 100, however much the worse runs of new vary.
            (Ns, Grow, &[90.0, 95.0, 100.0], &[106.0, 106.0, 107.0], Miss),
            (Ns, Grow, &[90.0, 95.0, 100.0], &[106.0, 300.0, 900.0], Miss),
            (Ns, Grow, &[20.0, 20.0, 20.0], &[33.0, 40.0, 60.0], Miss),
            (
                Count,
                Grow,
                &[300.0, 300.0, 300.0],
                &[500.0, 600.0, 900.0],
                Miss,
            ),
            (Ns, Shrink, &[90.0, 95.0, 100.0], &[85.0, 40.0, 10.0], Miss),
            (
                Ns,
                Shrink,
                &[90.0, 95.0, 100.0],
                &[86.0, 40.0, 10.0],
                Inconclusive,
            ),
            // The runs of the sides overlap.
            (
                Ns,
                Grow,
                &[90.0, 95.0, 100.0],
                &[99.0, 120.0, 130.0],
                Inconclusive,
            ),
            (
                Count,
                Grow,
                &[90.0, 95.0, 100.0],
                &[99.0, 120.0, 130.0],
                Inconclusive,
            ),
            // A fourth run makes the interval sure enough to decide alone.
            (
                Ns,
                Grow,
                &[90.0, 95.0, 100.0],
                &[101.0, 106.0, 111.0, 111.0],
                Miss,
            ),
            // The middle of the change is within the limit, however much the runs vary.
            (Ns, Grow, &[90.0, 95.0, 100.0], &[60.0, 99.0, 130.0], Pass),
            (
                Ns,
                Grow,
                &[100.0, 100.0, 148.0],
                &[137.0, 137.0, 138.0],
                Inconclusive,
            ),
            // Certainly too small a change to count.
            (Ns, Grow, &[0.9, 0.95, 1.0], &[0.8, 1.0, 1.1], Inconclusive),
            (Ns, Grow, &[0.09, 0.095, 0.1], &[0.08, 0.1, 0.11], Pass),
            // Few runs.
            (Ns, Grow, &[100.0], &[110.0], Inconclusive),
            (Ns, Grow, &[100.0], &[126.0], Miss),
            (Ns, Grow, &[100.0, 101.0], &[110.0, 190.0], Miss),
            (Ns, Grow, &[100.0, 101.0], &[102.0, 190.0], Inconclusive),
            (Ns, Grow, &[90.0, 100.0, 150.0], &[130.0], Inconclusive),
            (Count, Grow, &[300.0], &[310.0], Pass),
            (Count, Grow, &[300.0], &[330.0], Miss),
        ];
        for (unit, rule, base, new, expected) in cases {
            let judge = Judge::new(Floor::default(), base.len(), new.len());
            // In units that are above the floor of times.
            let large = |side: &[f64]| side.iter().map(|one| one * 1e3).collect::<Vec<f64>>();
            let sides = (numbers(&large(base)), numbers(&large(new)));
            let found = verdict_on_share(&judge, rule, &sides.0, &sides.1, unit);
            assert_eq!(found, expected, "{unit:?} {rule:?} {base:?} {new:?}");
        }
    }

    /// Returns the verdict on a limit of 5 %.
    fn verdict_on_share(
        judge: &Judge,
        rule: LimitRule,
        base: &[Option<Number>],
        new: &[Option<Number>],
        unit: Unit,
    ) -> GateVerdict {
        let change = judge.change(base, new, unit, Preference::Lower);
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
        row.verdict
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
        /// all others of new. It never becomes a pass if a run of base becomes better.
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
            let verdict = |base: &[Option<Number>], new: &[Option<Number>]| {
                let judge = Judge::new(Floor::default(), base.len(), new.len());
                verdict_on_share(&judge, rule, base, new, unit)
            };
            let fails = |base: &[Option<Number>], new: &[Option<Number>]| {
                verdict(base, new) == GateVerdict::Miss
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
            // A larger base makes the same decrease a smaller share of it, which few runs may not tell.
            let found = verdict(&moved(&base, -by), &new);
            prop_assert!(found != GateVerdict::Pass, "a run of base became better");

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
