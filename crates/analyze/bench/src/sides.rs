//! Collects the runs of each variant, and pairs the variants that are compared.

use metalens_analyzer::Report;
use metalens_comparison::many::{FindingTotal, RowFinding, total_findings};
use metalens_comparison::{Baseline, Changes, Runs, SideValues};

use crate::carry_out::{BenchOutcome, RunRecord};
use crate::result::{RunResult, VariantResult};
use crate::variants::{BenchPlan, Variant};

/// Runs that a variant is compared with: those of the first one, or of a baseline.
#[derive(Clone, Copy)]
pub(crate) struct Reference<'a> {
    pub(crate) name: &'a str,
    pub(crate) runs: &'a Runs,
    /// True for the runs of a baseline, which belong to no round.
    pub(crate) is_stored: bool,
}

/// A variant, what it is compared with, and the changes between both.
pub(crate) struct SidePair<'a> {
    pub(crate) base: Reference<'a>,
    pub(crate) new: &'a VariantResult,
    pub(crate) changes: Changes<'a>,
}

/// Returns the variants that have runs, without the times that are compared: what these are per is not
/// settled yet.
pub(crate) fn variants(plan: &BenchPlan, outcome: &BenchOutcome) -> Vec<VariantResult> {
    let variants = plan.variants.iter().enumerate();
    let results = variants.map(|(index, variant)| {
        let runs = outcome.runs.iter();
        let records: Vec<&RunRecord> = runs.filter(|run| run.turn.variant == index).collect();
        result(variant, &records)
    });
    results.filter(|result| !result.runs.is_empty()).collect()
}

fn result(variant: &Variant, records: &[&RunRecord]) -> VariantResult {
    let reports: Vec<Report> = records.iter().map(|run| run.report.clone()).collect();
    let runs = records.iter().map(|run| RunResult {
        round: run.turn.round,
        report: run.folder.clone(),
        end: run.end.clone(),
    });
    VariantResult {
        name: variant.name.clone(),
        template: variant.template.clone(),
        command: variant.words.clone(),
        parameters: variant.parameters.clone(),
        runs: runs.collect(),
        wall: SideValues::default(),
        busy: SideValues::default(),
        recorded: Runs::from_reports(&reports).without_folders(),
        findings: findings(&reports),
    }
}

/// Returns the findings of the runs, each with the number of runs that have it.
fn findings(reports: &[Report]) -> Vec<FindingTotal> {
    let runs: Vec<Vec<RowFinding>> = reports
        .iter()
        .map(|report| report.findings.iter().map(RowFinding::from).collect())
        .collect();
    total_findings(runs.iter().map(Vec::as_slice))
}

/// Returns the pairs to compare: all variants with the baseline, else all others with the first.
pub(crate) fn pairs<'a>(
    variants: &'a [VariantResult],
    baseline: Option<&'a Baseline>,
) -> Vec<SidePair<'a>> {
    let (base, compared) = match (baseline, variants.split_first()) {
        (Some(baseline), _) => (
            Reference {
                name: "baseline",
                runs: &baseline.runs,
                is_stored: true,
            },
            variants,
        ),
        (None, Some((first, others))) => (
            Reference {
                name: &first.name,
                runs: &first.recorded,
                is_stored: false,
            },
            others,
        ),
        (None, None) => return Vec::new(),
    };
    let pairs = compared.iter().map(|new| SidePair {
        base,
        new,
        changes: Changes::between(base.runs, &new.recorded),
    });
    pairs.collect()
}
