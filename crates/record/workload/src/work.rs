//! Pieces of a plan: arrays and dispatches.

use crate::data::Fill;
use crate::expected::Expected;
use crate::kernel::{Amounts, Kernel};

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

/// A planned dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// Kernel that it runs.
    pub kernel: Kernel,
    /// Arrays that it reads, as indices into [`WorkloadPlan::arrays`](crate::WorkloadPlan::arrays).
    pub reads: Vec<usize>,
    /// Array that it writes, as an index into [`WorkloadPlan::arrays`](crate::WorkloadPlan::arrays).
    pub writes: usize,
    /// Number of elements (for matrices: rows).
    pub size: u64,
}

impl Dispatch {
    /// Returns its work.
    pub fn amounts(&self) -> Amounts {
        self.kernel.amounts(self.size)
    }
}
