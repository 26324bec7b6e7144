//! The report: everything an analysis says, as plain data.
//!
//! Its JSON form is a contract: keys stay, new ones may come. All times are
//! whole nanoseconds; times of day on the recording's clock count from its
//! beginning. `null` means unknown or undefined, never zero.

mod counters;
mod cpu;
mod idle;
mod kernels;
mod known_work;
mod machine;
mod messages;
mod occupancy;
mod phases;
mod profile;
mod recording;
mod sanity;
mod shape;
mod summary;
mod verdicts;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use counters::*;
pub use cpu::*;
pub use idle::*;
pub use kernels::*;
pub use known_work::*;
pub use machine::*;
pub use messages::*;
pub use occupancy::*;
pub use phases::*;
pub use profile::*;
pub use recording::*;
pub use sanity::*;
pub use shape::*;
pub use summary::*;
pub use verdicts::*;

/// The contract's name; its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.report/2";

/// Everything an analysis says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `metalens.report/2`.
    pub schema: String,
    /// The report in four sentences.
    pub summary: Summary,
    /// What was read, and how.
    pub source: Source,
    /// What is known of the recording.
    pub run: RunFacts,
    /// Whom the report is about.
    pub process: AnalyzedProcess,
    /// Which part of the recording it is about.
    pub window: Window,
    /// How many of what.
    pub counts: Counts,
    /// How busy the GPU was, inside the window.
    pub busy: Busy,
    /// GPU time over run time, by three ideas of what the run time is.
    pub efficiency: Efficiency,
    /// When the target left the GPU idle, inside the window.
    pub gaps: Gaps,
    /// Whose fault the idle time is.
    pub idle: IdleTime,
    /// How long work travels to the GPU and back.
    pub latency: Latency,
    /// The target's work by name and channel, the most time first.
    pub kernels: Vec<Kernel>,
    /// The target's work by channel.
    pub channels: Vec<Channel>,
    /// The target's shaders, as far as the recording lists them; without times.
    pub shaders: Vec<Shader>,
    /// Where the target's GPU time is.
    pub shape: Shape,
    /// What the recording falls into.
    pub phases: Phases,
    /// Everyone who used the GPU, the busiest first, over the whole recording.
    pub processes: Vec<ProcessFacts>,
    /// What else the machine did during the window.
    pub machine: Machine,
    /// The GPU's hardware counters; null if there are none.
    pub counters: Option<Counters>,
    /// What the target's threads did on the CPU; null without samples.
    pub cpu: Option<Cpu>,
    /// How fast known work went; null if no file tells how much there was.
    pub work: Option<Work>,
    /// Whether the recording makes sense.
    pub sanity: Sanity,
    /// Whether the targets were met.
    pub thresholds: Vec<ThresholdResult>,
    /// What was found, what matters most first.
    pub findings: Vec<Finding>,
    /// What this recording cannot tell, and why.
    pub not_recorded: Vec<NotRecorded>,
    /// What a reader should know about these numbers.
    pub notes: Vec<String>,
    /// Id, severity and values of each of `notes`.
    #[serde(default)]
    pub note_details: Vec<NoteDetail>,
}

impl Report {
    /// The targets by which a check fails: those that are missed, and all of them if none
    /// could be measured.
    #[must_use]
    pub fn missed_thresholds(&self) -> Vec<&ThresholdResult> {
        let is_measured = self.thresholds.iter().any(|target| target.value.is_some());
        let targets = self.thresholds.iter();
        let missed = targets.filter(|target| !is_measured || target.is_missed());
        missed.collect()
    }
}

/// The JSON Schema of the report.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    titled(schemars::schema_for!(Report), SCHEMA)
}

/// The JSON Schema of the profile.
#[must_use]
pub fn profile_json_schema() -> serde_json::Value {
    titled(schemars::schema_for!(Profile), PROFILE_SCHEMA)
}

/// A schema under the name of its contract.
pub(crate) fn titled(schema: schemars::Schema, title: &str) -> serde_json::Value {
    let mut schema = schema.to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), title.into());
    }
    schema
}
