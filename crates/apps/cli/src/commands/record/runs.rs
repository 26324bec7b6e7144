//! Records a program several times, into one folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metalens_failure::shell;
use metalens_files::Folder;
use metalens_text::shown;

use super::{ProgramOutput, RecordChoices, record};
use crate::args::recording::RecordArguments;
use crate::bundle_analyzer::BundleAnalyzer;
use crate::exit::{self, Misuse};
use crate::interrupt::Listening;
use crate::out;

/// Records `runs` times: run-1.trace, run-2.trace, … Ctrl-C ends the present run and begins no
/// other.
pub(super) fn record_all(
    arguments: &RecordArguments,
    folder: &Path,
    runs: u32,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    if folder.extension().is_some_and(|ending| ending == "trace") {
        let message = format!(
            "--runs writes a folder: {} names a bundle",
            folder.display()
        );
        return Err(Misuse(message).into());
    }
    let by = arguments.recording.recorders()?;
    let ending = by.ending();
    let bundles: Vec<PathBuf> = (1..=runs)
        .map(|run| folder.join(format!("run-{run}.{ending}")))
        .collect();
    // Recording takes long: refuse all existing bundles before the first one.
    for bundle in &bundles {
        metalens_files::refuse_existing(bundle, arguments.force)?;
    }
    Folder::make(folder)?;

    let interrupts = Listening::begin()?;
    let mut are_complete = true;
    let mut recorded = Vec::new();
    for (bundle, run) in bundles.into_iter().zip(1_u32..) {
        if interrupts.times() > 0 {
            break;
        }
        if !quiet {
            out::note(&format!("run {run} of {runs}"));
        }
        let recording = &arguments.recording;
        let mut request = recording.request_of_run(recording.subject()?, bundle, Some(run))?;
        request.force = arguments.force;
        let choices = RecordChoices {
            by,
            output: ProgramOutput::Stdout,
            ignores_failure: arguments.failure.ignore_failure,
            quiet,
        };
        if let Some(made) = record(request, &mut BundleAnalyzer::default(), choices)? {
            are_complete &= made.is_complete;
            recorded.push(made.path);
        }
    }

    if !quiet {
        say_what_is_next(folder, ending, recorded.len())?;
    }
    Ok(if interrupts.times() > 0 {
        exit::interrupted()
    } else if are_complete {
        ExitCode::SUCCESS
    } else {
        exit::some_failed()
    })
}

/// Names the commands that read the recordings.
fn say_what_is_next(folder: &Path, ending: &str, recorded: usize) -> anyhow::Result<()> {
    let quoted = shell::quoted_path(folder);
    let folder = shown(&quoted);
    let mut out = out::notes();
    if recorded < metalens_comparison::LEAST_RUNS {
        let compare = "metalens compare --base";
        writeln!(
            out,
            "next: {compare} {folder}/run-*.{ending} --new OTHER/run-*.{ending}"
        )?;
    } else {
        // Each command has a line of its own, so that people can copy it.
        writeln!(
            out,
            "next: metalens baseline save {folder}/run-*.{ending} -o baseline.json"
        )?;
        writeln!(
            out,
            "then: metalens compare --baseline baseline.json OTHER/run-*.{ending}"
        )?;
    }
    Ok(())
}
