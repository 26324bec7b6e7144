//! Checks what the machine is and who uses it.

use crate::check::{Check, CheckVerdict};
use crate::facts::{Console, MacFacts};

/// Warns about a virtual machine, whose GPU is not the one of the Mac.
pub(super) fn virtual_machine(machine: &MacFacts) -> Check {
    let id = "virtual-machine";
    let model = machine.model.value.as_deref().unwrap_or_default();
    match machine.is_virtual.value {
        _ if model.starts_with("VirtualMac") => warn_of_virtual(id),
        Some(true) => warn_of_virtual(id),
        Some(false) => Check::ok(id, "not a virtual machine"),
        None => Check::unknown(id, machine.is_virtual.why_not.as_ref()),
    }
}

/// Warns of a virtual machine.
fn warn_of_virtual(id: &str) -> Check {
    Check::warning(
        id,
        "this is a virtual machine: its GPU is paravirtual, so GPU times mean nothing here, and a \
         recording may fail or be empty",
    )
    .remedy("measure on the Mac itself", &[])
}

/// Warns if metalens runs through Rosetta.
pub(super) fn rosetta(machine: &MacFacts) -> Check {
    let id = "rosetta";
    let is_intel = machine
        .chip
        .value
        .as_ref()
        .is_some_and(|chip| chip.contains("Intel"));

    match machine.is_translated.value {
        _ if is_intel => Check::new(id, CheckVerdict::NotApplicable, "not needed on an Intel Mac"),
        Some(true) => Check::warning(
            id,
            "metalens runs through Rosetta, and the programs that it starts may too",
        )
        .remedy(
            "install metalens for Apple silicon (arm64), and use a terminal that is not opened with \
             Rosetta",
            &[],
        ),
        Some(false) => Check::ok(id, "metalens runs without Rosetta"),
        None => Check::unknown(id, machine.is_translated.why_not.as_ref()),
    }
}

/// Warns about a Mac whose screen nobody uses.
pub(super) fn console(console: &Console) -> Check {
    let id = "console";
    let remedy = "log in at the Mac itself, and unlock the screen, before you record a program with \
                  windows";
    match (console.is_used.value, console.is_locked.value) {
        (Some(false), _) => Check::warning(
            id,
            "no user is logged in at the Mac itself: programs with windows do not draw",
        )
        .remedy(remedy, &[]),
        (Some(true), Some(true)) => Check::warning(
            id,
            "the screen is locked: programs with windows may not draw",
        )
        .remedy(remedy, &[]),
        (Some(true), _) => Check::ok(id, "a user is logged in, and the screen is not locked"),
        (None, _) => Check::unknown(id, console.is_used.why_not.as_ref()),
    }
}
