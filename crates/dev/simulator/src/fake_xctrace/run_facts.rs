//! Puts the facts of a run into the scenario that is written.

use super::process::ProcessEnd;
use crate::optional::Samples;
use crate::scenario::{Process, Scenario};
use crate::values::kinds::Role;
use crate::values::kinds::TargetKind;

/// The facts of a run that took place.
#[derive(Debug)]
pub(super) struct RunFacts {
    pub(super) kind: TargetKind,
    /// Process that the run is about, or `None` if all processes were recorded.
    pub(super) process: Option<ProcessIdentity>,
    pub(super) template: String,
    pub(super) instruments: String,
    pub(super) mode: String,
    pub(super) time_limit: String,
    pub(super) end_reason: &'static str,
    pub(super) end: ProcessEnd,
    /// True if stacks were sampled.
    pub(super) samples: bool,
    pub(super) shader_timeline: bool,
    /// True if hardware counters are recorded.
    pub(super) counters: bool,
    /// True if signposts are recorded.
    pub(super) signposts: bool,
    /// True if the last encoder of the process is missing.
    pub(super) loses_rows: bool,
    pub(super) rows: RecordedRows,
}

/// The process that the run is about.
#[derive(Debug)]
pub(super) struct ProcessIdentity {
    pub(super) name: String,
    pub(super) pid: u32,
    pub(super) arguments: String,
    /// Path of its program, if it is known.
    pub(super) path: Option<String>,
}

/// The processes whose work was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordedRows {
    All,
    /// The work of a process that the recorded one started, and of others.
    Child,
    OthersOnly,
    None,
}

/// Returns the scenario with the facts of the run.
pub(super) fn with_facts(mut scenario: Scenario, facts: &RunFacts) -> Scenario {
    let recording = &mut scenario.recording;
    recording.target = facts.kind;
    recording.template = printable(&facts.template);
    recording.instruments = printable(&facts.instruments);
    recording.mode.clone_from(&facts.mode);
    recording.time_limit.clone_from(&facts.time_limit);
    recording.end_reason = facts.end_reason.to_owned();
    recording.exit_status = facts.end.status;
    recording.termination.clone_from(&facts.end.termination);
    recording.shader_timeline |= facts.shader_timeline;

    if !facts.counters {
        recording.counter.clear();
    }

    let arguments = facts
        .process
        .as_ref()
        .map(|process| printable(&process.arguments));
    recording.arguments = arguments.filter(|arguments| !arguments.is_empty());
    match &facts.process {
        Some(process) => assign_target(&mut scenario, process),
        None => scenario.process.iter_mut().for_each(demote_target),
    }
    recording_program(&mut scenario, facts);

    if facts.rows == RecordedRows::Child {
        let processes = scenario.process.iter();
        let targets = processes.filter(|process| process.role == Role::Target);
        let children: Vec<Process> = targets.map(child_of).collect();
        scenario.process.extend(children);
    }

    for process in &mut scenario.process {
        let is_analyzed = process.role == Role::Target;
        let lacks_target = matches!(facts.rows, RecordedRows::OthersOnly | RecordedRows::Child);
        if facts.rows == RecordedRows::None || (lacks_target && is_analyzed) {
            process.stream.clear();
            process.signpost.clear();
        }
        if !facts.signposts {
            process.signpost.clear();
        }
        if facts.loses_rows
            && is_analyzed
            && let Some(last) = process.stream.last_mut()
        {
            last.count = last.count.saturating_sub(1).max(1);
        }
        if facts.samples && is_analyzed && process.samples.is_none() {
            process.samples = Some(Samples::default());
        }
    }
    scenario
}

/// Stores the path of the recorded program. Its last part must be the name of the process.
fn recording_program(scenario: &mut Scenario, facts: &RunFacts) {
    let process = facts.process.as_ref();
    let path = process.and_then(|process| process.path.clone());
    let mut targets = scenario.process.iter();
    let target = targets.find(|process| process.role == Role::Target);
    scenario.recording.program = path
        .filter(|path| target.is_some_and(|target| path.ends_with(&format!("/{}", target.name))));
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

fn demote_target(process: &mut Process) {
    if process.role == Role::Target {
        process.role = Role::Other;
    }
}

/// Gives name and pid of the recorded process to the scenario's target, in every run.
fn assign_target(scenario: &mut Scenario, recorded: &ProcessIdentity) {
    for run in 1..=scenario.runs {
        let in_run =
            |process: &Process| process.runs.as_ref().is_none_or(|runs| runs.contains(&run));
        let mut processes = scenario
            .process
            .iter_mut()
            .filter(|process| in_run(process));
        if processes.any(|process| process.role == Role::Target) {
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
        if process.role == Role::Target {
            process.name.clone_from(&name);
            process.pid = recorded.pid;
        } else if process.pid == recorded.pid {
            // Two processes of a run must not have the same pid.
            process.pid = recorded.pid.wrapping_add(1_000_000).max(1);
        }
    }
}

/// Replaces control characters, and cuts a text that is too long for a scenario.
fn printable(text: &str) -> String {
    let is_refused =
        |character: char| character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}');
    let printable = |character| {
        if is_refused(character) {
            ' '
        } else {
            character
        }
    };
    text.chars().map(printable).take(200).collect()
}
