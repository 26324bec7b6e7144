//! Compares two sides of runs.

use std::iter::{once, zip};

use metalens_analyzer::message::{PlacedValue, name};
use metalens_analyzer::{
    Message, MessageMut, Note, NoteDetail, Report, message, notes_mut, titled_schema,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Floor, Judge};
use crate::circumstances::{Comparability, comparability};
use crate::fusion::{Fusion, fusion};
use crate::gate::GateResult;
use crate::headline::headline;
use crate::kernels::{self, KernelChange};
use crate::metric_changes::{self, MetricChange};
use crate::moved::{QuantityChange, moved, unknown_cause_notes};
use crate::repeated::repeated;
use crate::runs::Runs;
use crate::sentences;
use crate::thresholds::{self, ThresholdComparison};
use crate::work::{WorkComparison, clear_directions, work};

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.comparison/2";

/// Changes from one side of runs to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Changes of dispatches, gaps, kernel time and wall time.
    pub moved: Vec<QuantityChange>,
    /// Verdict on kernel fusion. Null unless it was requested.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideFacts {
    /// The runs, in the order of all lists of values.
    pub runs: Vec<RunName>,
}

/// Identity of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunName {
    /// Path of the input, as it was given.
    pub path: String,
    /// Name of the process that the report is about.
    pub process: String,
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
    /// The smallest change that is worth reporting.
    pub floor: Floor,
    /// The method in one sentence.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
}

/// Options of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CompareOptions {
    /// A specific question to answer. None for a plain comparison.
    pub preset: Option<ComparisonPreset>,
    /// Compares sides that differ in their circumstances. The comparison records this; the caller
    /// may refuse.
    pub allow_different: bool,
    /// The smallest change that is worth reporting.
    pub floor: Floor,
}

/// A specific question that a comparison answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonPreset {
    /// Did compiling an eager program fuse its kernels?
    Fusion,
}

/// Compares the reports of two sides.
#[must_use]
pub fn compare(base: &[Report], new: &[Report], options: &CompareOptions) -> Comparison {
    compare_runs(&Runs::from_reports(base), &Runs::from_reports(new), options)
}

/// Compares two sides of runs, such as a baseline and reports.
#[must_use]
pub fn compare_runs(base: &Runs, new: &Runs, options: &CompareOptions) -> Comparison {
    let repeated = repeated(base, new);
    let mut judge = Judge::new(options.floor, base.count(), new.count());
    if !repeated.is_empty() {
        judge = judge.without_confidence();
    }

    let mut metrics = metric_changes::changes(base, new, &judge);
    let kernels = kernels::changes(base, new, &judge);
    let work = work((base, new), (&metrics, &kernels), &judge, options.preset);
    clear_directions(&mut metrics, work.basis);
    let comparable = comparability(base, new, options.allow_different);
    let fusion = options
        .preset
        .map(|ComparisonPreset::Fusion| fusion(&metrics, &kernels));

    let notes = forced_note(&comparable)
        .into_iter()
        .chain(loud_notes(base, new))
        .chain(repeated)
        .chain(kernels::one_sided_note(&kernels, &metrics))
        .chain(unknown_cause_notes(&metrics));
    let (notes, note_details) = Note::lists(notes);
    let (headline, headline_values) =
        headline(&work, &metrics, &kernels, &options.floor).into_parts();
    Comparison {
        schema: SCHEMA.to_owned(),
        headline,
        headline_values,
        moved: moved(&metrics, &work),
        work: Some(work),
        fusion,
        base: facts(base),
        new: facts(new),
        method: method(&judge, base.count(), new.count()),
        notes,
        note_details,
        comparable,
        metrics,
        kernels,
        thresholds: thresholds::compared(base, new),
        gate: None,
    }
}

/// Returns the runs of a side, each by its path and its process.
fn facts(runs: &Runs) -> SideFacts {
    let runs = runs.paths.iter().zip(&runs.processes);
    let runs = runs.map(|(path, process)| RunName {
        path: path.clone(),
        process: process.clone(),
    });
    SideFacts {
        runs: runs.collect(),
    }
}

/// Returns the method by which changes are judged.
fn method(judge: &Judge, base: usize, new: usize) -> ComparisonMethod {
    let confidence = judge.confidence();
    let (says, says_values) = sentences::method(confidence, base, new).into_parts();
    ComparisonMethod {
        estimate: "hodges-lehmann".to_owned(),
        interval: confidence.map(|_| "ordered-differences".to_owned()),
        confidence,
        floor: judge.floor,
        says,
        says_values,
    }
}

/// Returns the note of sides that are compared although they were recorded differently.
fn forced_note(comparable: &Comparability) -> Option<Note> {
    let differ = comparable.differ.iter().map(|difference| {
        let base = Message::new(&difference.base, &difference.base_values);
        let new = Message::new(&difference.new, &difference.new_values);
        message!("{}: base {}, new {}", name(&difference.what), base, new)
    });
    comparable.forced.then(|| {
        let text = message!(
            "FORCED: the sides were recorded under different conditions and compared on request: {}",
            Message::joined(differ, "; ")
        );
        Note::loud("forced", text)
    })
}

/// Returns the loud notes of both sides, each once and with the sides that it applies to.
fn loud_notes(base: &Runs, new: &Runs) -> impl Iterator<Item = Note> {
    let has = |runs: &Runs, note: &Note| runs.loud.contains(&note.text);
    let of_base = base.loud_notes().map(move |note| {
        let sides = if has(new, &note) {
            "base and new"
        } else {
            "base"
        };
        with_sides(&note, sides)
    });
    let only_new = new.loud_notes().filter(move |note| !has(base, note));
    of_base.chain(only_new.map(|note| with_sides(&note, "new")))
}

/// Returns a loud note that names its sides.
fn with_sides(note: &Note, sides: &'static str) -> Note {
    let text = note.message();
    Note::loud(&note.detail.id, message!("{} ({})", text, sides))
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

/// Returns the JSON Schema of the comparison.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    titled_schema(schemars::schema_for!(Comparison), SCHEMA)
}
