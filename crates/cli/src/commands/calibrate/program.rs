//! What a run of the workload says of itself, in its `work.json`.

use anyhow::Context;
use metalens_analyzer::{Sidecar, Timing};
use serde::Deserialize;

/// One run, in its own words.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) program: Program,
    /// The length of the union of the measured command buffers' times on the GPU,
    /// by `GPUStartTime` and `GPUEndTime`. None of a simulated run.
    pub(super) gpu_ns: Option<u64>,
}

/// The part of the workload's document that is used here.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Program {
    pub(super) workload: String,
    pub(super) size: u64,
    pub(super) count: u64,
    pub(super) warm_up: u64,
    pub(super) whole: Whole,
    pub(super) labels: Vec<Label>,
    /// Those of warm-up steps, and of measured ones.
    pub(super) command_buffer_labels: [String; 2],
    pub(super) run: Option<Ran>,
}

/// All that is issued, warm-up too.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Whole {
    pub(super) command_buffers: u64,
    pub(super) encoders: u64,
    pub(super) dispatches: u64,
}

/// All encoders of a label.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Label {
    pub(super) label: String,
    pub(super) encoders: u64,
    pub(super) dispatches: u64,
}

/// What came of a run that was no simulation.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Ran {
    pub(super) device: String,
    pub(super) measured_ns: u64,
}

impl Told {
    pub(super) fn of(work: &Sidecar) -> anyhow::Result<Self> {
        let program = work.program.clone();
        let program = program.with_context(|| format!("{} tells no program", work.file))?;
        let program: Program = serde_json::from_value(program)
            .with_context(|| format!("{}: its program is no bundled workload", work.file))?;
        let [_, measured] = &program.command_buffer_labels;
        Ok(Self {
            gpu_ns: gpu_ns(&work.timings, measured),
            program,
        })
    }

    pub(super) fn wall_ns(&self) -> Option<u64> {
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
