//! Takes the figures that are compared from the table of all figures.

pub use metalens_analyzer::MetricGroup;
use metalens_analyzer::{FIGURES, Figure, id};

use crate::unit::Unit;

/// Returns the figures that are compared, in the order in which they are shown.
pub fn metrics() -> impl Iterator<Item = &'static Figure> {
    let mut metrics: Vec<&Figure> = compared().collect();
    metrics.sort_by_key(|figure| figure.group);
    metrics.into_iter()
}

fn compared() -> impl Iterator<Item = &'static Figure> {
    FIGURES.iter().filter(|figure| !figure.name.is_empty())
}

/// Returns a figure that is compared, by its id.
pub(crate) fn metric(id: &str) -> Option<&'static Figure> {
    compared().find(|metric| metric.id == id)
}

/// Returns the unit of a figure, by its id.
pub(crate) fn unit_of(id: &str) -> Option<Unit> {
    metric(id).map(|metric| metric.unit)
}

/// Returns whether a figure counts work: a limit of it is missed by other work, however fast that is.
pub fn is_amount_of_work(id: &str) -> bool {
    let is_count =
        |figure: &Figure| figure.group == MetricGroup::Work && figure.unit == Unit::Count;
    metric(id).is_some_and(is_count)
}

/// Id of the number of gaps.
pub(crate) const GAPS: &str = id!(gaps.count);

/// Returns whether a figure is one of gaps: a program without a gap has no mean gap, and no idle time to
/// compare with, so that there is nothing to measure, and nothing is missing.
pub(crate) fn is_of_gaps(id: &str) -> bool {
    id.starts_with("gaps.") && id != GAPS
}

/// Returns whether a figure is a time or a count that sums over the work of a run, so that less of it
/// for less work is no better.
pub(crate) fn is_total_over_work(id: &str) -> bool {
    id == id!(idle.serialized) || metric(id).is_some_and(|metric| metric.place.is_some())
}
