//! Computes the changes of the figures of a report.

use metalens_analyzer::Figure;
use metalens_message::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeClass, Judge, thirds};
use crate::metrics::{MetricGroup, metrics};
use crate::runs::Runs;
use crate::sessions::Sessions;
use crate::unit::Unit;

/// Id of the own time of a step, of which the noise within runs is known.
pub(crate) const OWN: &str = "steps.own_ns";
/// Ids of the own times of a step: of the first kind, and of the second.
pub const OWN_TIMES: [&str; 2] = [OWN, SECOND_OWN];
pub(crate) const SECOND_OWN: &str = "steps.second.own_ns";

/// The change of one figure of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricChange {
    /// Path of the figure in a report, such as `gaps.median_ns`.
    pub id: String,
    /// Name of the figure in words.
    pub name: String,
    /// Group that the figure belongs to.
    pub group: MetricGroup,
    /// Unit of the values.
    pub unit: Unit,
    /// Values of both sides, and the change.
    #[serde(flatten)]
    pub change: Change,
}

impl MetricChange {
    /// Returns the change of a figure between the values of base and new.
    pub(crate) fn new(
        metric: &Figure,
        judge: &Judge,
        base: &[Option<Number>],
        new: &[Option<Number>],
    ) -> Self {
        Self {
            id: metric.id.to_owned(),
            name: metric.name.to_owned(),
            group: metric.group,
            unit: metric.unit,
            change: judge.change(base, new, metric.unit, metric.preference),
        }
    }

    /// Returns whether a side has a value.
    pub(crate) fn is_recorded(&self) -> bool {
        let change = &self.change;
        change.base.median.is_some() || change.new.median.is_some()
    }
}

/// Returns the change of a figure, by its id.
pub(crate) fn find<'a>(metrics: &'a [MetricChange], id: &str) -> Option<&'a MetricChange> {
    metrics.iter().find(|metric| metric.id == id)
}

/// Returns whether both sides have steps, of as many GPU intervals.
pub(crate) fn has_same_steps(metrics: &[MetricChange]) -> bool {
    let change = |id: &str| find(metrics, id).map(|metric| &metric.change);
    let is_known = |id: &str| change(id).is_some_and(|change| change.absolute.is_some());
    let intervals = change("steps.intervals").and_then(|change| change.absolute);
    is_known("steps.median_ns") && intervals.is_some_and(|by| by.get() == 0.0)
}

/// Returns the changes of all figures that at least one side has.
pub(crate) fn changes(
    base: &Runs,
    new: &Runs,
    judge: &Judge,
    sessions: &Sessions,
) -> Vec<MetricChange> {
    // What a run waits for settles how its idle time is divided.
    let has_mixed_waits = base.has_mixed_waits() || new.has_mixed_waits();
    let noise = |id: &str| {
        let own: fn(&Runs) -> &Vec<_> = match id {
            OWN => |runs| &runs.own_thirds_ns,
            SECOND_OWN => |runs| &runs.second_own_thirds_ns,
            _ => return None,
        };
        Some((thirds(own(base)), thirds(own(new))))
    };
    let changes = metrics().map(|metric| {
        let (of_base, of_new) = (base.values(metric.id), new.values(metric.id));
        let judge = &judge.with_error(sessions.error(&of_base));
        let mut change = MetricChange::new(metric, judge, &of_base, &of_new);
        if let Some((base, new)) = noise(metric.id) {
            change.change = change.change.with_noise(&base, &new);
        }
        if has_mixed_waits && metric.group == MetricGroup::Idle {
            (change.change.class, change.change.size) = (ChangeClass::Unstable, None);
            change.change.direction = None;
        }
        change
    });

    changes.filter(MetricChange::is_recorded).collect()
}
