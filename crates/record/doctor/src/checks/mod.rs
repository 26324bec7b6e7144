//! Turns facts into checks. Each check says what was found and what to do about it.

mod condition;
mod disk;
mod program;
mod tools;

pub use program::refuses_libraries;

use std::time::Duration;

use crate::check::{Check, CheckVerdict};
use crate::command::CommandRunner;
use crate::facts::{Condition, Disk, Facts, MacFacts};
use crate::planned_recording::PlannedRecording;
use crate::xctrace_status::XctraceStatus;

/// Returns all checks, in the order in which they block each other.
pub(crate) fn all(
    runner: &dyn CommandRunner,
    facts: &Facts,
    xctrace: &XctraceStatus,
    planned: &PlannedRecording<'_>,
) -> Vec<Check> {
    let mut checks = vec![
        platform(&facts.machine),
        tools::xcode(&facts.xcode, xctrace),
        tools::license(&facts.xcode, xctrace),
        tools::first_launch(&facts.xcode),
        tools::xctrace(xctrace),
        tools::template(xctrace, planned.template),
        tools::developer_mode(&facts.developer_mode),
    ];

    checks.extend(program::all(runner, planned, &facts.machine));
    checks.extend([
        disk::free_space(&facts.disk, planned.time_limit),
        condition::recorders(&facts.condition),
        condition::power(&facts.condition),
        condition::thermal(&facts.condition),
    ]);
    checks
}

/// Returns the warnings and problems to show before a recording, from the checks that cost
/// almost no time.
pub fn preflight(condition: &Condition, disk: &Disk, time_limit: Option<Duration>) -> Vec<String> {
    let checks = [
        disk::free_space(disk, time_limit),
        condition::recorders(condition),
        condition::power(condition),
        condition::thermal(condition),
    ];
    checks
        .into_iter()
        .filter(|check| check.verdict >= CheckVerdict::Warning)
        .map(|check| match check.remedy {
            Some(remedy) => format!("{}: {}", check.found, remedy.what),
            None => check.found,
        })
        .collect()
}

/// Names the machine, and warns about an Intel processor.
fn platform(machine: &MacFacts) -> Check {
    let id = "platform";
    let system = machine
        .macos
        .value
        .as_ref()
        .map(|version| format!("macOS {version}"));
    let names = [
        machine.chip.value.clone(),
        machine.model.value.clone(),
        system,
    ];
    let names: Vec<String> = names.into_iter().flatten().collect();

    match &machine.chip.value {
        None => Check::unknown(id, machine.chip.why_not.as_ref()),
        Some(chip) if chip.contains("Intel") => Check::warning(id, names.join(", ")).remedy(
            "xctrace records here, but metalens was made for recordings of Apple silicon: verify \
            the numbers of the report",
            &[],
        ),
        Some(_) => Check::ok(id, names.join(", ")),
    }
}
