//! Running a plan, and what Metal said of it.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::plan::{Phase, Plan};

/// What else a run may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Captures the last warm-up steps to this `.gputrace`, for Xcode.
    pub capture: Option<PathBuf>,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The GPU, as Metal calls it.
    pub device: String,
    /// Each command buffer in order of commit, warm-up too.
    pub buffers: Vec<BufferTime>,
    /// From before the first measured command buffer was encoded until after the
    /// last was known to be complete, on the CPU's clock.
    pub measured_ns: u64,
    /// The two clocks, before and after.
    pub clocks: Vec<ClockPair>,
    /// Timestamps that the GPU took inside the last warm-up step.
    pub counters: Vec<CounterSample>,
    /// The results that were compared with the CPU's, all right.
    pub checked: Vec<Checked>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// When the GPU ran a command buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferTime {
    /// Warm-up or measured.
    pub phase: Phase,
    /// `GPUStartTime`, in whole nanoseconds since the machine started.
    pub start_ns: u64,
    /// `GPUEndTime`, likewise.
    pub end_ns: u64,
}

/// The CPU's and the GPU's clock at one moment, as `sampleTimestamps` has them:
/// counts of each clock's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClockPair {
    /// The CPU's.
    pub cpu: u64,
    /// The GPU's.
    pub gpu: u64,
}

/// GPU timestamps before and after a dispatch, or an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CounterSample {
    /// The encoder's place in the step.
    pub encoder: u64,
    /// Its label.
    pub label: &'static str,
    /// The dispatch's place in it; none if the sample is of the whole encoder.
    pub dispatch: Option<u64>,
    /// Before, in units of the GPU's clock.
    pub start: u64,
    /// After.
    pub end: u64,
}

/// A result that was compared with the CPU's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Checked {
    /// The array.
    pub array: &'static str,
    /// Its elements.
    pub elements: u64,
    /// Its bytes.
    pub bytes: u64,
    /// How many of them were compared.
    pub compared: u64,
    /// The greatest difference.
    pub worst_difference: f64,
}

/// Runs a plan on this machine's GPU. All command buffers of the plan are
/// committed, and no other.
#[cfg(target_os = "macos")]
pub fn run(plan: &Plan, options: &Options) -> Result<Run> {
    crate::capture::check(plan, options)?;
    crate::metal::run(plan, options)
}

/// Runs a plan on this machine's GPU: here there is no Metal.
#[cfg(not(target_os = "macos"))]
pub fn run(plan: &Plan, options: &Options) -> Result<Run> {
    crate::capture::check(plan, options)?;
    Err(crate::Error::NoMetal {
        system: match std::env::consts::OS {
            "linux" => "Linux",
            "windows" => "Windows",
            other => other,
        },
    })
}
