//! Describes a run: in `work.json`, and on the screen.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use metalens_text::units::{counted, time};
use serde::Serialize;

use crate::check::CheckedArray;
use crate::error::Result;
use crate::plan::{Phase, WorkloadPlan};
use crate::run::WorkloadRun;

/// Text that marks results in which no GPU had a part.
pub const SIMULATED: &str = "SIMULATED: no GPU ran";

/// The content of `work.json`: the amount of work of each label, for `metalens analyze --work`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkFile {
    schema: &'static str,
    device: String,
    work: Vec<LabelEntry>,
    program: Program,
}

/// Work of one encoder of a label. This is one GPU interval, unless the driver joins or splits
/// encoders.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct LabelEntry {
    label: &'static str,
    per: &'static str,
    operations: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    flops: Option<u64>,
}

/// Facts about the program that only it knows.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Program {
    workload: &'static str,
    /// True if no GPU ran on purpose.
    simulated: bool,
    count: u64,
    warm_up: u64,
    /// Sums over all steps, which a recording of the whole run shows.
    whole: Counts,
    labels: Vec<Label>,
    /// What reached this program of the recorder that started it, if its environment did.
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<ReachedFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_ns: Option<u64>,
    checked: Vec<CheckedArray>,
}

/// Facts that a workload knows about the recorder that started it.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct ReachedFacts {
    /// True if the current folder is that of the recorder.
    folder: bool,
}

/// Variable in which the recorder names its folder.
const PROBE: &str = "METALENS_PROBE";

impl ReachedFacts {
    /// Returns the facts, if the environment of the recorder reached this program.
    fn gather() -> Option<Self> {
        let folder = std::env::var_os(PROBE)?;
        let is_here = std::env::current_dir().is_ok_and(|here| here == Path::new(&folder));
        Some(Self { folder: is_here })
    }
}

/// Numbers of what was issued.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Counts {
    command_buffers: u64,
    encoders: u64,
    dispatches: u64,
}

/// The work of an encoder label in the whole run.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Label {
    label: &'static str,
    encoders: u64,
    dispatches: u64,
}

impl WorkFile {
    /// Describes a run, or a plan alone: then there are no times, and the device is
    /// [`SIMULATED`].
    #[must_use]
    pub fn new(plan: &WorkloadPlan, run: Option<&WorkloadRun>) -> Self {
        let work = plan.step.iter().map(|dispatch| LabelEntry {
            label: dispatch.kernel.name(),
            per: "instance",
            operations: 1,
            bytes: dispatch.amounts().bytes,
            flops: dispatch.amounts().flops,
        });
        let labels = plan.step.iter().map(|dispatch| Label {
            label: dispatch.kernel.name(),
            encoders: plan.steps(),
            dispatches: plan.steps(),
        });
        let all = plan.command_buffers();
        Self {
            schema: "metalens.work/1",
            device: run.map_or_else(|| SIMULATED.to_owned(), |run| run.device.clone()),
            work: work.collect(),
            program: Program {
                workload: plan.workload.name(),
                simulated: run.is_none(),
                count: plan.count,
                warm_up: plan.warm_up,
                whole: Counts {
                    command_buffers: all,
                    encoders: all,
                    dispatches: all,
                },
                labels: labels.collect(),
                reached: ReachedFacts::gather(),
                measured_ns: run.map(|run| run.measured_ns),
                checked: run.map_or_else(Vec::new, |run| run.checked.clone()),
            },
        }
    }

    /// Writes the file atomically. Replaces an existing file only if `force`.
    pub fn write(&self, path: &Path, force: bool) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(metalens_files::write_bytes(path, force, text.as_bytes())?)
    }
}

impl Display for WorkloadPlan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let workload = self.workload;
        writeln!(f, "{}: {}", workload.name(), workload.description())?;
        writeln!(
            f,
            "{} after {} of warm-up; {} in all",
            counted(self.count, "step"),
            self.warm_up,
            counted(self.command_buffers(), "command buffer"),
        )
    }
}

impl Display for WorkloadRun {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let measured = self.buffers.iter();
        let measured = measured.filter(|buffer| buffer.phase == Phase::Measured);
        let gpu_ns = measured.fold(0_u64, |sum, buffer| {
            sum.saturating_add(buffer.end_ns.saturating_sub(buffer.start_ns))
        });
        writeln!(
            f,
            "ran on {}: the measured steps took {}, of which {} on the GPU",
            self.device,
            time(self.measured_ns),
            time(gpu_ns),
        )?;
        for checked in &self.checked {
            writeln!(
                f,
                "`{}` is correct: {} of {} elements compared with the CPU, largest difference {:.1e}",
                checked.array, checked.compared, checked.elements, checked.worst_difference
            )?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}
