//! Changes the processes of the scenario that is written to those of a run.

use super::process::RecordedProcess;
use crate::scenario::{Process, Scenario};
use crate::values::kinds::Role;

/// The processes whose work was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordedRows {
    All,
    /// The work of a process that the recorded one started, and of others.
    Child,
    OthersOnly,
    None,
}

/// Removes the work of processes that was not recorded, and adds that of a child.
pub(super) fn keep_recorded(scenario: &mut Scenario, rows: RecordedRows) {
    if rows == RecordedRows::Child {
        let targets = scenario.process.iter().filter(|process| is_target(process));
        let children: Vec<Process> = targets.map(child_of).collect();
        scenario.process.extend(children);
    }
    let lacks_target = matches!(rows, RecordedRows::OthersOnly | RecordedRows::Child);
    for process in &mut scenario.process {
        if rows == RecordedRows::None || (lacks_target && is_target(process)) {
            process.stream.clear();
            process.signpost.clear();
        }
    }
}

/// Returns whether a process is the one that was recorded.
pub(super) fn is_target(process: &Process) -> bool {
    process.role == Role::Target
}

/// Returns a child of a process, with a copy of its work.
fn child_of(process: &Process) -> Process {
    let mut child = process.clone();
    child.role = Role::Other;
    child.name = "worker".to_owned();
    // Real process ids are smaller.
    child.pid = process.pid.wrapping_add(7_000_000).max(1);
    child
}

/// Gives name and pid of the recorded process to the scenario's target, in every run. Without a
/// process, nothing is the target.
pub(super) fn assign_target(scenario: &mut Scenario, recorded: Option<&RecordedProcess>) {
    let Some(recorded) = recorded else {
        let targets = scenario
            .process
            .iter_mut()
            .filter(|process| is_target(process));
        targets.for_each(|process| process.role = Role::Other);
        return;
    };
    for run in 1..=scenario.runs {
        let in_run =
            |process: &Process| process.runs.as_ref().is_none_or(|runs| runs.contains(&run));
        let mut processes = scenario.process.iter();
        if processes.any(|process| in_run(process) && is_target(process)) {
            continue;
        }

        // The scenario is of the whole machine: its first process with GPU work becomes the target.
        let is_busy = |process: &&mut Process| in_run(process) && !process.stream.is_empty();
        if let Some(process) = scenario.process.iter_mut().find(is_busy) {
            process.role = Role::Target;
        }
    }

    let name = match printable(&recorded.name) {
        name if name.trim().is_empty() => "(unnamed)".to_owned(),
        // Real tables of contents cut names at this length.
        name => name.chars().take(32).collect(),
    };
    for process in &mut scenario.process {
        if is_target(process) {
            process.name.clone_from(&name);
            process.pid = recorded.pid;
        } else if process.pid == recorded.pid {
            // Two processes of a run must not have the same pid.
            process.pid = recorded.pid.wrapping_add(1_000_000).max(1);
        }
    }
}

/// Replaces control characters, and cuts a text that is too long for a scenario.
pub(super) fn printable(text: &str) -> String {
    let is_refused =
        |character: char| character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}');
    text.replace(is_refused, " ").chars().take(200).collect()
}
