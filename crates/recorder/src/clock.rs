//! Whether `--gpu-clock` gave what it is for. What a recording's settings say of
//! the clock is not enough: stock ones say `Default`, and have the GPU at its
//! minimum. The table of states tells.

use std::path::Path;

use metalens_analyzer::units::percent;
use metalens_analyzer::{Performance, StateTime};
use schemars::JsonSchema;
use serde::Serialize;

use crate::analyzed::analyzed;
use crate::record_request::RecordRequest;
use crate::template;

/// What came of asking for a clock of the GPU.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Clock")]
pub struct ClockOutcome {
    /// What was asked for: `Minimum`, `Medium`, `Maximum`, `Default`.
    asked: &'static str,
    /// What the recording's settings say that it was set to. Null if they say nothing.
    said: Option<String>,
    /// At which clocks the GPU was, the longest first. Null if the recording does not tell.
    states: Option<Vec<State>>,
}

/// A clock that the GPU was at.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
struct State {
    /// As the recording calls it.
    state: String,
    /// How much of the target's busy time; null if it had none.
    busy_share: Option<f64>,
    /// Whether it was marked as induced: held, not of the GPU's own choosing.
    induced: bool,
}

/// Less of the target's busy time than this is not as asked.
const HELD: f64 = 0.95;

/// Looks into a recording, if it was asked for.
pub(crate) fn look(bundle: &Path, asked: &RecordRequest) -> Option<ClockOutcome> {
    let clock = asked.gpu_clock.filter(|_| !asked.is_simulated())?;
    let performance = analyzed(bundle)
        .ok()
        .and_then(|one| one.report.machine.performance);
    Some(ClockOutcome::of(clock, performance))
}

impl ClockOutcome {
    fn of(asked: template::Clock, performance: Option<Performance>) -> Self {
        let said = performance.as_ref().and_then(|one| one.requested.clone());
        let state = |one: StateTime| State {
            state: one.state,
            busy_share: one.busy_share,
            induced: one.induced_ns > 0,
        };
        Self {
            asked: asked.name(),
            said,
            states: performance.map(|one| one.states.into_iter().map(state).collect()),
        }
    }

    /// Whether the GPU was at the clock; for `Default`, whether it chose. None if
    /// that cannot be told.
    fn is_as_asked(&self) -> Option<bool> {
        let states = self.states.as_ref().filter(|states| !states.is_empty())?;
        if self.asked == template::Clock::Default.name() {
            return Some(!states.iter().any(|one| one.induced));
        }
        let asked = states.iter().find(|one| one.state == self.asked);
        Some(asked.is_some_and(|one| one.busy_share.is_some_and(|share| share >= HELD)))
    }

    /// Returns a word that says how it went.
    #[must_use]
    pub fn heading(&self) -> &'static str {
        match self.is_as_asked() {
            Some(true) => "clock",
            _ => "warning",
        }
    }

    /// Returns how it went.
    #[must_use]
    pub fn in_words(&self) -> String {
        let asked = self.asked.to_lowercase();
        let said = match &self.said {
            Some(said) => format!("; the recording's settings say `{said}`"),
            None => String::new(),
        };
        let states = self.said_of_states();
        match self.is_as_asked() {
            Some(true) => format!("as --gpu-clock {asked} asked, the GPU was {states}{said}"),
            Some(false) => format!(
                "--gpu-clock {asked} was not heeded, by this xctrace or by the GPU: of the target's \
                 busy time it was {states}{said}. Kernel times are those of that clock"
            ),
            None => format!(
                "whether --gpu-clock {asked} was heeded cannot be told: the recording has no clocks \
                 of the GPU{said}"
            ),
        }
    }

    fn said_of_states(&self) -> String {
        let said = self.states.iter().flatten().map(|one| {
            let share = one.busy_share.map_or_else(|| "?".to_owned(), percent);
            let held = if one.induced { ", held there" } else { "" };
            format!("at {} for {share}{held}", one.state)
        });
        said.collect::<Vec<_>>().join(", ")
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
    fn in_words() {
        let check = |asked, found: Option<Performance>, heading: &str, expected: &str| {
            let clock = ClockOutcome::of(asked, found);
            assert_eq!(clock.heading(), heading, "{clock:?}");
            assert!(clock.in_words().contains(expected), "{}", clock.in_words());
        };
        use template::Clock::{Default, Maximum};
        let held = [state("Maximum", 0.99, 100), state("Minimum", 0.01, 0)];
        let held = |said| Some(performance(said, &held));
        check(Maximum, held(Some("Maximum")), "clock", "at Maximum for 99");
        check(Maximum, held(None), "clock", "held there, at Minimum");
        // What the settings say decides nothing.
        let low = [state("Minimum", 0.9, 100), state("Maximum", 0.1, 0)];
        let low = |said| Some(performance(said, &low));
        check(Maximum, low(Some("Maximum")), "warning", "not heeded");
        check(Default, low(Some("Default")), "warning", "say `Default`");
        let free = [state("Minimum", 0.9, 0), state("Maximum", 0.1, 0)];
        check(
            Default,
            Some(performance(None, &free)),
            "clock",
            "as --gpu-clock default",
        );
        check(
            Maximum,
            Some(performance(None, &[])),
            "warning",
            "cannot be told",
        );
        check(Maximum, None, "warning", "has no clocks of the GPU");
    }
}
