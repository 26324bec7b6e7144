//! `metalens record`: a recording, whole, under the name that was asked for.

mod shell;
mod watching;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metalens_analyzer::units::bytes;
use metalens_files::folder_size;
use metalens_recorder::{
    MachineSnapshot, Recording, RecordingFailure, RecordingPlan, StoppedBy, unused_bundle_path,
};
use metalens_text::{shown, shown_message};

use super::own;
use crate::args::recording::RecordArguments;
use crate::exit::{self, Misuse};
use crate::interrupt::Listening;
use crate::out;

pub(crate) use watching::TargetOutput;

pub(crate) fn run(arguments: &RecordArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let subject = arguments.recording.subject()?;
    let output = match &arguments.output {
        Some(output) => bundle_name(output)?,
        None => unused_bundle_path(&subject.name()),
    };
    let mut request = arguments.recording.request(subject, output)?;
    request.force = arguments.force;
    request.append_run = arguments.append_run;
    let plan = RecordingPlan::new(request)?;
    if plan.request.dry_run {
        return show(&plan);
    }
    let (recorded, all_well) = record(&plan, TargetOutput::Stdout, quiet)?;
    if !quiet {
        let bundle = shell::shown(&recorded.bundle);
        writeln!(out::notes(), "next: metalens analyze {}", shown(&bundle))?;
    }
    Ok(if all_well {
        ExitCode::SUCCESS
    } else {
        exit::some_failed()
    })
}

/// Prints the command line, for people to read and for shells to run.
pub(crate) fn show(plan: &RecordingPlan) -> anyhow::Result<ExitCode> {
    let request = &plan.xctrace_request;
    let arguments = request.record.arguments(&request.version)?;
    let words = [&request.tool.program.clone().into_os_string()]
        .into_iter()
        .chain(&request.tool.before)
        .chain(&arguments)
        .map(|word| shell::quoted(OsStr::new(word)))
        .collect::<Vec<_>>();
    let mut out = out::data();
    out.write_all(&words.join(b" ".as_slice()))?;
    writeln!(out)?;
    if plan.has_changed_template() {
        let note = "note: that template is a changed copy, and is made anew for each recording\n";
        out::notes().write_all(note.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Records, and tells how it went on stderr. Once there is a bundle, what fails besides is
/// told, and costs nothing more: the second value is whether all went well.
pub(crate) fn record(
    plan: &RecordingPlan,
    output: TargetOutput,
    quiet: bool,
) -> anyhow::Result<(Recording, bool)> {
    let interrupts = Listening::begin()?;
    let snapshot = MachineSnapshot::take(&plan.request);
    let warnings = snapshot.iter().flat_map(|one| &one.warnings);
    for warning in plan.warnings.iter().chain(warnings).filter(|_| !quiet) {
        tell("warning", warning)?;
    }
    let mut watching = watching::Watching::new(plan, &interrupts, output, quiet);
    let outcome = plan.carry_out(snapshot, &mut watching);
    watching.finish();
    let outcome = outcome.map_err(|failed| {
        let RecordingFailure {
            error,
            work_file_error,
        } = *failed;
        if let Some(work_file_error) = work_file_error {
            exit::tell(&work_file_error.into());
        }
        error
    })?;

    let recorded = outcome.recording;
    if !quiet {
        report(plan, &recorded)?;
        let program_end = outcome.program_end;
        if let Some(message) = program_end.and_then(|end| end.message(recorded.stopped_by)) {
            tell("note", &message)?;
        }
        if let Some(shaders) = &outcome.shaders {
            tell(shaders.heading(), &shaders.message())?;
        }
        if let Some(clock) = &outcome.clock {
            tell(clock.heading(), &clock.message())?;
        }
    }
    let not_given = recorded.not_given.as_ref();
    let not_given = not_given.map(|why| not_given_back(&recorded, why));
    let troubles = outcome.troubles.into_iter().map(anyhow::Error::from);
    let troubles: Vec<anyhow::Error> = troubles.chain(not_given).collect();
    troubles.iter().for_each(exit::tell);
    Ok((recorded, troubles.is_empty()))
}

/// Whose the bundle is now, and how to change that.
fn not_given_back(recorded: &Recording, why: &str) -> anyhow::Error {
    let bundle = shell::shown(&recorded.bundle);
    anyhow::anyhow!(
        "the recording is whole, but still belongs to root: {why}. Try sudo metalens own {bundle}"
    )
}

const SUDO: &str = "sudo is not needed to record a program of your own: developer mode and the group \
                    _developer are enough (metalens doctor tells)";

/// What came of it, and what a reader of it should know.
fn report(plan: &RecordingPlan, recorded: &Recording) -> anyhow::Result<()> {
    let why = match recorded.stopped_by {
        StoppedBy::TimeLimit => "the time limit was reached",
        StoppedBy::TargetExit => "the program ended",
        StoppedBy::User => "stopped",
        StoppedBy::Unknown => "the recording ended",
    };
    let size = bytes(folder_size(&recorded.bundle));
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
    if plan.request.is_simulated() {
        tell(
            "SIMULATED",
            "a simulator took xctrace's place: no GPU ran any of it",
        )?;
    }
    Ok(())
}

fn tell(what: &str, text: &str) -> anyhow::Result<()> {
    let style = match what {
        "recorded" => metalens_render::terminal::style::HINT,
        _ => metalens_render::terminal::style::ERROR,
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
