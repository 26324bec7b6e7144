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

use crate::plan::sweep::TargetRows;
use crate::plan::{Plan, ProcessIndex};
use crate::values::nanos::Nanos;

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
    pub(crate) wiring: Vec<Planned<Wiring>>,
    /// Signposts, ordered by their start.
    pub(crate) signposts: Vec<signposts::PlannedSignpost>,
    /// Stack samples, ordered by time.
    pub(crate) samples: Vec<samples::Sample>,
    /// Hangs of main threads, ordered by their start.
    pub(crate) hangs: Vec<Planned<Hang>>,
    /// Work of engines beside the GPU's channels, ordered by its start.
    pub(crate) engines: Vec<engines::PlannedWork>,
    pub(crate) counters: Vec<Counter>,
}

/// An entry of a scenario that a process has, with its times in the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned<T> {
    pub(crate) process: ProcessIndex,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) of: T,
}

/// Plans entries by their starts and lengths, in the order of the starts. Those that the run does not
/// have to their end are left out.
pub(crate) fn planned<'s, T: Clone + 's>(
    entries: impl Iterator<Item = (ProcessIndex, &'s T)>,
    times: impl Fn(&T) -> [Nanos; 2],
    plan: &Plan,
) -> Vec<Planned<T>> {
    let planned = entries.map(|(process, entry)| {
        let [start_ns, length_ns] = times(entry).map(|time| plan.clock.cut(time.get()));
        Planned {
            process,
            start_ns,
            end_ns: start_ns + length_ns,
            of: entry.clone(),
        }
    });
    let mut planned: Vec<Planned<T>> = planned.collect();
    planned.retain(|entry| entry.end_ns <= plan.wall_ns);
    planned.sort_by_key(|entry| entry.start_ns);
    planned
}

impl Optional {
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
