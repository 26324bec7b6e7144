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

use metalens_message::Share;

#[cfg(test)]
mod tests;

use metalens_message::{Message, Number, counted, kernel, message, percent, ungrouped};
use metalens_text::number::Float;

use super::{GateRow, GateSeverity, GateVerdict, KernelFigure, Limit, LimitRule};
use crate::change::{Change, ChangeClass, STEADY, SideValues, known};
use crate::kernels::{KernelNoise, NOISE, deviation, spread};
use crate::sentences;
use crate::statistics::bounded_mean;
use crate::unit::Unit;

/// The figure or kernel that a limit applies to.
#[derive(Default)]
pub(super) struct GateSubject<'a> {
    pub(super) what: &'a str,
    pub(super) channel: Option<&'a str>,
    pub(super) figure: Option<KernelFigure>,
    pub(super) unit: Unit,
    pub(super) change: Option<&'a Change>,
    pub(super) base: Presence,
    pub(super) new: Presence,
    /// Value that `slower` is a share of; `None` for the figure itself.
    pub(super) whole: Option<Number>,
    /// Noise of kernels that are judged together.
    pub(super) together: Option<KernelNoise>,
    /// Chance of a false alarm if the runs are judged after each pair; `None` if they are judged once.
    pub(super) chance: Option<f64>,
    /// Whether base has one session, and new is of another: how sessions differ is not known.
    pub(super) has_one_session: bool,
    /// Reason why nothing has to be measured, if there is one.
    pub(super) excuse: Option<Message>,
    /// Name of the kernel that was probably meant, if none has the name.
    pub(super) meant: Option<&'a str>,
}

/// Presence of a figure in the runs of a side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Presence {
    /// Every run that has anything to measure has the figure.
    Known,
    /// This many runs lack the figure.
    Partly(usize),
    /// None of the runs has anything to measure: without gaps there is no mean gap.
    Nothing,
    /// None of the runs has the figure.
    #[default]
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
        let (severity, optional) = (limit.severity, limit.optional);
        let rules = limit.rules();
        let rules = rules.filter_map(|(rule, value)| Some((rule, Number::new(value)?)));
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
                let is_of_sessions =
                    self.has_one_session && rule.is_relative() && self.unit != Unit::Count;
                let sessions = is_of_sessions.then(|| Message::from("; for these two sessions"));
                let why = message!("{}{}", measured.why.clone(), sessions);
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
        (row, measured.is_some() && verdict != NotMeasurable)
    }

    fn outcome(&self, rule: LimitRule, limit: f64) -> RuleOutcome {
        if let Some(why) = &self.excuse {
            return RuleOutcome::Nothing(why.clone());
        }
        let change = match (self.new, self.change) {
            // No gap is too long.
            (Presence::Nothing, _) if rule.is_upper() => {
                return RuleOutcome::Measured(Measurement {
                    value: None,
                    by: None,
                    verdict: GateVerdict::Pass,
                    why: "there are no gaps".into(),
                });
            }
            (Presence::Nothing, _) => {
                return RuleOutcome::Missing("there are no gaps".into());
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
            (Presence::Nothing, _) => Some(RuleOutcome::Nothing(
                "base has no gaps to compare with".into(),
            )),
            _ => None,
        }
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
        let sign = match rule {
            LimitRule::Grow | LimitRule::Slower => Some(1.0),
            LimitRule::Shrink => Some(-1.0),
            _ => None,
        };
        if let Some(measured) = sign.and_then(|sign| self.by_pairs(change, limit, sign)) {
            return Some(measured);
        }
        match rule {
            LimitRule::Max => Some(self.absolute(change, now, now - limit)),
            LimitRule::Min => Some(self.absolute(change, now, limit - now)),
            LimitRule::Grow => self.relative(change, limit, 1.0),
            LimitRule::Slower => self.slower(change, limit),
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

    /// Measures an increase beside the noise within the runs, which few runs tell better than their medians, and the
    /// spread between sessions.
    ///
    /// ```text
    /// bound = max(limit, √(noise² + error²))    noise: 1.5 s √(1/n + 1/m), of many kernels more; s: noise of a run,
    ///                                           n and m: numbers of runs; error: of another session by chance
    /// miss    if the increase is beyond the bound, and most pairs of runs agree; else inconclusive
    /// ```
    fn slower(&self, change: &Change, limit: f64) -> Option<Measurement> {
        /// Factor by which the bound may exceed the limit, or else the change the bound, so that the figure is judged.
        const WIDEST: f64 = 2.0;
        /// Share of the pairs of runs, of a step and of one of many kernels, of which new's is longer.
        const PAIRS: [f64; 2] = [0.85, 0.5];

        let whole = self.whole.or(change.base.median)?.get();
        // Of a kernel with few instances, only its runs tell.
        let of_runs = || self.together.and_then(|_| deviation(change));
        let noise = change.noise.map(|noise| noise.get() / whole);
        let Some(own_noise) = noise.or_else(of_runs) else {
            return self.relative(change, limit, 1.0);
        };
        let (base, new) = (known(&change.base.values), known(&change.new.values));
        let share = change.absolute?.get() / whole;
        let (of_run, deviations) = self
            .together
            .map_or((0.0, NOISE), |noise| (noise.of_run, noise.deviations));
        let of_run = of_run.max(own_noise);
        let error = change.error.map_or(0.0, |error| error.get() / whole);
        let noise = error.hypot(deviations * of_run * spread(change));
        if !share.is_finite() || !noise.is_finite() {
            return None;
        }
        let bound = limit.max(noise);
        let pairs = base
            .iter()
            .flat_map(|was| new.iter().map(move |now| now > was));
        let longer = pairs.clone().filter(|is_longer| *is_longer).count();
        let least = PAIRS[usize::from(self.figure.is_some())];
        let is_most = share_of(longer, pairs.count()) > least;

        let became = sentences::became(change, self.unit)?;
        let of = self.of_a_step(share);
        let (verdict, more) = if bound > WIDEST * limit && share <= WIDEST * bound {
            let noise = percent(Share(noise));
            (
                GateVerdict::NotMeasurable,
                Some(message!("; not judged: it varies by {}", noise)),
            )
        } else if share <= bound {
            (GateVerdict::Pass, None)
        } else if is_most {
            (GateVerdict::Miss, None)
        } else {
            (GateVerdict::Inconclusive, Some(OVERLAP.into()))
        };
        Some(Measurement {
            value: Some(share),
            by: Some(share - limit),
            verdict,
            why: message!("{}{}{}", became, of, more),
        })
    }

    /// Measures the change of a time or a share pair by pair, with bounds that hold at every look. `sign` is 1 if
    /// growth is limited and -1 if shrinkage is. None if the runs are judged once.
    ///
    /// ```text
    /// miss    if the mean is beyond the limit, and certainly a change
    /// pass    if it is certainly within the limit; else inconclusive
    /// ```
    fn by_pairs(&self, change: &Change, limit: f64, sign: f64) -> Option<Measurement> {
        /// Chance of a pass although the change is at the limit.
        const MISSED: f64 = 0.05;
        let chance = self.chance.filter(|_| self.unit != Unit::Count)?;
        let pairs = change.base.values.iter().zip(&change.new.values);
        let logs = pairs.map(|(was, now)| {
            let (was, now) = ((*was)?.get(), (*now)?.get());
            let whole = self.whole.map_or(was, Number::get);
            let log = sign * ((now - was) / whole).ln_1p();
            Some(log).filter(|log| log.is_finite())
        });
        let logs: Vec<f64> = logs.collect::<Option<_>>()?;
        let (mean, apart) = bounded_mean(&logs, chance)?;
        let (_, within) = bounded_mean(&logs, MISSED)?;
        let most = sign * (sign * limit).ln_1p();
        let share = |log: f64| sign * (sign * log).exp_m1();
        let pairs = counted(logs.len() as u64, "pair");
        let (verdict, more) = if mean > most && mean > apart {
            let least = sentences::relative(sign * share(mean - apart));
            (GateVerdict::Miss, message!("at least {}", least))
        } else if mean + within <= most {
            let at_most = sentences::relative(sign * share(mean + within));
            (GateVerdict::Pass, message!("at most {}", at_most))
        } else {
            (GateVerdict::Inconclusive, "undecided".into())
        };
        let became = sentences::became(change, self.unit)?;
        let of = self.of_a_step(share(mean));
        Some(Measurement {
            value: Some(share(mean)),
            by: Some(share(mean) - limit),
            verdict,
            why: message!("{}{}; {} in {}", became, of, more, pairs),
        })
    }

    /// Returns a share of a step in words, if the figure is a part of one.
    fn of_a_step(&self, share: f64) -> Option<Message> {
        self.whole
            .map(|_| message!(", {} of a step", sentences::relative(share)))
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
        let share = value.map(|value| message!(" ({})", Share(value.abs())));
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

fn share_of(part: usize, whole: usize) -> f64 {
    part.float() / whole.max(1).float()
}
