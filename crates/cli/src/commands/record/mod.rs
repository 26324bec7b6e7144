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
use metalens_recorder::{Recording, StoppedBy};
use metalens_text::{shown, shown_message};

use super::own;
use crate::args::recording::{RecordArguments, RecordingArguments};
use crate::exit::{self, Misuse};
use crate::interrupt::Listening;
use crate::out;

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
    let (recorded, all_well) = record(&plan, recording, quiet)?;
    if !quiet {
        let bundle = shell::shown(&recorded.bundle);
        writeln!(out::notes(), "next: metalens analyze {}", shown(&bundle))?;
    }
    Ok(match all_well {
        true => ExitCode::SUCCESS,
        false => exit::some_failed(),
    })
}

/// Records, and tells how it went on stderr. Once there is a bundle, what fails besides is
/// told, and costs nothing more: the second value is whether all went well.
pub(crate) fn record(
    plan: &Plan,
    arguments: &RecordingArguments,
    quiet: bool,
) -> anyhow::Result<(Recording, bool)> {
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
            if let Err(error) = plan.keep_work_of_failed(&error) {
                exit::tell(&error);
            }
            return Err(error.into());
        }
    };
    let kept = plan.keep_work(&recorded.bundle);
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
    );
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
    let not_given = recorded
        .not_given
        .as_ref()
        .map(|why| not_given(&recorded, why));
    let troubles = [kept.err(), written.err(), not_given];
    let troubles: Vec<anyhow::Error> = troubles.into_iter().flatten().collect();
    troubles.iter().for_each(exit::tell);
    Ok((recorded, troubles.is_empty()))
}

/// Whose the bundle is now, and how to change that.
fn not_given(recorded: &Recording, why: &str) -> anyhow::Error {
    let bundle = shell::shown(&recorded.bundle);
    anyhow::anyhow!(
        "the recording is whole, but still belongs to root: {why}. Try sudo metalens own {bundle}"
    )
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
    let bundle = shell::shown(&recorded.bundle);
    tell("recorded", &format!("{why}; saved {bundle} ({size})"))?;
    for warning in &recorded.warnings {
        tell("warning", warning)?;
    }
    if let Some(given) = &recorded.given {
        for line in own::in_words(&recorded.bundle, given) {
            tell("ownership", &line)?;
        }
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
        out::notes(),
        "{style}{what}:{style:#} {}",
        shown_message(text)
    )?)
}

/// A name that Instruments opens.
fn bundle_name(output: &Path) -> anyhow::Result<PathBuf> {
    let output = metalens_files::without_trailing(output);
    let is_bundle = output.extension().is_some_and(|ending| ending == "trace");
    let shown = output.display();
    match is_bundle {
        true => Ok(output),
        false => Err(Misuse(format!(
            "{shown} does not end in .trace: Instruments opens nothing else"
        ))
        .into()),
    }
}
