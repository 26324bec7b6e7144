//! Collects the runs of each variant, and pairs the variants that are compared.

use metalens_analyzer::Report;
use metalens_comparison::many::{FindingTotal, RowFinding, total_findings};
use metalens_comparison::{Baseline, Changes, Environment, Floor, Runs};

use crate::carry_out::{BenchOutcome, RunEnd, RunRecord};
use crate::result::RunResult;
use crate::units::{WorkUnit, units};
use crate::variants::BenchPlan;

/// The runs of a variant, or of a baseline, for the comparison.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) runs: Runs,
    /// The runs as the result describes them. Empty for a baseline.
    pub(crate) results: Vec<RunResult>,
    /// Environment of each run. Empty for a baseline.
    pub(crate) environments: Vec<Environment>,
    /// Findings of the runs. Empty for a baseline.
    pub(crate) findings: Vec<FindingTotal>,
    /// Units of work of the runs. Empty for a baseline.
    pub(crate) units: Vec<WorkUnit>,
}

/// A variant, what it is compared with, and the changes between both.
pub(crate) struct SidePair<'a> {
    pub(crate) base: &'a Side,
    pub(crate) new: &'a Side,
    pub(crate) changes: Changes<'a>,
}

impl Side {
    fn new(name: &str, records: &[&RunRecord]) -> Self {
        let reports: Vec<Report> = records.iter().map(|run| run.report.clone()).collect();
        let results = records.iter().map(|run| RunResult {
            round: run.turn.round,
            report: run.folder.clone(),
            end: run.end.clone(),
        });
        Self {
            name: name.to_owned(),
            runs: Runs::from_reports(&reports),
            results: results.collect(),
            environments: reports
                .iter()
                .map(|report| Environment::of_report(report, name))
                .collect(),
            findings: findings(&reports),
            units: units(&reports),
        }
    }

    /// Returns the stored runs of a baseline as a side.
    pub(crate) fn from_baseline(baseline: &Baseline) -> Self {
        Self {
            name: "baseline".to_owned(),
            runs: baseline.runs.clone(),
            results: Vec::new(),
            environments: Vec::new(),
            findings: Vec::new(),
            units: Vec::new(),
        }
    }

    /// Returns whether the runs are those of a baseline, which belong to no round.
    pub(crate) fn is_stored(&self) -> bool {
        self.results.is_empty()
    }

    pub(crate) fn ends(&self) -> impl Iterator<Item = &RunEnd> {
        self.results.iter().map(|run| &run.end)
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

/// Returns the variants that have runs.
pub(crate) fn sides(plan: &BenchPlan, outcome: &BenchOutcome) -> Vec<Side> {
    let sides = plan.variants.iter().enumerate().map(|(index, variant)| {
        let runs = outcome.runs.iter();
        let records: Vec<&RunRecord> = runs.filter(|run| run.turn.variant == index).collect();
        Side::new(&variant.name, &records)
    });
    sides.filter(|side| side.runs.count() > 0).collect()
}

/// Returns the sides to compare: all with the baseline, else all others with the first.
pub(crate) fn pairs<'a>(sides: &'a [Side], baseline: Option<&'a Side>) -> Vec<SidePair<'a>> {
    let (base, compared) = match (baseline, sides.split_first()) {
        (Some(baseline), _) => (baseline, sides),
        (None, Some((first, others))) => (first, others),
        (None, None) => return Vec::new(),
    };
    let pairs = compared.iter().map(|new| SidePair {
        base,
        new,
        changes: Changes::between(&base.runs, &new.runs, Floor::default()),
    });
    pairs.collect()
}
