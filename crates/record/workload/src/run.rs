//! Result of a run.

use crate::check::CheckedArray;
use crate::plan::Phase;

/// Result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadRun {
    /// Name of the GPU, as Metal reports it.
    pub device: String,
    /// Times of each command buffer in order of commit, warm-up included.
    pub buffers: Vec<BufferTime>,
    /// Duration of the measured steps on the CPU's clock: from before the first command
    /// buffer was encoded until after the last one had completed.
    pub measured_ns: u64,
    /// Arrays whose results were compared with the CPU's; all are correct.
    pub checked: Vec<CheckedArray>,
    /// Notes for the reader of the results.
    pub notes: Vec<String>,
}

/// Time span in which the GPU ran a command buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferTime {
    /// Phase of the run: warm-up or measured.
    pub phase: Phase,
    /// `GPUStartTime`, in whole nanoseconds since the machine started.
    pub start_ns: u64,
    /// `GPUEndTime`, in the same unit.
    pub end_ns: u64,
}
