//! Simulates the performance states of the GPU and the thermal states of the device.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Optional;
use crate::error::Error;
use crate::plan::Plan;
use crate::plan::sweep::{Segment, Window, time_ns};
use crate::random::Random;
use crate::sheet::{Kind, Part, table};
use crate::values::checks::Place;
use crate::values::nanos::Nanos;

/// A period in one performance or thermal state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StatePiece {
    /// Name of the state: `Minimum`, `Medium`, `Maximum`; `Nominal`, `Fair`, `Serious`,
    /// `Critical`; or any other text.
    pub state: String,
    /// Start, counted from the start of the recording.
    pub start: Nanos,
    /// End in the table; by default the start of the next piece, or the end of the run.
    pub end: Option<Nanos>,
    /// True if Instruments forced the state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub induced: bool,
}

impl StatePiece {
    /// Returns one state for the whole run.
    #[must_use]
    pub fn throughout(state: &str) -> Self {
        Self {
            state: state.to_owned(),
            start: Nanos::default(),
            end: None,
            induced: false,
        }
    }
}

/// Checks that pieces are in order and do not overlap.
pub(crate) fn check(place: &Place, field: &str, pieces: &[StatePiece]) -> Result<(), Error> {
    let mut free_ns = 0;
    place.each(field, pieces, |place, piece| {
        place.name("state", &piece.state)?;
        let start_ns = piece.start.get();
        place.instant("start", piece.start, 0)?;
        if start_ns < free_ns {
            let early = format!("is {}, before the end of the previous piece", piece.start);
            let allowed = format!("{} or more", Nanos::new(free_ns));
            return place.refuse("start", early, allowed);
        }
        if let Some(end) = piece.end {
            place.instant("end", end, start_ns + 1)?;
        }
        free_ns = piece.end.map_or(start_ns + 1, Nanos::get);
        Ok(())
    })
}

/// Returns up to four states, some of them with uncovered time after them.
pub(crate) fn random(random: &mut Random, states: &[&str]) -> Vec<StatePiece> {
    let mut at_ns = random.between(0, 40_000);
    let mut pieces = Vec::new();
    for _ in 0..=random.below(4) {
        let end_ns = at_ns + random.between(1, 200_000);
        pieces.push(StatePiece {
            state: (*random.one_of(states)).to_owned(),
            start: Nanos::new(at_ns),
            end: random.once_in(2).then_some(Nanos::new(end_ns)),
            induced: random.once_in(3),
        });
        at_ns = end_ns + random.between(0, 20_000);
    }
    pieces
}

/// A period in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedState {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) state: String,
    pub(crate) induced: bool,
}

/// Plans the states of the scenario's pieces, cut to the run.
pub(crate) fn plan(pieces: &[StatePiece], plan: &Plan) -> Vec<PlannedState> {
    let (clock, wall_ns) = (plan.clock, plan.wall_ns);
    let next_start = |index: usize| pieces.get(index + 1).map(|piece| piece.start);
    let planned = pieces
        .iter()
        .enumerate()
        .map(|(index, piece)| PlannedState {
            start_ns: clock.cut(piece.start.get()).min(wall_ns),
            end_ns: piece
                .end
                .or_else(|| next_start(index))
                .map_or(wall_ns, |end| clock.cut(end.get()).min(wall_ns)),
            state: piece.state.clone(),
            induced: piece.induced,
        });

    let mut states: Vec<PlannedState> = planned.collect();
    states.retain(|state| state.start_ns < state.end_ns);
    states
}

table! {
    PERFORMANCE_STATES: "gpu-performance-state-intervals",
        "Which performance state the GPU was in.";
    |_, optional| for state in &optional.performance => {
        let note = format!("{} performance state", state.state);
        "start" "Start" StartTime = state.start_ns;
        "duration" "Duration" Duration = state.end_ns - state.start_ns;
        "gpu-performance-state" "GPU Performance State" PerformanceState = &state.state;
        "track-label" "Track" String = "GPU Performance State";
        "is-induced" "Is Induced" Boolean = state.induced;
        "narrative" "Narrative" Narrative = &[Part::Text(Kind::NarrativeText, &note)];
        "event-type" "Event Type" GpuEventName = "GPU Performance State";
    }
}

table! {
    THERMAL_STATES: "device-thermal-state-intervals", "Which thermal state the device was in.";
    |_, optional| for state in &optional.thermal => {
        let note = format!("{} thermal state", state.state);
        "start" "Start" StartTime = state.start_ns;
        "duration" "Duration" Duration = state.end_ns - state.start_ns;
        "end" "End" StartTime = state.end_ns;
        "thermal-state" "Thermal State" ThermalState = &state.state;
        "track-label" "Track" String = "Current";
        "is-induced" "Is Induced" Boolean = state.induced;
        "narrative" "Narrative" Narrative = &[Part::Text(Kind::NarrativeText, &note)];
    }
}

/// The states inside the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    /// States ordered by name.
    pub states: Vec<InState>,
    /// Time in the window that no state covers.
    pub uncovered_ns: u64,
    /// Worst of the known thermal states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
}

/// The window's time in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InState {
    /// Name of the state.
    pub state: String,
    /// Time in the state inside the window.
    pub total_ns: u64,
    /// Part of that time with a row of the process.
    pub busy_ns: u64,
    /// True if Instruments forced any of it.
    pub induced: bool,
}

/// Computes the window's time in each state.
pub(crate) fn truth(planned: &[PlannedState], segments: &[Segment], window: Window) -> States {
    let mut by_name = BTreeMap::<&str, InState>::new();
    let mut covered_ns = 0;
    for state in planned {
        let from_ns = state.start_ns.max(window.start_ns);
        let to_ns = state.end_ns.min(window.end_ns);
        if from_ns >= to_ns {
            continue;
        }

        let entry = by_name.entry(&state.state).or_insert_with(|| InState {
            state: state.state.clone(),
            total_ns: 0,
            busy_ns: 0,
            induced: false,
        });
        entry.total_ns += to_ns - from_ns;
        entry.busy_ns += busy_ns(segments, from_ns, to_ns);
        entry.induced |= state.induced;
        covered_ns += to_ns - from_ns;
    }

    States {
        states: by_name.into_values().collect(),
        uncovered_ns: window.span_ns - covered_ns,
        worst: None,
    }
}

/// Computes the window's time in each thermal state, and the worst of them.
pub(crate) fn thermal_truth(
    planned: &[PlannedState],
    segments: &[Segment],
    window: Window,
) -> States {
    let mut states = truth(planned, segments, window);
    let occurs = |name: &&str| states.states.iter().any(|state| state.state == **name);
    let worst = ["Critical", "Serious", "Fair", "Nominal"];
    states.worst = worst.into_iter().find(occurs).map(str::to_owned);
    states
}

/// Computes the time with a row of the process. The segments are in order and do not overlap.
fn busy_ns(segments: &[Segment], from_ns: u64, to_ns: u64) -> u64 {
    let first = segments.partition_point(|segment| segment.to_ns <= from_ns);
    let last = segments.partition_point(|segment| segment.from_ns < to_ns);
    let part = |segment: &Segment| Segment {
        from_ns: segment.from_ns.max(from_ns),
        to_ns: segment.to_ns.min(to_ns),
        ..*segment
    };
    let parts: Vec<Segment> = segments[first..last].iter().map(part).collect();
    let window = Window {
        start_ns: from_ns,
        end_ns: to_ns,
        span_ns: to_ns - from_ns,
    };
    time_ns(&parts, window, |segment| segment.target > 0)
}
