//! Plans states, memory and counters of a run, cut to its duration.

use super::{Plan, ProcessIndex};
use crate::scenario::machine::{Counter, Growth, Level, Memory, StatePiece};
use crate::scenario::{Clock, Role, Scenario};

/// A period in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedState {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) state: String,
    pub(crate) induced: bool,
}

/// A period with the same amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryInterval {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) bytes: u64,
}

/// A reading of one counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CounterSample {
    pub(crate) at_ns: u64,
    /// Index of the counter, from 0.
    pub(crate) counter: usize,
    /// Number of the sample among those of its counter, from 0.
    pub(crate) number: u64,
    pub(crate) value: u64,
}

/// Returns the performance states of the GPU: the scenario's pieces, or one state throughout.
pub(crate) fn performance(scenario: &Scenario, wall_ns: u64) -> Vec<PlannedState> {
    let recording = &scenario.recording;
    let throughout = || PlannedState {
        start_ns: 0,
        end_ns: wall_ns,
        state: recording.performance_state.clone(),
        induced: recording.performance_state_induced,
    };

    planned_states(&recording.performance, wall_ns, scenario.clock)
        .unwrap_or_else(|| vec![throughout()])
}

/// Returns the thermal states of the device: the scenario's pieces, or one state throughout.
pub(crate) fn thermal(scenario: &Scenario, wall_ns: u64) -> Vec<PlannedState> {
    let recording = &scenario.recording;
    let throughout = || PlannedState {
        start_ns: 0,
        end_ns: wall_ns,
        state: recording.thermal_state.clone(),
        induced: false,
    };

    planned_states(&recording.thermal, wall_ns, scenario.clock)
        .unwrap_or_else(|| vec![throughout()])
}

/// Returns pieces cut to the run, or `None` if the scenario has none.
fn planned_states(pieces: &[StatePiece], wall_ns: u64, clock: Clock) -> Option<Vec<PlannedState>> {
    let next = |n: usize| pieces.get(n + 1).map(|piece| piece.start);
    let planned = |(n, piece): (usize, &StatePiece)| PlannedState {
        start_ns: clock.cut(piece.start.get()).min(wall_ns),
        end_ns: piece
            .end
            .or_else(|| next(n))
            .map_or(wall_ns, |end| clock.cut(end.get()).min(wall_ns)),
        state: piece.state.clone(),
        induced: piece.induced,
    };

    let mut states: Vec<PlannedState> = pieces.iter().enumerate().map(planned).collect();
    states.retain(|state| state.start_ns < state.end_ns);
    (!pieces.is_empty()).then_some(states)
}

/// Returns the wired system memory.
pub(crate) fn wired(scenario: &Scenario, wall_ns: u64) -> Vec<MemoryInterval> {
    let cut = |level: &Level| (scenario.clock.cut(level.at.get()), level.bytes);
    intervals(scenario.recording.wired.iter().map(cut).collect(), wall_ns)
}

/// Returns the memory that Metal has allocated, for each process that the table covers.
pub(crate) fn memory(scenario: &Scenario, plan: &Plan) -> Vec<(ProcessIndex, Vec<MemoryInterval>)> {
    let mut all = Vec::new();
    for (position, (_, process)) in scenario.processes_of(plan.run).enumerate() {
        let index = ProcessIndex::at(position);
        let default = Growth {
            start_bytes: DEFAULT_BYTES,
            step_bytes: 0,
            every: std::num::NonZeroU32::MIN,
        };
        let levels = match &process.memory {
            _ if !plan.is_instrumented(index) => continue,
            Some(Memory::Levels(levels)) => {
                let cut = |level: &Level| (scenario.clock.cut(level.at.get()), level.bytes);
                levels.iter().map(cut).collect()
            }
            Some(Memory::Growth(growth)) => grown(plan, index, *growth),
            None if process.role == Role::Target => grown(plan, index, default),
            None => continue,
        };
        all.push((index, intervals(levels, plan.wall_ns)));
    }

    all
}

/// Bytes allocated for the recorded process if the scenario gives no amount.
const DEFAULT_BYTES: u64 = 65_536;

/// Returns the levels of memory that grows by a step for every `growth.every` commits.
fn grown(plan: &Plan, process: ProcessIndex, growth: Growth) -> Vec<(u64, u64)> {
    let own = || {
        plan.buffers
            .iter()
            .filter(|buffer| buffer.process == process)
    };
    let Some(start_ns) = own()
        .map(|buffer| plan.encoder(buffer.first_encoder).start_ns)
        .min()
    else {
        return Vec::new();
    };

    let mut bytes = growth.start_bytes;
    let mut levels = vec![(start_ns, bytes)];
    if growth.step_bytes == 0 {
        return levels;
    }

    let mut commits: Vec<u64> = own().map(|buffer| buffer.committed_ns).collect();
    commits.sort_unstable();
    for step in commits.chunks_exact(growth.every.get() as usize) {
        bytes = bytes.saturating_add_signed(growth.step_bytes);
        levels.extend(step.last().map(|at_ns| (*at_ns, bytes)));
    }
    levels
}

/// Extends each level to the next one, and the last level to the end of the run.
fn intervals(levels: Vec<(u64, u64)>, wall_ns: u64) -> Vec<MemoryInterval> {
    let ends = levels.iter().skip(1).map(|(at_ns, _)| *at_ns);
    let ends: Vec<u64> = ends.chain([wall_ns]).collect();
    let interval = |((start_ns, bytes), end_ns): ((u64, u64), u64)| MemoryInterval {
        start_ns: start_ns.min(wall_ns),
        end_ns: end_ns.min(wall_ns),
        bytes,
    };

    let mut all: Vec<MemoryInterval> = levels.into_iter().zip(ends).map(interval).collect();
    all.retain(|interval| interval.start_ns < interval.end_ns);
    all
}

/// Returns the counters' readings from the first kick to the last, ordered by time.
pub(crate) fn counter_samples(counters: &[Counter], plan: &Plan) -> Vec<CounterSample> {
    let Some(first_ns) = plan.kicks.first().map(|kick| kick.start_ns) else {
        return Vec::new();
    };
    let active = super::states::states(plan);
    let last_ns = active.last().map_or(first_ns, |state| state.end_ns);
    let mut samples = Vec::new();

    for (place, counter) in counters.iter().enumerate() {
        let mut states = active.iter().peekable();
        let step = usize::try_from(counter.period.get()).unwrap_or(usize::MAX);
        for (number, at_ns) in (0..).zip((first_ns..last_ns).step_by(step.max(1))) {
            while states.next_if(|state| state.end_ns <= at_ns).is_some() {}
            let is_busy = states.peek().is_some_and(|state| state.channels > 0);
            samples.push(CounterSample {
                at_ns,
                counter: place,
                number,
                value: if is_busy { counter.busy } else { counter.idle },
            });
        }
    }
    samples.sort_by_key(|sample| sample.at_ns);
    samples
}
