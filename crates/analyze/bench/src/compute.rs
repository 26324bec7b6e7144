//! Computes the result of a benchmark from its runs.

use metalens_analyzer::{KernelMix, KernelMixes, estimate_kernels, id};
use metalens_comparison::{
    Baseline, ChangeClass, CompareOptions, Gate, SideValues, TimeBasis, distinct_environments,
    is_by_rounds, judge,
};
use metalens_message::{Message, Share, counted, message};

use crate::basis::{BasisChoice, choose_basis};
use crate::carry_out::BenchOutcome;
use crate::result::{Bench, PairResult, SCHEMA, VariantResult};
use crate::sentences::{decision, versus};
use crate::sides::{SidePair, pairs, variants};
use crate::standing::{find_standing, verdict};
use crate::variants::BenchPlan;
use crate::wall_time::{WALL, needed, per_unit, time_change};
use crate::warnings::warnings;

/// Metric of the reports that has the GPU busy time.
const BUSY: &str = id!(busy.busy_ns);

/// Options of the result.
#[derive(Debug, Default)]
pub struct BenchOptions {
    /// Unit of work that times are compared per.
    pub per: BasisChoice,
    /// Stored runs to compare all variants with. None for the first variant.
    pub baseline: Option<Baseline>,
    /// Limits for each comparison.
    pub gate: Option<Gate>,
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
        let baseline = options.baseline.as_ref();
        let mut variants = variants(plan, outcome);
        let (basis, work, pairs) = compare_all(&variants, options);
        for variant in &mut variants {
            let times =
                |id| SideValues::from_values(&per_unit(&variant.recorded, id, basis).values);
            (variant.wall, variant.busy) = (times(WALL), times(BUSY));
        }

        let standing = find_standing(&variants, basis);
        let verdict = verdict(&variants, standing.as_ref(), basis);
        let warnings = warnings(&variants, &pairs);
        Self {
            schema: SCHEMA.to_owned(),
            metalens: env!("CARGO_PKG_VERSION").to_owned(),
            synthetic: outcome.runs.iter().any(|run| run.report.run.synthetic),
            complete: outcome.is_complete,
            rounds,
            work,
            basis,
            verdict,
            warnings,
            method: method(&pairs, &variants, baseline),
            environments: distinct_environments(variants.iter().flat_map(|variant| {
                let recorded = &variant.recorded;
                recorded.environments(&variant.name)
            })),
            standing,
            mixes: mixes(plan, outcome),
            parameters: plan.parameters.clone(),
            variants,
            pairs,
        }
    }
}

/// Returns whether more runs would decide no other limit of the gate.
#[must_use]
pub fn is_decided(plan: &BenchPlan, outcome: &BenchOutcome, options: &BenchOptions) -> bool {
    let (.., pairs) = compare_all(&variants(plan, outcome), options);
    let mut gates = pairs.iter().map(|pair| pair.comparison.gate.as_ref());
    gates.all(|gate| gate.is_some_and(|gate| !gate.inconclusive))
}

/// Compares all pairs. Returns what times are per, and how the amounts of work differ.
fn compare_all(
    variants: &[VariantResult],
    options: &BenchOptions,
) -> (TimeBasis, Option<Message>, Vec<PairResult>) {
    let pairs = pairs(variants, options.baseline.as_ref());
    let (basis, work) = choose_basis(&pairs, variants, options.per);
    let pairs = pairs
        .into_iter()
        .map(|pair| compare_pair(pair, basis, options.gate.as_ref()));
    (basis, work, pairs.collect())
}

/// Returns the kernels that the mixes of all runs tell.
fn mixes(plan: &BenchPlan, outcome: &BenchOutcome) -> Option<KernelMixes> {
    let of_runs = outcome
        .runs
        .iter()
        .filter_map(|run| run.report.mixes.as_ref());
    let mixes: Vec<KernelMix> = of_runs.flat_map(|mixes| mixes.mixes.clone()).collect();
    (!plan.parameters.is_empty() && !mixes.is_empty()).then(|| estimate_kernels(mixes))
}

/// Compares the times of two sides, and all their figures as `metalens compare` does.
fn compare_pair(pair: SidePair<'_>, basis: TimeBasis, gate: Option<&Gate>) -> PairResult {
    let SidePair { base, new, changes } = pair;
    // Whole runs of different work are compared as those of a fused program are.
    let mut comparison = changes.comparison(&CompareOptions {
        taken_as_same: basis == TimeBasis::Whole,
        ..CompareOptions::default()
    });
    comparison.gate = gate.map(|gate| judge(&comparison, gate));

    let base_times = per_unit(base.runs, WALL, basis);
    let new_times = per_unit(&new.recorded, WALL, basis);
    let change = time_change(&base_times, &new_times, basis, base.is_stored);
    let needed = needed(&change, basis);
    let is_change = matches!(change.class, ChangeClass::Grown | ChangeClass::Shrunk);

    PairResult {
        base: base.name.to_owned(),
        new: new.name.clone(),
        by_rounds: !base.is_stored && is_by_rounds(&base_times.values, &new_times.values),
        says: versus(&new.name, base.name, &change, basis, needed),
        decision: (comparison.gate.as_ref().zip(gate))
            .filter(|(_, gate)| gate.until_decided)
            .map(|(gate, _)| decision(gate, base.name, new)),
        runs_to_tell: needed,
        wall: change,
        why: is_change.then(|| comparison.causes()),
        comparison,
    }
}

/// Says how many runs were compared, how, and with which confidence.
fn method(
    pairs: &[PairResult],
    variants: &[VariantResult],
    baseline: Option<&Baseline>,
) -> Message {
    let counts = variants.iter().map(|variant| variant.runs.len() as u64);
    let runs = counted(counts.min().unwrap_or(0), "run");
    let runs = match variants {
        [_] => runs,
        _ => message!("{} of each variant, recorded alternately", runs),
    };
    if pairs.is_empty() {
        return message!("{}, without anything to compare them with", runs);
    }

    let stored = baseline.map(|stored| {
        let runs = counted(stored.runs.count() as u64, "run");
        message!(" with {} of the baseline", runs)
    });
    let how = if pairs.iter().any(|pair| pair.by_rounds) {
        "round by round (signed ranks)"
    } else {
        "as two sides (Hodges–Lehmann)"
    };
    let runs = message!("{}, compared{} {}", runs, stored, how);
    match pairs.iter().find_map(|pair| pair.wall.interval) {
        Some(interval) => {
            let confidence = metalens_message::percent(Share(interval.confidence));
            message!("{}; intervals have {} confidence", runs, confidence)
        }
        None => message!("{}: so few runs do not show the noise between runs", runs),
    }
}
