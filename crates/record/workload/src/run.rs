//! Options and result of a run.

use std::path::PathBuf;

use serde::Serialize;

use crate::check::CheckedArray;
use crate::plan::Phase;

/// Choices for a run besides the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Path of a `.gputrace` for Xcode that captures the last warm-up steps.
    pub capture: Option<PathBuf>,
}

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
    /// Readings of both clocks, before and after the run.
    pub clocks: Vec<ClockPair>,
    /// Timestamps that the GPU took inside the last warm-up step.
    pub counters: Vec<CounterSample>,
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

/// Readings of the CPU's and the GPU's clock at the same moment, as `sampleTimestamps`
/// returns them: each in its clock's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClockPair {
    /// Reading of the CPU's clock.
    pub cpu: u64,
    /// Reading of the GPU's clock.
    pub gpu: u64,
}

/// GPU timestamps before and after a dispatch, or an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CounterSample {
    /// Index of the encoder in its step.
    pub encoder: u64,
    /// Label of the encoder.
    pub label: &'static str,
    /// Index of the dispatch in its encoder; `None` if the sample covers the encoder.
    pub dispatch: Option<u64>,
    /// Timestamp before the work, in units of the GPU's clock.
    pub start: u64,
    /// Timestamp after the work, in units of the GPU's clock.
    pub end: u64,
}
