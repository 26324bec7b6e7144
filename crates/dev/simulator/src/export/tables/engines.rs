//! Writes the tables of engines beside the GPU's channels, and of frames.
//!
//! The columns are those of real bundles. Real rows are known only of the table of MPSGraph. Values
//! that real bundles store in an unknown form are NULL.

use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, Number, Part, Sheet, Text};
use crate::plan::PlannedWork;
use crate::scenario::engine::EngineKind;

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

/// Writes `ca-client-buffer-wait-interval`: the waits for a drawable.
pub(super) fn drawable_waits<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    each(sheet, EngineKind::DrawableWait, |cells, work| {
        span(cells, work);
        cells.thread(work.process);
    })
}

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
