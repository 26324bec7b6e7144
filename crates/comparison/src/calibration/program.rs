//! Reads what a run of the workload reported about itself in its `work.json`.

use metalens_analyzer::{Timing, WorkFile};
use serde::Deserialize;

/// One run, as its program reported it.
#[derive(Debug, Clone)]
pub struct ProgramRun {
    /// The program and the work that it issued.
    pub program: Program,
    /// Length of the union of the measured command buffers' times on the GPU, by `GPUStartTime` and
    /// `GPUEndTime`, in nanoseconds. None for a simulated run.
    pub gpu_ns: Option<u64>,
}

/// The part of the workload's document that is used here.
#[derive(Debug, Clone, Deserialize)]
pub struct Program {
    /// Name of the workload.
    pub workload: String,
    /// Number of elements of an array.
    pub size: u64,
    /// Number of measured steps.
    pub count: u64,
    /// Number of warm-up steps before those.
    pub warm_up: u64,
    /// Totals of the issued work, including the warm-up.
    #[serde(rename = "whole")]
    pub issued: IssuedTotals,
    /// Issued work by encoder label.
    pub labels: Vec<IssuedLabel>,
    /// Labels of the command buffers: of warm-up steps, and of measured ones.
    pub command_buffer_labels: [String; 2],
    /// Result of the measured run. None for a simulation.
    pub run: Option<MeasuredRun>,
}

/// Totals of the issued work, including the warm-up.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct IssuedTotals {
    /// Number of command buffers.
    pub command_buffers: u64,
    /// Number of encoders.
    pub encoders: u64,
    /// Number of dispatches.
    pub dispatches: u64,
}

/// Issued work with one encoder label.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct IssuedLabel {
    /// Label of the encoders.
    pub label: String,
    /// Number of encoders.
    pub encoders: u64,
    /// Number of dispatches.
    pub dispatches: u64,
}

/// Result of a run on a GPU.
#[derive(Debug, Clone, Deserialize)]
pub struct MeasuredRun {
    /// Name of the GPU in Metal.
    pub device: String,
    /// Time of the measured steps by the CPU's clock, in nanoseconds.
    pub measured_ns: u64,
}

/// Reason why a file of known work does not describe a run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The file does not describe its program.
    #[error("{file} does not describe its program")]
    Absent {
        /// Path of the file.
        file: String,
    },
    /// The program is not a bundled workload.
    #[error("the program of {file} is not a bundled workload")]
    NotWorkload {
        /// Path of the file.
        file: String,
        /// Parse error of the program's description.
        source: serde_json::Error,
    },
}

impl ProgramRun {
    /// Reads what a run reported about itself.
    ///
    /// # Errors
    ///
    /// If the file does not describe a bundled workload.
    pub fn from_sidecar(work: &WorkFile) -> Result<Self, ProgramError> {
        let program = work.program.clone().ok_or_else(|| ProgramError::Absent {
            file: work.file.clone(),
        })?;
        let program: Program =
            serde_json::from_value(program).map_err(|source| ProgramError::NotWorkload {
                file: work.file.clone(),
                source,
            })?;

        let [_, measured] = &program.command_buffer_labels;
        Ok(Self {
            gpu_ns: gpu_ns(&work.timings, measured),
            program,
        })
    }

    /// Returns the time of the measured steps by the CPU's clock, in nanoseconds. None for a
    /// simulated run.
    #[must_use]
    pub fn wall_ns(&self) -> Option<u64> {
        self.program.run.as_ref().map(|run| run.measured_ns)
    }
}

/// Returns the length of the union of the times of the command buffers with a label; none if there
/// are none.
fn gpu_ns(timings: &[Timing], label: &str) -> Option<u64> {
    let matching = timings
        .iter()
        .filter(|timing| timing.label.as_deref() == Some(label));
    let mut spans: Vec<(u64, u64)> = matching
        .filter_map(|timing| Some((timing.start_ns?, timing.end_ns?)))
        .collect();
    spans.sort_unstable();

    let (&(first, _), mut total) = (spans.first()?, 0);
    let mut reached = first;
    for (start, end) in spans {
        total += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(label: &str, start_ns: u64, end_ns: u64) -> Timing {
        Timing {
            label: Some(label.to_owned()),
            start_ns: Some(start_ns),
            end_ns: Some(end_ns),
            ..Timing::default()
        }
    }

    /// ```text
    /// 0    10   20   30   40
    /// ├────┤                    10
    ///    ├──────┤               + 10, since the first covers 5 of its 15
    ///       ├─┤                 + 0
    ///                ├───┤      + 8
    /// ```
    #[test]
    fn gpu_time_is_the_union_of_measured_command_buffers() {
        let timings = [
            timing("step", 30, 38),
            timing("step", 0, 10),
            timing("warm-up", 0, 1_000),
            timing("step", 5, 20),
            timing("step", 11, 15),
        ];
        assert_eq!(gpu_ns(&timings, "step"), Some(28));
        assert_eq!(gpu_ns(&timings, "other"), None);
    }
}
