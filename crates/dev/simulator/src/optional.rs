//! Lists what a recording may have beside the work on the GPU and on the way to it. A part that a
//! scenario does not have changes no byte of the output.
//!
//! A part is one file: what a scenario says about it, how that is checked and drawn at random, what is
//! planned, the columns and rows of its tables, and the truth about it. Rows and truth are both made
//! from what is planned, and neither from the other.

pub(crate) mod allocations;
pub(crate) mod counters;
pub(crate) mod engines;
pub(crate) mod hangs;
pub(crate) mod memory;
pub(crate) mod samples;
pub(crate) mod shaders;
pub(crate) mod signposts;
pub(crate) mod states;
pub(crate) mod wiring;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::plan::{Plan, ProcessIndex};
use crate::random::Random;
use crate::scenario::checks::name;
use crate::scenario::nanos::Nanos;
use crate::scenario::recording::Recording;
use crate::scenario::stream::LostFrom;
use crate::scenario::{Process, Scenario};
use crate::truth::sweep::TargetRows;

pub use allocations::{Allocation, Allocations};
pub use counters::{Counter, CounterTotal, CounterUnit, KernelMean};
pub use engines::{EngineKind, EngineWork};
pub use hangs::Hang;
pub use memory::{Allocated, Growth, Level, Memory};
pub use samples::Samples;
pub use shaders::ShaderTotal;
pub use signposts::{EncodedKernel, Signpost, SignpostTotal};
pub use states::{InState, StatePiece, States};
pub use wiring::{Wired, Wiring};

/// The optional parts of a run, as they are planned.
#[derive(Debug)]
pub(crate) struct Optional {
    pub(crate) performance: Vec<states::PlannedState>,
    pub(crate) thermal: Vec<states::PlannedState>,
    /// Memory that Metal has allocated, for each process.
    pub(crate) memory: Vec<(ProcessIndex, Vec<memory::MemoryInterval>)>,
    /// Wired system memory, ordered by time.
    pub(crate) wired: Vec<memory::MemoryInterval>,
    /// Metal resources, in no order.
    pub(crate) allocations: Vec<allocations::PlannedAllocation>,
    /// Memory that the driver wires and unwires, ordered by time.
    pub(crate) wiring: Vec<wiring::PlannedWiring>,
    /// Signposts, ordered by their start.
    pub(crate) signposts: Vec<signposts::PlannedSignpost>,
    /// Stack samples, ordered by time.
    pub(crate) samples: Vec<samples::Sample>,
    /// Hangs of main threads, ordered by their start.
    pub(crate) hangs: Vec<hangs::PlannedHang>,
    /// Work of engines beside the GPU's channels, ordered by its start.
    pub(crate) engines: Vec<engines::PlannedWork>,
    pub(crate) counters: Vec<Counter>,
}

impl Optional {
    /// Plans the parts of a run whose work is planned, all within its duration.
    pub(crate) fn plan(scenario: &Scenario, plan: &Plan) -> Result<Self, Error> {
        let recording = &scenario.recording;
        let throughout = |state: &String, induced| StatePiece {
            state: state.clone(),
            start: Nanos::default(),
            end: None,
            induced,
        };
        let performance = throughout(
            &recording.performance_state,
            recording.performance_state_induced,
        );
        let thermal = throughout(&recording.thermal_state, false);
        let processes = scenario.processes_of(plan.run).enumerate();
        let processes =
            processes.map(|(position, (_, process))| (ProcessIndex::at(position), process));
        let processes: Vec<(ProcessIndex, &Process)> = processes.collect();

        Ok(Self {
            performance: states::plan(&recording.performance, performance, plan),
            thermal: states::plan(&recording.thermal, thermal, plan),
            memory: memory::plan(each(&processes, |process| process.memory.as_ref()), plan),
            wired: memory::plan_levels(&recording.wired, plan),
            allocations: allocations::plan(
                each(&processes, |process| process.allocation.as_slice()),
                plan,
            )?,
            wiring: wiring::plan(entries(&processes, |process| &process.wiring), plan),
            signposts: signposts::plan(entries(&processes, |process| &process.signpost), plan),
            samples: samples::plan(
                entries(&processes, |process| process.samples.as_slice()),
                plan,
            )?,
            hangs: hangs::plan(entries(&processes, |process| &process.hang), plan),
            engines: engines::plan(entries(&processes, |process| &process.engine), plan),
            counters: recording.counter.clone(),
        })
    }

    /// Computes the truth about the parts.
    pub(crate) fn truth(&self, plan: &Plan, target: TargetRows<'_>) -> OptionalTruth {
        let TargetRows {
            process,
            rows,
            window,
            segments,
            gaps,
        } = target;
        let seen = window.zip(process);
        OptionalTruth {
            performance: window.map(|window| states::truth(&self.performance, segments, window)),
            thermal: window.map(|window| states::thermal_truth(&self.thermal, segments, window)),
            memory: seen.and_then(|(window, process)| memory::truth(&self.memory, process, window)),
            allocations: process
                .and_then(|process| allocations::truth(&self.allocations, plan, process)),
            wired: seen
                .and_then(|(window, process)| wiring::truth(&self.wiring, process, window, gaps)),
            signposts: signposts::truth(&self.signposts, plan, rows),
            shaders: process
                .filter(|_| plan.shader_timeline)
                .map_or_else(Vec::new, |process| shaders::truth(plan, process)),
            hangs: seen.map_or(0, |(window, process)| {
                hangs::truth(&self.hangs, process, window)
            }),
            counters: window.map_or_else(Vec::new, |window| {
                counters::truth(&self.counters, plan, rows, segments, window)
            }),
        }
    }
}

/// Returns a part of each process.
fn each<'s, T>(
    processes: &[(ProcessIndex, &'s Process)],
    part: fn(&'s Process) -> T,
) -> impl Iterator<Item = (ProcessIndex, T)> {
    processes
        .iter()
        .map(move |&(index, process)| (index, part(process)))
}

/// Returns the entries of a part of each process.
fn entries<'s, T>(
    processes: &[(ProcessIndex, &'s Process)],
    part: fn(&'s Process) -> &'s [T],
) -> impl Iterator<Item = (ProcessIndex, &'s T)> {
    each(processes, part).flat_map(|(index, part)| part.iter().map(move |entry| (index, entry)))
}

/// The figures of the optional parts; null without a window unless they say otherwise.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptionalTruth {
    /// Performance states of the GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance: Option<States>,
    /// Thermal states of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<States>,
    /// Memory that Metal allocated for the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Allocated>,
    /// Metal resources of the process in the whole recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocations: Option<Allocations>,
    /// Memory that the driver wired for the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wired: Option<Wired>,
    /// Signposts of all processes in the whole recording, by pid and name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signposts: Vec<SignpostTotal>,
    /// Shaders of the process, if the shader timeline was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shaders: Vec<ShaderTotal>,
    /// Number of the process's hangs that touch the window.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hangs: u64,
    /// Counters of the GPU, in the order of the scenario.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<CounterTotal>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Checks the states, the wired memory and the counters of a recording.
pub(crate) fn check_recording(recording: &Recording) -> Result<(), Error> {
    states::check("recording.performance", &recording.performance)?;
    states::check("recording.thermal", &recording.thermal)?;
    memory::check_levels("recording.wired", &recording.wired)?;
    counters::check("recording.counter", &recording.counter)
}

/// Checks the parts of a process.
pub(crate) fn check_process(place: &str, process: &Process) -> Result<(), Error> {
    for shader in &process.shaders {
        name(&format!("{place}.shaders"), shader)?;
    }
    if let Some(memory) = &process.memory {
        memory::check(&format!("{place}.memory"), memory)?;
    }
    allocations::check(&format!("{place}.allocation"), &process.allocation)?;
    check_each(place, "wiring", &process.wiring, wiring::check)?;
    check_each(place, "signpost", &process.signpost, signposts::check)?;
    if let Some(samples) = &process.samples {
        samples::check(&format!("{place}.samples"), samples)?;
    }
    check_each(place, "hang", &process.hang, hangs::check)?;
    check_each(place, "engine", &process.engine, engines::check)
}

fn check_each<T>(
    place: &str,
    field: &str,
    entries: &[T],
    check: fn(&str, &T) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut numbered = entries.iter().enumerate();
    numbered.try_for_each(|(index, entry)| check(&format!("{place}.{field}[{index}]"), entry))
}

/// Adds parts at random. They have draws of their own, so that they do not change the work of a seed.
pub(crate) fn add_random(seed: u64, scenario: &mut Scenario) {
    let random = &mut Random::new(seed, &[0xbe51de]);
    let recording = &mut scenario.recording;
    if random.once_in(4) {
        recording.performance = states::random(random, &["Minimum", "Medium", "Maximum"]);
    }
    if random.once_in(4) {
        recording.thermal = states::random(random, &["Nominal", "Fair", "Serious", "Critical"]);
    }
    if random.once_in(6) {
        recording.wired = memory::random_levels(random);
    }
    if random.once_in(8) {
        recording.counter = vec![counters::random(random)];
        recording.counter_intervals = random.once_in(2);
    }
    for process in &mut scenario.process {
        add_random_to_process(random, process);
    }

    let random = &mut Random::new(seed, &[0xa110c]);
    if random.once_in(2) {
        for process in &mut scenario.process {
            let count = random.below(4);
            process.allocation = (0..count).map(|_| allocations::random(random)).collect();
        }
    }
    let random = &mut Random::new(seed, &[0x313e]);
    if random.once_in(2) {
        for process in &mut scenario.process {
            let count = random.below(5);
            process.wiring = (0..count).map(|_| wiring::random(random)).collect();
        }
    }
}

/// Adds memory, signposts and other parts of a process, each in some scenarios only.
fn add_random_to_process(random: &mut Random, process: &mut Process) {
    process.memory = memory::random(random);
    if random.once_in(8) {
        process.signpost.push(signposts::random(random));
    }
    if random.once_in(8) {
        process.samples = Some(samples::random(random));
    }
    if random.once_in(10) {
        process.hang.push(hangs::random(random));
    }
    for stream in &mut process.stream {
        stream.oddities.error_every = random.optional_count(10, 4);
        if random.once_in(3) {
            stream.oddities.lose_encoder_from = LostFrom::Everywhere;
        }
    }
}
