//! Types of what the numbers mean: efficiency, findings and the summary.

use metalens_message::{Factor, Message, Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FrameworkName, ReplayAction, StepTime};

/// GPU busy time divided by run time, for three definitions of run time. A program that starts
/// slowly is bad by one and good by another, so all are shown.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Efficiency {
    /// Time in nanoseconds from the first encoding to the last completion in the window. Null if
    /// unknown.
    pub program_ns: Option<Ns>,
    /// Busy time divided by `program_ns`; null if unknown.
    pub of_program: Option<Share>,
    /// Duration of the whole recording in nanoseconds, with the start of the program; null if
    /// unknown.
    pub wall_ns: Option<Ns>,
    /// Busy time divided by `wall_ns`; null if unknown.
    pub of_wall: Option<Share>,
}

/// A finding: what is wrong, the evidence, and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Id of the rule that made the finding: `serialized`, `tiny-kernels`, …
    pub id: String,
    /// Severity of the finding.
    pub severity: Severity,
    /// Statement of what is wrong, in one sentence.
    pub title: String,
    /// Numbers behind the finding, as a clause.
    pub evidence: Message,
    /// Places to look at: times of the recording, kernels, processes.
    pub look_at: Vec<Message>,
    /// First step to take, as an imperative clause: that of the framework, if one was seen.
    pub action: String,
    /// Advice on what to do, in full sentences: that of the framework, if one was seen.
    pub advice: String,
    /// Advice for users of each framework; empty if one was seen.
    pub framework_advice: Vec<FrameworkAdvice>,
    /// Observation that would disprove the finding.
    pub counter_evidence: String,
    /// Upper bound of what the advice could gain; null if unknown.
    pub gain: Option<Gain>,
    /// Effort of the first step.
    pub effort: Effort,
}

/// Advice for users of a framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FrameworkAdvice {
    /// Framework whose users it is for.
    pub framework: FrameworkName,
    /// Advice in full sentences.
    pub advice: String,
}

/// Effort that the first step of an advice usually takes. It depends on the rule alone: metalens
/// does not know the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// An option, a setting, or another recording; no code changes.
    Setting,
    /// A change of code in one place.
    SmallChange,
    /// Another structure of the program, or another kernel.
    Redesign,
    /// The recording does not tell what to change: look for the reason first.
    Investigate,
}

impl Effort {
    /// Returns the words of pages.
    pub fn label(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::SmallChange => "small change",
            Self::Redesign => "redesign",
            Self::Investigate => "investigate",
        }
    }
}

/// Severity of a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
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

impl Severity {
    /// Returns the name that JSON has.
    pub const fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Caveat => "caveat",
        }
    }
}

/// Gain of a finding's action.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gain {
    /// Time that the action saves, in nanoseconds.
    pub saves_ns: Ns,
    /// Time of the replay, or else of what is judged, divided by that time without what is saved.
    pub speedup: Factor,
    /// Certainty of these numbers.
    pub certainty: GainCertainty,
    /// Change that was replayed for it; null if it follows from the recorded gaps.
    pub change: Option<ReplayAction>,
    /// Time of a step with that change; null if unknown.
    pub step: Option<StepTime>,
}

/// Certainty of a gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GainCertainty {
    /// Prediction of the replay.
    About,
    /// Limit: the action saves no more.
    AtMost,
}

impl GainCertainty {
    /// Returns the words before the number: `about` or `at most`.
    pub fn words(self) -> &'static str {
        match self {
            Self::About => "about",
            Self::AtMost => "at most",
        }
    }
}

/// Summary of the report in four sentences.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Sentence on the steps of the program, and how fast they are; null if there are none.
    pub steps: Option<Message>,
    /// Sentence on steps that take much longer than usual; null if there are none.
    pub slow: Option<Message>,
    /// Sentence on the busy time of the GPU.
    pub busy: Message,
    /// Sentence on the first finding that says that results or numbers may be wrong; null if there
    /// is none.
    pub warning: Option<String>,
    /// Sentence on the idle time of the GPU.
    pub idle: Message,
    /// Sentence on the main cause of the idle time; null if the GPU was never idle.
    pub cause: Option<Message>,
    /// Sentence on the change that could gain the most.
    pub advice: Message,
    /// Sentence on what to record next, where something that is not recorded would tell more; null
    /// otherwise.
    pub next: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        use Severity::{Caveat, High, Low, Medium};
        for severity in [High, Medium, Low, Caveat] {
            let json = serde_json::to_value(severity).unwrap();
            assert_eq!(json, severity.name());
        }
    }
}
