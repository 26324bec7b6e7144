//! `xctrace record`: the lines in their order, the target, the bundle, the exit code.

mod outcome;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::arguments::{RecordOrder, Subject, Whom};
use super::document::{self, Saving};
use super::stage::Stage;
use super::target::{self, End, Target};
use super::template::{self, Template};
use super::{Ending, Misbehaviour, lists, place, trouble};
use crate::error::Error;
use crate::scenario::Scenario;

/// How often the target is looked at.
const LOOK: Duration = Duration::from_millis(3);
/// How many times as long a slow saving takes.
const SLOW: u32 = 100;
/// How much is said where nobody asked.
const FLOOD_BYTES: usize = 10_000_000;

const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;

/// Everything that was settled before the recording began.
#[derive(Debug)]
struct Prepared {
    template: Template,
    place: PathBuf,
    /// The document a run is appended to.
    earlier: Option<Scenario>,
    target: Option<Target>,
}

/// A recording that ended.
#[derive(Debug)]
struct Recorded {
    target: Option<Target>,
    why: Why,
    end: End,
}

/// Why a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Limit,
    Exited,
    Stopped,
    /// Of its own accord, without a reason.
    Aborted,
}

pub(super) fn record(order: &RecordOrder, stage: &mut Stage<'_>) -> Ending {
    if stage.does(Misbehaviour::Silent) {
        return Ending::Code(0);
    }
    if order.show_recording_options {
        // What the real tool offers for this template are keys of Hangs and Time Profiler.
        stage.say("{}");
        return Ending::Code(0);
    }
    attempt(order, stage).unwrap_or_else(|ending| ending)
}

fn attempt(order: &RecordOrder, stage: &mut Stage<'_>) -> Result<Ending, Ending> {
    if stage.does(Misbehaviour::AsksEnter) && !order.no_prompt {
        stage.say("This recording can hold private data. Press Enter to continue.");
        stage.wait_for_enter();
    }
    let mut prepared = prepare(order, stage)?;
    if stage.does(Misbehaviour::HangsBefore) {
        stage.hang();
    }
    document::begin(&prepared.place).map_err(|error| failed(&error, stage))?;
    announce(order, &prepared, stage);
    refuse(order, &prepared, stage)?;
    let mut target = launch(order, prepared.target.take(), stage)?;
    progress(order, "Ctrl-C to stop the recording", stage);
    if stage.does(Misbehaviour::FloodsStderr) {
        flood(stage);
    }
    if stage.does(Misbehaviour::KilledRecording) {
        thread::sleep(Duration::from_millis(30));
        target.as_mut().map(Target::kill);
        return Ok(Ending::Signal(SIGKILL));
    }
    let recorded = watch(order, target, stage);
    save(order, &prepared, recorded, stage)
}

/// Checks all that can be checked before.
fn prepare(order: &RecordOrder, stage: &mut Stage<'_>) -> Result<Prepared, Ending> {
    if order.recording_options.is_some() && stage.does(Misbehaviour::Exit57) {
        stage.complain("The data couldn’t be read because it is missing.");
        return Err(Ending::Code(57));
    }
    let template = template::find(order, stage)?;
    let mut instruments = order.instruments.iter();
    if let Some(name) = instruments.find(|name| !lists::is_instrument(name)) {
        stage.complain(&format!("Instrument with name '{name}' cannot be found"));
        return Err(Ending::Code(1));
    }
    if let Some(device) = order
        .device
        .as_deref()
        .filter(|name| !lists::is_device(name))
    {
        stage.complain(&format!("Unable to find device with name or id '{device}'"));
        return Err(Ending::Code(1));
    }
    let place = place::find(order, stage)?;
    let earlier = earlier(&place, stage)?;
    let target = match &order.subject {
        Subject::Attach(whom) => Some(attach(whom, stage)?),
        Subject::AllProcesses | Subject::Launch { .. } => None,
    };
    Ok(Prepared {
        template,
        place,
        earlier,
        target,
    })
}

/// The document a run is appended to, if there is one.
fn earlier(place: &Path, stage: &mut Stage<'_>) -> Result<Option<Scenario>, Ending> {
    if !place.exists() {
        return Ok(None);
    }
    let earlier = document::scenario(place);
    if earlier.is_none() {
        let problem = "the stand-in can append runs only to bundles of its own";
        stage.complain(&format!("{}: {problem}", place.display()));
        return Err(Ending::Code(1));
    }
    Ok(earlier)
}

fn attach(whom: &Whom, stage: &mut Stage<'_>) -> Result<Target, Ending> {
    let found = Target::find(whom);
    let (refused, text, code) = match whom {
        Whom::Pid(pid) => (
            stage.does(Misbehaviour::Exit21),
            format!("Cannot find process for provided pid: {pid}"),
            21,
        ),
        Whom::Name(name) => (
            stage.does(Misbehaviour::Exit19),
            format!("Cannot find process matching name: {name}"),
            19,
        ),
    };
    found.filter(|_| !refused).ok_or_else(|| {
        stage.complain(&text);
        Ending::Code(code)
    })
}

/// The first line. What it says of a recording of all processes is a guess.
fn announce(order: &RecordOrder, prepared: &Prepared, stage: &mut Stage<'_>) {
    let what = match (&order.subject, &prepared.target) {
        (Subject::Launch { program, .. }, _) => {
            format!("Launching process: {}.", target::name_of(program))
        }
        (_, Some(target)) => format!("Attaching to: {} ({}).", target.name, target.pid),
        (_, None) => "Recording all processes.".to_owned(),
    };
    let limit = order.time_limit;
    let limit = limit.map(|limit| format!(" Time limit: {}", limit.short()));
    let line = format!(
        "Starting recording with the {} template. {what}{}",
        prepared.template.name,
        limit.unwrap_or_default()
    );
    progress(order, &line, stage);
}

/// A recording that does not start leaves its stub.
fn refuse(order: &RecordOrder, prepared: &Prepared, stage: &mut Stage<'_>) -> Result<(), Ending> {
    let name = match (&order.subject, &prepared.target) {
        (Subject::Launch { program, .. }, _) => target::name_of(program),
        (_, Some(target)) => target.name.clone(),
        (_, None) => return Ok(()),
    };
    let Some(text) = trouble::at_start(&name, stage) else {
        return Ok(());
    };
    trouble::tell_issues(&[&format!("* [Error] {text}")], stage);
    stage.say("Recording failed with errors. Saving output file...");
    Err(Ending::Code(2))
}

/// Starts what is to be launched. How the real tool says that it could not is a guess.
fn launch(
    order: &RecordOrder,
    attached: Option<Target>,
    stage: &mut Stage<'_>,
) -> Result<Option<Target>, Ending> {
    let Subject::Launch { program, arguments } = &order.subject else {
        return Ok(attached);
    };
    let launched = Target::launch(order, program, arguments);
    launched.map(Some).map_err(|error| {
        let issue = format!("* [Error] Failed to launch {}: {error}", program.display());
        trouble::tell_issues(&[&issue], stage);
        Ending::Code(2)
    })
}

/// A line of progress, which `--quiet` leaves out.
fn progress(order: &RecordOrder, line: &str, stage: &mut Stage<'_>) {
    if !order.quiet {
        stage.say(line);
    }
}

fn flood(stage: &mut Stage<'_>) {
    let line = [&[b'x'; 99], b"\n".as_slice()].concat();
    for _ in 0..FLOOD_BYTES / line.len() {
        stage.flood(&line);
    }
}

/// Waits until there is a reason to end. At the limit and on SIGINT a launched target is killed;
/// the latter is a guess.
fn watch(order: &RecordOrder, mut target: Option<Target>, stage: &Stage<'_>) -> Recorded {
    let start = Instant::now();
    let limit = order.time_limit.map(super::arguments::Length::duration);
    let aborts = (stage.does(Misbehaviour::Aborts34ms) && order.no_prompt)
        .then_some(Duration::from_millis(34));
    let passed = |length: Option<Duration>| length.is_some_and(|length| start.elapsed() >= length);
    let why = loop {
        if let Some(end) = target.as_mut().and_then(Target::ended) {
            let why = Why::Exited;
            return Recorded { target, why, end };
        }
        if stage.interrupted() {
            break Why::Stopped;
        }
        if passed(limit) {
            break Why::Limit;
        }
        if passed(aborts) {
            break Why::Aborted;
        }
        thread::sleep(LOOK);
    };
    let end = target.as_mut().map_or_else(End::well, Target::kill);
    Recorded { target, why, end }
}

fn save(
    order: &RecordOrder,
    prepared: &Prepared,
    recorded: Recorded,
    stage: &mut Stage<'_>,
) -> Result<Ending, Ending> {
    match recorded.why {
        Why::Limit => progress(
            order,
            "Reached specified time limit, ending recording...",
            stage,
        ),
        Why::Exited => progress(order, "Target app exited, ending recording...", stage),
        // What is said then is a guess.
        Why::Stopped => progress(order, "Stopping recording...", stage),
        Why::Aborted => {}
    }
    let issues = trouble::at_end(order, stage);
    if issues.is_empty() {
        progress(order, "Recording completed. Saving output file...", stage);
    } else {
        trouble::tell_issues(&issues, stage);
        stage.say("Recording failed with errors. Saving output file...");
    }
    let code = code(&recorded, !issues.is_empty(), stage);
    if stage.does(Misbehaviour::Exit54Stub) {
        return Ok(Ending::Code(54));
    }
    if !stage.does(Misbehaviour::SavesStub) {
        let scenario = outcome::scenario(order, prepared, recorded, stage);
        let scenario = scenario.map_err(|error| failed(&error, stage))?;
        let saved = write(&scenario, &prepared.place, stage);
        if let Some(ending) = saved.map_err(|error| failed(&error, stage))? {
            return Ok(ending);
        }
    }
    let name = prepared.place.file_name().unwrap_or_default();
    stage.say(&format!("Output file saved as: {}", name.display()));
    Ok(code)
}

/// 54 where a child did not end well or somebody stopped it, which is what the evidence agrees on.
fn code(recorded: &Recorded, issues: bool, stage: &Stage<'_>) -> Ending {
    if stage.does(Misbehaviour::PropagatesStatus) {
        return Ending::Code(u8::try_from(recorded.end.status).unwrap_or(54));
    }
    let ended_well = recorded.end.status == 0 && recorded.why != Why::Stopped;
    let aborted = recorded.why == Why::Aborted;
    match ended_well && !aborted && !issues && !stage.does(Misbehaviour::Exit54) {
        true => Ending::Code(0),
        false => Ending::Code(54),
    }
}

/// Saves the bundle, unless a misbehaviour ends the process in the middle.
fn write(
    scenario: &Scenario,
    place: &Path,
    stage: &mut Stage<'_>,
) -> Result<Option<Ending>, Error> {
    let saving = Saving::new(scenario, place, stage.settings.saving)?;
    saving.first_half()?;
    if stage.does(Misbehaviour::SavingGrows) {
        saving.grow(stage.settings.saving * SLOW)?;
    }
    if stage.does(Misbehaviour::SavingHangs) {
        stage.hang();
    }
    if stage.does(Misbehaviour::SavingCrashes) {
        return Ok(Some(Ending::Signal(SIGSEGV)));
    }
    if stage.does(Misbehaviour::Saving139) {
        return Ok(Some(Ending::Code(139)));
    }
    if stage.does(Misbehaviour::DiskFull) {
        stage.complain("Failed to save the output file: No space left on device");
        return Ok(Some(Ending::Code(1)));
    }
    saving.second_half()?;
    Ok(None)
}

/// Trouble of the stand-in's own.
fn failed(error: &Error, stage: &mut Stage<'_>) -> Ending {
    let mut text = format!("the stand-in failed: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    stage.complain(&text);
    Ending::Code(70)
}
