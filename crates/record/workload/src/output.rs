//! Writes the results of a run: `work.json`, and the document of `--json`.

use std::path::Path;

use serde::Serialize;

use crate::check::CheckedArray;
use crate::error::Result;
use crate::plan::{Phase, Totals, WorkloadPlan};
use crate::run::{ClockPair, CounterSample, WorkloadRun};

/// Text that marks results in which no GPU had a part.
pub const SIMULATED: &str = "SIMULATED: no GPU ran";

/// The content of `work.json`: the amount of work of each label, for `metalens analyze --work`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkFile {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    work: Vec<LabelEntry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    timings: Vec<Timing>,
    program: WorkDocument,
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

/// Time span in which the GPU ran a command buffer.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Timing {
    label: String,
    command_buffer: u64,
    start_ns: u64,
    end_ns: u64,
}

impl WorkFile {
    /// Describes a run, or a plan alone: then there are no times, and the device is
    /// [`SIMULATED`]. The document inside is that of `--json` without the times, which are
    /// in this file's own list.
    #[must_use]
    pub fn new(plan: &WorkloadPlan, run: Option<&WorkloadRun>) -> Self {
        let work = plan.labels().into_iter().map(|label| LabelEntry {
            label: label.label,
            per: "instance",
            operations: label.dispatches_per_encoder,
            bytes: label.per_encoder.bytes,
            flops: label.per_encoder.flops,
        });
        Self {
            schema: "metalens.work/1",
            device: Some(device(run)),
            work: work.collect(),
            timings: timings(plan, run),
            program: WorkDocument::new(plan, run, run.is_none()).without_timings(),
        }
    }

    /// Writes the file atomically. Replaces an existing file only if `force`.
    pub fn write(&self, path: &Path, force: bool) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(metalens_files::write_bytes(path, force, text.as_bytes())?)
    }
}

fn device(run: Option<&WorkloadRun>) -> String {
    run.map_or_else(|| SIMULATED.to_owned(), |run| run.device.clone())
}

fn timings(plan: &WorkloadPlan, run: Option<&WorkloadRun>) -> Vec<Timing> {
    let buffers = run.map_or(&[][..], |run| &run.buffers);
    let timing = (0..).zip(buffers).map(|(command_buffer, buffer)| Timing {
        label: plan.command_buffer_label(buffer.phase),
        command_buffer,
        start_ns: buffer.start_ns,
        end_ns: buffer.end_ns,
    });
    timing.collect()
}

/// All facts about a run or a plan, as `--json` prints them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkDocument {
    schema: &'static str,
    workload: &'static str,
    /// True if no GPU ran on purpose.
    simulated: bool,
    /// True if the plan was carried out.
    ran: bool,
    size: u64,
    count: u64,
    warm_up: u64,
    in_flight: u64,
    memory_bytes: u64,
    /// Name of the signpost interval around the measured steps.
    phase: &'static str,
    /// Sums over all steps, which a recording of the whole run shows.
    whole: Counts,
    /// Sums over the measured steps.
    measured: Counts,
    labels: Vec<Label>,
    command_buffer_labels: [String; 2],
    /// What reached this program of the recorder that started it, if its environment did.
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<ReachedFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunDetails>,
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

/// Amounts of work.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Counts {
    command_buffers: u64,
    encoders: u64,
    dispatches: u64,
    bytes: u64,
    flops: Option<u64>,
}

/// The work of an encoder label.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Label {
    label: &'static str,
    encoders: u64,
    encoders_measured: u64,
    dispatches: u64,
    dispatches_measured: u64,
    bytes_per_encoder: u64,
    flops_per_encoder: Option<u64>,
}

/// The facts of a run, which a plan alone does not have.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct RunDetails {
    device: String,
    measured_ns: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    timings: Vec<Timing>,
    clocks: Vec<ClockPair>,
    counters: Vec<CounterSample>,
    checked: Vec<CheckedArray>,
    notes: Vec<String>,
}

impl WorkDocument {
    /// Describes a run, or a plan alone.
    #[must_use]
    pub fn new(plan: &WorkloadPlan, run: Option<&WorkloadRun>, simulated: bool) -> Self {
        let steps = plan.count + plan.warm_up;
        let labels = plan.labels().into_iter().map(|label| {
            let per_step = label.encoders_per_step * label.dispatches_per_encoder;
            Label {
                label: label.label,
                encoders: steps * label.encoders_per_step,
                encoders_measured: plan.count * label.encoders_per_step,
                dispatches: steps * per_step,
                dispatches_measured: plan.count * per_step,
                bytes_per_encoder: label.per_encoder.bytes,
                flops_per_encoder: label.per_encoder.flops,
            }
        });

        Self {
            schema: "metalens.workload/1",
            workload: plan.workload.name(),
            simulated,
            ran: run.is_some(),
            size: plan.size,
            count: plan.count,
            warm_up: plan.warm_up,
            in_flight: plan.in_flight,
            memory_bytes: plan.memory_bytes(),
            phase: PHASE,
            whole: plan.total().into(),
            measured: plan.measured().into(),
            labels: labels.collect(),
            command_buffer_labels: [Phase::WarmUp, Phase::Measured]
                .map(|phase| plan.command_buffer_label(phase)),
            reached: ReachedFacts::gather(),
            run: run.map(|run| RunDetails {
                device: run.device.clone(),
                measured_ns: run.measured_ns,
                timings: timings(plan, Some(run)),
                clocks: run.clocks.clone(),
                counters: run.counters.clone(),
                checked: run.checked.clone(),
                notes: run.notes.clone(),
            }),
        }
    }
}

impl WorkDocument {
    fn without_timings(mut self) -> Self {
        if let Some(run) = &mut self.run {
            run.timings.clear();
        }
        self
    }
}

/// Name of the signpost interval around the measured steps.
pub(crate) const PHASE: &str = "measured";

impl From<Totals> for Counts {
    fn from(totals: Totals) -> Self {
        Self {
            command_buffers: totals.command_buffers,
            encoders: totals.encoders,
            dispatches: totals.dispatches,
            bytes: totals.bytes,
            flops: totals.flops,
        }
    }
}
