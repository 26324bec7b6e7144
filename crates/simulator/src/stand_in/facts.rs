//! What is true of a run, put into the scenario that is written.

use super::target::End;
use crate::error::Error;
use crate::scenario::host::Samples;
use crate::scenario::recording::TargetKind;
use crate::scenario::{Process, Role, Scenario};

/// A run that took place.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) kind: TargetKind,
    /// None when everyone was recorded.
    pub(super) target: Option<Named>,
    pub(super) template: String,
    pub(super) instruments: String,
    pub(super) mode: String,
    pub(super) time_limit: String,
    pub(super) end_reason: &'static str,
    pub(super) end: End,
    /// Whether stacks were sampled.
    pub(super) samples: bool,
    pub(super) shader_timeline: bool,
    pub(super) rows: Rows,
}

/// The process the run was about.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) pid: u32,
    pub(super) arguments: String,
}

/// Whose work was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    Everyones,
    OthersOnly,
    None,
}

/// The scenario as if it had been this run.
pub(super) fn told(mut scenario: Scenario, facts: &Facts) -> Scenario {
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
    let arguments = facts
        .target
        .as_ref()
        .map(|target| printable(&target.arguments));
    recording.arguments = arguments.filter(|arguments| !arguments.is_empty());
    match &facts.target {
        Some(target) => cast(&mut scenario, target),
        None => scenario.process.iter_mut().for_each(step_back),
    }
    for process in &mut scenario.process {
        let is_analyzed = process.role == Role::Target;
        if facts.rows == Rows::None || (facts.rows == Rows::OthersOnly && is_analyzed) {
            process.stream.clear();
            process.signpost.clear();
        }
        if facts.samples && is_analyzed && process.samples.is_none() {
            process.samples = Some(Samples::default());
        }
    }
    scenario
}

fn step_back(process: &mut Process) {
    if process.role == Role::Target {
        process.role = Role::Other;
    }
}

/// Gives the target's part to the real one, in every run.
fn cast(scenario: &mut Scenario, target: &Named) {
    for run in 1..=scenario.runs {
        let in_run =
            |process: &Process| process.runs.as_ref().is_none_or(|runs| runs.contains(&run));
        let mut alive = scenario
            .process
            .iter_mut()
            .filter(|process| in_run(process));
        if alive.any(|process| process.role == Role::Target) {
            continue;
        }
        // Recorded as the whole machine: whoever comes first becomes the target.
        let busy = |process: &&mut Process| in_run(process) && !process.stream.is_empty();
        if let Some(process) = scenario.process.iter_mut().find(busy) {
            process.role = Role::Target;
        }
    }
    let name = match printable(&target.name) {
        name if name.trim().is_empty() => "(unnamed)".to_owned(),
        // Where real tables of contents cut it.
        name => name.chars().take(32).collect(),
    };
    for process in &mut scenario.process {
        if process.role == Role::Target {
            process.name.clone_from(&name);
            process.pid = target.pid;
        } else if process.pid == target.pid {
            // Pids are as free as they are large.
            process.pid = target.pid.wrapping_add(1_000_000).max(1);
        }
    }
}

/// The first run of `new` after those of `old`, which keeps what it says of the recording but how
/// it ended.
pub(super) fn appended(mut old: Scenario, new: Scenario) -> Result<Scenario, Error> {
    if old.recording.target != new.recording.target {
        return Err(Error::field(
            "recording.target",
            "is another in the document",
            "runs of one kind in one document",
        ));
    }
    let earlier = old.runs;
    let template = std::mem::take(&mut old.recording.template);
    old.recording = new.recording;
    old.recording.template = template;
    old.runs += 1;
    for process in &mut old.process {
        process.runs.get_or_insert_with(|| (1..=earlier).collect());
    }
    for mut process in new.process {
        if process.runs.as_ref().is_none_or(|runs| runs.contains(&1)) {
            process.runs = Some(vec![old.runs]);
            old.process.push(process);
        }
    }
    old.validate()?;
    Ok(old)
}

/// No control characters, and not too long to be written.
fn printable(text: &str) -> String {
    let printable = |c: char| match c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') {
        true => ' ',
        false => c,
    };
    text.chars().map(printable).take(200).collect()
}
