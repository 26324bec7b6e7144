//! Collects the units of work that a program repeats: its iterations, and the phases that it named.

use std::collections::BTreeSet;

use metalens_analyzer::Report;
use metalens_comparison::{Number, SideValues};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit of work of a variant, and its figures in each run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkUnit {
    /// Name of the phase. Null for the iterations that were found.
    pub phase: Option<String>,
    /// Number of units in a run. Null in a run without them.
    pub count: SideValues,
    /// Median duration of one unit, in nanoseconds.
    pub each_ns: SideValues,
    /// Time of one unit in which the GPU was busy, in nanoseconds: of iterations the median, of phases
    /// the mean.
    pub busy_ns: SideValues,
}

/// The figures of a unit in one run.
#[derive(Default)]
struct UnitRun {
    count: Option<Number>,
    each_ns: Option<Number>,
    busy_ns: Option<Number>,
}

/// Returns the units of work that at least one run has: iterations first, then phases by name.
pub(crate) fn units(reports: &[&Report]) -> Vec<WorkUnit> {
    let phases = reports.iter().flat_map(|report| &report.phases.signposts);
    let phases = phases.filter(|phase| phase.is_analyzed && phase.count > 0);
    let names: BTreeSet<&str> = phases.map(|phase| phase.name.as_str()).collect();

    let iterations = unit(None, reports.iter().map(|report| iterations(report)));
    let phases = names
        .into_iter()
        .map(|name| unit(Some(name), reports.iter().map(|report| phase(report, name))));
    let all = [iterations].into_iter().chain(phases);
    all.filter(|unit| unit.each_ns.median.is_some()).collect()
}

fn unit(name: Option<&str>, runs: impl Iterator<Item = UnitRun>) -> WorkUnit {
    let runs: Vec<UnitRun> = runs.collect();
    let values = |of: fn(&UnitRun) -> Option<Number>| {
        let values: Vec<Option<Number>> = runs.iter().map(of).collect();
        SideValues::from_values(&values)
    };
    WorkUnit {
        phase: name.map(str::to_owned),
        count: values(|run| run.count),
        each_ns: values(|run| run.each_ns),
        busy_ns: values(|run| run.busy_ns),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a recording"
)]
fn number(value: u64) -> Option<Number> {
    Number::new(value as f64)
}

fn iterations(report: &Report) -> UnitRun {
    let Some(found) = &report.phases.iterations else {
        return UnitRun::default();
    };
    UnitRun {
        count: number(found.count),
        each_ns: number(found.median_period_ns),
        busy_ns: number(found.median_busy_ns),
    }
}

/// Returns the figures of a phase of the process. Of several with a name, from other subsystems, the
/// longest counts.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a recording"
)]
fn phase(report: &Report, name: &str) -> UnitRun {
    let named = report.phases.signposts.iter();
    let named = named.filter(|phase| phase.is_analyzed && phase.count > 0 && phase.name == name);
    named
        .max_by_key(|phase| phase.total_ns)
        .map_or_else(UnitRun::default, |phase| UnitRun {
            count: number(phase.count),
            each_ns: phase.median_ns.and_then(number),
            busy_ns: Number::new(phase.busy_ns as f64 / phase.count as f64),
        })
}
