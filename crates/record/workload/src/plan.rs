//! Plans a workload: all of its work, known before it runs.

use crate::error::{Error, Result};
use crate::work::{Array, Dispatch};
use crate::workloads::Workload;

/// The dispatches of a run. Warm-up steps and measured steps differ only in the label of their
/// command buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadPlan {
    /// Workload that is planned.
    pub workload: Workload,
    /// Number of measured steps.
    pub count: u64,
    /// Number of steps before the measured ones.
    pub warm_up: u64,
    /// Arrays in memory, which dispatches refer to by index.
    pub arrays: Vec<Array>,
    /// Dispatches of every step, in order, each of another kernel. Each has an encoder and a command
    /// buffer of its own.
    pub step: Vec<Dispatch>,
}

/// Part of the run in which a command buffer is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The steps before the measured ones.
    WarmUp,
    /// The steps inside the signpost interval.
    Measured,
}

/// Largest number of measured steps.
const MAX_STEPS: u64 = 10_000_000;
/// Number of measured steps for each step of warm-up.
const STEPS_PER_WARM_UP: u64 = 40;

impl WorkloadPlan {
    /// Plans a workload with this number of measured steps, or its usual one.
    pub fn new(workload: Workload, count: Option<u64>) -> Result<Self> {
        Self::of_size(workload, workload.size(), count)
    }

    /// Plans a workload with arrays of this many elements (matmul: rows).
    pub fn of_size(workload: Workload, size: u64, count: Option<u64>) -> Result<Self> {
        let count = count.unwrap_or_else(|| workload.count());
        if !(1..=MAX_STEPS).contains(&count) {
            return Err(Error::Count {
                value: count,
                max: MAX_STEPS,
            });
        }
        let (arrays, step) = workload.recipe(size);
        Ok(Self {
            workload,
            count,
            warm_up: count / STEPS_PER_WARM_UP,
            arrays,
            step,
        })
    }

    /// Returns the label of command buffers in a phase.
    pub fn command_buffer_label(&self, phase: Phase) -> String {
        match phase {
            Phase::WarmUp => format!("{} warm-up", self.workload.name()),
            Phase::Measured => format!("{} step", self.workload.name()),
        }
    }

    /// Returns the number of steps, warm-up included.
    pub fn steps(&self) -> u64 {
        self.warm_up + self.count
    }

    /// Returns the number of command buffers of the whole run. It is that of encoders and of
    /// dispatches, too.
    pub fn command_buffers(&self) -> u64 {
        self.steps() * self.step.len() as u64
    }
}
