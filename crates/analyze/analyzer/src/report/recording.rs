//! Types of the input, the recording, the analyzed process and the window.

use metalens_message::{Message, Ns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Input that was read, and the reader that read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Path of the input, as it was given.
    pub path: String,
    /// Form of the input.
    pub kind: SourceKind,
    /// Reader that read the input.
    pub reader: Reader,
}

impl Source {
    /// Returns whether it is a command-buffer log, which has keys and no tables.
    pub fn is_log(&self) -> bool {
        self.kind == SourceKind::Log
    }
}

/// Form of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// Bundle of Instruments, `.trace`.
    Bundle,
    /// Folder or archive of exported tables.
    Export,
    /// Single XML document that xctrace exported.
    Xml,
    /// Command-buffer log, which the program itself wrote.
    Log,
}

/// Reader of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// The native reader, which reads the bundle's stores without xctrace.
    Native,
    /// The XML reader, which reads what xctrace exported.
    Xml,
    /// The reader of command-buffer logs.
    Log,
}

/// Facts about the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    /// Number of the run in the recording, from 1.
    pub number: u64,
    /// True if a simulator wrote the recording: no GPU ran any of it.
    pub synthetic: bool,
    /// Instruments template used for the recording; null if unknown.
    pub template: Option<String>,
    /// Version of Instruments; the build in parentheses identifies Xcode. Null if unknown.
    pub instruments_version: Option<String>,
    /// Start of the recording as an ISO 8601 time; null if unknown.
    pub start: Option<String>,
    /// Wall-clock duration of the recording in nanoseconds; null if unknown.
    pub duration_ns: Option<Ns>,
    /// Reason for the end of the recording; null if unknown.
    pub end_reason: Option<String>,
    /// Recording mode: `Deferred`, or `Windowed (…)`, which keeps only the end. Null if unknown.
    pub recording_mode: Option<String>,
    /// Facts about the recorded machine.
    pub device: DeviceFacts,
}

/// Facts about the recorded machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFacts {
    /// Model of the machine; null if unknown.
    pub model: Option<String>,
    /// Operating system and its version; null if unknown.
    pub os: Option<String>,
    /// Metal's name of the GPU; null if unknown.
    pub gpu: Option<String>,
}

/// Process or processes that the report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalyzedProcess {
    /// Name of the process; of several, all names.
    pub name: String,
    /// Process id; null if there are several processes, or if it is unknown.
    pub pid: Option<u32>,
    /// Reason why this process was chosen.
    pub chosen_by: ChosenBy,
    /// Name and id of each of the processes.
    pub processes: Vec<ProcessName>,
}

/// Framework that a process uses, and the sign of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Framework {
    /// Name of the framework.
    pub framework: FrameworkName,
    /// Part of the recording that shows it.
    pub seen_in: SeenIn,
}

/// Name of a framework that uses Metal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrameworkName {
    /// Framework MLX of Apple.
    Mlx,
    /// Framework candle of Hugging Face.
    Candle,
    /// Library llama.cpp, or another program on ggml.
    LlamaCpp,
    /// Framework PyTorch with its backend MPS.
    #[serde(rename = "pytorch")]
    PyTorch,
    /// Framework Core ML of Apple.
    CoreMl,
}

/// Part of a recording that shows the framework of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeenIn {
    /// Binaries on the call stacks of its CPU samples.
    CallStacks,
    /// Name of the process.
    ProcessName,
    /// Names of its shaders and kernels.
    ShaderNames,
}

/// Name and id of one of the analyzed processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessName {
    /// Name of the process.
    pub name: String,
    /// Process id; null if unknown.
    pub pid: Option<u32>,
}

/// Analyzed part of the recording: from the start of the process's first GPU interval to the
/// end of its last, or a part of that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Start of the window, in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// End of the window (exclusive), in nanoseconds since the recording began.
    pub end_ns: Ns,
    /// Length of the window in nanoseconds.
    pub span_ns: Ns,
    /// Stretches that were cut off the window.
    pub excluded: Vec<Excluded>,
}

/// Stretch that was cut off the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// Start of the stretch, in nanoseconds since the recording began.
    pub from_ns: Ns,
    /// End of the stretch (exclusive), in nanoseconds since the recording began.
    pub to_ns: Ns,
    /// Reason why the stretch was cut off, in words.
    pub why: Message,
}

/// Reason why a process was chosen for analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChosenBy {
    /// The recorder launched the process.
    Launched,
    /// The recorder attached to the process.
    Attached,
    /// The recording names the process; this version of Xcode does not tell whether it was launched
    /// or attached to.
    Recorded,
    /// The user asked for the process.
    Requested,
    /// The process kept the GPU busy for the longest time, and no process was named.
    Busiest,
}
