//! What the numbers mean: targets met or missed, and what was found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::basics::message::PlacedValue;

/// A number that should be on one side of a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdResult {
    /// `average-gap`, `utilization`, `launch-efficiency`.
    pub id: String,
    /// The measured value; null if it is not measurable.
    pub value: Option<f64>,
    /// The value not to be missed.
    pub limit: f64,
    /// What both are in.
    pub unit: Unit,
    /// On which side of the limit the value should be.
    pub wanted: Wanted,
    /// Whether it is.
    pub verdict: Verdict,
    /// Whether somebody set the limit, so that the value has to be measured.
    pub required: bool,
    /// What was compared with what, and what the value cannot say.
    pub why: String,
    /// Values of `why`, in the order in which they stand in it.
    #[serde(default)]
    pub why_values: Vec<PlacedValue>,
}

impl ThresholdResult {
    /// Whether a check of the targets fails by it: the value is on the wrong side of the
    /// limit, or cannot be measured although somebody set the limit.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        match self.verdict {
            Verdict::Pass => false,
            Verdict::Fail => true,
            Verdict::NotMeasurable => self.required,
        }
    }
}

/// What a target's value is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// A share, 0 to 1.
    Ratio,
}

/// On which side of its limit a value should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// Less than the limit.
    Below,
    /// More than the limit.
    Above,
}

/// Whether a target was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It was.
    Pass,
    /// It was not.
    Fail,
    /// This recording cannot tell.
    NotMeasurable,
}

/// GPU time over run time, by three ideas of what the run time is. A program
/// that starts slowly is bad by one and good by another: all are shown.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Efficiency {
    /// From the first encoding to the last completion, within the window: what
    /// the target `launch-efficiency` is about.
    pub program_ns: Option<u64>,
    /// busy / that.
    pub of_program: Option<f64>,
    /// The window without the warm-up; null if there is none.
    pub steady_ns: Option<u64>,
    /// busy in that / that.
    pub of_steady: Option<f64>,
    /// The whole recording, start of the program included.
    pub wall_ns: Option<u64>,
    /// busy / that.
    pub of_wall: Option<f64>,
}

/// A finding: what is wrong, the evidence, and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Id of its rule: `serialized`, `tiny-kernels`, …
    pub id: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// Statement of what is wrong, in one sentence.
    pub title: String,
    /// Numbers behind the finding, as a clause.
    pub evidence: String,
    /// Values of `evidence`, in the order in which they stand in it.
    #[serde(default)]
    pub evidence_values: Vec<PlacedValue>,
    /// Places to look at: times of the recording, kernels, processes.
    pub look_at: Vec<String>,
    /// Values of each place of `look_at`, in the order in which they stand in it.
    #[serde(default)]
    pub look_at_values: Vec<Vec<PlacedValue>>,
    /// First step to take, as an imperative clause.
    #[serde(default)]
    pub action: String,
    /// What to do about it, in full sentences.
    pub advice: String,
    /// Observation that would disprove the finding.
    pub counter_evidence: String,
    /// Upper bound of what the advice could gain; null if unknown.
    pub gain: Option<Gain>,
}

/// Severity of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A tenth of the time or more is at stake, or results may be wrong.
    High,
    /// A fiftieth of the time or more is at stake, where that is known.
    Medium,
    /// Less is at stake, or it is a hint.
    Low,
    /// A reason to trust these numbers less; nothing to fix in the program.
    Caveat,
}

/// An upper bound: nothing can gain more than the time it takes out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gain {
    /// The time that would go.
    pub at_most_ns: u64,
    /// The window / the window without it.
    pub speedup: f64,
}

/// The report in four sentences.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// How busy the GPU was.
    pub busy: String,
    /// Values of `busy`, in the order in which they stand in it.
    #[serde(default)]
    pub busy_values: Vec<PlacedValue>,
    /// How idle it was.
    pub idle: String,
    /// Values of `idle`, in the order in which they stand in it.
    #[serde(default)]
    pub idle_values: Vec<PlacedValue>,
    /// Whose fault that is; null if it was never idle.
    pub cause: Option<String>,
    /// Values of `fault`, in the order in which they stand in it.
    #[serde(default)]
    pub cause_values: Vec<PlacedValue>,
    /// What could be gained most by.
    pub advice: String,
    /// Values of `advice`, in the order in which they stand in it.
    #[serde(default)]
    pub advice_values: Vec<PlacedValue>,
}
