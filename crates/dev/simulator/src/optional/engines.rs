//! Simulates the work of engines beside the GPU's channels.
//!
//! The columns are those of real bundles. Real rows are known only of the table of MPSGraph. Values
//! that real bundles store in an unknown form are NULL.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, Number, Part, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::{Plan, ProcessIndex};
use crate::scenario::checks::instant;
use crate::scenario::nanos::Nanos;

/// Equal pieces of work of one engine, at equal distances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EngineWork {
    /// Engine that does the work; each engine has its own table.
    pub kind: EngineKind,
    /// Label of the work in the table.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Start of the first piece, counted from the start of the recording.
    pub start: Nanos,
    /// Duration of each piece of work.
    pub length: Nanos,
    /// Time from the start of one piece to that of the next.
    pub every: Nanos,
    /// Number of pieces of work.
    pub count: u32,
}

/// Engine beside the GPU's channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// MPSGraph, in `mps-hw-intervals`.
    Mps,
    /// Neural Engine, in `ane-hw-intervals`.
    NeuralEngine,
    /// Neural Engine, in `ane-hw-intervals-internal`.
    NeuralEngineInternal,
    /// Core ML, in `coreml-os-signpost`.
    CoreMl,
    /// Wait for a drawable, in `ca-client-buffer-wait-interval`.
    DrawableWait,
}

/// Checks an entry of a scenario.
pub(super) fn check(place: &str, work: &EngineWork) -> Result<(), Error> {
    instant(&format!("{place}.start"), work.start, 0)?;
    instant(&format!("{place}.length"), work.length, 1)?;
    instant(&format!("{place}.every"), work.every, 1)
}

/// A piece of work of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedWork {
    pub(crate) process: ProcessIndex,
    pub(crate) kind: EngineKind,
    pub(crate) label: String,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// Plans the work of the processes that ends within the run.
pub(super) fn plan<'s>(
    entries: impl Iterator<Item = (ProcessIndex, &'s EngineWork)>,
    plan: &Plan,
) -> Vec<PlannedWork> {
    let clock = plan.clock;
    let mut planned = Vec::new();
    for (process, work) in entries {
        let pieces = (0..u64::from(work.count)).map(|ordinal| {
            let start = work
                .start
                .get()
                .saturating_add(ordinal.saturating_mul(work.every.get()));
            PlannedWork {
                process,
                kind: work.kind,
                label: work.label.clone(),
                start_ns: clock.cut(start),
                end_ns: clock.cut(start.saturating_add(work.length.get())),
            }
        });
        planned.extend(pieces.take_while(|piece| piece.end_ns <= plan.wall_ns));
    }
    planned.sort_by_key(|piece| piece.start_ns);
    planned
}

pub(crate) const MPS_INTERVALS: Schema = Schema {
    name: "mps-hw-intervals",
    documentation: "What MPSGraph did.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("channel-name", "Channel Name", "mps-event-name"),
        ("frame-number", "Frame", "gpu-frame-number"),
        ("start-latency", "CPU to GPU Latency", "duration"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Label", "formatted-label"),
        ("state", "State", "gpu-state"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("channel-subtitle", "Channel Subtitle", "metal-object-label"),
    ],
};

/// Writes `mps-hw-intervals`: the work of MPSGraph.
pub(crate) fn write_mps<'a>(work: &[PlannedWork], sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    each(work, sheet, EngineKind::Mps, |cells, work| {
        span(cells, work);
        cells.text(Text::MpsEvent, "MPSGraph");
        cells.number(Number::Frame, 0);
        cells.nothing();
        cells.number(Number::NestingLevel, 0);
        label(cells, work);
        cells.text(Text::GpuState, "Active");
        cells.number(Number::ConnectionUuid, 0);
        cells.number(Number::Color, 0);
        // No real row names its process.
        cells.nothing();
        cells.text(Text::DeviceName, &plan.gpu);
        cells.text(Text::ObjectLabel, "");
    })
}

pub(crate) const ANE_INTERVALS: Schema = Schema {
    name: "ane-hw-intervals",
    documentation: "What the Neural Engine did.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("channel-name", "Channel Name", "ane-event-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Label", "formatted-label"),
        ("state", "State", "gpu-state"),
        ("color", "Color", "render-buffer-depth"),
    ],
};

pub(crate) const ANE_INTERVALS_INTERNAL: Schema = Schema {
    name: "ane-hw-intervals-internal",
    ..ANE_INTERVALS
};

/// Writes `ane-hw-intervals` or `ane-hw-intervals-internal`: the work of the Neural Engine.
pub(crate) fn write_neural_engine<'a>(
    work: &[PlannedWork],
    sheet: &mut impl Sheet<'a>,
    kind: EngineKind,
) -> Result<(), Error> {
    each(work, sheet, kind, |cells, work| {
        span(cells, work);
        cells.text(Text::AneEvent, "Apple Neural Engine");
        cells.number(Number::NestingLevel, 0);
        label(cells, work);
        cells.text(Text::GpuState, "Active");
        cells.number(Number::Color, 0);
    })
}

pub(crate) const COREML_SIGNPOST: Schema = Schema {
    name: "coreml-os-signpost",
    documentation: "What Core ML did.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("full-layout-id", "Layout", "layout-id"),
        ("event-label", "Event", "coreml-model-event"),
        ("model-name", "Model", "coreml-model-name"),
        (
            "model-specific-track-model-name",
            "Track",
            "formatted-label",
        ),
        ("fully-qualified-model", "Full Model", "formatted-label"),
        ("parent-model-name", "Parent", "coreml-model-name"),
        ("model-level", "Level", "coreml-model-level"),
        ("event-type", "Type", "string"),
        ("color", "Color", "event-concept"),
        ("graph-event-label", "Label", "formatted-label"),
    ],
};

/// Writes `coreml-os-signpost`: the predictions of Core ML.
pub(crate) fn write_core_ml<'a>(
    work: &[PlannedWork],
    sheet: &mut impl Sheet<'a>,
) -> Result<(), Error> {
    each(work, sheet, EngineKind::CoreMl, |cells, work| {
        span(cells, work);
        // Layout, event, the names of models, and level.
        for _ in 0..7 {
            cells.nothing();
        }
        cells.text(Text::String, "Prediction");
        cells.nothing();
        label(cells, work);
    })
}

pub(crate) const BUFFER_WAIT: Schema = Schema {
    name: "ca-client-buffer-wait-interval",
    documentation: "When programs waited for a drawable.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("thread", "Thread", "thread"),
    ],
};

/// Writes `ca-client-buffer-wait-interval`: the waits for a drawable.
pub(crate) fn write_drawable_waits<'a>(
    work: &[PlannedWork],
    sheet: &mut impl Sheet<'a>,
) -> Result<(), Error> {
    each(work, sheet, EngineKind::DrawableWait, |cells, work| {
        span(cells, work);
        cells.thread(work.process);
    })
}

/// Writes a row for each piece of work of a kind.
fn each<'a, S: Sheet<'a>>(
    work: &[PlannedWork],
    sheet: &mut S,
    kind: EngineKind,
    fill: impl Fn(&mut S::Cells, &PlannedWork),
) -> Result<(), Error> {
    for piece in work.iter().filter(|piece| piece.kind == kind) {
        sheet.row(|cells| fill(cells, piece))?;
    }
    Ok(())
}

/// Writes the start and the duration of the work.
fn span(cells: &mut impl Cells, work: &PlannedWork) {
    cells.number(Number::StartTime, work.start_ns);
    cells.number(Number::Duration, work.end_ns - work.start_ns);
}

/// Writes the label of the work.
fn label(cells: &mut impl Cells, work: &PlannedWork) {
    cells.label(FORMATTED_LABEL, &[Part::Text(Text::String, &work.label)]);
}
