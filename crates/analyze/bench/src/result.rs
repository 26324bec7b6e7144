//! Defines the result of a benchmark, as `bench.json` has it.

use metalens_analyzer::KernelMixes;
use metalens_comparison::many::FindingTotal;
use metalens_comparison::{
    Change, Comparison, Environment, Number, Runs, RunsToTell, SideValues, TimeBasis,
};
use metalens_message::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::carry_out::RunEnd;
use crate::parameters::{Parameter, ParameterValue};

/// Name of the format. Its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.bench/1";

/// Result of a benchmark: several variants, recorded alternately.
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
    pub work: Option<Message>,
    /// Unit of work that times are compared per.
    pub basis: TimeBasis,
    /// The fastest variant, or why it is unclear, in one sentence.
    pub verdict: Message,
    /// The fastest variant. Null for a single variant, or without any time.
    pub standing: Option<Standing>,
    /// Estimated times of kernels that share GPU intervals, by the mixes of all runs: each value of a parameter may
    /// split the same work otherwise. Null without parameters, or without such intervals.
    pub mixes: Option<KernelMixes>,
    /// Parameters of the commands.
    pub parameters: Vec<Parameter>,
    /// The variants in the order in which they were given.
    pub variants: Vec<VariantResult>,
    /// Each variant compared with the first one, or with the baseline.
    pub pairs: Vec<PairResult>,
    /// Reasons to doubt the figures.
    pub warnings: Vec<Message>,
    /// Environments in which the variants were recorded.
    pub environments: Vec<Environment>,
    /// Method of the comparison in one sentence.
    pub method: Message,
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
    pub says: Message,
}

/// One variant, and the figures of its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VariantResult {
    /// Name of the variant, unique in the benchmark.
    pub name: String,
    /// Command before parameters were filled in, such as `./infer --batch {n}`.
    pub template: String,
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
    /// Figures, kernels and circumstances of the runs, in the order of `runs`.
    pub recorded: Runs,
    /// Findings of the runs, each with the number of runs that have it.
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
    pub says: Message,
    /// Decision in one sentence, and after how many rounds. Absent unless rounds were recorded until the limits were
    /// decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Message>,
    /// Changes of busy and idle time behind it. Null without a change.
    pub why: Option<Message>,
    /// All changes between both, and the result of a gate, as `metalens compare` has them.
    pub comparison: Comparison,
}

impl Bench {
    /// Returns the results of the gates that missed a limit.
    pub fn missed(&self) -> impl Iterator<Item = &PairResult> {
        self.pairs.iter().filter(|pair| {
            let gate = pair.comparison.gate.as_ref();
            gate.is_some_and(|gate| gate.missed)
        })
    }
}

impl VariantResult {
    /// Returns a figure of the runs, by its id; `None` if no run has it.
    pub fn figure(&self, id: &str) -> Option<SideValues> {
        let values = SideValues::from_values(&self.recorded.values(id));
        values.median.is_some().then_some(values)
    }
}
