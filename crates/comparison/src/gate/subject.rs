//! Judges one limit of one figure or kernel.
//!
//! A relative limit (`grow`, `shrink`) is missed when the change is beyond it and
//! beyond noise: the interval excludes 0, and as long as the interval is the whole
//! range of differences, which it is of few runs, the sides are apart by as much as
//! the wider of them spreads. Three runs against three that are alike are in order
//! one time in ten; that far apart they are much less often. Without an interval
//! the figures alone decide. Growth from 0 is beyond every share.

use metalens_analyzer::message::{counted, percent, ungrouped};
use metalens_analyzer::{Message, message};

use super::{GateRow, GateVerdict, KernelFigure, Limit, Rule, Severity};
use crate::change::Change;
use crate::number::Number;
use crate::sentences;
use crate::unit::Unit;

/// The figure or kernel that a limit is for.
pub(super) struct Subject<'a> {
    pub(super) what: &'a str,
    pub(super) channel: Option<&'a str>,
    pub(super) of: Option<KernelFigure>,
    pub(super) unit: Unit,
    pub(super) change: Option<&'a Change>,
    pub(super) base: Presence,
    pub(super) new: Presence,
    /// The word for one of the things that the figure sums up, if there may be none.
    pub(super) thing: &'static str,
    /// The reason why there is nothing to measure, and why that is right.
    pub(super) excuse: Option<Message>,
}

/// Says in how many runs of a side a figure is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// In every run that has anything to measure.
    Known,
    /// Not in this many of the runs.
    Partly(usize),
    /// In none, since none has anything to measure: without gaps there is no mean gap.
    Nothing,
    /// In none.
    Unknown,
}

impl Presence {
    /// Takes the values of each run, and the counts of what they sum up.
    pub(super) fn of(values: &[Option<Number>], counts: Option<&Vec<Option<Number>>>) -> Self {
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

/// The outcome of one rule.
enum Outcome {
    /// The figure was measured.
    Found(Found),
    /// The figure is missing where it is needed.
    Absent(Message),
    /// There is nothing to compare with, and need not be.
    Nothing(Message),
}

/// A measured figure: the value in the limit's unit, how far it is beyond, why that
/// does or does not count. Growth from 0 has no value and is beyond every share.
struct Found {
    value: Option<f64>,
    by: Option<f64>,
    is_miss: bool,
    why: Message,
}

impl Subject<'_> {
    /// A row for each rule of a limit, and whether it was measured.
    pub(super) fn judge(&self, limit: &Limit) -> impl Iterator<Item = (GateRow, bool)> {
        let rules = [
            (Rule::Max, limit.max),
            (Rule::Min, limit.min),
            (Rule::Grow, limit.grow),
            (Rule::Shrink, limit.shrink),
            (Rule::Range, limit.range),
        ];
        let (severity, optional) = (limit.severity, limit.optional);
        let rules = rules.into_iter();
        let rules = rules.filter_map(|(rule, value)| Some((rule, value.and_then(Number::of)?)));
        rules.map(move |(rule, value)| self.row(rule, value, severity, optional))
    }

    fn row(
        &self,
        rule: Rule,
        limit: Number,
        severity: Severity,
        optional: bool,
    ) -> (GateRow, bool) {
        use GateVerdict::{Miss, NotMeasurable, Pass};
        let (verdict, found, why) = match self.outcome(rule, limit.get()) {
            Outcome::Found(found) => {
                let verdict = if found.is_miss { Miss } else { Pass };
                let why = found.why.clone();
                (verdict, Some(found), why)
            }
            Outcome::Absent(why) if optional => {
                let why = message!("{}; the limit is optional", why);
                (NotMeasurable, None, why)
            }
            Outcome::Absent(why) => (Miss, None, why),
            Outcome::Nothing(why) => (NotMeasurable, None, why),
        };
        let by = found.as_ref().filter(|found| found.is_miss);
        let row = GateRow {
            what: self.what.to_owned(),
            channel: self.channel.map(str::to_owned),
            of: self.of,
            rule,
            limit,
            by: by.and_then(|found| Number::of(found.by?)),
            value: found.as_ref().and_then(|found| Number::of(found.value?)),
            unit: match rule.is_relative() {
                true => Unit::Ratio,
                false => self.unit,
            },
            severity,
            verdict,
            why: why.text,
            why_values: why.values,
        };
        (row, found.is_some())
    }

    fn outcome(&self, rule: Rule, limit: f64) -> Outcome {
        if let Some(why) = &self.excuse {
            return Outcome::Nothing(why.clone());
        }
        let change = match (self.new, self.change) {
            (Presence::Nothing, _) if rule.is_upper() => return self.without_any(),
            (Presence::Nothing, _) => {
                return Outcome::Absent(message!("new has no {}s", self.thing));
            }
            (Presence::Unknown, _) | (_, None) => {
                return Outcome::Absent(self.why_unknown().into());
            }
            (_, Some(change)) => change,
        };
        if rule.is_relative() {
            match (self.base, self.of) {
                (Presence::Unknown, Some(_)) => {
                    return Outcome::Nothing(
                        "not in base: there is nothing to compare with".into(),
                    );
                }
                (Presence::Unknown, None) => {
                    return Outcome::Absent("unknown in base, and known in new".into());
                }
                (Presence::Nothing, _) => {
                    let why = message!("base has no {}s to compare with", self.thing);
                    return Outcome::Nothing(why);
                }
                _ => {}
            }
        }
        let Some(found) = self.found(rule, limit, change) else {
            return Outcome::Absent("the values are too large to compare".into());
        };
        match self.new {
            Presence::Partly(unknown) if !found.is_miss => Outcome::Absent(message!(
                "unknown in {} of {} of new; in the others {}",
                ungrouped(unknown as u64),
                counted(change.new.values.len() as u64, "run"),
                found.why
            )),
            _ => Outcome::Found(found),
        }
    }

    /// Without any gap, no gap is too long.
    fn without_any(&self) -> Outcome {
        Outcome::Found(Found {
            value: None,
            by: None,
            is_miss: false,
            why: message!("new has no {}s", self.thing),
        })
    }

    fn why_unknown(&self) -> &'static str {
        let is_in_base = !matches!(self.base, Presence::Unknown | Presence::Nothing);
        match (self.of, self.change) {
            (Some(_), None) => "no kernel on either side has such a name",
            (Some(_), _) => "not in new: the kernel is gone or was renamed",
            (None, _) if is_in_base => "unknown in new, and known in base",
            (None, _) => "unknown on both sides",
        }
    }

    /// Measures the figure; none if its values are too large to be compared.
    fn found(&self, rule: Rule, limit: f64, change: &Change) -> Option<Found> {
        let now = change.new.median?.get();
        match rule {
            Rule::Max => Some(self.absolute(now, now - limit)),
            Rule::Min => Some(self.absolute(now, limit - now)),
            Rule::Grow => self.relative(change, limit, 1.0),
            Rule::Shrink => self.relative(change, limit, -1.0),
            Rule::Range => self.range(change, now, limit),
        }
    }

    fn absolute(&self, value: f64, by: f64) -> Found {
        Found {
            value: Some(value),
            by: Some(by),
            is_miss: by > 0.0,
            why: message!("the median of new is {}", self.shown(value)),
        }
    }

    fn shown(&self, value: f64) -> Option<Message> {
        Number::of(value).map(|value| sentences::value(value, self.unit))
    }

    /// `sign`: 1 if growing is what is limited, -1 if shrinking is.
    fn relative(&self, change: &Change, limit: f64, sign: f64) -> Option<Found> {
        let by = change.absolute?.get() * sign;
        let share = match change.relative {
            Some(share) => Some(share * sign),
            None => (by == 0.0).then_some(0.0),
        };
        let is_beyond = share.map_or(by > 0.0, |share| share > limit);
        let is_real = change.is_beyond_noise(sign);
        let became = sentences::became(change, self.unit)?;
        let sure = sentences::sureness(change, self.unit);
        let sure = sure.map_or_else(
            || "; one run on a side cannot tell a change from noise".into(),
            |sure| message!("; {}", sure),
        );
        let noise = match is_beyond && !is_real {
            true => "; within the noise of these runs",
            false => "",
        };
        Some(Found {
            value: share,
            by: share.map(|share| share - limit),
            is_miss: is_beyond && is_real,
            why: message!("{}{}{}", became, sure, noise),
        })
    }

    fn range(&self, change: &Change, now: f64, limit: f64) -> Option<Found> {
        let most = change.base.max?.get();
        let value = match now - most {
            by if by <= 0.0 => Some(by.max(-most.abs()) / most.abs().max(f64::MIN_POSITIVE)),
            _ if most == 0.0 => None,
            by => Some(by / most.abs()),
        };
        let side = if now > most { "above" } else { "not above" };
        let share = value.map(|value| message!(" ({})", percent(value.abs())));
        Some(Found {
            value,
            by: value.map(|value| value - limit),
            is_miss: value.is_none_or(|value| value > limit),
            why: message!(
                "the median of new is {}, {} base's largest, {}{}",
                self.shown(now),
                side,
                self.shown(most),
                share
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Floor, Judge, Wish};

    fn numbers(values: &[f64]) -> Vec<Option<Number>> {
        // NaN is what a run does not tell.
        values.iter().map(|&one| Number::of(one)).collect()
    }

    /// The verdict on runs with these values, and these counts of what they sum up.
    fn judged(
        rule: Rule,
        limit: f64,
        (base, new): (&[f64], &[f64]),
        counts: Option<(&[f64], &[f64])>,
    ) -> (GateVerdict, Option<f64>) {
        let judge = Judge::new(Floor::default(), base.len(), new.len());
        let change = judge.change((&numbers(base), &numbers(new)), Unit::Count, Wish::Less);
        let counts = counts.map(|(base, new)| (numbers(base), numbers(new)));
        let subject = Subject {
            what: "x",
            channel: None,
            of: None,
            unit: Unit::Count,
            base: Presence::of(&change.base.values, counts.as_ref().map(|counts| &counts.0)),
            new: Presence::of(&change.new.values, counts.as_ref().map(|counts| &counts.1)),
            change: Some(&change),
            thing: "gap",
            excuse: None,
        };
        let limit = Number::of(limit).unwrap();
        let (row, is_measured) = subject.row(rule, limit, Severity::Error, false);
        assert!(is_measured || row.value.is_none(), "{row:?}");
        let (optional, _) = subject.row(rule, limit, Severity::Error, true);
        let expected = match is_measured {
            true => row.verdict,
            false => GateVerdict::NotMeasurable,
        };
        assert_eq!(optional.verdict, expected, "{optional:?}");
        (row.verdict, row.by.map(|by| (by.get() * 1e6).round() / 1e6))
    }

    /// Figures that some runs, or all of them, do not have.
    #[test]
    fn absence() {
        use GateVerdict::{Miss, NotMeasurable, Pass};
        const NONE: f64 = f64::NAN;
        type Case<'a> = (Rule, &'a [f64], &'a [f64], GateVerdict);
        let cases: [Case<'_>; 12] = [
            (Rule::Max, &[1.0], &[NONE], Miss),
            (Rule::Max, &[NONE], &[NONE], Miss),
            (Rule::Max, &[NONE], &[10.0], Pass),
            (Rule::Min, &[1.0], &[NONE], Miss),
            (Rule::Grow, &[1.0], &[NONE], Miss),
            (Rule::Grow, &[NONE], &[1.0], Miss),
            (Rule::Shrink, &[1.0], &[NONE], Miss),
            (Rule::Range, &[1.0], &[NONE], Miss),
            // Some runs of new lack it: those that would have missed it may be gone.
            (Rule::Grow, &[9.0, 9.0, 9.0], &[9.0, NONE, 9.0], Miss),
            (Rule::Max, &[9.0, 9.0, 9.0], &[9.0, 9.0, NONE], Miss),
            // What base has is enough to compare with.
            (Rule::Grow, &[9.0, NONE, 9.0], &[9.0, 9.0, 9.0], Pass),
            (Rule::Grow, &[9.0, NONE, 9.0], &[19.0, 19.0, 19.0], Miss),
        ];
        for (rule, base, new, expected) in cases {
            let (found, _) = judged(rule, 10.0, (base, new), None);
            let found = match rule {
                Rule::Max | Rule::Min => found,
                _ => judged(rule, 0.1, (base, new), None).0,
            };
            assert_eq!(found, expected, "{rule:?} {base:?} {new:?}");
        }
        // Where there is no gap, no gap is too long; and from none nothing has grown.
        let cases: [Case<'_>; 8] = [
            (Rule::Max, &[5.0], &[NONE], Pass),
            (Rule::Grow, &[5.0], &[NONE], Pass),
            (Rule::Range, &[NONE], &[NONE], Pass),
            (Rule::Min, &[5.0], &[NONE], Miss),
            (Rule::Shrink, &[5.0], &[NONE], Miss),
            (Rule::Grow, &[NONE], &[5.0], NotMeasurable),
            (Rule::Max, &[NONE], &[15.0], Miss),
            (Rule::Grow, &[5.0, 5.0, 5.0], &[5.0, NONE, 5.0], Pass),
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
    fn limits() {
        use GateVerdict::{Miss, Pass};
        type Case<'a> = (Rule, f64, &'a [f64], &'a [f64], (GateVerdict, Option<f64>));
        let cases: [Case<'_>; 17] = [
            (Rule::Max, 10.0, &[1.0], &[10.0], (Pass, None)),
            (Rule::Max, 10.0, &[], &[12.0], (Miss, Some(2.0))),
            (Rule::Min, 10.0, &[1.0], &[7.0], (Miss, Some(3.0))),
            (Rule::Grow, 0.05, &[100.0], &[110.0], (Miss, Some(0.05))),
            (Rule::Grow, 0.05, &[100.0], &[105.0], (Pass, None)),
            (Rule::Grow, 0.05, &[0.0], &[1.0], (Miss, None)),
            (Rule::Shrink, 0.05, &[0.0], &[1.0], (Pass, None)),
            (Rule::Grow, 0.0, &[0.0], &[0.0], (Pass, None)),
            // From 0, and not beyond the noise.
            (
                Rule::Grow,
                0.05,
                &[0.0, 0.0, 3.0],
                &[0.0, 5.0, 9.0],
                (Pass, None),
            ),
            (Rule::Shrink, 0.05, &[100.0], &[80.0], (Miss, Some(0.15))),
            // Beyond the limit and apart by 6, more than either spreads.
            (
                Rule::Grow,
                0.05,
                &[99.0, 100.0, 101.0],
                &[107.0, 108.0, 109.0],
                (Miss, Some(0.03)),
            ),
            // Beyond the limit and apart, but by 1 only where the sides spread by 10.
            (
                Rule::Grow,
                0.05,
                &[90.0, 95.0, 100.0],
                &[101.0, 106.0, 111.0],
                (Pass, None),
            ),
            // Of many runs the interval is no longer the whole range, and decides alone.
            (
                Rule::Shrink,
                0.05,
                &[101.0, 106.0, 111.0, 103.0, 104.0, 108.0],
                &[90.0, 95.0, 100.0, 92.0, 93.0, 97.0],
                (Miss, Some(0.055769)),
            ),
            (
                Rule::Range,
                0.05,
                &[90.0, 100.0, 80.0],
                &[103.0, 104.0, 105.0],
                (Pass, None),
            ),
            (
                Rule::Range,
                0.05,
                &[90.0, 100.0, 80.0],
                &[110.0, 112.0, 90.0],
                (Miss, Some(0.05)),
            ),
            (Rule::Range, 0.0, &[0.0], &[3.0], (Miss, None)),
            (Rule::Range, 0.0, &[0.0], &[0.0], (Pass, None)),
        ];
        for (rule, limit, base, new, expected) in cases {
            let found = judged(rule, limit, (base, new), None);
            assert_eq!(found, expected, "{rule:?} {limit} {base:?} {new:?}");
        }
    }
}
