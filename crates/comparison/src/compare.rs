//! Two sides → what changed.

use std::iter::{once, zip};

use metalens_analyzer::message::{PlacedValue, name};
use metalens_analyzer::{Message, MessageMut, Note, NoteDetail, Report, message, notes_mut};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::alike::{Comparable, comparable};
use crate::change::{Floor, Judge};
use crate::fusion::{Fusion, fusion};
use crate::gate::GateResult;
use crate::kernels::{self, KernelChange};
use crate::metric_changes::{self, MetricChange};
use crate::moved::{Moved, headline, moved, unexplained};
use crate::repeated::repeated;
use crate::runs::Runs;
use crate::sentences;

/// The contract's name; its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.comparison/1";

/// What changed from one side to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// `metalens.comparison/1`.
    pub schema: String,
    /// How much longer or shorter it took, and where the difference lies: one sentence.
    pub headline: String,
    /// Values of `headline`, in the order in which they stand in it.
    #[serde(default)]
    pub headline_values: Vec<PlacedValue>,
    /// Which of dispatches, gaps, kernel time and wall moved.
    pub moved: Vec<Moved>,
    /// Whether kernels were fused; null unless that was asked.
    pub fusion: Option<Fusion>,
    /// The side to compare with.
    pub base: SideFacts,
    /// The side that is compared.
    pub new: SideFacts,
    /// Whether they can be compared.
    pub comparable: Comparable,
    /// How the changes were judged.
    pub method: Method,
    /// Every figure that a side has.
    pub metrics: Vec<MetricChange>,
    /// Every kernel that a side has, the largest change of total time first.
    pub kernels: Vec<KernelChange>,
    /// Whether the limits were kept; null if none were set.
    pub gate: Option<GateResult>,
    /// What a reader should know about these numbers.
    pub notes: Vec<String>,
    /// Id, severity and values of each of `notes`.
    #[serde(default)]
    pub note_details: Vec<NoteDetail>,
}

/// What one side is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideFacts {
    /// Its runs, in the order of all lists of values.
    pub runs: Vec<RunName>,
}

/// One run of a side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunName {
    /// What was read, as it was given.
    pub path: String,
    /// Whom it is about.
    pub process: String,
}

/// How changes were judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Method {
    /// How the change is estimated: `hodges-lehmann`.
    pub estimate: String,
    /// What the interval is: `ordered-differences`; null if there is none.
    pub interval: Option<String>,
    /// How sure it is, where every run has a value.
    pub confidence: Option<f64>,
    /// The smallest change that is worth a word.
    pub floor: Floor,
    /// The same in a sentence.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
}

/// How to compare.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// What to look for.
    pub preset: Option<Preset>,
    /// Whether sides that differ in their circumstances are compared nevertheless.
    /// It is recorded; to refuse is up to the caller.
    pub allow_different: bool,
    /// The smallest change that is worth a word.
    pub floor: Floor,
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Eager against compiled: were kernels fused?
    Fusion,
}

/// Compares the runs of two sides.
#[must_use]
pub fn compare(base: &[Report], new: &[Report], options: &Options) -> Comparison {
    compare_runs(&Runs::of(base), &Runs::of(new), options)
}

/// The same of what was kept of them.
#[must_use]
pub fn compare_runs(base: &Runs, new: &Runs, options: &Options) -> Comparison {
    let repeated = repeated(base, new);
    let judge = Judge::new(options.floor, base.count(), new.count());
    let judge = match repeated.is_empty() {
        true => judge,
        false => judge.of_repeated(),
    };
    let metrics = metric_changes::changes(base, new, &judge);
    let kernels = kernels::changes(base, new, &judge);
    let comparable = comparable(base, new, options.allow_different);
    let gone = kernels::gone(&kernels, &metrics);
    let unexplained = unexplained(&metrics);
    let asked = options.preset;
    let fusion = asked.map(|Preset::Fusion| fusion(&metrics, &kernels));
    let found = repeated.into_iter().chain(gone).chain(unexplained);
    let (notes, note_details) = Note::lists(notes(base, new, &comparable, found));
    let (headline, headline_values) = headline(&metrics).into_parts();
    Comparison {
        schema: SCHEMA.to_owned(),
        headline,
        headline_values,
        moved: moved(&metrics),
        fusion,
        base: facts(base),
        new: facts(new),
        method: method(&judge, base.count(), new.count()),
        notes,
        note_details,
        comparable,
        metrics,
        kernels,
        gate: None,
    }
}

fn facts(runs: &Runs) -> SideFacts {
    let runs = runs.paths.iter().zip(&runs.processes);
    let runs = runs.map(|(path, target)| RunName {
        path: path.clone(),
        process: target.clone(),
    });
    SideFacts {
        runs: runs.collect(),
    }
}

fn method(judge: &Judge, base: usize, new: usize) -> Method {
    let confidence = judge.confidence();
    let (says, says_values) = sentences::method(confidence, base, new).into_parts();
    Method {
        estimate: "hodges-lehmann".to_owned(),
        interval: confidence.map(|_| "ordered-differences".to_owned()),
        confidence,
        floor: judge.floor,
        says,
        says_values,
    }
}

fn notes(
    base: &Runs,
    new: &Runs,
    comparable: &Comparable,
    found: impl Iterator<Item = Note>,
) -> Vec<Note> {
    let of = |who: &'static str, note: Note| {
        let text = Message::new(&note.text, &note.detail.values);
        let text = message!("{} ({})", text, who);
        Note::loud(&note.detail.id, text)
    };
    let is_in = |note: &Note, runs: &Runs| runs.loud.contains(&note.text);
    let forced = comparable.forced.then(|| {
        let differ = comparable.differ.iter().map(|one| {
            let base = Message::new(&one.base, &one.base_values);
            let new = Message::new(&one.new, &one.new_values);
            message!("{}: base {}, new {}", name(&one.what), base, new)
        });
        let text = message!(
            "FORCED: the sides are not comparable, and were compared because that was asked for: {}",
            Message::joined(differ, "; ")
        );
        Note::loud("forced", text)
    });
    let first = base.loud_notes().map(|note| {
        let who = if is_in(&note, new) {
            "base and new"
        } else {
            "base"
        };
        of(who, note)
    });
    let rest = new.loud_notes().filter(|note| !is_in(note, base));
    let rest = rest.map(|note| of("new", note));
    forced
        .into_iter()
        .chain(first)
        .chain(rest)
        .chain(found)
        .collect()
}

impl Comparison {
    /// Whether sentences come with their values. Comparisons of earlier versions of metalens
    /// have none; every other says of how many runs it is.
    #[must_use]
    pub fn has_values(&self) -> bool {
        !self.method.says_values.is_empty()
    }

    /// Lends every sentence in which values may stand, for a change.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = MessageMut<'_>> {
        let said = [
            (&mut self.headline, &mut self.headline_values),
            (&mut self.method.says, &mut self.method.says_values),
        ];
        let moved = self.moved.iter_mut();
        let moved = moved.map(|one| (&mut one.says, &mut one.says_values));
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
        let all = said.into_iter().chain(moved).chain(fusion).chain(gate);
        let all = all.map(|(text, values)| MessageMut { text, values });
        let notes = notes_mut(&mut self.notes, &mut self.note_details);
        all.chain(self.comparable.messages_mut()).chain(notes)
    }
}

/// The JSON Schema of the comparison.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    titled(schemars::schema_for!(Comparison), SCHEMA)
}

/// A schema under the name of its contract.
pub(crate) fn titled(schema: schemars::Schema, title: &str) -> serde_json::Value {
    let mut schema = schema.to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), title.into());
    }
    schema
}
