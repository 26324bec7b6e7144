//! Implements `xctrace record`: the lines in their order, the process, the bundle, the exit code.

mod outcome;
mod state;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::arguments::{AttachTo, ImportOrder, RecordOrder, RecordTarget};
use super::bundle::{self, Saving};
use super::misbehavior::Misbehavior;
use super::process::{self, Drops, ProcessEnd, RecordedProcess};
use super::scratch;
use super::session::Session;
use super::settings::Exit;
use super::template;
use super::{lists, messages, output_path};
use crate::error::Error;
use crate::scenario::Scenario;
use state::{EndReason, EndedRecording, Prepared};

/// Interval at which the process is checked.
const POLL: Duration = Duration::from_millis(3);
/// Factor by which a slow saving takes longer.
const SLOW: u32 = 100;
/// Amount of text with which standard error is flooded.
const FLOOD_BYTES: usize = 10_000_000;

const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;

pub(super) fn record(order: &RecordOrder, session: &mut Session<'_>) -> Exit {
    if session.misbehaves(Misbehavior::Silent) {
        return Exit::Code(0);
    }
    attempt(order, session).unwrap_or_else(|exit| exit)
}

/// Writes the bundle of a raw recording. The printed text is a guess.
pub(super) fn import(order: &ImportOrder, session: &mut Session<'_>) -> Exit {
    match bundle::import(&order.input, &order.output) {
        Ok(()) => {
            let name = order.output.file_name().unwrap_or_default();
            session.print(&format!("Output file saved as: {}", name.display()));
            Exit::Code(0)
        }
        Err(error) => failed(&error, session),
    }
}

/// Records: prepares, launches, waits for the end, and saves. `Err` ends the program early.
fn attempt(order: &RecordOrder, session: &mut Session<'_>) -> Result<Exit, Exit> {
    if session.misbehaves(Misbehavior::AsksEnter) && !order.no_prompt {
        session.print("This recording can hold private data. Press Enter to continue.");
        session.wait_for_enter();
    }
    let mut prepared = prepare(order, session)?;
    if session.misbehaves(Misbehavior::HangsBefore) {
        session.hang();
    }

    bundle::begin(&prepared.output).map_err(|error| failed(&error, session))?;
    announce(order, &prepared, session);
    if session.misbehaves(Misbehavior::AsksPassword) {
        session.print(messages::PASSWORD);
        session.print("Username (somebody):");
        session.hang();
    }
    refuse(order, &prepared, session)?;

    let mut process = launch(order, prepared.process.take(), session)?;
    if outcome::hangs(order, session) {
        process.as_mut().map(RecordedProcess::suspend);
    }
    notify(order, session).map_err(|error| failed(&error, session))?;
    if !session.misbehaves(Misbehavior::NeverSays) {
        progress(order, "Ctrl-C to stop the recording", session);
    }

    if session.misbehaves(Misbehavior::FloodsStderr) {
        flood(session);
    }
    if session.misbehaves(Misbehavior::KilledRecording) {
        thread::sleep(Duration::from_millis(30));
        process.as_mut().map(RecordedProcess::kill);
        return Ok(Exit::Signal(SIGKILL));
    }

    let ended = wait(order, process, session);
    save(order, &prepared, ended, session)
}

/// Checks everything that can be checked before the recording starts.
fn prepare(order: &RecordOrder, session: &mut Session<'_>) -> Result<Prepared, Exit> {
    let template = template::find(order, session)?;
    let mut instruments = order.instruments.iter();
    let lacks =
        |name: &str| name == "Points of Interest" && session.misbehaves(Misbehavior::NoInstrument);
    if let Some(name) = instruments.find(|name| !lists::is_instrument(name) || lacks(name)) {
        session.print_error(&format!("Instrument with name '{name}' cannot be found"));
        return Err(Exit::Code(1));
    }

    let output = output_path::find(order, session)?;
    let process = match &order.target {
        RecordTarget::Attach(attach_to) => Some(attach(attach_to, session)?),
        RecordTarget::AllProcesses | RecordTarget::Launch { .. } => None,
    };
    Ok(Prepared {
        template,
        output,
        process,
    })
}

/// Finds the process to attach to, or fails with the code of the real tool.
fn attach(attach_to: &AttachTo, session: &mut Session<'_>) -> Result<RecordedProcess, Exit> {
    let process = RecordedProcess::find(attach_to);
    let (is_refused, text, code) = match attach_to {
        AttachTo::Pid(pid) => (
            session.misbehaves(Misbehavior::Exit21),
            format!("Cannot find process for provided pid: {pid}"),
            21,
        ),
        AttachTo::Name(name) => (
            session.misbehaves(Misbehavior::Exit19),
            format!("Cannot find process matching name: {name}"),
            19,
        ),
    };

    process.filter(|_| !is_refused).ok_or_else(|| {
        session.print_error(&text);
        Exit::Code(code)
    })
}

/// Prints the first line of a recording.
fn announce(order: &RecordOrder, prepared: &Prepared, session: &mut Session<'_>) {
    let target = match (&order.target, &prepared.process) {
        (RecordTarget::Launch { program, .. }, _) => {
            format!("Launching process: {}.", process::name_of(program))
        }
        (_, Some(process)) => format!("Attaching to: {} ({}).", process.name, process.pid),
        (_, None) => "Targeting All Processes.".to_owned(),
    };
    let limit = order
        .time_limit
        .map(|limit| format!(" Time limit: {}", limit.short_text()));
    let line = format!(
        "Starting recording with the {} template{}. {target}{}",
        prepared.template.name,
        added(&order.instruments),
        limit.unwrap_or_default()
    );
    progress(order, &line, session);
}

/// Returns the words about the instruments that are added to the template.
fn added(instruments: &[String]) -> String {
    match instruments {
        [] => String::new(),
        [name] => format!(" and {name} Instrument"),
        several => format!(" and {} Instruments", several.join(", ")),
    }
}

/// Refuses to record if that misbehavior is on. The stub stays.
fn refuse(order: &RecordOrder, prepared: &Prepared, session: &mut Session<'_>) -> Result<(), Exit> {
    let name = match (&order.target, &prepared.process) {
        (RecordTarget::Launch { program, .. }, _) => process::name_of(program),
        (_, Some(process)) => process.name.clone(),
        (_, None) => return Ok(()),
    };
    let Some(text) = messages::at_start(&name, session) else {
        return Ok(());
    };

    messages::print_issues(&[&format!("* [Error] {text}")], session);
    session.print("Recording failed with errors. Saving output file...");
    Err(Exit::Code(2))
}

/// Starts the program to launch, if any. The message for a failure is a guess.
fn launch(
    order: &RecordOrder,
    attached: Option<RecordedProcess>,
    session: &mut Session<'_>,
) -> Result<Option<RecordedProcess>, Exit> {
    let RecordTarget::Launch { program, arguments } = &order.target else {
        return Ok(attached);
    };
    let drops = Drops {
        environment: session.misbehaves(Misbehavior::DropsEnvironment),
        stderr: session.misbehaves(Misbehavior::DropsStderr),
    };
    let launched = RecordedProcess::launch(order, program, arguments, drops);
    launched.map(Some).map_err(|error| {
        let issue = format!("* [Error] Failed to launch {}: {error}", program.display());
        messages::print_issues(&[&issue], session);
        Exit::Code(2)
    })
}

/// Prints a line of progress, unless `--quiet` is given.
fn progress(order: &RecordOrder, line: &str, session: &mut Session<'_>) {
    if !order.quiet {
        session.print(line);
    }
}

/// Posts the notification that the recording has begun: a file in the state folder, for which a fake
/// `notifyutil` waits.
fn notify(order: &RecordOrder, session: &Session<'_>) -> Result<(), Error> {
    let (Some(name), Some(state)) = (&order.tracing_started, &session.settings.state) else {
        return Ok(());
    };
    if session.misbehaves(Misbehavior::NoNotification) {
        return Ok(());
    }
    fs::create_dir_all(state).map_err(Error::io("create folder", state))?;
    let path = state.join(format!("{name}.posted"));
    fs::write(&path, "").map_err(Error::io("write", &path))
}

fn flood(session: &mut Session<'_>) {
    let line = [&[b'x'; 99], b"\n".as_slice()].concat();
    for _ in 0..FLOOD_BYTES / line.len() {
        session.write_to_stderr(&line);
    }
}

/// Waits until there is a reason to end. Kills a launched process at the time limit, and on SIGINT,
/// which is a guess.
fn wait(
    order: &RecordOrder,
    mut process: Option<RecordedProcess>,
    session: &Session<'_>,
) -> EndedRecording {
    let start = Instant::now();
    let limit = order.time_limit.map(super::arguments::Length::duration);
    let aborts = (session.misbehaves(Misbehavior::Aborts34ms) && order.no_prompt)
        .then_some(Duration::from_millis(34));
    let has_passed =
        |length: Option<Duration>| length.is_some_and(|length| start.elapsed() >= length);

    let reason = loop {
        if let Some(end) = process.as_mut().and_then(RecordedProcess::ended) {
            let reason = EndReason::Exited;
            return EndedRecording {
                process,
                reason,
                end,
            };
        }
        if session.is_interrupted() {
            break EndReason::Stopped;
        }
        if has_passed(limit) {
            break EndReason::Limit;
        }
        if has_passed(aborts) {
            break EndReason::Aborted;
        }
        thread::sleep(POLL);
    };

    let end_process = if session.misbehaves(Misbehavior::LeavesTarget) {
        RecordedProcess::suspend
    } else {
        RecordedProcess::kill
    };
    let end = process
        .as_mut()
        .map_or_else(ProcessEnd::success, end_process);
    EndedRecording {
        process,
        reason,
        end,
    }
}

/// Prints the reason for the end, writes the bundle, and returns the exit code.
fn save(
    order: &RecordOrder,
    prepared: &Prepared,
    ended: EndedRecording,
    session: &mut Session<'_>,
) -> Result<Exit, Exit> {
    match ended.reason {
        EndReason::Limit => progress(
            order,
            "Reached specified time limit, ending recording...",
            session,
        ),
        EndReason::Exited => progress(order, "Target app exited, ending recording...", session),
        // This message is a guess.
        EndReason::Stopped => progress(order, "Stopping recording...", session),
        EndReason::Aborted => {}
    }

    let issues = messages::at_end(order, session);
    if issues.is_empty() {
        progress(order, "Recording completed. Saving output file...", session);
    } else {
        messages::print_issues(&issues, session);
        session.print("Recording failed with errors. Saving output file...");
    }

    if session.misbehaves(Misbehavior::LeavesScratch)
        || session.misbehaves(Misbehavior::HoldsScratch)
    {
        let holds = session.misbehaves(Misbehavior::HoldsScratch);
        scratch::leave(holds).map_err(|error| failed(&error, session))?;
    }
    if session.misbehaves(Misbehavior::LeavesRaw) {
        let scenario = outcome::scenario(order, prepared, &ended, session);
        let left = scenario.and_then(|scenario| bundle::leave_raw(&scenario, &prepared.output));
        left.map_err(|error| failed(&error, session))?;
        session.print_error("Unexpected internal error");
        return Ok(Exit::Code(1));
    }

    let exit = exit(&ended, !issues.is_empty(), session);
    if session.misbehaves(Misbehavior::Exit54Stub) {
        return Ok(Exit::Code(54));
    }
    if !session.misbehaves(Misbehavior::SavesStub) {
        let scenario = outcome::scenario(order, prepared, &ended, session)
            .map_err(|error| failed(&error, session))?;
        let saved = write(&scenario, &prepared.output, session);
        if let Some(exit) = saved.map_err(|error| failed(&error, session))? {
            return Ok(exit);
        }
    }

    let name = prepared.output.file_name().unwrap_or_default();
    session.print(&format!("Output file saved as: {}", name.display()));
    Ok(exit)
}

/// Returns the exit code of a saved recording. The sources agree on 54 if the process failed or
/// somebody stopped the recording.
fn exit(ended: &EndedRecording, has_issues: bool, session: &Session<'_>) -> Exit {
    if session.misbehaves(Misbehavior::PropagatesStatus) {
        return Exit::Code(u8::try_from(ended.end.status).unwrap_or(54));
    }
    let ended_well =
        ended.end.status == 0 && !matches!(ended.reason, EndReason::Stopped | EndReason::Aborted);
    if ended_well && !has_issues && !session.misbehaves(Misbehavior::Exit54) {
        Exit::Code(0)
    } else {
        Exit::Code(54)
    }
}

/// Saves the bundle, unless a misbehavior ends the process in the middle.
fn write(
    scenario: &Scenario,
    output: &Path,
    session: &mut Session<'_>,
) -> Result<Option<Exit>, Error> {
    let saving = Saving::new(scenario, output, session.settings.saving)?;
    saving.first_half()?;

    if session.misbehaves(Misbehavior::LostEvents) {
        bundle::report_lost_events(output)?;
    }
    if session.misbehaves(Misbehavior::SavingGrows) {
        saving.grow(session.settings.saving * SLOW)?;
    }
    if session.misbehaves(Misbehavior::SavingHangs) {
        session.hang();
    }
    if session.misbehaves(Misbehavior::SavingCrashes) {
        return Ok(Some(Exit::Signal(SIGSEGV)));
    }
    if session.misbehaves(Misbehavior::Saving139) {
        return Ok(Some(Exit::Code(139)));
    }
    if session.misbehaves(Misbehavior::DiskFull) {
        session.print_error("Failed to save the output file: No space left on device");
        return Ok(Some(Exit::Code(1)));
    }

    saving.second_half()?;
    Ok(None)
}

/// Prints an error of the fake `xctrace` itself, with its causes.
fn failed(error: &Error, session: &mut Session<'_>) -> Exit {
    let mut text = format!("the fake xctrace failed: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    session.print_error(&text);
    Exit::Code(70)
}
