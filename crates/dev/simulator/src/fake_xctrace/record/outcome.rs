//! Collects the facts about a recording that its bundle stores.

use std::fs;
use std::path::Path;

use super::state::{EndReason, EndedRecording, Prepared};
use crate::error::Error;
use crate::fake_xctrace::arguments::{Length, RecordOrder, RecordTarget};
use crate::fake_xctrace::lists;
use crate::fake_xctrace::misbehavior::Misbehavior;
use crate::fake_xctrace::run_facts::{self, ProcessIdentity, RecordedRows, RunFacts};
use crate::fake_xctrace::session::Session;
use crate::fake_xctrace::template::Template;
use crate::fake_xctrace::version::Build;
use crate::scenario::Scenario;
use crate::values::kinds::TargetKind;

/// Returns the scenario of the bundle: that of the settings, with the facts of the run.
pub(super) fn scenario(
    order: &RecordOrder,
    prepared: &Prepared,
    ended: EndedRecording,
    session: &Session<'_>,
) -> Result<Scenario, Error> {
    let facts = facts(order, &prepared.template, ended, session)?;
    let scenario = run_facts::with_facts(session.settings.scenario.clone(), &facts);
    scenario.validate()?;
    Ok(scenario)
}

/// Returns the facts of the run that the bundle stores.
fn facts(
    order: &RecordOrder,
    template: &Template,
    ended: EndedRecording,
    session: &Session<'_>,
) -> Result<RunFacts, Error> {
    let (kind, arguments) = match &order.target {
        RecordTarget::AllProcesses => (TargetKind::AllProcesses, String::new()),
        RecordTarget::Attach(_) => (TargetKind::Attached, String::new()),
        RecordTarget::Launch { arguments, .. } => {
            let arguments: Vec<_> = arguments
                .iter()
                .map(|word| word.to_string_lossy())
                .collect();
            (TargetKind::Launched, arguments.join(" "))
        }
    };

    // Tables of contents of this template list the samples since Xcode 26.
    let is_new = Build::parse(&session.settings.version) >= Some(Build::XCODE_26);
    let has_samples = |name: &str| {
        matches!(name, "Time Profiler" | "CPU Profiler") || (name == lists::METAL && is_new)
    };
    let is_refused = session.misbehaves(Misbehavior::ShaderTimelineRefused);

    let path = program(order, session)?;
    Ok(RunFacts {
        kind,
        process: ended.process.map(|process| ProcessIdentity {
            name: process.name,
            pid: process.pid,
            arguments,
            path,
        }),
        template: template.name.clone(),
        instruments: session.settings.version.clone(),
        mode: mode(order, template),
        time_limit: order
            .time_limit
            .map_or_else(|| "12 hours".to_owned(), Length::long_text),
        end_reason: match ended.reason {
            EndReason::Limit => "Time limit reached",
            EndReason::Exited => "Target app exited",
            EndReason::Stopped | EndReason::Aborted => "User stopped recording",
        },
        end: ended.end,
        samples: has_samples(&template.name)
            || order.instruments.iter().any(|name| has_samples(name)),
        shader_timeline: template.shader_timeline
            && !is_refused
            && !is_lost_to_file(order, session),
        counters: !session.misbehaves(Misbehavior::CountersUnsupported),
        signposts: !session.misbehaves(Misbehavior::NoSignposts),
        loses_rows: session.misbehaves(Misbehavior::LosesRows),
        rows: rows(kind, ended.reason, order, session),
    })
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
