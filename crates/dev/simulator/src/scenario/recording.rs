//! Describes the recording as its table of contents shows it.

use serde::{Deserialize, Serialize};

use crate::optional::{Counter, Level, StatePiece};
use crate::values::kinds::TargetKind;
use crate::values::nanos::Nanos;

/// Facts about the recording. Each has a default; the names of devices say that they are synthetic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recording {
    /// Name of the Instruments template.
    pub template: String,
    /// Version and build of Instruments.
    pub instruments: String,
    /// Version and build of the operating system.
    pub os: String,
    /// Name of the recorded device.
    pub device: String,
    /// Model of the recorded device.
    pub model: String,
    /// Name of the Metal device.
    pub gpu: String,
    /// Recording mode: `Deferred`, `Windowed (5 seconds)`, …
    pub mode: String,
    /// Time limit in the words of `xctrace`.
    pub time_limit: String,
    /// Reason for the end of the recording.
    pub end_reason: String,
    /// Kind of target that was recorded.
    pub target: TargetKind,
    /// Exit status of the recorded process.
    pub exit_status: u32,
    /// End of the recorded process in the words of `xctrace`.
    pub termination: String,
    /// Arguments of the recorded process; the attribute is absent if there are none.
    pub arguments: Option<String>,
    /// Path of the recorded program; by default one that does not exist.
    pub program: Option<String>,
    /// Duration of the run; by default until `tail` after the last event.
    pub wall: Option<Nanos>,
    /// Time from the last event to the end of the run.
    pub tail: Nanos,
    /// Performance states in order, by default `Maximum` throughout; time between them is not covered.
    pub performance: Vec<StatePiece>,
    /// Thermal states in order, by default `Nominal` throughout; time between them is not covered.
    pub thermal: Vec<StatePiece>,
    /// Wired system memory from each instant on; not recorded if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wired: Vec<Level>,
    /// GPU counters; not recorded if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counter: Vec<Counter>,
    /// True if Instruments derived `metal-gpu-counter-intervals` from the counters' samples.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub counter_intervals: bool,
    /// True if kicks are divided among the shaders of their process.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shader_timeline: bool,
    /// True if a bundle stores stacks with a tag, as the newest layout does. Exports do not differ.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tagged_stacks: bool,
    /// True if the blocks of a bundle's tables are as large as those of Instruments: each is filled up
    /// with megabytes of zeros, which take time to write and to read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub large_blocks: bool,
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            template: "Metal System Trace".to_owned(),
            instruments: "26.0 (17A0000)".to_owned(),
            os: "26.0 (25A0000)".to_owned(),
            device: "Synthetic Mac".to_owned(),
            model: "Synthetic Mac".to_owned(),
            gpu: "Synthetic GPU".to_owned(),
            mode: "Deferred".to_owned(),
            time_limit: "12 hours".to_owned(),
            end_reason: "Target app exited".to_owned(),
            target: TargetKind::default(),
            exit_status: 0,
            termination: "exit(0)".to_owned(),
            arguments: None,
            program: None,
            wall: None,
            tail: Nanos::new(300_000_000),
            performance: vec![StatePiece::throughout("Maximum")],
            thermal: vec![StatePiece::throughout("Nominal")],
            wired: Vec::new(),
            counter: Vec::new(),
            counter_intervals: false,
            shader_timeline: false,
            tagged_stacks: false,
            large_blocks: false,
        }
    }
}
