//! Two sides → what changed.

use metalens_analyzer::Report;
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

/// The contract's name; its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.comparison/1";

/// What changed from one side to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// `metalens.comparison/1`.
    pub schema: String,
    /// How much longer or shorter it took, and where the difference lies: one sentence.
    pub headline: String,
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
    pub target: String,
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
    Comparison {
        schema: SCHEMA.to_owned(),
        headline: headline(&metrics),
        moved: moved(&metrics),
        fusion,
        base: facts(base),
        new: facts(new),
        method: method(&judge, base.count(), new.count()),
        notes: notes(base, new, &comparable, [repeated, gone, unexplained]),
        comparable,
        metrics,
        kernels,
        gate: None,
    }
}

fn facts(runs: &Runs) -> SideFacts {
    let runs = runs.paths.iter().zip(&runs.targets);
    let runs = runs.map(|(path, target)| RunName {
        path: path.clone(),
        target: target.clone(),
    });
    SideFacts {
        runs: runs.collect(),
    }
}

fn method(judge: &Judge, base: usize, new: usize) -> Method {
    let confidence = judge.confidence();
    Method {
        estimate: "hodges-lehmann".to_owned(),
        interval: confidence.map(|_| "ordered-differences".to_owned()),
        confidence,
        floor: judge.floor,
        says: crate::words::method(confidence, base, new),
    }
}

fn notes(base: &Runs, new: &Runs, comparable: &Comparable, found: [Vec<String>; 3]) -> Vec<String> {
    let of = |who: &str, note: &String| format!("{note} ({who})");
    let first = base.loud.iter().map(|note| match new.loud.contains(note) {
        true => of("base and new", note),
        false => of("base", note),
    });
    let rest = new.loud.iter().filter(|note| !base.loud.contains(note));
    let loud = first.chain(rest.map(|note| of("new", note)));
    let mut notes: Vec<String> = loud.chain(found.into_iter().flatten()).collect();
    if comparable.forced {
        let differ: Vec<String> = comparable.differ.iter().map(ToString::to_string).collect();
        notes.insert(
            0,
            format!(
                "FORCED: the sides are not comparable, and were compared because that was asked for: {}",
                differ.join("; ")
            ),
        );
    }
    notes
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
