//! Writes the tables of engines beside the GPU's channels, and of frames.
//!
//! The columns are those of real bundles. Real rows are known only of the table of MPSGraph. Values
//! that real bundles store in an unknown form are NULL.

use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, Number, Part, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::PlannedWork;
use crate::scenario::engine::EngineKind;

pub(super) const MPS_INTERVALS: Schema = Schema {
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
pub(super) fn mps<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let recording = sheet.recording();
    each(sheet, EngineKind::Mps, |cells, work| {
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
        cells.text(Text::DeviceName, &recording.gpu);
        cells.text(Text::ObjectLabel, "");
    })
}

pub(super) const ANE_INTERVALS: Schema = Schema {
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

pub(super) const ANE_INTERVALS_INTERNAL: Schema = Schema {
    name: "ane-hw-intervals-internal",
    ..ANE_INTERVALS
};

/// Writes `ane-hw-intervals` or `ane-hw-intervals-internal`: the work of the Neural Engine.
pub(super) fn neural_engine<'a>(sheet: &mut impl Sheet<'a>, kind: EngineKind) -> Result<(), Error> {
    each(sheet, kind, |cells, work| {
        span(cells, work);
        cells.text(Text::AneEvent, "Apple Neural Engine");
        cells.number(Number::NestingLevel, 0);
        label(cells, work);
        cells.text(Text::GpuState, "Active");
        cells.number(Number::Color, 0);
    })
}

pub(super) const COREML_SIGNPOST: Schema = Schema {
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
pub(super) fn core_ml<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    each(sheet, EngineKind::CoreMl, |cells, work| {
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

pub(super) const BUFFER_WAIT: Schema = Schema {
    name: "ca-client-buffer-wait-interval",
    documentation: "When programs waited for a drawable.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("thread", "Thread", "thread"),
    ],
};

/// Writes `ca-client-buffer-wait-interval`: the waits for a drawable.
pub(super) fn drawable_waits<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    each(sheet, EngineKind::DrawableWait, |cells, work| {
        span(cells, work);
        cells.thread(work.process);
    })
}

pub(super) const PRESENT_REQUEST: Schema = Schema {
    name: "ca-client-present-request",
    documentation: "When programs asked to present a frame.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("surface-id", "Surface ID", "displayed-surface-swap"),
        ("at-time", "At Time", "start-time"),
        ("minimal-duration", "Minimal Duration", "start-time"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
    ],
};

/// Writes `ca-client-present-request`: the start of every frame.
pub(super) fn present_requests<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    each(sheet, EngineKind::Frame, |cells, work| {
        cells.number(Number::StartTime, work.start_ns);
        cells.number(Number::CommandBufferId, 0);
        cells.nothing();
        cells.nothing();
        cells.nothing();
        cells.thread(work.process);
        cells.process(work.process);
    })
}

pub(super) const PRESENTED_HANDLER: Schema = Schema {
    name: "ca-client-presented-handler",
    documentation: "When programs were notified that a frame was presented.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("drawable-id", "Drawable ID", "displayed-surface-swap"),
        ("status", "Status", "uint64"),
        ("at-time", "At Time", "start-time"),
        ("delta", "Delta", "duration"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
    ],
};

/// Writes `ca-client-presented-handler`: the end of every frame.
pub(super) fn presented<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    each(sheet, EngineKind::Frame, |cells, work| {
        cells.number(Number::StartTime, work.end_ns);
        cells.nothing();
        cells.number(Number::Uint64, 0);
        cells.nothing();
        cells.nothing();
        cells.thread(work.process);
        cells.process(work.process);
    })
}

/// Writes a row for each piece of work of a kind.
fn each<'a, S: Sheet<'a>>(
    sheet: &mut S,
    kind: EngineKind,
    fill: impl Fn(&mut S::Cells, &PlannedWork),
) -> Result<(), Error> {
    let plan = sheet.plan();
    let work = plan.engines.iter().filter(|work| work.kind == kind);
    for piece in work {
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
