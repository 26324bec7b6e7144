//! A plan: all that a workload will do, known before it runs.

use crate::data::Fill;
use crate::error::{Error, Result};
use crate::kernel::{ELEMENT_BYTES, Kernel};
use crate::recipes::Workload;

/// What may be asked of a workload; what is not has the workload's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// Elements of an array (of a copy: of each transfer); for `matmul`, rows.
    pub size: Option<u64>,
    /// Steps that are measured.
    pub count: Option<u64>,
    /// Steps before those.
    pub warm_up: Option<u64>,
}

/// Which command buffers, encoders and dispatches there will be. Warm-up steps
/// and measured steps are the same but for the label of their command buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which workload.
    pub workload: Workload,
    /// Elements of an array, or rows.
    pub size: u64,
    /// Steps that are measured.
    pub count: u64,
    /// Steps before those.
    pub warm_up: u64,
    /// The arrays in memory.
    pub arrays: Vec<Array>,
    /// The command buffers of every step, in order of commit.
    pub step: Vec<CommandBuffer>,
    /// How many command buffers are in flight at most; 1: each is waited for
    /// before the next is encoded.
    pub in_flight: u64,
}

/// An array of `f32` in memory that CPU and GPU share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// What it is called.
    pub name: &'static str,
    /// How many.
    pub elements: u64,
    /// What is in it at first.
    pub(crate) fill: Fill,
    /// What is in it at last.
    pub(crate) result: Option<crate::check::Expected>,
}

/// A command buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandBuffer {
    /// Its encoders, in order.
    pub encoders: Vec<Encoder>,
}

/// An encoder: one kernel, or copies, over and over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoder {
    /// What it runs.
    pub task: Task,
    /// How many times.
    pub dispatches: u64,
    /// The arrays that are read, as places in [`Plan::arrays`].
    pub reads: Vec<usize>,
    /// The array that is written.
    pub writes: usize,
    /// Elements of each dispatch or copy; for matrices, rows.
    pub size: u64,
}

/// What an encoder runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// A kernel: each dispatch does the whole again.
    Kernel(Kernel),
    /// Transfers between arrays: each copies the next part.
    Copy,
}

/// Bytes and operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Bytes read and written, each array once.
    pub bytes: u64,
    /// Floating-point operations; none where nobody can say.
    pub flops: Option<u64>,
}

/// When a command buffer was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Before it counts.
    WarmUp,
    /// Inside the signpost interval.
    Measured,
}

/// How many of everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Command buffers.
    pub command_buffers: u64,
    /// Encoders.
    pub encoders: u64,
    /// Dispatches and copies.
    pub dispatches: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Floating-point operations of the labels that have a known number; none
    /// if no label has.
    pub flops: Option<u64>,
}

/// The work of one label. All encoders of a label do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelWork {
    /// The label of the encoders.
    pub label: &'static str,
    /// Encoders of a step.
    pub encoders_per_step: u64,
    /// Dispatches or copies of an encoder.
    pub dispatches_per_encoder: u64,
    /// Bytes and operations of an encoder.
    pub per_encoder: Amounts,
}

impl Plan {
    /// The plan of a workload, by its name.
    pub fn new(name: &str, settings: &Settings) -> Result<Self> {
        Self::of(Workload::named(name)?, settings)
    }

    /// The plan of a workload.
    pub fn of(workload: Workload, settings: &Settings) -> Result<Self> {
        let defaults = workload.defaults();
        let setting = |name, given: Option<u64>, default, least, most| {
            let value = given.unwrap_or(default);
            match (least..=most).contains(&value) {
                true => Ok(value),
                false => Err(Error::Setting {
                    name,
                    value,
                    least,
                    most,
                }),
            }
        };
        let most = workload.greatest_size();
        let size = setting("--size", settings.size, defaults.size, 1, most)?;
        let count = setting("--count", settings.count, defaults.count, 1, MOST_STEPS)?;
        let warm_up = setting(
            "--warm-up",
            settings.warm_up,
            defaults.warm_up,
            0,
            MOST_STEPS,
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

    /// The label of command buffers.
    #[must_use]
    pub fn command_buffer_label(&self, phase: Phase) -> String {
        match phase {
            Phase::WarmUp => format!("{} warm-up", self.workload.name()),
            Phase::Measured => format!("{} step", self.workload.name()),
        }
    }

    /// All command buffers in order of commit, with their phase.
    pub fn command_buffers(&self) -> impl Iterator<Item = (Phase, &CommandBuffer)> {
        let warm_up = (0..self.warm_up).map(|_| Phase::WarmUp);
        let phases = warm_up.chain((0..self.count).map(|_| Phase::Measured));
        phases.flat_map(|phase| self.step.iter().map(move |buffer| (phase, buffer)))
    }

    /// What the measured steps are together.
    #[must_use]
    pub fn measured(&self) -> Totals {
        self.times(self.count)
    }

    /// What all steps are together: what a recording of the whole run has.
    #[must_use]
    pub fn whole(&self) -> Totals {
        self.times(self.count + self.warm_up)
    }

    fn times(&self, steps: u64) -> Totals {
        let encoders = || self.step.iter().flat_map(|buffer| &buffer.encoders);
        let amounts = encoders().map(Encoder::amounts);
        let flops = amounts.clone().filter_map(|amounts| amounts.flops);
        Totals {
            command_buffers: steps * self.step.len() as u64,
            encoders: steps * encoders().count() as u64,
            dispatches: steps * encoders().map(|one| one.dispatches).sum::<u64>(),
            bytes: steps.saturating_mul(amounts.map(|amounts| amounts.bytes).sum()),
            flops: flops
                .reduce(|sum, more| sum + more)
                .map(|sum| steps.saturating_mul(sum)),
        }
    }

    /// The work of each label, in order of first use.
    #[must_use]
    pub fn labels(&self) -> Vec<LabelWork> {
        let mut labels: Vec<LabelWork> = Vec::new();
        for encoder in self.step.iter().flat_map(|buffer| &buffer.encoders) {
            let label = encoder.task.label();
            match labels.iter_mut().find(|one| one.label == label) {
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

    /// Bytes of memory that the arrays take.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let bytes = self.arrays.iter().map(|one| one.elements * ELEMENT_BYTES);
        bytes.sum()
    }
}

/// More steps than anybody waits for; with it no total overflows but bytes and
/// operations, which stop at the greatest number.
const MOST_STEPS: u64 = 10_000_000;

impl Encoder {
    /// The work of all its dispatches.
    #[must_use]
    pub fn amounts(&self) -> Amounts {
        let one = match self.task {
            Task::Kernel(kernel) => kernel.amounts(self.size),
            // Read there, written here.
            Task::Copy => Amounts {
                bytes: 2 * self.size * ELEMENT_BYTES,
                flops: None,
            },
        };
        Amounts {
            bytes: one.bytes * self.dispatches,
            flops: one.flops.map(|flops| flops * self.dispatches),
        }
    }
}

impl Task {
    /// What encoders of it are called.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Kernel(kernel) => kernel.name(),
            Self::Copy => "copy",
        }
    }
}
