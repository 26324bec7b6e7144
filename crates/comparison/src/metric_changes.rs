//! The changes of the figures of a report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Judge};
use crate::metrics::{Group, METRICS};
use crate::runs::Runs;
use crate::unit::Unit;

/// What became of one figure of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricChange {
    /// Where it is in a report: `gaps.median_ns`. Of targets: `targets.` and its id.
    pub id: String,
    /// What it is, in words.
    pub name: String,
    /// What it belongs to.
    pub group: Group,
    /// What its values are in.
    pub unit: Unit,
    /// What became of it.
    #[serde(flatten)]
    pub change: Change,
}

/// The change of a figure, by its id.
pub(crate) fn find<'a>(metrics: &'a [MetricChange], id: &str) -> Option<&'a MetricChange> {
    metrics.iter().find(|metric| metric.id == id)
}

/// Returns the changes of all figures. One that neither side tells is left out.
pub(crate) fn changes(base: &Runs, new: &Runs, judge: &Judge) -> Vec<MetricChange> {
    let all = METRICS.iter().map(|metric| {
        let (was, now) = (base.values(metric.id), new.values(metric.id));
        MetricChange {
            id: metric.id.to_owned(),
            name: metric.name.to_owned(),
            group: metric.group,
            unit: metric.unit,
            change: judge.change((&was, &now), metric.unit, metric.wish),
        }
    });
    let is_told = |one: &MetricChange| {
        let change = &one.change;
        change.base.median.is_some() || change.new.median.is_some()
    };
    all.filter(is_told).collect()
}
