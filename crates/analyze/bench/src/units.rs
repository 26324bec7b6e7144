//! Collects the units of work that a program repeats: its steps, and the phases that it named.

use std::collections::BTreeSet;

use metalens_analyzer::Report;
use metalens_comparison::{Number, SideValues};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit of work of a variant, and its figures in each run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkUnit {
    /// Name of the phase. Null for the steps that were found.
    pub phase: Option<String>,
    /// Number of units in a run. Null in a run without them.
    pub count: SideValues,
    /// Median duration of one unit, in nanoseconds.
    pub each_ns: SideValues,
    /// Busy time of the process in one unit, in nanoseconds: of steps the median; of phases the
    /// median duration times the busy share of the phase.
    pub busy_ns: SideValues,
}

/// The figures of a unit in one run.
#[derive(Default)]
struct UnitRun {
    count: Option<Number>,
    each_ns: Option<Number>,
    busy_ns: Option<Number>,
}

/// Returns the units of work that at least one run has: steps first, then phases by name.
pub(crate) fn units(reports: &[Report]) -> Vec<WorkUnit> {
    let named = reports.iter().flat_map(|report| &report.phases.signposts);
    let phases = named.filter(|phase| phase.is_analyzed && phase.count > 0);
    let names: BTreeSet<&str> = phases.map(|phase| phase.name.as_str()).collect();

    let steps = unit(None, reports.iter().map(steps));
    let phases = names
        .into_iter()
        .map(|name| unit(Some(name), reports.iter().map(|report| phase(report, name))));
    let units = [steps].into_iter().chain(phases);
    units.filter(|unit| unit.each_ns.median.is_some()).collect()
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

fn steps(report: &Report) -> UnitRun {
    let main = report.steps.first();
    let Some((main, kind)) = main.and_then(|main| Some((main, main.kinds.first()?))) else {
        return UnitRun::default();
    };
    UnitRun {
        count: number(main.count),
        each_ns: kind.median_ns.and_then(number),
        busy_ns: kind.gpu_ns.and_then(number),
    }
}

/// Returns the figures of a phase of the process. Of several with a name, from other subsystems, the
/// longest counts.
fn phase(report: &Report, name: &str) -> UnitRun {
    let phases = report.phases.signposts.iter();
    let named = phases.filter(|phase| phase.is_analyzed && phase.count > 0 && phase.name == name);
    let Some(phase) = named.max_by_key(|phase| phase.total_ns) else {
        return UnitRun::default();
    };
    let each_ns = phase.median_ns.and_then(number);
    let busy_ns = each_ns
        .zip(phase.ratio)
        .map(|(each, ratio)| each.get() * ratio);
    UnitRun {
        count: number(phase.count),
        each_ns,
        busy_ns: busy_ns.and_then(Number::new),
    }
}

#[cfg(test)]
mod tests {
    use metalens_testing::analysis_of_toml;

    use super::*;

    /// 40 dispatches of 20 µs, one per command buffer; a step is 4 of them.
    fn report(signpost: &str) -> Report {
        let toml = format!(
            "seed = 1\n[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n{signpost}\n\
             [[process.stream]]\ncount = 40\nsubmit = \"sync\"\nduration = \"20us\"\n\
             encoder-label = [\"a\", \"b\", \"c\", \"d\"]\n"
        );
        analysis_of_toml(&toml).report
    }

    #[test]
    fn phases_have_the_times_of_the_scenario() {
        let with = report("[[process.signpost]]\nname = \"step\"\nevery = 4");
        let without = report("");
        let found = units(&[with, without]);
        let step = found
            .iter()
            .find(|unit| unit.phase.as_deref() == Some("step"));
        let step = step.unwrap();
        let values = |side: &SideValues| {
            let values = side.values.iter().map(|value| value.map(Number::get));
            values.collect::<Vec<_>>()
        };
        assert_eq!(values(&step.count), [Some(10.0), None]);
        // Four dispatches of 20 µs, whatever lies between them.
        let busy = step.busy_ns.median.unwrap().get();
        assert!((75_000.0..85_000.0).contains(&busy), "{busy}");
        assert!(step.each_ns.median.unwrap().get() > busy);

        // Both repeat a, b, c, d ten times.
        let steps = found.iter().find(|unit| unit.phase.is_none()).unwrap();
        assert_eq!(values(&steps.count), [Some(10.0), Some(10.0)]);
        let busy = steps.busy_ns.median.unwrap().get();
        assert!((79_000.0..81_000.0).contains(&busy), "{busy}");
    }

    #[test]
    fn a_program_that_repeats_nothing_has_no_units() {
        let toml = "seed = 1\n[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
                    [[process.stream]]\ncount = 2\nduration = \"20us\"\n";
        assert_eq!(units(&[analysis_of_toml(toml).report]), []);
    }
}
