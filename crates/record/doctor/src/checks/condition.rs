//! Checks the current condition of the Mac: what slows it down, and what records already.

use crate::check::Check;
use crate::facts::{Condition, Process, ThermalPressure};

/// Programs that disturb a recording only while they record, not while they are open.
const HARMLESS: [&str; 2] = ["Instruments", "DTServiceHub"];

/// Checks that no other recorder runs, since only one at a time can sample the kernel (kperf).
pub(super) fn recorders(condition: &Condition) -> Check {
    let id = "recorders";
    let Some(recorders) = &condition.recorders.value else {
        return Check::unknown(id, condition.recorders.why_not.as_ref());
    };
    let (open, recording): (Vec<&Process>, Vec<&Process>) = recorders
        .iter()
        .partition(|process| HARMLESS.contains(&process.name.as_str()));

    match (recording.as_slice(), open.as_slice()) {
        ([], []) => Check::ok(id, "no other recorder runs"),
        ([], open) => Check::ok(
            id,
            format!(
                "{} is open: do not record with it at the same time",
                names(open)
            ),
        ),
        (recording, _) => Check::warning(
            id,
            format!(
                "another recorder runs: {}; only one at a time can sample the kernel (kperf)",
                names(recording)
            ),
        )
        .remedy("wait until it ends, or quit it", &[]),
    }
}

fn names(processes: &[&Process]) -> String {
    let names: Vec<String> = processes
        .iter()
        .map(|process| format!("{} ({})", process.name, process.pid))
        .collect();
    names.join(", ")
}

/// Checks that the Mac is not in low power mode, which makes the GPU slower.
pub(super) fn power(condition: &Condition) -> Check {
    let id = "power";
    match condition.low_power_mode.value {
        Some(true) => Check::warning(id, "low power mode is on: the GPU is slower")
            .remedy("turn it off in System Settings before you measure", &[]),
        Some(false) => Check::ok(id, "low power mode is off"),
        None => Check::unknown(id, condition.low_power_mode.why_not.as_ref()),
    }
}

/// Checks that heat does not slow the machine down.
pub(super) fn thermal(condition: &Condition) -> Check {
    let id = "thermal";
    let level = match condition.thermal_pressure.value {
        Some(ThermalPressure::Nominal) => return Check::ok(id, "no thermal pressure"),
        Some(ThermalPressure::Moderate) => "moderate",
        Some(ThermalPressure::Heavy) => "heavy",
        Some(ThermalPressure::Trapping | ThermalPressure::Sleeping) => "extreme",
        None => return Check::unknown(id, condition.thermal_pressure.why_not.as_ref()),
    };
    let found = format!("the Mac is hot: thermal pressure is {level}, and the GPU may be slower");
    Check::warning(id, found).remedy("let the Mac cool down before you measure", &[])
}
