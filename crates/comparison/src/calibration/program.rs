//! What a run of the workload says of itself, in its `work.json`.

use metalens_analyzer::{WorkFile, Timing};
use serde::Deserialize;

/// One run, in its own words.
#[derive(Debug, Clone)]
pub struct ProgramRun {
    /// The program and what it issued.
    pub program: Program,
    /// The length of the union of the measured command buffers' times on the GPU,
    /// by `GPUStartTime` and `GPUEndTime`. None of a simulated run.
    pub gpu_ns: Option<u64>,
}

/// The part of the workload's document that is used here.
#[derive(Debug, Clone, Deserialize)]
pub struct Program {
    /// The workload's name.
    pub workload: String,
    /// The elements of an array.
    pub size: u64,
    /// The measured steps.
    pub count: u64,
    /// The steps before those.
    pub warm_up: u64,
    /// All that is issued, warm-up too.
    pub whole: Whole,
    /// The encoders of each label.
    pub labels: Vec<Label>,
    /// Those of warm-up steps, and of measured ones.
    pub command_buffer_labels: [String; 2],
    /// The measured run. None of a simulation.
    pub run: Option<Ran>,
}

/// All that is issued, warm-up too.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Whole {
    /// The command buffers.
    pub command_buffers: u64,
    /// The encoders.
    pub encoders: u64,
    /// The dispatches.
    pub dispatches: u64,
}

/// All encoders of a label.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Label {
    /// The label.
    pub label: String,
    /// The encoders.
    pub encoders: u64,
    /// The dispatches.
    pub dispatches: u64,
}

/// What came of a run that was no simulation.
#[derive(Debug, Clone, Deserialize)]
pub struct Ran {
    /// The GPU, as Metal calls it.
    pub device: String,
    /// The time of the measured steps by the CPU's clock.
    pub measured_ns: u64,
}

/// The reason why a file of known work does not tell of a run.
#[derive(Debug, thiserror::Error)]
pub enum UnknownProgram {
    /// The file says nothing of its program.
    #[error("{file} tells no program")]
    Absent {
        /// The file.
        file: String,
    },
    /// The program is no bundled workload.
    #[error("{file}: its program is no bundled workload")]
    Foreign {
        /// The file.
        file: String,
        /// What is wrong.
        source: serde_json::Error,
    },
}

impl ProgramRun {
    /// Reads what a run said of itself.
    ///
    /// # Errors
    ///
    /// If that is not what a bundled workload says.
    pub fn of(work: &WorkFile) -> Result<Self, UnknownProgram> {
        let file = || work.file.clone();
        let program = work.program.clone();
        let program = program.ok_or_else(|| UnknownProgram::Absent { file: file() })?;
        let program: Program = serde_json::from_value(program).map_err(|source| {
            let file = file();
            UnknownProgram::Foreign { file, source }
        })?;
        let [_, measured] = &program.command_buffer_labels;
        Ok(Self {
            gpu_ns: gpu_ns(&work.timings, measured),
            program,
        })
    }

    /// Returns how long the measured steps took by the CPU's clock. None of a simulated run.
    #[must_use]
    pub fn wall_ns(&self) -> Option<u64> {
        self.program.run.as_ref().map(|run| run.measured_ns)
    }
}

/// Of the command buffers of a label; none if there are none.
fn gpu_ns(timings: &[Timing], label: &str) -> Option<u64> {
    let mine = timings
        .iter()
        .filter(|one| one.label.as_deref() == Some(label));
    let mut spans: Vec<(u64, u64)> = mine
        .filter_map(|one| Some((one.start_ns?, one.end_ns?)))
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
    ///    ├──────┤               + 10, as 5 of its 15 are the first's
    ///       ├─┤                 + 0
    ///                ├───┤      + 8
    /// ```
    #[test]
    fn a_union_of_the_measured_ones() {
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
