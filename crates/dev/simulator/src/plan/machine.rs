//! Plans states, memory and counters of a run, cut to its duration.

use std::collections::BTreeMap;

use super::model::{Kick, MemoryInterval, Plan, PlannedState, ProcessIndex};
use crate::scenario::machine::{Counter, Growth, Level, Memory, StatePiece};
use crate::scenario::{Clock, Role, Scenario};

/// A sample of one counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CounterSample {
    pub(crate) at_ns: u64,
    /// Index of the counter, from 0.
    pub(crate) counter: usize,
    /// Number of the sample among those of its counter, from 0.
    pub(crate) number: u64,
    /// Mean over the period that follows, in billionths, rounded down.
    pub(crate) billionths: u64,
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

/// Returns the states of pieces, cut to the run, or `None` if there are no pieces.
fn planned_states(pieces: &[StatePiece], wall_ns: u64, clock: Clock) -> Option<Vec<PlannedState>> {
    let next_start = |index: usize| pieces.get(index + 1).map(|piece| piece.start);
    let numbered = pieces.iter().enumerate();
    let planned = numbered.map(|(index, piece)| PlannedState {
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
    (!pieces.is_empty()).then_some(states)
}

/// Returns the periods with the same amount of wired system memory.
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
    levels
        .into_iter()
        .zip(ends)
        .map(|((start_ns, bytes), end_ns)| MemoryInterval {
            start_ns: start_ns.min(wall_ns),
            end_ns: end_ns.min(wall_ns),
            bytes,
        })
        .filter(|interval| interval.start_ns < interval.end_ns)
        .collect()
}

/// Returns the samples of all counters from the first kick to the last, ordered by time.
///
/// ```text
/// kicks        [---)   [-----)
/// samples   |         |         |      each is the mean over the time to the next sample
/// ```
pub(crate) fn counter_samples(plan: &Plan) -> Vec<CounterSample> {
    let Some(first_ns) = plan.kicks.first().map(|kick| kick.start_ns) else {
        return Vec::new();
    };
    let last_ns = plan.kicks.iter().map(Kick::end_ns).max();
    let last_ns = last_ns.unwrap_or(first_ns);
    let mut samples = Vec::new();

    for (index, counter) in plan.counters.iter().enumerate() {
        let levels = counter_levels(counter, plan);
        let mut first_level = 0;
        let period_ns = counter.period.get().max(1);
        let step = usize::try_from(period_ns).unwrap_or(usize::MAX);
        for (number, at_ns) in (0..).zip((first_ns..last_ns).step_by(step)) {
            let until_ns = at_ns.saturating_add(period_ns);
            let is_over = |level: &(u64, u64, u64)| level.1 <= at_ns;
            while levels.get(first_level).is_some_and(is_over) {
                first_level += 1;
            }

            let area: u128 = levels[first_level..]
                .iter()
                .take_while(|level| level.0 < until_ns)
                .map(|&(from_ns, to_ns, value)| {
                    let ns = to_ns.min(until_ns) - from_ns.max(at_ns);
                    u128::from(ns) * u128::from(value)
                })
                .sum();
            // No level covers the time after the last kick, in which the GPU is idle.
            let after_ns = until_ns.saturating_sub(last_ns).min(period_ns);
            let area = area + u128::from(after_ns) * u128::from(counter.idle);
            let billionths = area * 1_000_000_000 / u128::from(period_ns);
            samples.push(CounterSample {
                at_ns,
                counter: index,
                number,
                billionths: u64::try_from(billionths).unwrap_or(u64::MAX),
            });
        }
    }
    samples.sort_by_key(|sample| sample.at_ns);
    samples
}

/// Returns the value of a counter over time, from the first kick to the last: starts, ends, values.
fn counter_levels(counter: &Counter, plan: &Plan) -> Vec<(u64, u64, u64)> {
    let mut edges: Vec<(u64, bool, u64)> = Vec::new();
    for kick in &plan.kicks {
        let label = plan.labels.text(kick.label);
        let value = counter.kernels.get(label).copied().unwrap_or(counter.busy);
        edges.push((kick.start_ns, true, value));
        edges.push((kick.end_ns(), false, value));
    }
    edges.sort_unstable();

    let mut running: BTreeMap<u64, u32> = BTreeMap::new();
    let mut levels = Vec::new();
    for (index, &(at_ns, starts, value)) in edges.iter().enumerate() {
        let count = running.entry(value).or_default();
        if starts {
            *count += 1;
        } else {
            *count = count.saturating_sub(1);
        }
        running.retain(|_, count| *count > 0);

        let until_ns = edges.get(index + 1).map_or(at_ns, |next| next.0);
        if until_ns > at_ns {
            let value = running.keys().next_back().copied();
            levels.push((at_ns, until_ns, value.unwrap_or(counter.idle)));
        }
    }
    levels
}
