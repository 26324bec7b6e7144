//! Checks whether `--gpu-clock` took effect. The clock in a recording's settings is not enough:
//! stock recordings say `Default` while the GPU is at its minimum. The table of states has the
//! true clocks.

use std::path::Path;

use metalens_analyzer::units::percent;
use metalens_analyzer::{Performance, StateTime};
use serde::Serialize;

use crate::analysis::analyze_bundle;
use crate::record_request::RecordRequest;
use crate::template;

/// Effect that `--gpu-clock` had.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(rename = "Clock"))]
pub struct ClockOutcome {
    /// Requested clock: `Minimum`, `Medium`, `Maximum`, or `Default`.
    asked: &'static str,
    /// Clock in the recording's settings. Null if they name none.
    said: Option<String>,
    /// Clocks that the GPU was at, the longest first. Null if the recording has none.
    states: Option<Vec<ClockState>>,
}

/// A clock that the GPU was at.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(inline))]
struct ClockState {
    /// Name of the state in the recording.
    state: String,
    /// Share of the process's busy time at this clock; null if it had no busy time.
    busy_share: Option<f64>,
    /// True if the recording marks the state as induced. Stock recordings mark all states so: it is
    /// no sign that the clock was held.
    induced: bool,
}

/// Share of busy time at the requested clock from which it counts as held.
const HELD: f64 = 0.95;

/// Reads the effect from a recording, if a clock was requested.
pub(crate) fn look(bundle: &Path, request: &RecordRequest) -> Option<ClockOutcome> {
    let clock = request.gpu_clock.filter(|_| !request.is_simulated())?;
    let performance = analyze_bundle(bundle)
        .ok()
        .and_then(|analysis| analysis.report.machine.performance);
    Some(ClockOutcome::new(clock, performance))
}

impl ClockOutcome {
    fn new(asked: template::Clock, performance: Option<Performance>) -> Self {
        let said = performance
            .as_ref()
            .and_then(|performance| performance.requested.clone());
        let state = |time: StateTime| ClockState {
            state: time.state,
            busy_share: time.busy_share,
            induced: time.induced_ns > 0,
        };
        Self {
            asked: asked.name(),
            said,
            states: performance
                .map(|performance| performance.states.into_iter().map(state).collect()),
        }
    }

    /// Returns whether the GPU was at the requested clock (for `Default`, whether it changed its
    /// clock), or `None` if the recording cannot tell: a GPU that stays at one clock may have chosen
    /// it.
    fn matches_request(&self) -> Option<bool> {
        let states = self.states.as_ref().filter(|states| !states.is_empty())?;
        if self.asked == template::Clock::Default.name() {
            let is_alone = |state: &ClockState| state.busy_share.is_none_or(|share| share >= HELD);
            return (!states.iter().any(is_alone)).then_some(true);
        }
        let asked = states.iter().find(|state| state.state == self.asked);
        Some(asked.is_some_and(|state| state.busy_share.is_some_and(|share| share >= HELD)))
    }

    /// Returns the heading of the message.
    #[must_use]
    pub fn heading(&self) -> &'static str {
        match self.matches_request() {
            Some(true) => "clock",
            _ => "warning",
        }
    }

    /// Returns the message for the user.
    #[must_use]
    pub fn message(&self) -> String {
        let asked = self.asked.to_lowercase();
        let said = match &self.said {
            Some(said) => format!("; the recording's settings say `{said}`"),
            None => String::new(),
        };
        let states = self.describe_states();

        match self.matches_request() {
            Some(true) => {
                format!("as requested by --gpu-clock {asked}, the GPU was {states}{said}")
            }
            Some(false) => format!(
                "--gpu-clock {asked} had no effect (ignored by this xctrace or by the GPU): in the \
                 process's busy time the GPU was {states}{said}. Kernel times are those at that \
                 clock"
            ),
            None if !states.is_empty() => format!(
                "cannot tell whether --gpu-clock {asked} took effect: in the process's busy time the GPU \
                 was {states}{said}"
            ),
            None => format!(
                "cannot tell whether --gpu-clock {asked} took effect: the recording has no clock \
                 states of the GPU{said}"
            ),
        }
    }

    fn describe_states(&self) -> String {
        let states = self.states.iter().flatten().map(|state| {
            let share = state.busy_share.map_or_else(|| "?".to_owned(), percent);
            format!("at {} for {share}", state.state)
        });
        states.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: &str, share: f64, induced_ns: u64) -> StateTime {
        StateTime {
            state: name.to_owned(),
            total_ns: 100,
            share: Some(share),
            busy_ns: 100,
            busy_share: Some(share),
            induced_ns,
        }
    }

    fn performance(said: Option<&str>, states: &[StateTime]) -> Performance {
        Performance {
            table: "t".to_owned(),
            requested: said.map(str::to_owned),
            states: states.to_vec(),
            unknown_ns: 0,
            unknown_busy_ns: 0,
            changes: 0,
            narratives: Vec::new(),
        }
    }

    #[test]
    fn messages_compare_the_clock_with_the_request() {
        use template::Clock::{Default, Maximum};

        let check = |asked, performance: Option<Performance>, heading: &str, expected: &str| {
            let clock = ClockOutcome::new(asked, performance);
            assert_eq!(clock.heading(), heading, "{clock:?}");
            assert!(clock.message().contains(expected), "{}", clock.message());
        };

        let held = [state("Maximum", 0.99, 100), state("Minimum", 0.01, 0)];
        let held = |said| Some(performance(said, &held));
        check(Maximum, held(Some("Maximum")), "clock", "at Maximum for 99");
        check(Maximum, held(None), "clock", "for 99.0 %, at Minimum");
        // The settings do not decide.
        let low = [state("Minimum", 0.9, 100), state("Maximum", 0.1, 0)];
        let low = |said| Some(performance(said, &low));
        check(Maximum, low(Some("Maximum")), "warning", "had no effect");
        let alone = performance(Some("Default"), &[state("Minimum", 1.0, 100)]);
        check(Default, Some(alone), "warning", "cannot tell whether");
        // A stock recording marks all states as induced.
        let free = [state("Minimum", 0.9, 90), state("Maximum", 0.1, 10)];
        check(
            Default,
            Some(performance(None, &free)),
            "clock",
            "as requested by --gpu-clock default",
        );
        check(
            Maximum,
            Some(performance(None, &[])),
            "warning",
            "cannot tell",
        );
        check(Maximum, None, "warning", "has no clock states of the GPU");
    }
}
