//! Judges whether a bundle contains what it was recorded for.

use std::path::Path;

use metalens_failure::{Failure, in_one_line};
use metalens_trace::{Input, Problem};
use metalens_xctrace::command::Target;

use crate::analysis::{AnalysisFailure, analyze_bundle};
use crate::other_work::OtherWork;
use crate::plan::RecordingPlan;
use crate::program_end;
use crate::watch::BundleVerdict;

impl RecordingPlan {
    /// Judges a bundle: a recording of the GPU must contain GPU work of the recorded process.
    #[must_use]
    pub fn check(&self, bundle: &Path) -> BundleVerdict {
        let checked = if self.is_about_gpu {
            analyze_bundle(bundle).map(drop)
        } else {
            Input::open(bundle)
                .map(drop)
                .map_err(AnalysisFailure::Trace)
        };

        let record = &self.xctrace_request.record;
        if record.append_run && runs(bundle) <= runs(&record.output) {
            let why = "no run was added to the existing bundle";
            return BundleVerdict::Unreadable(why.to_owned());
        }

        let Err(error) = checked else {
            return BundleVerdict::Good;
        };
        if let Some(work) = self.work_of_other(bundle, &error) {
            return BundleVerdict::OfOther(work);
        }
        match judge(&error) {
            // The bundle may be newer than the versions that metalens knows. Without this file,
            // no tool can open it.
            BundleVerdict::Doubtful(_) if !bundle.join("form.template").exists() => {
                let why = "it has no form.template, which every tool needs to open it";
                BundleVerdict::Unreadable(why.to_owned())
            }
            judged => judged,
        }
    }
}

impl RecordingPlan {
    /// Returns the GPU work of a process that started during the recording, if an analysis failed
    /// because the started program has none.
    fn work_of_other(&self, bundle: &Path, error: &AnalysisFailure) -> Option<OtherWork> {
        let is_launched = matches!(self.xctrace_request.record.target, Target::Launch(_));
        match error {
            AnalysisFailure::Analysis(metalens_analyzer::Error::NoGpuIntervals {
                present, ..
            }) if is_launched => {
                let recorded = program_end::recorded_pid(bundle)?;
                OtherWork::find(present, recorded, self.running_before.as_ref()?)
            }
            _ => None,
        }
    }
}

/// Returns the number of runs in a bundle, 0 if it cannot be read.
fn runs(bundle: &Path) -> usize {
    let input = Input::open(bundle).ok();
    let toc = input.as_ref().and_then(Input::toc);
    toc.map_or(0, |toc| toc.runs.len())
}

/// Judges a bundle by the error of its analysis.
fn judge(error: &AnalysisFailure) -> BundleVerdict {
    use metalens_analyzer::Error;

    let (why, trace) = match error {
        AnalysisFailure::Trace(error) => (in_one_line(error), error),
        AnalysisFailure::Analysis(error) => {
            let why = with_hint(error);
            match error {
                Error::Trace(error) | Error::IntervalsNotRecorded(error) => (why, error),
                Error::NoRows { .. }
                | Error::NoGpuIntervals { .. }
                | Error::NoProcesses { .. }
                | Error::OnlyCpu { .. } => return BundleVerdict::Empty(why),
                _ => return BundleVerdict::Doubtful(why),
            }
        }
    };
    match trace.problem() {
        // The bundle may be newer than the versions that metalens knows; xctrace may read it.
        Problem::UnsupportedBundle { .. } | Problem::UnreadableTable { .. } => {
            BundleVerdict::Doubtful(format!("metalens cannot read it natively: {why}"))
        }
        _ => BundleVerdict::Unreadable(why),
    }
}

fn with_hint(error: &metalens_analyzer::Error) -> String {
    let why = in_one_line(error);
    match error.hint() {
        Some(hint) => format!("{why}: {hint}"),
        None => why,
    }
}
