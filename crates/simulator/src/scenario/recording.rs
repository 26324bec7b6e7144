//! What the table of contents says about the recording.

use serde::{Deserialize, Serialize};

use super::machine::{Counter, Level, StatePiece, is_false};
use super::nanos::Nanos;

/// The recording's own facts; every one has a default that says it is synthetic or is harmless.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recording {
    /// Instruments template.
    pub template: String,
    /// Instruments version and build.
    pub instruments: String,
    /// Operating system version and build.
    pub os: String,
    /// The device's name.
    pub device: String,
    /// The device's model.
    pub model: String,
    /// The Metal device's name.
    pub gpu: String,
    /// `Deferred`, `Windowed (5 seconds)`, …
    pub mode: String,
    /// The time limit as `xctrace` words it.
    pub time_limit: String,
    /// Why the recording ended.
    pub end_reason: String,
    /// What was recorded.
    pub target: TargetKind,
    /// The target's own exit status.
    pub exit_status: u32,
    /// How the target ended, as `xctrace` words it.
    pub termination: String,
    /// The target's arguments; the attribute is absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The run's whole length; by default the last event and `tail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<Nanos>,
    /// From the last event to the end of the run.
    pub tail: Nanos,
    /// The GPU's performance state throughout, unless `performance` has pieces.
    pub performance_state: String,
    /// Whether Instruments forced that state.
    pub performance_state_induced: bool,
    /// The device's thermal state throughout, unless `thermal` has pieces.
    pub thermal_state: String,
    /// Performance states one after another; time between them is not covered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub performance: Vec<StatePiece>,
    /// Thermal states one after another; time between them is not covered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thermal: Vec<StatePiece>,
    /// Wired system memory from each instant on; not recorded when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wired: Vec<Level>,
    /// GPU counters; not recorded when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counter: Vec<Counter>,
    /// Whether kicks are divided among the shaders of their process.
    #[serde(skip_serializing_if = "is_false")]
    pub shader_timeline: bool,
}

/// What `xctrace record` was pointed at.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A command it started.
    #[default]
    Launched,
    /// A process it found running.
    Attached,
    /// The whole machine.
    AllProcesses,
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
            wall: None,
            tail: Nanos::new(300_000_000),
            performance_state: "Maximum".to_owned(),
            performance_state_induced: false,
            thermal_state: "Nominal".to_owned(),
            performance: Vec::new(),
            thermal: Vec::new(),
            wired: Vec::new(),
            counter: Vec::new(),
            shader_timeline: false,
        }
    }
}
