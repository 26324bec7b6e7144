//! Carries out a plan: records, and writes the files beside the bundle.

use metalens_doctor::SystemCommands;

use crate::clock::{self, ClockOutcome};
use crate::error::Error;
use crate::machine::MachineSnapshot;
use crate::plan::RecordingPlan;
use crate::program_end::{self, ProgramEnd};
use crate::provenance;
use crate::request::Recording;
use crate::scratch::ScratchBefore;
use crate::session::record;
use crate::shaders::{self, ShaderOutcome};
use crate::watch::Watcher;

/// A recording, and the effects of the options it was made with.
#[derive(Debug)]
pub struct RecordingOutcome {
    /// The recording and its warnings.
    pub recording: Recording,
    /// End of the recorded program, if the bundle describes it.
    pub program_end: Option<ProgramEnd>,
    /// Effect of `--shader-timeline`, if it was requested.
    pub shaders: Option<ShaderOutcome>,
    /// Effect of `--gpu-clock`, if it was requested.
    pub clock: Option<ClockOutcome>,
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
}

impl RecordingPlan {
    /// Records, and writes the files beside the bundle. Once there is a bundle, errors with
    /// these files do not fail the recording.
    ///
    /// # Errors
    ///
    /// The errors of [`record`].
    pub fn carry_out(
        &self,
        snapshot: Option<MachineSnapshot>,
        watcher: &mut dyn Watcher,
    ) -> Result<RecordingOutcome, Box<RecordingFailure>> {
        let system = SystemCommands::default();
        let scratch = (!self.request.is_simulated()).then(|| ScratchBefore::list(&system));
        let recorded = record(&self.xctrace_request, watcher);
        if let Some(scratch) = scratch {
            let is_over = !matches!(
                recorded,
                Err(Error::StillSaving { .. } | Error::GaveUp { .. } | Error::NotFollowed { .. })
            );
            let patience = self.xctrace_request.timeouts.scratch;
            scratch.tidy(is_over.then_some(patience), watcher);
        }
        let recording = recorded.map_err(|error| {
            let work_file_error = self.keep_work_of_failed(&error).err();
            Box::new(RecordingFailure {
                error,
                work_file_error,
            })
        })?;

        let bundle = &recording.bundle;
        let kept = self.keep_work(bundle);
        let program_end = program_end::look(bundle);
        let shaders = shaders::look(bundle, &self.request);
        let clock = clock::look(bundle, &self.request);
        let facts = provenance::ObservedFacts {
            machine: snapshot.map(MachineSnapshot::after_recording),
            changes: provenance::TemplateChanges {
                shader_timeline: shaders.as_ref(),
                gpu_clock: clock.as_ref(),
            },
            program_end: program_end.as_ref(),
        };
        let written = provenance::write((&self.request, &self.xctrace_request), &recording, facts);

        Ok(RecordingOutcome {
            program_end,
            shaders,
            clock,
            troubles: kept.err().into_iter().chain(written.err()).collect(),
            recording,
        })
    }
}
