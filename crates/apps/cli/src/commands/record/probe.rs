//! Records with the probe, alone or beside xctrace.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use metalens_failure::shell;
use metalens_files::path_size;
use metalens_recorder::{
    LogDraft, Probe, ProbePlan, RecordRequest, RecordingEvent, RecordingSubject, StopRequest,
    Watcher, as_text, loadable, log_beside,
};
use metalens_text::units::{bytes, counted};

use super::{ProgramOutput, RecordChoices, note, reason};
use crate::exit;
use crate::interrupt::Listening;
use crate::out;

/// Follows a program with the probe in it.
pub(crate) struct Interrupts<'a>(pub(crate) &'a Listening);

impl Watcher for Interrupts<'_> {
    fn on_event(&mut self, _: RecordingEvent<'_>) {}

    fn stop_request(&mut self) -> StopRequest {
        match self.0.times() {
            0 => StopRequest::None,
            _ => StopRequest::Stop,
        }
    }
}

/// Prints the path of the library.
pub(crate) fn print_probe() -> anyhow::Result<()> {
    let probe = Probe::unpack()?;
    Ok(writeln!(out::data(), "{}", probe.library().display())?)
}

/// Returns the plan of a recording with the probe alone.
pub(super) fn plan(request: RecordRequest) -> anyhow::Result<ProbePlan> {
    Ok(ProbePlan::new(request, Probe::unpack()?)?)
}

/// Records with the probe, and prints on stderr how it went. Returns the log, and whether everything
/// succeeded.
pub(super) fn record(plan: &ProbePlan, choices: RecordChoices) -> anyhow::Result<(PathBuf, bool)> {
    let RecordChoices { output, quiet, .. } = choices;
    let interrupts = Listening::begin()?;
    for warning in plan.warnings.iter().filter(|_| !quiet) {
        note("warning", warning)?;
    }
    if !quiet {
        let name = plan.request.subject.name();
        out::note(&format!(
            "recording {name} with the probe in it; Ctrl-C ends it"
        ));
    }
    let stream = match output {
        ProgramOutput::Stdout => Stdio::inherit(),
        ProgramOutput::Stderr => out::stderr_of_child()?,
    };
    let recorded = plan.carry_out(stream, &mut Interrupts(&interrupts))?;

    let end = choices.judge(recorded.program_end, recorded.stopped_by);
    if !quiet {
        let why = reason(recorded.stopped_by);
        let size = bytes(path_size(&recorded.log));
        let log = shell::quoted_path(&recorded.log);
        note("recorded", &format!("{why}; saved {log} ({size})"))?;
        if recorded.lost > 0 {
            let lost = counted(recorded.lost, "command buffer");
            note(
                "warning",
                &format!("{lost} lost: the log lacks them, and says so"),
            )?;
        }
        if let Ok(Some(message)) = &end {
            note("note", message)?;
        }
    }
    let is_complete = end.is_ok();
    if let Err(failure) = end {
        exit::print_error(&failure.into());
    }
    Ok((recorded.log, is_complete))
}

/// Prints the command that would be run.
pub(super) fn print_command(plan: &ProbePlan) -> anyhow::Result<()> {
    let mut out = out::data();
    out.write_all(&plan.words().join(b" ".as_slice()))?;
    writeln!(out)?;
    Ok(())
}

/// Lets the program of a recording by xctrace write a log, too. Its variables are added to those of
/// the request.
pub(super) fn beside(request: &mut RecordRequest) -> anyhow::Result<LogDraft> {
    if !request.dry_run {
        metalens_files::refuse_existing(&log_beside(&request.output), request.force)?;
    }
    if let RecordingSubject::Program(command) = &mut request.subject {
        *command = loadable(std::mem::take(command))?;
    }
    let draft = LogDraft::new()?;
    let variables = as_text(draft.variables(&Probe::unpack()?, true))?;
    request.environment.extend(variables);
    Ok(draft)
}

/// Keeps the log of a recording that failed: it may be complete.
pub(super) fn keep_of_failed(draft: LogDraft, output: &Path, force: bool) -> anyhow::Result<()> {
    match draft.keep(output, force)? {
        Some(log) => note(
            "log",
            &format!("the probe's log is kept: {}", shell::quoted_path(&log)),
        ),
        None => Ok(()),
    }
}

/// Keeps the log beside a bundle.
pub(super) fn keep(draft: LogDraft, bundle: &Path, force: bool, quiet: bool) -> anyhow::Result<()> {
    let Some(log) = draft.keep(bundle, force)? else {
        note(
            "warning",
            "the probe wrote no command buffer: it was not loaded into the program, or the program has none; \
             the recording is complete",
        )?;
        return Ok(());
    };
    if quiet {
        return Ok(());
    }
    note("log", &format!("saved {}", shell::quoted_path(&log)))
}
