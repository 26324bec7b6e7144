//! Counts the runs of both sides that miss a threshold which somebody set.

use std::collections::BTreeMap;

use metalens_analyzer::{Report, ThresholdResult, ThresholdUnit, Wanted};
use serde::{Deserialize, Serialize};

use crate::number::Number;
use crate::statistics::median;

/// A threshold, and how both sides keep it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ThresholdComparison {
    /// Name of the value: `average-gap`, `utilization` or `launch-efficiency`.
    pub id: String,
    /// Limit in `unit` that the value should keep.
    pub limit: Number,
    /// Unit of the limit and the values.
    pub unit: ThresholdUnit,
    /// Side of the limit on which the value should be.
    pub wanted: Wanted,
    /// The runs to compare with. Null if they were saved without this threshold.
    pub base: Option<ThresholdRuns>,
    /// The runs that are compared.
    pub new: ThresholdRuns,
}

/// A threshold in the runs of one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ThresholdRuns {
    /// Limit in `unit` for every run.
    pub limit: Number,
    /// Unit of the limit and the values.
    pub unit: ThresholdUnit,
    /// Side of the limit on which the values should be.
    pub wanted: Wanted,
    /// Median of the measured values. Null if no run could be measured.
    pub median: Option<Number>,
    /// Number of runs of the side.
    pub runs: u64,
    /// Number of runs that miss it, or could not be measured.
    pub missed: u64,
}

/// Returns the thresholds of reports by id: those with one limit in all of them.
pub(crate) fn of_reports(reports: &[Report]) -> BTreeMap<String, ThresholdRuns> {
    let first = reports.first().map_or(&[][..], |report| &report.thresholds);
    let all = first.iter().filter_map(|one| {
        let is_same = |other: &&ThresholdResult| {
            (&one.id, one.limit.to_bits()) == (&other.id, other.limit.to_bits())
        };
        let results = reports.iter();
        let results = results.map(|report| report.thresholds.iter().find(is_same));
        let results: Vec<&ThresholdResult> = results.collect::<Option<_>>()?;

        let values: Vec<f64> = results.iter().filter_map(|result| result.value).collect();
        let missed = results.iter().filter(|result| result.is_missed());
        let runs = ThresholdRuns {
            limit: Number::new(one.limit)?,
            unit: one.unit,
            wanted: one.wanted,
            median: median(&values).and_then(Number::new),
            runs: results.len() as u64,
            missed: missed.count() as u64,
        };
        Some((one.id.clone(), runs))
    });
    all.collect()
}

/// Returns the thresholds of new, each with that of base if it has the same limit there.
pub(crate) fn compared(
    base: &BTreeMap<String, ThresholdRuns>,
    new: &BTreeMap<String, ThresholdRuns>,
) -> Vec<ThresholdComparison> {
    let thresholds = new.iter().map(|(id, new)| {
        let base = base.get(id);
        ThresholdComparison {
            id: id.clone(),
            limit: new.limit,
            unit: new.unit,
            wanted: new.wanted,
            base: base.filter(|base| base.limit == new.limit).cloned(),
            new: new.clone(),
        }
    });
    thresholds.collect()
}
