//! Simulates the work of engines beside the GPU's channels.
//!
//! The columns are those of real bundles. Real rows are known only of the table of MPSGraph. Values
//! that real bundles store in an unknown form are NULL.

use serde::{Deserialize, Serialize};

use super::Optional;
use crate::error::Error;
use crate::plan::{Plan, ProcessIndex};
use crate::sheet::{Kind, Part, table};
use crate::values::checks::Place;
use crate::values::nanos::Nanos;

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
pub(crate) fn check(place: &Place, work: &EngineWork) -> Result<(), Error> {
    place.instant("start", work.start, 0)?;
    place.instant("length", work.length, 1)?;
    place.instant("every", work.every, 1)
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
pub(crate) fn plan<'s>(
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

table! {
    MPS_INTERVALS: "mps-hw-intervals", "What MPSGraph did.";
    |_, optional| for work in of(optional, EngineKind::Mps) => {
        "start" "Creation" StartTime = work.start_ns;
        "duration" "Duration" Duration = work.end_ns - work.start_ns;
        "channel-name" "Channel Name" MpsEvent = "MPSGraph";
        "frame-number" "Frame" Frame;
        "start-latency" "CPU to GPU Latency" Duration;
        "event-depth" "Depth" NestingLevel;
        "event-label" "Label" FormattedLabel = &[Part::Text(Kind::String, &work.label)];
        "state" "State" GpuState = "Active";
        "connection-UUID" "Connection UUID" ConnectionUuid;
        "color" "Color" Color;
        // No real row names its process.
        "process" "Process" Process;
        "gpu" "Metal Device" DeviceName;
        "channel-subtitle" "Channel Subtitle" ObjectLabel;
    }
}

/// Declares a table of the work of the Neural Engine.
macro_rules! neural_engine {
    ($form:ident, $engine:ident, $name:literal) => {
        table! {
            $form: $name, "What the Neural Engine did.";
            |_, optional| for work in of(optional, EngineKind::$engine) => {
                "start" "Creation" StartTime = work.start_ns;
                "duration" "Duration" Duration = work.end_ns - work.start_ns;
                "channel-name" "Channel Name" AneEvent = "Apple Neural Engine";
                "event-depth" "Depth" NestingLevel;
                "event-label" "Label" FormattedLabel = &[Part::Text(Kind::String, &work.label)];
                "state" "State" GpuState = "Active";
                "color" "Color" Color;
            }
        }
    };
}

neural_engine!(ANE_INTERVALS, NeuralEngine, "ane-hw-intervals");
neural_engine!(
    ANE_INTERVALS_INTERNAL,
    NeuralEngineInternal,
    "ane-hw-intervals-internal"
);

table! {
    COREML_SIGNPOST: "coreml-os-signpost", "What Core ML did.";
    |_, optional| for work in of(optional, EngineKind::CoreMl) => {
        "start" "Start" StartTime = work.start_ns;
        "duration" "Duration" Duration = work.end_ns - work.start_ns;
        "full-layout-id" "Layout" LayoutId;
        "event-label" "Event" CoreMlEvent;
        "model-name" "Model" CoreMlName;
        "model-specific-track-model-name" "Track" FormattedLabel;
        "fully-qualified-model" "Full Model" FormattedLabel;
        "parent-model-name" "Parent" CoreMlName;
        "model-level" "Level" CoreMlLevel;
        "event-type" "Type" String = "Prediction";
        "color" "Color" EventConcept;
        "graph-event-label" "Label" FormattedLabel = &[Part::Text(Kind::String, &work.label)];
    }
}

table! {
    BUFFER_WAIT: "ca-client-buffer-wait-interval", "When programs waited for a drawable.";
    |_, optional| for work in of(optional, EngineKind::DrawableWait) => {
        "start" "Creation" StartTime = work.start_ns;
        "duration" "Duration" Duration = work.end_ns - work.start_ns;
        "thread" "Thread" Thread = work.process;
    }
}

/// Returns the work of an engine.
fn of(optional: &Optional, engine: EngineKind) -> impl Iterator<Item = &PlannedWork> {
    optional
        .engines
        .iter()
        .filter(move |work| work.kind == engine)
}
