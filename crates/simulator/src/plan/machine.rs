//! The states, the memory and the counters of a planned run, cut to its length.

use super::{Plan, ProcessIndex};
use crate::scenario::machine::{Counter, Growth, Level, Memory, StatePiece};
use crate::scenario::{Clock, Role, Scenario};

/// A stretch of time in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) state: String,
    pub(crate) induced: bool,
}

/// So many bytes during a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) bytes: u64,
}

/// One reading of one counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CounterSample {
    pub(crate) at_ns: u64,
    /// Its place among the counters, from 0.
    pub(crate) counter: usize,
    /// Which of this counter's samples, from 0.
    pub(crate) number: u64,
    pub(crate) value: u64,
}

/// The GPU's performance states: the pieces, or one throughout.
pub(crate) fn performance(scenario: &Scenario, wall_ns: u64) -> Vec<Stretch> {
    let recording = &scenario.recording;
    let throughout = || Stretch {
        start_ns: 0,
        end_ns: wall_ns,
        state: recording.performance_state.clone(),
        induced: recording.performance_state_induced,
    };
    stretches(&recording.performance, wall_ns, scenario.clock).unwrap_or_else(|| vec![throughout()])
}

/// The device's thermal states: the pieces, or one throughout.
pub(crate) fn thermal(scenario: &Scenario, wall_ns: u64) -> Vec<Stretch> {
    let recording = &scenario.recording;
    let throughout = || Stretch {
        start_ns: 0,
        end_ns: wall_ns,
        state: recording.thermal_state.clone(),
        induced: false,
    };
    stretches(&recording.thermal, wall_ns, scenario.clock).unwrap_or_else(|| vec![throughout()])
}

/// Pieces as far as the run goes; nothing when the scenario has none.
fn stretches(pieces: &[StatePiece], wall_ns: u64, clock: Clock) -> Option<Vec<Stretch>> {
    let next = |n: usize| pieces.get(n + 1).map(|piece| piece.start);
    let stretch = |(n, piece): (usize, &StatePiece)| Stretch {
        start_ns: clock.cut(piece.start.get()).min(wall_ns),
        end_ns: piece
            .end
            .or_else(|| next(n))
            .map_or(wall_ns, |end| clock.cut(end.get()).min(wall_ns)),
        state: piece.state.clone(),
        induced: piece.induced,
    };
    let mut stretches: Vec<Stretch> = pieces.iter().enumerate().map(stretch).collect();
    stretches.retain(|stretch| stretch.start_ns < stretch.end_ns);
    (!pieces.is_empty()).then_some(stretches)
}

/// Wired system memory.
pub(crate) fn wired(scenario: &Scenario, wall_ns: u64) -> Vec<Held> {
    let cut = |level: &Level| (scenario.clock.cut(level.at.get()), level.bytes);
    held(scenario.recording.wired.iter().map(cut).collect(), wall_ns)
}

/// What Metal has allocated, process by process, for those the table covers.
pub(crate) fn memory(scenario: &Scenario, plan: &Plan) -> Vec<(ProcessIndex, Vec<Held>)> {
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
        all.push((index, held(levels, plan.wall_ns)));
    }
    all
}

/// What the target has allocated when the scenario does not say.
const DEFAULT_BYTES: u64 = 65_536;

/// The levels of memory that grows: a step whenever so many buffers are committed.
fn grown(plan: &Plan, process: ProcessIndex, growth: Growth) -> Vec<(u64, u64)> {
    let own = || plan.buffers.iter().filter(|one| one.process == process);
    let Some(start_ns) = own()
        .map(|one| plan.encoder(one.first_encoder).start_ns)
        .min()
    else {
        return Vec::new();
    };
    let mut bytes = growth.start_bytes;
    let mut levels = vec![(start_ns, bytes)];
    if growth.step_bytes == 0 {
        return levels;
    }
    let mut commits: Vec<u64> = own().map(|one| one.committed_ns).collect();
    commits.sort_unstable();
    for step in commits.chunks_exact(growth.every.get() as usize) {
        bytes = bytes.saturating_add_signed(growth.step_bytes);
        levels.extend(step.last().map(|at_ns| (*at_ns, bytes)));
    }
    levels
}

/// Each level until the next one, the last until the end of the run.
fn held(levels: Vec<(u64, u64)>, wall_ns: u64) -> Vec<Held> {
    let ends = levels.iter().skip(1).map(|(at_ns, _)| *at_ns);
    let ends: Vec<u64> = ends.chain([wall_ns]).collect();
    let one = |((start_ns, bytes), end_ns): ((u64, u64), u64)| Held {
        start_ns: start_ns.min(wall_ns),
        end_ns: end_ns.min(wall_ns),
        bytes,
    };
    let mut all: Vec<Held> = levels.into_iter().zip(ends).map(one).collect();
    all.retain(|held| held.start_ns < held.end_ns);
    all
}

/// The counters' readings from the first kick to the last, in the order of their times.
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
            let busy = states.peek().is_some_and(|state| state.channels > 0);
            samples.push(CounterSample {
                at_ns,
                counter: place,
                number,
                value: if busy { counter.busy } else { counter.idle },
            });
        }
    }
    samples.sort_by_key(|sample| sample.at_ns);
    samples
}
