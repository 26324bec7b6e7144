//! Carries out a plan: records, and writes the files beside the bundle.

use std::path::Path;
use std::thread;
use std::time::Duration;

use metalens_doctor::{CommandRunner, SystemCommands};
use metalens_xctrace::command::Target;

use crate::check::BundleCheck;
use crate::error::Error;
use crate::machine::MachineSnapshot;
use crate::other_work::OtherWork;
use crate::plan::RecordingPlan;
use crate::program_end::ProgramEnd;
use crate::provenance;
use crate::reached::ReachedProgram;
use crate::record_request::RecordingSubject;
use crate::recorded_bundle::BundleReader;
use crate::request::Recording;
use crate::running::{RunningProcess, RunningProcesses};
use crate::scratch::ScratchBefore;
use crate::session::record;
use crate::shaders::{self, ShaderOutcome};
use crate::traced::{self, TracedProgram};
use crate::watch::Watcher;
use crate::work_file;

/// A recording, and the effects of the options it was made with.
#[derive(Debug)]
pub struct RecordingOutcome {
    /// The recording and its warnings.
    pub recording: Recording,
    /// End of the recorded program, if the bundle describes it.
    pub program_end: Option<ProgramEnd>,
    /// What of metalens reached a bundled workload, if it wrote its work file.
    pub reached: Option<ReachedProgram>,
    /// The recorded program, if the bundle names it.
    pub traced: Option<TracedProgram>,
    /// Processes of the program that still exist, if `ps` tells them.
    pub left_over: Option<LeftProcesses>,
    /// Effect of `--shader-timeline`, if it was requested.
    pub shaders: Option<ShaderOutcome>,
    /// Errors with the files beside the bundle.
    pub troubles: Vec<Error>,
}

/// The reason why there is no recording.
#[derive(Debug)]
pub struct RecordingFailure {
    /// Error of the recording.
    pub error: Error,
    /// Error of keeping the work file, if that failed too.
    pub work_file_error: Option<Error>,
    /// Processes of the program that still exist, if `ps` tells them.
    pub left_over: Option<LeftProcesses>,
}

/// Warning of a recording of the GPU without a table of allocations.
const NO_ALLOCATIONS: &str = "this template recorded no Metal allocations: the report cannot say whose \
     memory it is. Metal System Trace records them";

/// Returns whether `xctrace` may still run after an error.
fn is_running(error: &Error) -> bool {
    matches!(
        error,
        Error::StillSaving { .. } | Error::GaveUp { .. } | Error::NotFollowed { .. }
    )
}

impl RecordingPlan {
    /// Records, and writes the files beside the bundle. Once there is a bundle, errors with
    /// these files do not fail the recording. `reader` reads the bundle once.
    ///
    /// # Errors
    ///
    /// The errors of [`record`].
    pub fn carry_out(
        &self,
        snapshot: Option<MachineSnapshot>,
        watcher: &mut dyn Watcher,
        reader: &mut BundleReader<'_>,
    ) -> Result<RecordingOutcome, Box<RecordingFailure>> {
        let system = SystemCommands::default();
        let mut check = BundleCheck::new(self, reader);
        let recorded = self.record_and_tidy(&system, watcher, &mut check);
        let mut recording = recorded.map_err(|error| self.failure(error, &system))?;
        recording
            .warnings
            .extend(check.other_work.as_ref().map(OtherWork::message));
        recording.other_work = check.other_work;

        let bundle = check.recorded;
        for issue in &bundle.issues {
            issue.add_to(&mut recording.warnings);
        }
        if bundle.lacks_allocations {
            recording.warnings.push(NO_ALLOCATIONS.to_owned());
        }
        let program = bundle.program.as_ref();
        let of_program = program.and_then(|program| program.exit_status);
        recording
            .warnings
            .extend(odd_code(recording.code, of_program));
        // What the program was reached with is read below from the work file beside the bundle.
        let kept = self.keep_work(&recording.bundle);
        let program_end = program.and_then(ProgramEnd::new);
        let target = &self.xctrace_request.record.target;
        let traced = program.and_then(|program| traced::look(program, target));
        let left_over = self.left_over(program.and_then(|program| program.pid), &system);
        let shaders = shaders::look(&bundle, &self.request);
        let facts = provenance::ObservedFacts {
            machine: snapshot.map(MachineSnapshot::after_recording),
            shaders: shaders.as_ref(),
            program_end: program_end.as_ref(),
            traced: traced.as_ref(),
        };
        let written = provenance::write(&self.request, &self.xctrace_request, &recording, facts);

        let is_bundled = matches!(self.request.subject, RecordingSubject::Workload { .. });
        let observes = is_bundled && !self.request.is_simulated();
        Ok(RecordingOutcome {
            reached: observes
                .then(|| ReachedProgram::from_work(&work_file::beside(&recording.bundle)))
                .flatten(),
            program_end,
            traced,
            left_over,
            shaders,
            troubles: [
                kept.err(),
                written.err(),
                recording.is_output_cut.then_some(Error::OutputCut),
            ]
            .into_iter()
            .flatten()
            .collect(),
            recording,
        })
    }

    /// Keeps the work file of a recording that failed, if there may be a bundle, and finds what
    /// still runs.
    fn failure(&self, error: Error, system: &SystemCommands) -> Box<RecordingFailure> {
        let work_file_error = self.keep_work_of_failed(&error).err();
        Box::new(RecordingFailure {
            // A killed `xctrace` ends no program.
            left_over: (!is_running(&error))
                .then(|| self.left_over(None, system))
                .flatten(),
            error,
            work_file_error,
        })
    }

    /// Records, and removes the scratch files that `xctrace` left.
    fn record_and_tidy(
        &self,
        system: &SystemCommands,
        watcher: &mut dyn Watcher,
        check: &mut BundleCheck<'_>,
    ) -> Result<Recording, Error> {
        let scratch = (!self.request.is_simulated()).then(|| ScratchBefore::list(system));
        let judge = &mut |bundle: &Path| check.judge(bundle);
        let recorded = record(&self.xctrace_request, watcher, judge);
        if let Some(scratch) = scratch {
            let is_over = !recorded.as_ref().is_err_and(is_running);
            let patience = self.xctrace_request.timeouts.scratch;
            scratch.tidy(is_over.then_some(patience), watcher);
        }
        recorded
    }

    /// Returns the processes of the recorded program that still exist; `None` if `ps` does not tell.
    fn left_over(
        &self,
        recorded: Option<u32>,
        runner: &dyn CommandRunner,
    ) -> Option<LeftProcesses> {
        let Target::Launch(launch) = &self.xctrace_request.record.target else {
            return None;
        };
        let before = self.xctrace_request.running_before.as_ref()?;
        let mut tries = 0..LEFT_OVER_TRIES;
        loop {
            let now = RunningProcesses::list(runner)?;
            let left = now.left_over(recorded, &launch.program, before);
            if left.is_empty() || tries.next().is_none() {
                return Some(LeftProcesses(left.into_iter().cloned().collect()));
            }
            // It may be about to end.
            thread::sleep(LEFT_OVER_PAUSE);
        }
    }
}

/// Returns the warning of an exit code that good recordings rarely have, unless it is that of the
/// program.
fn odd_code(code: Option<i32>, of_program: Option<i64>) -> Option<String> {
    let code = code.filter(|code| !matches!(code, 0 | 54))?;
    (of_program != Some(code.into())).then(|| format!("xctrace ended with exit code {code}"))
}

/// Number of times that a process may still be about to end, and the pause between them.
const LEFT_OVER_TRIES: u32 = 5;
const LEFT_OVER_PAUSE: Duration = Duration::from_millis(200);

/// Processes of a recorded program that still exist after the recording.
#[derive(Debug, Clone, Default)]
pub struct LeftProcesses(Vec<RunningProcess>);

impl LeftProcesses {
    /// Returns the process ids.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|process| process.pid)
    }

    /// Returns the message for the user, or `None` if no process is left.
    pub fn message(&self) -> Option<String> {
        let shown = self.0.iter().map(|process| {
            let state = if process.is_suspended {
                ", suspended"
            } else {
                ""
            };
            format!("(process {}{state})", process.pid)
        });
        let pids: Vec<String> = self.pids().map(|pid| pid.to_string()).collect();
        (!pids.is_empty()).then(|| {
            format!(
                "the recorded program still exists {}: it holds GPU memory and disturbs the next \
                 measurement. If you do not need it: kill -9 {}",
                shown.collect::<Vec<_>>().join(", "),
                pids.join(" ")
            )
        })
    }
}
