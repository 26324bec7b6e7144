//! Collects the facts about a recording that its bundle stores.

use std::fs;
use std::path::Path;

use super::state::{EndReason, EndedRecording, Prepared};
use crate::error::Error;
use crate::fake_xctrace::arguments::{Length, RecordOrder, RecordTarget};
use crate::fake_xctrace::lists;
use crate::fake_xctrace::misbehavior::Misbehavior;
use crate::fake_xctrace::recorded_processes::{
    RecordedRows, assign_target, is_target, keep_recorded, printable,
};
use crate::fake_xctrace::session::Session;
use crate::fake_xctrace::template::Template;
use crate::fake_xctrace::version::Build;
use crate::scenario::Scenario;
use crate::values::kinds::TargetKind;

/// Returns the scenario of the bundle: that of the settings, with the facts of the run.
pub(super) fn scenario(
    order: &RecordOrder,
    prepared: &Prepared,
    ended: &EndedRecording,
    session: &Session<'_>,
) -> Result<Scenario, Error> {
    let mut scenario = session.settings.scenario.clone();
    assign_target(&mut scenario, ended.process.as_ref());
    let template = &prepared.template;
    let recording = &mut scenario.recording;
    (recording.target, recording.arguments) = target(order);
    recording.template = printable(&template.name);
    recording.instruments = printable(&session.settings.version);
    recording.mode = mode(order, template);
    recording.time_limit = order
        .time_limit
        .map_or_else(|| "12 hours".to_owned(), Length::long_text);
    recording.end_reason = match ended.reason {
        EndReason::Limit => "Time limit reached",
        EndReason::Exited => "Target app exited",
        EndReason::Stopped | EndReason::Aborted => "User stopped recording",
    }
    .to_owned();
    recording.exit_status = ended.end.status;
    recording.termination.clone_from(&ended.end.termination);
    recording.shader_timeline |= template.shader_timeline
        && !session.misbehaves(Misbehavior::ShaderTimelineRefused)
        && !is_lost_to_file(order, session);
    if session.misbehaves(Misbehavior::CountersUnsupported) {
        recording.counter.clear();
    }

    let path = program(order, session)?;
    let target = scenario.process.iter().find(|process| is_target(process));
    // The last part of the path must be the name of the process.
    let is_named =
        |path: &String| target.is_some_and(|target| path.ends_with(&format!("/{}", target.name)));
    scenario.recording.program = path.filter(is_named);
    let rows = rows(scenario.recording.target, ended.reason, order, session);
    keep_recorded(&mut scenario, rows);
    change_work(&mut scenario, order, session);
    scenario.validate()?;
    Ok(scenario)
}

/// Adds samples to the processes, and takes out what a misbehavior loses.
fn change_work(scenario: &mut Scenario, order: &RecordOrder, session: &Session<'_>) {
    // Tables of contents of this template list the samples since Xcode 26.
    let is_new = Build::parse(&session.settings.version) >= Some(Build::XCODE_26);
    let has_samples = |name: &str| {
        matches!(name, "Time Profiler" | "CPU Profiler") || (name == lists::METAL && is_new)
    };
    let is_sampled = has_samples(&scenario.recording.template)
        || order.instruments.iter().any(|name| has_samples(name));
    for process in &mut scenario.process {
        if session.misbehaves(Misbehavior::NoSignposts) {
            process.signpost.clear();
        }
        if !is_target(process) {
            continue;
        }
        if session.misbehaves(Misbehavior::LosesRows)
            && let Some(last) = process.stream.last_mut()
        {
            last.count = last.count.saturating_sub(1).max(1);
        }
        if is_sampled {
            process.samples.get_or_insert_default();
        }
    }
}

/// Returns the kind of the target, and the arguments of a program that is launched.
fn target(order: &RecordOrder) -> (TargetKind, Option<String>) {
    match &order.target {
        RecordTarget::AllProcesses => (TargetKind::AllProcesses, None),
        RecordTarget::Attach(_) => (TargetKind::Attached, None),
        RecordTarget::Launch { arguments, .. } => {
            let words = arguments.iter().map(|word| word.to_string_lossy());
            let text = printable(&words.collect::<Vec<_>>().join(" "));
            (
                TargetKind::Launched,
                Some(text).filter(|text| !text.is_empty()),
            )
        }
    }
}

/// Returns the path of the launched program, or of another copy of it.
fn program(order: &RecordOrder, session: &Session<'_>) -> Result<Option<String>, Error> {
    let RecordTarget::Launch { program, .. } = &order.target else {
        return Ok(None);
    };
    let state = session.settings.state.as_ref();
    let copy = state.filter(|_| session.misbehaves(Misbehavior::OtherCopy));
    let path = match (copy, program.file_name()) {
        (Some(state), Some(name)) => {
            fs::create_dir_all(state).map_err(Error::io("create folder", state))?;
            let copy = state.join(name);
            fs::write(&copy, "another copy").map_err(Error::io("write", &copy))?;
            copy
        }
        _ => fs::canonicalize(program).unwrap_or_else(|_| program.clone()),
    };

    // A scenario refuses longer texts and control characters.
    let path_text = path.to_str().map(str::to_owned);
    Ok(path_text.filter(|path| path.len() < 200 && !path.chars().any(char::is_control)))
}

/// Returns the recording mode. Two templates keep only the last seconds by default.
fn mode(order: &RecordOrder, template: &Template) -> String {
    let windowed = matches!(template.name.as_str(), "System Trace" | "Game Performance");
    match order.window {
        Some(window) => format!("Windowed ({})", window.long_text()),
        None if windowed => "Windowed (5 seconds)".to_owned(),
        None => "Deferred".to_owned(),
    }
}

fn is_lost_to_file(order: &RecordOrder, session: &Session<'_>) -> bool {
    let to = order.target_stdout.as_deref();
    let is_file = to.is_some_and(|to| to != Path::new("-"));
    session.misbehaves(Misbehavior::NoShadersToFile) && is_file
}

/// Returns whether the program is in a folder that macOS guards, and hangs there.
pub(super) fn hangs(order: &RecordOrder, session: &Session<'_>) -> bool {
    let RecordTarget::Launch { program, .. } = &order.target else {
        return false;
    };
    let is_guarded = program
        .components()
        .any(|part| part.as_os_str() == "Documents");
    is_guarded && session.misbehaves(Misbehavior::HangsGuarded)
}

fn rows(
    kind: TargetKind,
    reason: EndReason,
    order: &RecordOrder,
    session: &Session<'_>,
) -> RecordedRows {
    let is_unconfigured =
        session.misbehaves(Misbehavior::NoConfiguration) && kind == TargetKind::Attached;
    if session.misbehaves(Misbehavior::Malformed) {
        RecordedRows::None
    } else if is_unconfigured
        || reason == EndReason::Aborted
        || session.misbehaves(Misbehavior::NoTargetRows)
        || hangs(order, session)
        || (session.misbehaves(Misbehavior::ChildWorks)
            && session.misbehaves(Misbehavior::LosesChildren))
    {
        RecordedRows::OthersOnly
    } else if session.misbehaves(Misbehavior::ChildWorks) {
        RecordedRows::Child
    } else {
        RecordedRows::All
    }
}
