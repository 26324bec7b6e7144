//! Plans a workload: all of its work, known before it runs.

use std::ffi::OsString;

use crate::error::{Error, Result};
use crate::kernel::{Amounts, ELEMENT_BYTES};
use crate::work::{Array, CommandBuffer, Encoder};
use crate::workloads::Workload;

/// The user's choices for a workload. A missing one takes the workload's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkloadSettings {
    /// Elements of an array (for copies: of each transfer; for `matmul`: rows).
    pub size: Option<u64>,
    /// Number of measured steps.
    pub count: Option<u64>,
    /// Number of steps before the measured ones.
    pub warm_up: Option<u64>,
}

impl WorkloadSettings {
    /// Returns the settings as words of the command line of a workload.
    #[must_use]
    pub fn words(&self) -> Vec<OsString> {
        let options = [
            ("--size", self.size),
            ("--count", self.count),
            ("--warm-up", self.warm_up),
        ];
        options
            .into_iter()
            .filter_map(|(word, value)| Some((word, value?)))
            .flat_map(|(word, value)| [word.into(), value.to_string().into()])
            .collect()
    }
}

/// The command buffers, encoders and dispatches of a run. Warm-up steps and measured steps
/// differ only in the label of their command buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadPlan {
    /// Workload that is planned.
    pub workload: Workload,
    /// Elements of an array, or rows of a matrix.
    pub size: u64,
    /// Number of measured steps.
    pub count: u64,
    /// Number of steps before the measured ones.
    pub warm_up: u64,
    /// Arrays in memory, which encoders refer to by index.
    pub arrays: Vec<Array>,
    /// Command buffers of every step, in order of commit.
    pub step: Vec<CommandBuffer>,
    /// Largest number of command buffers in flight. With 1, the CPU waits for each command
    /// buffer before it encodes the next.
    pub in_flight: u64,
}

/// Part of the run in which a command buffer is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The steps before the measured ones.
    WarmUp,
    /// The steps inside the signpost interval.
    Measured,
}

/// Sums over several steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of command buffers.
    pub command_buffers: u64,
    /// Number of encoders in all command buffers.
    pub encoders: u64,
    /// Number of dispatches and copies.
    pub dispatches: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Floating-point operations of the labels whose number is defined, or `None` if no
    /// label has one.
    pub flops: Option<u64>,
}

/// Work of one label. All encoders of a label do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelWork {
    /// Label of the encoders.
    pub label: &'static str,
    /// Number of encoders per step.
    pub encoders_per_step: u64,
    /// Number of dispatches or copies per encoder.
    pub dispatches_per_encoder: u64,
    /// Bytes and operations per encoder.
    pub per_encoder: Amounts,
}

impl WorkloadPlan {
    /// Plans the workload with this name.
    pub fn new(name: &str, settings: &WorkloadSettings) -> Result<Self> {
        Self::for_workload(Workload::from_name(name)?, settings)
    }

    /// Plans a workload with these settings.
    pub fn for_workload(workload: Workload, settings: &WorkloadSettings) -> Result<Self> {
        let defaults = workload.defaults();
        let max_size = workload.max_size();
        let size = in_range("--size", settings.size, defaults.size, 1, max_size)?;
        let count = in_range("--count", settings.count, defaults.count, 1, MAX_STEPS)?;
        let warm_up = in_range(
            "--warm-up",
            settings.warm_up,
            defaults.warm_up,
            0,
            MAX_STEPS,
        )?;
        let recipe = workload.recipe(size);

        Ok(Self {
            workload,
            size,
            count,
            warm_up,
            arrays: recipe.arrays,
            step: recipe.step,
            in_flight: recipe.in_flight,
        })
    }

    /// Returns the label of command buffers in a phase.
    #[must_use]
    pub fn command_buffer_label(&self, phase: Phase) -> String {
        match phase {
            Phase::WarmUp => format!("{} warm-up", self.workload.name()),
            Phase::Measured => format!("{} step", self.workload.name()),
        }
    }

    /// Returns all command buffers with their phase, in order of commit.
    pub fn command_buffers(&self) -> impl Iterator<Item = (Phase, &CommandBuffer)> {
        let warm_up = (0..self.warm_up).map(|_| Phase::WarmUp);
        let phases = warm_up.chain((0..self.count).map(|_| Phase::Measured));
        phases.flat_map(|phase| self.step.iter().map(move |buffer| (phase, buffer)))
    }

    /// Returns the sums over the measured steps.
    #[must_use]
    pub fn measured(&self) -> Totals {
        self.times(self.count)
    }

    /// Returns the sums over all steps, which a recording of the whole run shows.
    #[must_use]
    pub fn total(&self) -> Totals {
        self.times(self.count + self.warm_up)
    }

    fn times(&self, steps: u64) -> Totals {
        let encoders = || self.step.iter().flat_map(|buffer| &buffer.encoders);
        let amounts = encoders().map(Encoder::amounts);
        let flops = amounts.clone().filter_map(|amounts| amounts.flops);

        Totals {
            command_buffers: steps * self.step.len() as u64,
            encoders: steps * encoders().count() as u64,
            dispatches: steps * encoders().map(|encoder| encoder.dispatches).sum::<u64>(),
            bytes: steps.saturating_mul(amounts.map(|amounts| amounts.bytes).sum()),
            flops: flops
                .reduce(|sum, more| sum + more)
                .map(|sum| steps.saturating_mul(sum)),
        }
    }

    /// Returns the work of each label, in order of first use.
    #[must_use]
    pub fn labels(&self) -> Vec<LabelWork> {
        let mut labels: Vec<LabelWork> = Vec::new();
        for encoder in self.step.iter().flat_map(|buffer| &buffer.encoders) {
            let label = encoder.task.label();
            match labels.iter_mut().find(|known| known.label == label) {
                Some(known) => known.encoders_per_step += 1,
                None => labels.push(LabelWork {
                    label,
                    encoders_per_step: 1,
                    dispatches_per_encoder: encoder.dispatches,
                    per_encoder: encoder.amounts(),
                }),
            }
        }
        labels
    }

    /// Returns the bytes of memory that the arrays take.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let arrays = self.arrays.iter();
        arrays.map(|array| array.elements * ELEMENT_BYTES).sum()
    }
}

/// Largest number of steps. With it no total overflows except bytes and operations, which
/// saturate.
const MAX_STEPS: u64 = 10_000_000;

/// Returns the value of a setting, or an error if it is out of range.
fn in_range(
    name: &'static str,
    given: Option<u64>,
    default: u64,
    min: u64,
    max: u64,
) -> Result<u64> {
    let value = given.unwrap_or(default);
    if (min..=max).contains(&value) {
        Ok(value)
    } else {
        Err(Error::Setting {
            name,
            value,
            min,
            max,
        })
    }
}
