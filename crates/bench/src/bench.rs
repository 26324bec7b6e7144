//! Computes the result of a benchmark from its runs.

use std::cmp::Ordering;
use std::iter::zip;

use metalens_analyzer::message::PlacedValue;
use metalens_analyzer::{Message, Report, message};
use metalens_comparison::many::{FindingTotal, RowFinding, total_findings};
use metalens_comparison::{
    Baseline, Change, ChangeClass, CompareOptions, Comparison, ComparisonPreset, Direction,
    Environment, Floor, Gate, KernelRuns, Number, Runs, RunsToTell, SideValues, TimeBasis, Unit,
    WorkAmount, change_by_turns, change_of_sides, compare_runs, distinct_environments,
    is_by_rounds, judge, runs_to_tell,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::carry_out::{BenchOutcome, RunEnd, RunRecord};
use crate::figures::{Figure, StateShare, figures, states, thermal_states};
use crate::parameters::{Parameter, ParameterValue};
use crate::sentences::{alone, fastest, versus};
use crate::variants::BenchPlan;
use crate::warnings::warnings;

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.bench/1";

pub(crate) const WALL: &str = "window.span_ns";
const INTERVALS: &str = "counts.intervals";
const BUFFERS: &str = "counts.command_buffers";

/// Result of a benchmark: several variants, recorded by turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bench {
    /// Name of the format: `metalens.bench/1`.
    pub schema: String,
    /// Version of metalens that wrote the result.
    pub metalens: String,
    /// True if a simulator made the recordings: no GPU ran any of it.
    pub synthetic: bool,
    /// False if the benchmark was stopped before its last run.
    pub complete: bool,
    /// Number of rounds that were requested; each has one run of each variant.
    pub rounds: u32,
    /// Amounts of work, if they differ between variants or are unknown. Null if they are the same.
    pub work: Option<Said>,
    /// Unit of work that times are compared per.
    pub basis: WorkBasis,
    /// The fastest variant, or why it cannot be told, in one sentence.
    pub verdict: Said,
    /// The fastest variant. Null for a single variant, or without any time.
    pub standing: Option<Standing>,
    /// Parameters of the commands.
    pub parameters: Vec<Parameter>,
    /// The variants in the order in which they were given.
    pub variants: Vec<VariantResult>,
    /// Each variant compared with the first one, or with the baseline.
    pub pairs: Vec<PairResult>,
    /// Reasons to doubt the figures.
    pub warnings: Vec<Said>,
    /// Environments in which the variants were recorded.
    #[serde(default)]
    pub environments: Vec<Environment>,
    /// The page that the folder had before, if it had fewer runs. Null if there was none.
    #[serde(default)]
    pub last: Option<LastPage>,
    /// Method of the comparison in one sentence.
    pub method: Said,
}

/// The page that a folder had before the last runs were added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LastPage {
    /// Number of complete runs of all variants.
    pub runs: u64,
    /// The fastest variant, or why it could not be told, in one sentence.
    pub verdict: Said,
}

/// A sentence with its values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// The whole sentence as text.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
}

/// Unit of work that times are compared per.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkBasis {
    /// A whole run of the program.
    Run,
    /// One command buffer: all variants ran as many of them.
    CommandBuffer,
    /// Time of one GPU interval.
    Interval,
}

/// Choice of the unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Per {
    /// Whole runs, unless a time limit ended one.
    #[default]
    Auto,
    /// Whole runs, whatever their work.
    Run,
    /// Units of work if the amounts of work differ.
    Unit,
}

/// The fastest variant and its rivals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// Index of the variant with the least median time.
    pub best: usize,
    /// True if it is faster than all others by more than noise, and by more than the floor.
    pub wins: bool,
    /// The other variants, the fastest first.
    pub others: Vec<Rival>,
}

/// A variant beside the fastest one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rival {
    /// Index of the variant among all.
    pub variant: usize,
    /// Median time divided by that of the fastest variant. Null if that is 0.
    pub times: Option<Number>,
    /// Change of the time from this variant to the fastest one.
    pub change: Change,
    /// Number of runs that would probably tell. Null if these tell, or if they do not vary.
    pub runs_to_tell: Option<RunsToTell>,
    /// The change in one sentence.
    #[serde(flatten)]
    pub said: Said,
}

/// One variant, and the figures of its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VariantResult {
    /// Name of the variant, unique in the benchmark.
    pub name: String,
    /// Words of the command, or of a bundled workload and its options.
    pub command: Vec<String>,
    /// Values of the parameters in this variant.
    pub parameters: Vec<ParameterValue>,
    /// The runs in the order of their rounds.
    pub runs: Vec<RunResult>,
    /// Wall time from the first to the last GPU work, per unit of work, in nanoseconds: what is
    /// compared.
    pub wall: SideValues,
    /// Time in which the GPU was busy, per unit of work, in nanoseconds.
    pub busy: SideValues,
    /// All figures of the reports that at least one run has.
    pub figures: Vec<Figure>,
    /// Performance states of the GPU while it was busy. Empty if a run did not record them.
    pub states: Vec<StateShare>,
    /// Thermal states that the runs were in. Empty if they did not record them.
    pub thermal: Vec<String>,
    /// Share of the window in which other processes used the GPU.
    pub others: SideValues,
    /// Kernels of all runs, by name and channel.
    pub kernels: Vec<KernelRuns>,
    /// Findings of the runs, each with the number of runs that have it.
    #[serde(default)]
    pub findings: Vec<FindingTotal>,
}

/// One run of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Number of the round, from 1.
    pub round: u32,
    /// Folder of the report, relative to the folder of the benchmark. Null if it was not kept.
    pub report: Option<String>,
    /// End of the run.
    #[serde(flatten)]
    pub end: RunEnd,
}

/// A variant compared with the first one, or with the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairResult {
    /// Name of the variant to compare with, or `baseline`.
    pub base: String,
    /// Name of the variant that is compared with it.
    pub new: String,
    /// True if the runs were compared round by round, false if as two sides.
    pub by_rounds: bool,
    /// Change of the wall time per unit of work.
    pub wall: Change,
    /// Number of runs that would probably tell. Null if these tell, or if they do not vary.
    pub runs_to_tell: Option<RunsToTell>,
    /// The change in one sentence.
    #[serde(flatten)]
    pub said: Said,
    /// Changes of busy and idle time behind it. Null without a change.
    pub why: Option<Said>,
    /// All changes between both, and the result of a gate, as `metalens compare` has them.
    pub comparison: Comparison,
}

/// Options of the result.
#[derive(Debug, Default)]
pub struct BenchOptions {
    /// Unit of work that times are compared per.
    pub per: Per,
    /// Stored runs to compare all variants with. None for the first variant.
    pub baseline: Option<Baseline>,
    /// Limits for each comparison.
    pub gate: Option<Gate>,
}

impl WorkBasis {
    /// Returns the unit after a time, such as ` per GPU interval`; empty for whole runs.
    #[must_use]
    pub fn per(self) -> &'static str {
        match self {
            Self::Run => "",
            Self::CommandBuffer => " per command buffer",
            Self::Interval => " per GPU interval",
        }
    }

    fn count(self) -> Option<&'static str> {
        match self {
            Self::Run => None,
            Self::CommandBuffer => Some(BUFFERS),
            Self::Interval => Some(INTERVALS),
        }
    }

    /// Returns the smallest change that counts: times per unit are means of many.
    fn floor(self) -> Floor {
        let floor = Floor::default();
        match self {
            Self::Run => floor,
            Self::CommandBuffer | Self::Interval => Floor {
                time_ns: 0.0,
                ..floor
            },
        }
    }
}

impl From<Message> for Said {
    fn from(message: Message) -> Self {
        let (says, says_values) = message.into_parts();
        Self { says, says_values }
    }
}

impl Said {
    /// Returns the sentence with its values.
    #[must_use]
    pub fn message(&self) -> Message {
        Message::new(&self.says, &self.says_values)
    }
}

impl VariantResult {
    /// Returns a figure, by its id.
    #[must_use]
    pub fn figure(&self, id: &str) -> Option<&SideValues> {
        let mut figures = self.figures.iter();
        figures.find(|one| one.id == id).map(|one| &one.values)
    }
}

/// The runs of a variant, for the comparison.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) runs: Runs,
    pub(crate) ends: Vec<RunEnd>,
}

impl Bench {
    /// Computes the result. A variant without a run is left out.
    #[must_use]
    pub fn new(
        plan: &BenchPlan,
        rounds: u32,
        outcome: &BenchOutcome,
        options: &BenchOptions,
    ) -> Self {
        let sides = sides(plan, outcome);
        let baseline = options.baseline.as_ref().map(|baseline| Side {
            name: "baseline".to_owned(),
            runs: baseline.runs.clone(),
            ends: Vec::new(),
        });
        let pairs = paired(&sides, baseline.as_ref());
        let (basis, work) = basis(&pairs, &sides, options.per);

        let pairs: Vec<PairResult> = pairs
            .iter()
            .map(|(base, new)| pair((base, new), basis, options.gate.as_ref()))
            .collect();
        let variants: Vec<VariantResult> = sides
            .iter()
            .filter_map(|side| {
                let variant = plan.variants.iter().find(|one| one.name == side.name)?;
                Some(VariantResult {
                    name: side.name.clone(),
                    command: variant.words.clone(),
                    parameters: variant.parameters.clone(),
                    runs: run_results(plan, outcome, &side.name),
                    wall: SideValues::from_values(&per_unit(&side.runs, WALL, basis)),
                    busy: SideValues::from_values(&per_unit(&side.runs, "busy.busy_ns", basis)),
                    figures: figures(&side.runs),
                    states: states(&side.runs),
                    thermal: thermal_states(&side.runs),
                    others: SideValues::from_values(&side.runs.others),
                    kernels: side.runs.kernels.clone(),
                    findings: findings(plan, outcome, &side.name),
                })
            })
            .collect();
        let standing = standing(&variants, basis);
        let verdict = verdict(&variants, standing.as_ref(), basis);
        Self {
            schema: SCHEMA.to_owned(),
            metalens: env!("CARGO_PKG_VERSION").to_owned(),
            synthetic: outcome.runs.iter().any(|run| run.report.run.synthetic),
            complete: outcome.is_complete,
            rounds,
            work: work.map(Said::from),
            basis,
            verdict: verdict.into(),
            warnings: warnings(&sides, &pairs)
                .into_iter()
                .map(Said::from)
                .collect(),
            method: method(&pairs, &variants).into(),
            environments: environments(plan, outcome),
            last: None,
            standing,
            parameters: plan.parameters.clone(),
            variants,
            pairs,
        }
    }

    /// Adds what the last page of the folder said of the same variants, if runs were added since. If
    /// none were, keeps what that page said of the one before it.
    pub fn compare_with(&mut self, last: &Self) {
        let names = |one: &Self| -> Vec<String> {
            one.variants.iter().map(|one| one.name.clone()).collect()
        };
        if names(last) != names(self) {
            return;
        }
        self.last = match last.run_count().cmp(&self.run_count()) {
            Ordering::Less => Some(LastPage {
                runs: last.run_count(),
                verdict: last.verdict.clone(),
            }),
            Ordering::Equal => last.last.clone(),
            Ordering::Greater => None,
        };
    }

    /// Returns the number of complete runs of all variants.
    #[must_use]
    pub fn run_count(&self) -> u64 {
        let runs = self.variants.iter().map(|one| one.runs.len() as u64);
        runs.sum()
    }

    /// Returns the results of the gates that missed a limit.
    pub fn missed(&self) -> impl Iterator<Item = &PairResult> {
        self.pairs.iter().filter(|pair| {
            let gate = pair.comparison.gate.as_ref();
            gate.is_some_and(|gate| gate.missed)
        })
    }
}

fn runs_of<'a>(
    plan: &'a BenchPlan,
    outcome: &'a BenchOutcome,
    name: &'a str,
) -> impl Iterator<Item = &'a RunRecord> {
    let index = plan.variants.iter().position(|one| one.name == name);
    let runs = outcome.runs.iter();
    runs.filter(move |run| Some(run.turn.variant) == index)
}

/// Returns the findings of a variant's runs.
fn findings(plan: &BenchPlan, outcome: &BenchOutcome, name: &str) -> Vec<FindingTotal> {
    let runs = runs_of(plan, outcome, name).map(|run| {
        let findings = run.report.findings.iter();
        findings.map(RowFinding::from).collect::<Vec<_>>()
    });
    let runs: Vec<Vec<RowFinding>> = runs.collect();
    total_findings(runs.iter().map(Vec::as_slice))
}

/// Returns the environments of all runs, each with the names of its variants.
fn environments(plan: &BenchPlan, outcome: &BenchOutcome) -> Vec<Environment> {
    let all = plan.variants.iter().flat_map(|variant| {
        let runs = runs_of(plan, outcome, &variant.name);
        runs.map(|run| Environment::of_report(&run.report, &variant.name))
    });
    distinct_environments(all)
}

fn sides(plan: &BenchPlan, outcome: &BenchOutcome) -> Vec<Side> {
    let all = plan.variants.iter().map(|variant| {
        let runs: Vec<&RunRecord> = runs_of(plan, outcome, &variant.name).collect();
        let reports: Vec<Report> = runs.iter().map(|run| run.report.clone()).collect();
        Side {
            name: variant.name.clone(),
            runs: Runs::from_reports(&reports),
            ends: runs.iter().map(|run| run.end.clone()).collect(),
        }
    });
    all.filter(|side| side.runs.count() > 0).collect()
}

fn run_results(plan: &BenchPlan, outcome: &BenchOutcome, name: &str) -> Vec<RunResult> {
    let runs = runs_of(plan, outcome, name).map(|run| RunResult {
        round: run.turn.round,
        report: run.folder.clone(),
        end: run.end.clone(),
    });
    runs.collect()
}

/// Returns the sides to compare: all with the baseline, else all others with the first.
fn paired<'a>(sides: &'a [Side], baseline: Option<&'a Side>) -> Vec<(&'a Side, &'a Side)> {
    match (baseline, sides.split_first()) {
        (Some(baseline), _) => sides.iter().map(|side| (baseline, side)).collect(),
        (None, Some((first, others))) => others.iter().map(|side| (first, side)).collect(),
        (None, None) => Vec::new(),
    }
}

/// Returns the unit of work, and a sentence on the amounts of work if these differ.
fn basis(pairs: &[(&Side, &Side)], sides: &[Side], per: Per) -> (WorkBasis, Option<Message>) {
    let options = CompareOptions::default();
    let work = pairs.iter().filter_map(|(base, new)| {
        let comparison = compare_runs(&base.runs, &new.runs, &options);
        let words = comparison.work_in_words();
        comparison.work.map(|work| (work, words, base, new))
    });
    let work: Vec<_> = work.collect();
    let Some((first, words, base, new)) = work
        .iter()
        .find(|(work, ..)| work.amount != WorkAmount::Same)
    else {
        return (WorkBasis::Run, None);
    };

    let is_cut = sides
        .iter()
        .flat_map(|side| &side.ends)
        .any(|end| end.is_cut);
    let is_whole = match per {
        Per::Auto => !is_cut,
        Per::Run => true,
        Per::Unit => false,
    };
    let basis = if is_whole || first.amount == WorkAmount::Unknown {
        WorkBasis::Run
    } else if work
        .iter()
        .all(|(work, ..)| work.basis != TimeBasis::Interval)
    {
        WorkBasis::CommandBuffer
    } else {
        WorkBasis::Interval
    };
    let taken = match (basis, per, is_cut) {
        (WorkBasis::Run, Per::Run, true) => {
            "whole runs are compared (--per run), although the time limit ended them"
        }
        (WorkBasis::Run, Per::Run, false) => "whole runs are compared (--per run)",
        (WorkBasis::Run, ..) => {
            "whole runs are compared, as alternatives for one job; if these are different jobs, use --per unit"
        }
        (WorkBasis::CommandBuffer, ..) => "times are per command buffer",
        (WorkBasis::Interval, ..) => "times are per GPU interval",
    };
    let more = work.len() > 1;
    let text = message!(
        "{} against {}: {}{}; {}",
        message::name(&new.name),
        message::name(&base.name),
        words.clone(),
        if more { "; others in the table" } else { "" },
        taken
    );
    (basis, Some(text))
}

/// Returns a time of each run, per unit of work.
fn per_unit(runs: &Runs, id: &str, basis: WorkBasis) -> Vec<Option<Number>> {
    let values = runs.metrics.get(id).cloned().unwrap_or_default();
    let Some(counts) = basis.count().and_then(|id| runs.metrics.get(id)) else {
        return values;
    };
    let quotients = zip(values, counts);
    quotients
        .map(|(value, count)| Number::new(value?.get() / count.as_ref()?.get()))
        .collect()
}

fn pair((base, new): (&Side, &Side), basis: WorkBasis, gate: Option<&Gate>) -> PairResult {
    let options = CompareOptions {
        // Whole runs of different work are compared as those of a fused program are.
        preset: (basis == WorkBasis::Run).then_some(ComparisonPreset::Fusion),
        ..CompareOptions::default()
    };
    let mut comparison = compare_runs(&base.runs, &new.runs, &options);
    comparison.gate = gate.map(|gate| judge(&comparison, gate));

    let sides = (
        per_unit(&base.runs, WALL, basis),
        per_unit(&new.runs, WALL, basis),
    );
    let is_stored = base.ends.is_empty();
    let change = time_change((&sides.0, &sides.1), basis, is_stored);
    let needed = needed(&change, basis);
    let why = matches!(change.class, ChangeClass::Grown | ChangeClass::Shrunk)
        .then(|| Said::from(comparison.causes()));
    PairResult {
        base: base.name.clone(),
        new: new.name.clone(),
        by_rounds: !is_stored && is_by_rounds(&sides.0, &sides.1),
        said: versus((&new.name, &base.name), &change, basis.floor(), needed).into(),
        runs_to_tell: needed,
        wall: change,
        why,
        comparison,
    }
}

/// Returns the change of a time. Runs of a baseline were not recorded by turns, so that they belong
/// to no round.
fn time_change(
    (base, new): (&[Option<Number>], &[Option<Number>]),
    basis: WorkBasis,
    is_stored: bool,
) -> Change {
    if is_stored {
        change_of_sides((base, new), Unit::Ns, basis.floor())
    } else {
        change_by_turns((base, new), Unit::Ns, basis.floor())
    }
}

/// Returns the number of runs that would tell, if these do not.
fn needed(change: &Change, basis: WorkBasis) -> Option<RunsToTell> {
    (change.class == ChangeClass::Unstable)
        .then(|| runs_to_tell(change, basis.floor(), Unit::Ns))
        .flatten()
}

/// Finds the fastest variant, and compares all others with it.
fn standing(variants: &[VariantResult], basis: WorkBasis) -> Option<Standing> {
    let mut order: Vec<(usize, f64)> = variants
        .iter()
        .enumerate()
        .filter_map(|(at, one)| Some((at, one.wall.median?.get())))
        .collect();
    order.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let ((best, least), others) = order.split_first()?;
    let fastest = variants.get(*best)?;
    if variants.len() < 2 {
        return None;
    }

    let others = others.iter().filter_map(|&(at, median)| {
        let other = variants.get(at)?;
        let sides = (other.wall.values.as_slice(), fastest.wall.values.as_slice());
        let change = time_change(sides, basis, false);
        let needed = needed(&change, basis);
        let names = (fastest.name.as_str(), other.name.as_str());
        Some(Rival {
            variant: at,
            times: Number::new(median / least),
            said: versus(names, &change, basis.floor(), needed).into(),
            runs_to_tell: needed,
            change,
        })
    });
    let others: Vec<Rival> = others.collect();
    Some(Standing {
        best: *best,
        wins: !others.is_empty() && others.iter().all(|one| is_won(&one.change)),
        others,
    })
}

/// Least confidence of a winner: that of three runs each.
pub(crate) const SURE: f64 = 0.9;

/// Returns whether the change is for the better, large enough to count, and sure enough.
fn is_won(change: &Change) -> bool {
    // The sum of many chances may miss the confidence by its last digit.
    let is_sure = |confidence: f64| confidence >= SURE - 1e-9;
    change.direction == Some(Direction::Better)
        && change.material_class() == ChangeClass::Shrunk
        && change.interval.is_some_and(|one| is_sure(one.confidence))
}

fn verdict(variants: &[VariantResult], standing: Option<&Standing>, basis: WorkBasis) -> Message {
    let (Some(standing), [_, _, ..]) = (standing, variants) else {
        return match variants {
            [only] => alone(&only.name, &only.wall, basis),
            [] => "No run is complete".into(),
            _ => "No run has a time".into(),
        };
    };
    if let ([only], 2) = (standing.others.as_slice(), variants.len()) {
        return only.said.message();
    }

    let name = |at: usize| variants.get(at).map_or("", |one| one.name.as_str());
    let rivals: Vec<(&str, ChangeClass)> = standing
        .others
        .iter()
        .filter(|one| !is_won(&one.change))
        .map(|one| (name(one.variant), one.change.material_class()))
        .collect();
    let best = variants.get(standing.best);
    let least = best.and_then(|best| best.wall.median);
    least.map_or_else(Message::default, |least| {
        fastest((name(standing.best), least), variants.len(), basis, &rivals)
    })
}

fn method(pairs: &[PairResult], variants: &[VariantResult]) -> Message {
    let confidence = pairs.iter().find_map(|pair| pair.wall.interval);
    let counts = variants.iter().map(|one| one.runs.len() as u64);
    let runs = counts.min().unwrap_or(0);
    let runs = message::counted(runs, "run");
    let Some(interval) = confidence else {
        return message!(
            "{} of each variant, by turns: without more runs the noise between them is unknown",
            runs
        );
    };
    let how = if pairs.iter().any(|pair| pair.by_rounds) {
        "compared round by round (signed ranks)"
    } else {
        "compared as two sides (Hodges–Lehmann)"
    };
    message!(
        "{} of each variant, recorded by turns and {}; intervals have {} confidence",
        runs,
        how,
        message::percent(interval.confidence)
    )
}

/// Returns the JSON Schema of the result.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Bench).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), SCHEMA.into());
    }
    schema
}
