//! `metalens record`: a recording, whole, under the name that was asked for.

mod clock;
mod ending;
mod plan;
mod private;
mod provenance;
mod shaders;
mod shell;
mod simulated;
mod surroundings;
mod watching;
mod whom;
mod work;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metalens_analyzer::units::bytes;
use metalens_recorder::ownership::{Owner, give_file};
use metalens_recorder::{Recording, StoppedBy};

use super::own;
use crate::args::recording::{RecordArguments, RecordingArguments};
use crate::exit::Misuse;
use crate::interrupt::Listening;
use crate::screen::safe::safe;

pub(crate) use plan::{Plan, free};
pub(crate) use provenance::json_schema;
pub(crate) use surroundings::folder;
pub(crate) use whom::subject;

pub(crate) fn run(arguments: &RecordArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let recording = &arguments.recording;
    let output = match &arguments.output {
        Some(output) => bundle_name(output)?,
        None => plan::free_bundle(&subject(recording)),
    };
    let plan = Plan::of(recording, output, arguments.force, arguments.append_run)?;
    if recording.dry_run {
        return plan.show();
    }
    let recorded = record(&plan, recording, quiet)?;
    if !quiet {
        let next = format!(
            "next: metalens analyze {}\n",
            shell::shown(&recorded.bundle)
        );
        anstream::stderr().write_all(next.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Records, and tells how it went on stderr.
pub(crate) fn record(
    plan: &Plan,
    arguments: &RecordingArguments,
    quiet: bool,
) -> anyhow::Result<Recording> {
    let interrupts = Listening::begin()?;
    let surroundings = surroundings::Surroundings::look(plan);
    let warnings = surroundings.iter().flat_map(|one| &one.warnings);
    for doubt in plan.doubts.iter().chain(warnings).filter(|_| !quiet) {
        tell("warning", doubt)?;
    }
    let mut watching = watching::Watching::new(plan, &interrupts, quiet);
    let recorded = metalens_recorder::record(&plan.request, &mut watching);
    watching.finish();
    let recorded = match recorded {
        Ok(recorded) => recorded,
        Err(error) => {
            plan.clean_up(&error);
            return Err(error.into());
        }
    };
    plan.keep_work(recorded.bundle.as_path())?;
    let ending = ending::look(&recorded.bundle);
    let made_on = surroundings.map(surroundings::Surroundings::made_on);
    let shaders = shaders::look(&recorded.bundle, arguments);
    let clock = clock::look(&recorded.bundle, arguments);
    let written = provenance::write(
        plan,
        arguments,
        &recorded,
        provenance::Found {
            machine: made_on,
            changed: provenance::Changed {
                shader_timeline: shaders.as_ref(),
                gpu_clock: clock.as_ref(),
            },
            ending: ending.as_ref(),
        },
    )?;
    give_back(plan.work.iter().chain([&written]))?;
    if !quiet {
        report(plan, &recorded)?;
        let ending = ending.and_then(|one| one.in_words(recorded.stopped_by));
        if let Some(ending) = ending {
            tell("note", &ending)?;
        }
        if let Some(shaders) = &shaders {
            tell(shaders.heading(), &shaders.in_words())?;
        }
        if let Some(clock) = &clock {
            tell(clock.heading(), &clock.in_words())?;
        }
    }
    Ok(recorded)
}

const SUDO: &str = "sudo is not needed to record a program of your own: developer mode and the group \
                    _developer are enough (metalens doctor tells)";

/// What came of it, and what a reader of it should know.
fn report(plan: &Plan, recorded: &Recording) -> anyhow::Result<()> {
    let why = match recorded.stopped_by {
        StoppedBy::TimeLimit => "the time limit was reached",
        StoppedBy::TargetExit => "the program ended",
        StoppedBy::Wish => "stopped",
        StoppedBy::Unknown => "the recording ended",
    };
    let size = bytes(plan::size(&recorded.bundle));
    let shown = shell::shown(&recorded.bundle);
    tell("recorded", &format!("{why}; saved {shown} ({size})"))?;
    for warning in &recorded.warnings {
        tell("warning", warning)?;
    }
    if let Some(given) = &recorded.given {
        tell("ownership", &own::in_words(&recorded.bundle, given))?;
        tell("warning", SUDO)?;
    }
    if plan.is_simulated {
        tell(
            "SIMULATED",
            "a simulator took xctrace's place: no GPU ran any of it",
        )?;
    }
    Ok(())
}

fn tell(what: &str, text: &str) -> anyhow::Result<()> {
    let style = match what {
        "recorded" => crate::screen::style::HINT,
        _ => crate::screen::style::ERROR,
    };
    Ok(writeln!(
        anstream::stderr(),
        "{style}{what}:{style:#} {}",
        safe(text)
    )?)
}

/// What lies beside the bundle, to whom ran `sudo`.
fn give_back<'a>(files: impl Iterator<Item = &'a PathBuf>) -> anyhow::Result<()> {
    let Some(owner) = Owner::who_ran_sudo() else {
        return Ok(());
    };
    for file in files.filter(|file| file.is_file()) {
        give_file(file, owner)?;
    }
    Ok(())
}

/// A name that Instruments opens.
fn bundle_name(output: &Path) -> anyhow::Result<PathBuf> {
    let is_bundle = output.extension().is_some_and(|ending| ending == "trace");
    let shown = output.display();
    match is_bundle {
        true => Ok(output.to_owned()),
        false => Err(Misuse(format!(
            "{shown} does not end in .trace: Instruments opens nothing else"
        ))
        .into()),
    }
}
