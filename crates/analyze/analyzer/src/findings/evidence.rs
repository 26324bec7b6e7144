//! Evidence of a finding: numbers, places to look at, and the time at stake.

use metalens_message::{
    Factor, Message, Ns, Quantity, Value, message, moment, number, percent, quote, ratio, share,
};

use crate::report::{
    Cause, Gain, GainCertainty, HeldBy, ReplayAction, Report, Severity, TopGap, is_answer,
};

/// Time that an action saves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Saving {
    pub ns: Ns,
    pub certainty: GainCertainty,
    /// Replayed change that saves it; `None` if it follows from the recorded gaps.
    pub change: Option<ReplayAction>,
}

/// Numbers behind a finding, places to look at, and the time at stake.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Sentence with the numbers.
    pub text: Message,
    /// Places to look at: moments, kernels, processes.
    pub look_at: Vec<Message>,
    /// Time that the action saves, and the certainty of that.
    pub saves: Option<Saving>,
    /// Time of the work that the finding is about, where nothing tells how much of it could be
    /// saved.
    pub at_stake_ns: Option<Ns>,
}

impl Evidence {
    /// Creates evidence from a sentence with numbers.
    pub(crate) fn new(text: Message) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Adds places to look at.
    pub(crate) fn at(mut self, places: impl IntoIterator<Item = Message>) -> Self {
        self.look_at.extend(places);
        self
    }

    /// Sets the upper bound of the time that could be saved.
    pub(crate) fn saving_at_most(self, ns: Ns, change: Option<ReplayAction>) -> Self {
        self.saving(Some(Saving {
            ns,
            certainty: GainCertainty::AtMost,
            change,
        }))
    }

    /// Sets the time that is saved, if it is known.
    pub(crate) fn saving(mut self, saves: Option<Saving>) -> Self {
        self.saves = saves;
        self
    }

    /// Sets the time of the work that the finding is about, where the gain is unknown.
    pub(crate) fn about(mut self, at_stake_ns: Ns) -> Self {
        self.at_stake_ns = Some(at_stake_ns);
        self
    }

    /// Returns the severity: by the time that could be saved, or the given one where that time is
    /// unknown, which is lower if little time is at stake. A caveat is about the numbers, not about
    /// time, and stays one.
    pub(crate) fn severity(&self, of_rule: Severity, window_ns: Ns) -> Severity {
        /// Share of the window from which on a finding is of high severity.
        const MUCH: f64 = 0.1;
        let by_time = |ns: Ns| {
            if is_share(ns, window_ns, MUCH) {
                Severity::High
            } else if is_share(ns, window_ns, SOME) {
                Severity::Medium
            } else {
                Severity::Low
            }
        };
        match (self.saves.map(|saves| saves.ns), self.at_stake_ns) {
            _ if of_rule == Severity::Caveat => Severity::Caveat,
            (Some(ns), _) => by_time(ns),
            // More severe orders first. No work can save more than all of its time.
            (None, Some(ns)) => of_rule.max(by_time(ns)),
            (None, None) => of_rule,
        }
    }

    /// Returns the gain relative to the time of the replay that tells it, or else to the time that the report
    /// judges.
    pub(crate) fn gain(&self, report: &Report) -> Option<Gain> {
        /// A smaller share of that time is not reported.
        const WORTH: f64 = 0.01;
        let Saving {
            ns,
            certainty,
            change,
        } = self.saves?;
        let replay = report.replay.as_ref().filter(|_| change.is_some());
        let whole_ns = replay.map_or(report.judged().span_ns, |replay| replay.span_ns);
        let saves_ns = ns.min(whole_ns);
        if !is_share(saves_ns, whole_ns, WORTH) {
            return None;
        }
        // If the whole time could be saved, a speedup is undefined.
        let speedup = ratio(whole_ns, whole_ns - saves_ns)?;
        Some(Gain {
            saves_ns,
            speedup: Factor(speedup),
            certainty,
            change,
            step: change.and_then(|change| replay?.step_with(change)),
        })
    }
}

/// Returns a time as a share of the idle time: `38.4 % of the idle time (74.2 ms of 193.5 ms)`.
pub(crate) fn of_idle(ns: Ns, report: &Report) -> Message {
    let total_ns = report.judged().idle.total_ns;
    let share = share_of(ns, total_ns);
    message!("{} of the idle time ({} of {})", share, ns, total_ns)
}

/// Returns a share as a percentage, `none` if the whole is zero: `38.4 %`.
pub(crate) fn share_of<Q: Quantity>(part: Q, whole: Q) -> Message {
    share(part, whole).map_or_else(|| "none".into(), percent)
}

/// Returns a rate of memory traffic: `52.0 GB/s`.
pub(crate) fn bandwidth(gb_per_s: f64) -> Message {
    number(format!("{gb_per_s:.1} GB/s"), gb_per_s, |gb_per_s| {
        Value::Bandwidth { gb_per_s }
    })
}

/// Returns the longest gaps of a cause.
pub(crate) fn longest(report: &Report, cause: Cause) -> Vec<Message> {
    let gaps = report.gaps.top.iter().filter(|gap| gap.cause == cause);
    gaps.take(3).map(place).collect()
}

fn place(gap: &TopGap) -> Message {
    /// Share of a gap from which on the driver's event is named.
    const MUCH: f64 = 0.1;
    let place = message!("gap of {} at {}", gap.duration_ns, moment(gap.start_ns));
    match &gap.driver_event {
        Some(event) if is_share(event.longest_ns, gap.duration_ns, MUCH) => message!(
            "{} (the driver: {}, {})",
            place,
            quote(&event.name),
            event.longest_ns
        ),
        _ => place,
    }
}

/// Share of the window below which idle time is not worth a finding: most measurements vary as
/// much.
const SOME: f64 = 0.02;

/// Returns the idle time that is the program's own: all but contention. Shares of it show the
/// program's waits beside other processes, too.
pub(crate) fn own_idle_ns(report: &Report) -> Ns {
    let idle = report.judged().idle;
    idle.total_ns.saturating_sub(idle.parts.contention_ns)
}

/// Returns the time that a change of the program saves by the replay, as a prediction; `None` if it
/// was not replayed.
pub(crate) fn predicted(report: &Report, action: ReplayAction) -> Option<Saving> {
    let replay = report.replay.as_ref()?;
    if replay.waiting.held_by == Some(HeldBy::OtherProcess) {
        return None;
    }
    let prediction = replay.prediction(action)?;
    let is_clear = is_answer(prediction.least_ns, prediction.most_ns);
    let (left_ns, certainty) = if prediction.is_known() {
        (prediction.left_ns, GainCertainty::About)
    } else if is_clear {
        // The answers agree, but what is unexplained is longer than they can be told apart.
        return None;
    } else {
        (prediction.least_ns, GainCertainty::AtMost)
    };
    Some(Saving {
        ns: replay.span_ns.saturating_sub(left_ns),
        certainty,
        change: Some(action),
    })
}

/// Returns whether an amount of idle time is at least this share of the program's own, and enough
/// of the window.
pub(crate) fn matters(ns: Ns, report: &Report, least: f64) -> bool {
    is_share(ns, own_idle_ns(report), least) && is_share(ns, report.judged().span_ns, SOME)
}

/// Returns whether a part is at least this share of a whole that is not zero.
pub(crate) fn is_share<Q: Quantity>(part: Q, whole: Q, least: f64) -> bool {
    ratio(part, whole).is_some_and(|share| share >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the severity in a window of 1,000 ns.
    #[test]
    fn the_time_decides_the_severity() {
        use Severity::{Caveat, High, Low, Medium};
        let check = |gain: Option<u64>, stake: Option<u64>, of_rule, expected| {
            let evidence = Evidence {
                saves: gain.map(|ns| Saving {
                    ns: Ns(ns),
                    certainty: GainCertainty::AtMost,
                    change: None,
                }),
                at_stake_ns: stake.map(Ns),
                ..Evidence::default()
            };
            let found = evidence.severity(of_rule, Ns(1_000));
            assert_eq!(found, expected, "{gain:?} {stake:?} {of_rule:?}");
        };
        check(None, None, Medium, Medium);
        check(Some(100), None, Medium, High);
        check(Some(99), None, High, Medium);
        check(Some(20), None, Low, Medium);
        check(Some(19), None, High, Low);
        // What is at stake lowers the severity, and never raises it: the gain may be less.
        check(None, Some(1_000), Medium, Medium);
        check(None, Some(20), Medium, Medium);
        check(None, Some(19), Medium, Low);
        check(None, Some(19), High, Low);
        check(None, Some(1_000), Low, Low);
        check(Some(1_000), Some(1_000), Caveat, Caveat);
        check(None, Some(0), Caveat, Caveat);
    }
}
