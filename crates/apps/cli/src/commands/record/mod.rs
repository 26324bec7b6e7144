//! Runs `metalens record`: records a program, and prints how it went.

mod probe;
mod progress;
mod runs;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metalens_failure::shell;
use metalens_files::{OwnershipChanges, path_size};
use metalens_recorder::{
    LeftProcesses, MachineSnapshot, OtherWork, ProgramEnd, RecordRequest, Recording,
    RecordingFailure, RecordingOutcome, RecordingPlan, StoppedBy, unused_bundle_path, unused_path,
};
use metalens_text::units::{bytes, counted};
use metalens_text::{shown, shown_message};

use crate::args::recording::{RecordArguments, Recorders};
use crate::bundle_analyzer::BundleAnalyzer;
use crate::exit::{self, Misuse, ProgramFailed};
use crate::interrupt::Listening;
use crate::out;

pub(crate) use probe::{Interrupts, print_probe};
pub(crate) use progress::ProgramOutput;

pub(crate) fn run(arguments: &RecordArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    if arguments.recording.workload.as_deref() == Some("list") {
        metalens_workload::command::list(&mut out::page())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(runs), Some(folder)) = (arguments.runs, &arguments.output) {
        return runs::record_all(arguments, folder, runs, quiet);
    }
    let subject = arguments.recording.subject()?;
    let by = arguments.recording.recorders()?;
    let output = match &arguments.output {
        Some(output) => recording_path(output, by)?,
        None if by == Recorders::Probe => unused_path(&subject.name(), ".jsonl"),
        None => unused_bundle_path(&subject.name()),
    };
    let mut request = arguments.recording.request(subject, output)?;
    request.force = arguments.force;
    let choices = RecordChoices {
        by,
        output: ProgramOutput::Stdout,
        ignores_failure: arguments.failure.ignore_failure,
        quiet,
    };
    let analyzer = &mut BundleAnalyzer::default();
    let Some(recorded) = record(request, analyzer, choices)? else {
        return Ok(ExitCode::SUCCESS);
    };
    if !quiet {
        let path = shell::quoted_path(&recorded.path);
        let other_work = recorded.other_work.as_ref();
        let process = other_work.map(|work| format!(" --process {}", work.pid));
        writeln!(
            out::notes(),
            "next: metalens analyze {}{}",
            shown(&path),
            process.unwrap_or_default()
        )?;
    }
    Ok(if recorded.is_complete {
        ExitCode::SUCCESS
    } else {
        exit::some_failed()
    })
}

/// Choices about a recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordChoices {
    /// Who records.
    pub(crate) by: Recorders,
    /// Stream for the output of the program.
    pub(crate) output: ProgramOutput,
    /// True if the program may fail.
    pub(crate) ignores_failure: bool,
    /// True if nothing is said about how it goes.
    pub(crate) quiet: bool,
}

impl RecordChoices {
    /// Judges how a program ended: a note about it, if there is something to say, or its failure.
    fn judge(
        self,
        end: Option<ProgramEnd>,
        stopped_by: StoppedBy,
    ) -> Result<Option<String>, ProgramFailed> {
        let Some(end) = end else {
            return Ok(None);
        };
        match end.message(stopped_by) {
            Some(message) if !self.ignores_failure && end.is_failure(stopped_by) => {
                Err(ProgramFailed(message))
            }
            message => Ok(message),
        }
    }
}

/// Returns why a recording ended, in words.
fn reason(stopped_by: StoppedBy) -> &'static str {
    match stopped_by {
        StoppedBy::TimeLimit => "the time limit was reached",
        StoppedBy::TargetExit => "the program ended",
        StoppedBy::User => "stopped",
        StoppedBy::Patience => "stopped, because xctrace did not say that it records",
        StoppedBy::Unknown => "the recording ended",
    }
}

/// A recording that was made.
pub(crate) struct Recorded {
    /// Bundle or log.
    pub(crate) path: PathBuf,
    /// GPU work of another process, if the program has none.
    pub(crate) other_work: Option<OtherWork>,
    /// True if everything succeeded, the program included unless it may fail.
    pub(crate) is_complete: bool,
}

/// Records as requested, or prints the command if nothing more is wanted.
pub(crate) fn record(
    mut request: RecordRequest,
    analyzer: &mut BundleAnalyzer,
    choices: RecordChoices,
) -> anyhow::Result<Option<Recorded>> {
    if choices.by == Recorders::Probe {
        let is_dry = request.dry_run;
        let plan = probe::plan(request)?;
        if is_dry {
            probe::print_command(&plan)?;
            return Ok(None);
        }
        let (path, is_complete) = probe::record(&plan, choices)?;
        return Ok(Some(Recorded {
            path,
            other_work: None,
            is_complete,
        }));
    }

    let is_both = choices.by == Recorders::Both;
    let log = is_both.then(|| probe::beside(&mut request)).transpose()?;
    let plan = RecordingPlan::new(request)?;
    if plan.request.dry_run {
        print_command(&plan)?;
        return Ok(None);
    }
    let made = record_with_xctrace(&plan, analyzer, choices);
    let force = plan.request.force;
    match (log, &made) {
        (Some(log), Ok((recording, _))) => {
            probe::keep(log, &recording.bundle, force, choices.quiet)?;
        }
        (Some(log), Err(_)) => probe::keep_of_failed(log, &plan.request.output, force)?,
        (None, _) => {}
    }
    let (recording, is_complete) = made?;
    Ok(Some(Recorded {
        path: recording.bundle,
        other_work: recording.other_work,
        is_complete,
    }))
}

/// Prints the command line of xctrace, quoted for a shell.
fn print_command(plan: &RecordingPlan) -> anyhow::Result<()> {
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

    if plan.has_copied_template() {
        let note = "note: the template is a copy; each recording makes a new one\n";
        out::notes().write_all(note.as_bytes())?;
    }
    Ok(())
}

/// Records, and prints on stderr how it went. Returns the recording, and whether everything
/// succeeded, the program included unless its failure is ignored: once there is a bundle, a further
/// failure is printed but loses nothing.
fn record_with_xctrace(
    plan: &RecordingPlan,
    analyzer: &mut BundleAnalyzer,
    choices: RecordChoices,
) -> anyhow::Result<(Recording, bool)> {
    let RecordChoices { output, quiet, .. } = choices;
    let interrupts = Listening::begin()?;

    let snapshot = MachineSnapshot::take(&plan.request);
    let warnings = snapshot.iter().flat_map(|snapshot| &snapshot.warnings);
    for warning in plan.warnings.iter().chain(warnings).filter(|_| !quiet) {
        note("warning", warning)?;
    }

    let outcome = carry_out(plan, snapshot, analyzer, output, &interrupts, quiet)?;
    let recorded = outcome.recording;
    let end = choices.judge(outcome.program_end, recorded.stopped_by);
    if !quiet {
        print_result(plan, &recorded)?;
        if let Ok(Some(message)) = &end {
            note("note", message)?;
        }
        if let Some(message) = outcome.reached.and_then(|reached| reached.message()) {
            note("warning", message)?;
        }
        if let Some(traced) = &outcome.traced
            && let Some(message) = traced.message()
        {
            note(traced.heading(), &message)?;
        }
        if let Some(message) = outcome.left_over.as_ref().and_then(LeftProcesses::message) {
            note("warning", &message)?;
        }
        if let Some(shaders) = &outcome.shaders {
            note(shaders.heading(), &shaders.message())?;
        }
    }

    // A script that goes on with what a failed program left would measure something else.
    let troubles = outcome.troubles.into_iter().map(anyhow::Error::from);
    let errors: Vec<_> = troubles.chain(end.err().map(anyhow::Error::from)).collect();
    errors.iter().for_each(exit::print_error);
    Ok((recorded, errors.is_empty()))
}

/// Records, and shows the progress on stderr. The first Ctrl-C of `interrupts` stops the recording,
/// even if it came before. `analyzer` reads the bundle.
pub(crate) fn carry_out(
    plan: &RecordingPlan,
    snapshot: Option<MachineSnapshot>,
    analyzer: &mut BundleAnalyzer,
    output: ProgramOutput,
    interrupts: &Listening,
    quiet: bool,
) -> anyhow::Result<RecordingOutcome> {
    let mut progress = progress::RecordingProgress::new(plan, interrupts, output, quiet);
    let outcome = plan.carry_out(snapshot, &mut progress, &mut |bundle, depth| {
        analyzer.read(bundle, depth)
    });
    progress.finish();
    outcome.map_err(|failed| {
        let RecordingFailure {
            error,
            work_file_error,
            left_over,
        } = *failed;
        if let Some(work_file_error) = work_file_error {
            exit::print_error(&work_file_error.into());
        }
        if let Some(message) = left_over.as_ref().and_then(LeftProcesses::message) {
            out::note(&format!("warning: {}", shown_message(&message)));
        }
        error.into()
    })
}

/// Returns the warning of a bundle whose owner could not be changed after `sudo`.
fn still_owned_by_root(recorded: &Recording, why: &str) -> String {
    let bundle = shell::quoted_path(&recorded.bundle);
    format!(
        "the recording is complete, but root still owns it: {why}; try sudo chown -R $USER {bundle}"
    )
}

const SUDO: &str = "sudo is not needed to record your own program: developer mode is enough, which \
                    `metalens doctor` checks";

/// Prints where the recording is, why it ended, and its warnings.
fn print_result(plan: &RecordingPlan, recorded: &Recording) -> anyhow::Result<()> {
    let why = reason(recorded.stopped_by);
    let size = bytes(path_size(&recorded.bundle));
    let bundle = shell::quoted_path(&recorded.bundle);
    note("recorded", &format!("{why}; saved {bundle} ({size})"))?;

    for warning in &recorded.warnings {
        note("warning", warning)?;
    }
    if let Some(given) = &recorded.given {
        for line in changes_in_words(&recorded.bundle, given) {
            note("ownership", &line)?;
        }
        note("warning", SUDO)?;
    }
    if let Some(why) = &recorded.not_given {
        note("warning", &still_owned_by_root(recorded, why))?;
    }
    if plan.request.is_simulated() {
        note(
            "SIMULATED",
            "a fake xctrace made this recording: no GPU ran any of it",
        )?;
    }
    Ok(())
}

/// Returns lines that say what changed, and what did not.
fn changes_in_words(bundle: &Path, given: &OwnershipChanges) -> Vec<String> {
    let path = bundle.display().to_string();
    let mut text = format!(
        "{}: changed the owner of {}",
        shown(&path),
        counted(given.changed, "file or folder").replace("file or folders", "files and folders")
    );
    if given.links > 0 {
        text.push_str(&format!(
            "; did not follow {}",
            counted(given.links, "link")
        ));
    }
    if given.others > 0 {
        text.push_str(&format!(
            "; unchanged: {} on another disk, or neither a file nor a folder",
            given.others
        ));
    }

    let shared = given.shared.iter().map(|path| {
        let path = path.display().to_string();
        format!(
            "left unchanged, because the file has another hard link: {}",
            shown(&path)
        )
    });
    [text].into_iter().chain(shared).collect()
}

/// Prints a line on stderr after its kind: `warning: …`.
fn note(kind: &str, text: &str) -> anyhow::Result<()> {
    let style = match kind {
        "recorded" => metalens_render::terminal::style::HINT,
        _ => metalens_render::terminal::style::ERROR,
    };
    Ok(writeln!(
        out::notes(),
        "{style}{kind}:{style:#} {}",
        shown_message(text)
    )?)
}

/// Returns the path of a bundle without a trailing slash, or of a log. Refuses names without their
/// ending.
fn recording_path(output: &Path, by: Recorders) -> anyhow::Result<PathBuf> {
    let output = metalens_files::without_trailing(output);
    let ending = by.ending();
    if output
        .extension()
        .is_some_and(|extension| extension == ending)
    {
        return Ok(output);
    }

    let shown = output.display();
    Err(Misuse(if by == Recorders::Probe {
        format!("{shown} does not end in .jsonl: the probe writes a log, and no bundle")
    } else {
        format!("{shown} does not end in .trace, which Instruments needs to open it")
    })
    .into())
}
