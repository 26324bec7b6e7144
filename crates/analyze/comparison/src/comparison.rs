//! Defines a comparison, as its JSON has it.

use std::iter::once;

use metalens_analyzer::{GateResult, Note};
use metalens_message::{Message, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::Floor;
use crate::circumstances::{CircumstanceDifference, Comparability};
use crate::difference::Difference;
use crate::fusion::Fusion;
use crate::kernels::KernelChange;
use crate::metric_changes::MetricChange;
use crate::moved::QuantityChange;
use crate::work::WorkComparison;

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.comparison/1";

/// Changes from one side of runs to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the format: `metalens.comparison/1`.
    pub schema: String,
    /// The amounts of work, the kernels that one side lacks, and the change of the wall time and
    /// where it comes from, in a few sentences.
    pub headline: Message,
    /// The amounts of work of both sides.
    pub work: WorkComparison,
    /// Changes of GPU intervals, idle time, kernel time and wall time.
    pub moved: Vec<QuantityChange>,
    /// Verdict on kernel fusion. Null unless it was requested or the changes are consistent with it.
    pub fusion: Option<Fusion>,
    /// The runs to compare with.
    pub base: SideFacts,
    /// The runs that are compared.
    pub new: SideFacts,
    /// Circumstances of both sides, and whether they allow a comparison.
    pub comparable: Comparability,
    /// Method by which the changes were judged.
    pub method: ComparisonMethod,
    /// Changes of every figure that a side has.
    pub metrics: Vec<MetricChange>,
    /// The difference of the time from first to last GPU work, as a sum of its parts. Null if a side has
    /// no run with all of them.
    pub difference: Option<Difference>,
    /// Changes of every kernel that a side has, the largest change of total time first.
    pub kernels: Vec<KernelChange>,
    /// Result of the gate. Null if no limits were given.
    pub gate: Option<GateResult>,
    /// Notes that a reader needs to interpret the numbers.
    pub notes: Vec<Note>,
}

/// The runs of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideFacts {
    /// The runs, in the order of all lists of values.
    pub runs: Vec<RunName>,
}

/// Identity of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunName {
    /// Path of the input, as it was given.
    pub path: String,
    /// Name of the process that the report is about.
    pub process: String,
    /// Reason why a limit that the run keeps may be missed even so, such as a process that was guessed.
    /// Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Message>,
}

/// Method by which changes were judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonMethod {
    /// Method of the estimate: `hodges-lehmann`.
    pub estimate: String,
    /// Method of the interval: `ordered-differences`. Null if there is no interval.
    pub interval: Option<String>,
    /// Confidence of the intervals, for figures that every run has. Null if there is no interval.
    pub confidence: Option<f64>,
    /// Number of sessions of base, if new was recorded in another one, hours away; else 0.
    #[serde(default)]
    pub sessions: usize,
    /// The smallest change that is worth reporting.
    pub floor: Floor,
    /// The method in one sentence.
    pub says: Message,
}

impl Comparison {
    /// Leaves the reason why the sides are not compared, and the way on, instead of all changes: what was
    /// recorded differently would be taken for the program's. A gate is inconclusive.
    #[must_use]
    pub fn refused(mut self) -> Self {
        let reasons = self.comparable.differ.iter();
        let reasons = reasons.map(CircumstanceDifference::says);
        self.headline = message!(
            "Not compared, because the sides were recorded differently: {}. Record both sides under the \
             same conditions, which renews a baseline, or compare them anyway with --allow-different",
            Message::joined(reasons, "; ")
        );
        if let Some(gate) = &mut self.gate {
            (gate.missed, gate.inconclusive) = (true, true);
            gate.rows.clear();
        }
        (self.metrics, self.kernels, self.moved) = (Vec::new(), Vec::new(), Vec::new());
        (self.difference, self.fusion, self.work.per_unit) = (None, None, Vec::new());
        self.notes.clear();
        self
    }

    /// Returns whether the sides are not compared.
    pub fn is_refused(&self) -> bool {
        !self.comparable.comparable && !self.comparable.forced
    }

    /// Lends every sentence that may contain values, so that a caller can change it.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        let moved = self.moved.iter_mut().map(|quantity| &mut quantity.says);
        let measured = self.fusion.iter_mut();
        let fusion = measured.flat_map(|fusion| once(&mut fusion.says).chain(&mut fusion.evidence));
        let gate = self.gate.iter_mut().flat_map(GateResult::messages_mut);
        let notes = self.notes.iter_mut().map(|note| &mut note.message);
        let runs = self.base.runs.iter_mut().chain(&mut self.new.runs);
        let doubts = runs.filter_map(|run| run.doubt.as_mut());

        ([&mut self.headline, &mut self.method.says].into_iter())
            .chain(moved)
            .chain(fusion)
            .chain(gate)
            .chain(self.comparable.messages_mut())
            .chain(notes)
            .chain(doubts)
    }
}
