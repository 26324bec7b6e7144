//! Pieces of a plan: arrays, command buffers, encoders and their tasks.

use crate::data::Fill;
use crate::expected::Expected;
use crate::kernel::{Amounts, ELEMENT_BYTES, Kernel};

/// An array of `f32` in memory that CPU and GPU share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Name of the array, which is also its Metal label.
    pub name: &'static str,
    /// Number of elements in the array.
    pub elements: u64,
    /// Content before the run.
    pub(crate) fill: Fill,
    /// Expected content after the run, or `None` if it is not checked.
    pub(crate) result: Option<Expected>,
}

/// A planned command buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandBuffer {
    /// Encoders of the command buffer, in order.
    pub encoders: Vec<Encoder>,
}

/// A planned encoder, which repeats one kernel or one kind of copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoder {
    /// Kernel or copy that it runs.
    pub task: Task,
    /// Number of dispatches or copies.
    pub dispatches: u64,
    /// Arrays that it reads, as indices into [`WorkloadPlan::arrays`](crate::WorkloadPlan::arrays).
    pub reads: Vec<usize>,
    /// Array that it writes, as an index into [`WorkloadPlan::arrays`](crate::WorkloadPlan::arrays).
    pub writes: usize,
    /// Elements of each dispatch or copy (for matrices: rows).
    pub size: u64,
}

/// The kind of work that an encoder repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// A kernel, whose dispatches all do the same work again.
    Kernel(Kernel),
    /// Transfers between arrays, each of the next part.
    Copy,
}

impl Encoder {
    /// Returns the work of all its dispatches.
    #[must_use]
    pub fn amounts(&self) -> Amounts {
        let per_dispatch = match self.task {
            Task::Kernel(kernel) => kernel.amounts(self.size),
            // Each byte is read in one array and written in the other.
            Task::Copy => Amounts {
                bytes: 2 * self.size * ELEMENT_BYTES,
                flops: None,
            },
        };

        Amounts {
            bytes: per_dispatch.bytes * self.dispatches,
            flops: per_dispatch.flops.map(|flops| flops * self.dispatches),
        }
    }
}

impl Task {
    /// Returns the label of encoders that run it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Kernel(kernel) => kernel.name(),
            Self::Copy => "copy",
        }
    }
}
