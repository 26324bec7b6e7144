//! Facts → verdicts. Each check says what was found, and what to do about it.

mod condition;
mod room;
mod target;
mod tools;

use std::time::Duration;

use crate::ask::Ask;
use crate::asked::Asked;
use crate::check::{Check, Verdict};
use crate::facts::{Condition, Disk, Facts, Machine};
use crate::recorder::Recorder;

/// All checks, in the order in which they stand in each other's way.
pub(crate) fn all(
    ask: &dyn Ask,
    facts: &Facts,
    recorder: &Recorder,
    asked: &Asked<'_>,
) -> Vec<Check> {
    let mut all = vec![
        platform(&facts.machine),
        tools::xcode(&facts.xcode, recorder),
        tools::licence(&facts.xcode, recorder),
        tools::first_launch(&facts.xcode),
        tools::xctrace(recorder),
        tools::template(recorder, asked.template),
        tools::developer_mode(&facts.rights),
        tools::developer_group(&facts.rights, asked.is_root),
        tools::root(asked.is_root),
    ];
    all.extend(target::all(ask, asked, &facts.rights));
    all.extend([
        room::disk(&facts.disk, asked.time_limit),
        room::left_over(&facts.disk, asked.folder),
        condition::recorders(&facts.condition),
        condition::power(&facts.condition),
        condition::thermal(&facts.condition),
        condition::gpu_users(&facts.gpu),
        condition::performance_state(&facts.gpu),
    ]);
    all
}

/// What should be known before a recording is made: the troubles among the
/// checks that cost next to nothing.
#[must_use]
pub fn preflight(condition: &Condition, disk: &Disk, time_limit: Option<Duration>) -> Vec<String> {
    let all = [
        room::disk(disk, time_limit),
        condition::recorders(condition),
        condition::power(condition),
        condition::thermal(condition),
    ];
    let troubles = all
        .into_iter()
        .filter(|check| check.verdict >= Verdict::Warning);
    let told = troubles.map(|check| match check.remedy {
        Some(remedy) => format!("{}: {}", check.found, remedy.what),
        None => check.found,
    });
    told.collect()
}

fn platform(machine: &Machine) -> Check {
    let id = "platform";
    let system = machine
        .macos
        .value
        .as_ref()
        .map(|version| format!("macOS {version}"));
    let named = [
        machine.chip.value.clone(),
        machine.model.value.clone(),
        system,
    ];
    let named: Vec<String> = named.into_iter().flatten().collect();
    match &machine.chip.value {
        None => Check::unknown(id, machine.chip.why_not.as_ref()),
        Some(chip) if chip.contains("Intel") => Check::warning(id, named.join(", ")).remedy(
            "xctrace records here, but metalens knows recordings of Apple silicon only: check what \
             it says",
            &[],
        ),
        Some(_) => Check::ok(id, named.join(", ")),
    }
}
