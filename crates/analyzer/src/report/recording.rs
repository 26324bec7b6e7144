//! What was recorded, of whom, and which part of it a report is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::basics::message::PlacedValue;

/// What was read, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// As it was given.
    pub path: String,
    /// What it is.
    pub kind: SourceKind,
    /// What read it.
    pub reader: Reader,
}

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A .trace bundle.
    Bundle,
    /// A folder or archive of exported tables.
    Export,
    /// A single exported document.
    Xml,
}

/// What reads an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// metalens itself reads the bundle's stores.
    Native,
    /// The XML that xctrace exported.
    Xml,
}

/// What is known of the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    /// The run's number in the trace, from 1.
    pub number: u64,
    /// Whether it was written by a simulator: no GPU ran any of it.
    pub synthetic: bool,
    /// The Instruments template it was recorded with.
    pub template: Option<String>,
    /// The version of Instruments; the build in parentheses identifies Xcode.
    pub instruments_version: Option<String>,
    /// When it began, ISO 8601.
    pub start: Option<String>,
    /// How long it took by the clock on the wall, ns.
    pub duration_ns: Option<u64>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// `Deferred`, or `Windowed (…)`, which keeps only the end.
    pub recording_mode: Option<String>,
    /// The machine.
    pub device: DeviceFacts,
}

/// The recorded machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFacts {
    /// Its model.
    pub model: Option<String>,
    /// Its operating system and version.
    pub os: Option<String>,
    /// Its GPU, as Metal calls it.
    pub gpu: Option<String>,
}

/// Whom the report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalyzedProcess {
    /// The process's name; of several, all names.
    pub name: String,
    /// Its number; null if there are several.
    pub pid: Option<u32>,
    /// How it was found.
    pub chosen_by: ChosenBy,
    /// Each of the processes.
    pub processes: Vec<ProcessName>,
}

/// One of the target's processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessName {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: Option<u32>,
}

/// Which part of the recording a report is about: from the start of the
/// target's first interval to the end of its last, or what was cut out of that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Its first nanosecond.
    pub start_ns: u64,
    /// The nanosecond after its last.
    pub end_ns: u64,
    /// Its length.
    pub span_ns: u64,
    /// What was cut off.
    pub excluded: Vec<Excluded>,
}

/// A stretch that was cut off the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// Its first nanosecond.
    pub from_ns: u64,
    /// The nanosecond after its last.
    pub to_ns: u64,
    /// Why it was cut off.
    pub why: String,
    /// Values of `why`, in the order in which they stand in it.
    #[serde(default)]
    pub why_values: Vec<PlacedValue>,
}

/// How the target was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChosenBy {
    /// The recorder launched it.
    Launched,
    /// The recorder attached to it.
    Attached,
    /// The recorder was about it; this Xcode does not say whether by launching or attaching.
    Recorded,
    /// It was asked for.
    Requested,
    /// Nobody was named: it kept the GPU busy longest.
    Busiest,
}
