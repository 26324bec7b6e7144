//! Checks whether `--gpu-clock` took effect. The clock in a recording's settings is not enough:
//! stock recordings say `Default` while the GPU is at its minimum. The table of states has the
//! true clocks.

use metalens_text::units::percent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::record_request::RecordRequest;
use crate::template;

/// Effect that `--gpu-clock` had.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Clock")]
pub struct ClockOutcome {
    /// Requested clock: `Minimum`, `Medium`, `Maximum`, or `Default`.
    asked: &'static str,
    /// Clock in the recording's settings. Null if they name none.
    said: Option<String>,
    /// Clocks that the GPU was at, the longest first. Null if the recording has none.
    states: Option<Vec<ClockState>>,
}

/// A clock that the GPU was at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ClockState {
    /// Name of the state in the recording.
    pub state: String,
    /// Share of the process's busy time at this clock; null if it had no busy time.
    pub busy_share: Option<f64>,
    /// True if the recording marks the state as induced. Stock recordings mark all states so: it is
    /// no sign that the clock was held.
    pub induced: bool,
}

/// Clocks of the GPU in a recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordedClock {
    /// Clock in the settings of the recording.
    pub said: Option<String>,
    /// Clocks that the GPU was at, the longest first.
    pub states: Vec<ClockState>,
}

/// Share of busy time at the requested clock from which it counts as held.
const HELD: f64 = 0.95;

/// Returns the effect in a recording, if a clock was requested.
pub(crate) fn look(
    recorded: Option<&RecordedClock>,
    request: &RecordRequest,
) -> Option<ClockOutcome> {
    let clock = request.gpu_clock.filter(|_| !request.is_simulated())?;
    Some(ClockOutcome::new(clock, recorded))
}

impl ClockOutcome {
    fn new(asked: template::Clock, recorded: Option<&RecordedClock>) -> Self {
        Self {
            asked: asked.name(),
            said: recorded.and_then(|recorded| recorded.said.clone()),
            states: recorded.map(|recorded| recorded.states.clone()),
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

    fn state(name: &str, share: f64, induced: bool) -> ClockState {
        ClockState {
            state: name.to_owned(),
            busy_share: Some(share),
            induced,
        }
    }

    fn recorded(said: Option<&str>, states: &[ClockState]) -> RecordedClock {
        RecordedClock {
            said: said.map(str::to_owned),
            states: states.to_vec(),
        }
    }

    #[test]
    fn messages_compare_the_clock_with_the_request() {
        use template::Clock::{Default, Maximum};

        let check = |asked, recorded: Option<RecordedClock>, heading: &str, expected: &str| {
            let clock = ClockOutcome::new(asked, recorded.as_ref());
            assert_eq!(clock.heading(), heading, "{clock:?}");
            assert!(clock.message().contains(expected), "{}", clock.message());
        };

        let held = [state("Maximum", 0.99, true), state("Minimum", 0.01, false)];
        let held = |said| Some(recorded(said, &held));
        check(Maximum, held(Some("Maximum")), "clock", "at Maximum for 99");
        check(Maximum, held(None), "clock", "for 99.0 %, at Minimum");
        // The settings do not decide.
        let low = [state("Minimum", 0.9, true), state("Maximum", 0.1, false)];
        let low = |said| Some(recorded(said, &low));
        check(Maximum, low(Some("Maximum")), "warning", "had no effect");
        let alone = recorded(Some("Default"), &[state("Minimum", 1.0, true)]);
        check(Default, Some(alone), "warning", "cannot tell whether");
        // A stock recording marks all states as induced.
        let free = [state("Minimum", 0.9, true), state("Maximum", 0.1, true)];
        check(
            Default,
            Some(recorded(None, &free)),
            "clock",
            "as requested by --gpu-clock default",
        );
        check(Maximum, Some(recorded(None, &[])), "warning", "cannot tell");
        check(Maximum, None, "warning", "has no clock states of the GPU");
    }
}
