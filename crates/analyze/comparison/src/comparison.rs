//! Defines a comparison, as its JSON has it.

use std::iter::{once, zip};

use metalens_analyzer::message::PlacedValue;
use metalens_analyzer::{MessageMut, NoteDetail, notes_mut};
use serde::{Deserialize, Serialize};

use crate::change::Floor;
use crate::circumstances::Comparability;
use crate::difference::Difference;
use crate::fusion::Fusion;
use crate::gate::GateResult;
use crate::kernels::KernelChange;
use crate::metric_changes::MetricChange;
use crate::moved::QuantityChange;
use crate::thresholds::ThresholdComparison;
use crate::work::WorkComparison;

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.comparison/2";

/// Changes from one side of runs to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Name of the format: `metalens.comparison/2`.
    pub schema: String,
    /// The amounts of work, the kernels that one side lacks, and the change of the wall time and
    /// where it comes from, in a few sentences.
    pub headline: String,
    /// Values of `headline`, in the order in which they stand in it.
    #[serde(default)]
    pub headline_values: Vec<PlacedValue>,
    /// The amounts of work of both sides. Null in comparisons that an earlier version wrote.
    #[serde(default)]
    pub work: Option<WorkComparison>,
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
    #[serde(default)]
    pub difference: Option<Difference>,
    /// Changes of every kernel that a side has, the largest change of total time first.
    pub kernels: Vec<KernelChange>,
    /// Thresholds that somebody set, and how many runs of both sides miss them.
    #[serde(default)]
    pub thresholds: Vec<ThresholdComparison>,
    /// Result of the gate. Null if no limits were given.
    pub gate: Option<GateResult>,
    /// Notes that a reader needs to interpret the numbers.
    pub notes: Vec<String>,
    /// Id, severity and values of each of `notes`.
    #[serde(default)]
    pub note_details: Vec<NoteDetail>,
}

/// The runs of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SideFacts {
    /// The runs, in the order of all lists of values.
    pub runs: Vec<RunName>,
}

/// Identity of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RunName {
    /// Path of the input, as it was given.
    pub path: String,
    /// Name of the process that the report is about.
    pub process: String,
}

/// Method by which changes were judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ComparisonMethod {
    /// Method of the estimate: `hodges-lehmann`.
    pub estimate: String,
    /// Method of the interval: `ordered-differences`. Null if there is no interval.
    pub interval: Option<String>,
    /// Confidence of the intervals, for figures that every run has. Null if there is no interval.
    pub confidence: Option<f64>,
    /// The smallest change that is worth reporting.
    pub floor: Floor,
    /// The method in one sentence.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
}

impl Comparison {
    /// Returns whether the sentences have values. Comparisons that an earlier version of metalens
    /// wrote have none. In all others the method does: it states the number of runs.
    #[must_use]
    pub fn has_values(&self) -> bool {
        !self.method.says_values.is_empty()
    }

    /// Lends every sentence that may contain values, so that a caller can change it.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = MessageMut<'_>> {
        let top = [
            (&mut self.headline, &mut self.headline_values),
            (&mut self.method.says, &mut self.method.says_values),
        ];

        let moved = self.moved.iter_mut();
        let moved = moved.map(|quantity| (&mut quantity.says, &mut quantity.says_values));
        let fusion = self.fusion.iter_mut().flat_map(|fusion| {
            let (figures, values) = (&mut fusion.evidence, &mut fusion.evidence_values);
            values.resize_with(figures.len(), Vec::new);
            once((&mut fusion.says, &mut fusion.says_values)).chain(zip(figures, values))
        });
        let gate = self.gate.iter_mut().flat_map(|gate| {
            let rows = gate.rows.iter_mut();
            let rows = rows.map(|row| (&mut row.why, &mut row.why_values));
            once((&mut gate.source, &mut gate.source_values)).chain(rows)
        });

        let all = top.into_iter().chain(moved).chain(fusion).chain(gate);
        let all = all.map(|(text, values)| MessageMut { text, values });
        let notes = notes_mut(&mut self.notes, &mut self.note_details);
        all.chain(self.comparable.messages_mut()).chain(notes)
    }
}
