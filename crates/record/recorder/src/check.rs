//! Judges whether a bundle contains what it was recorded for.

use std::path::Path;

use metalens_xctrace::command::Target;

use crate::other_work::OtherWork;
use crate::plan::RecordingPlan;
use crate::recorded_bundle::{BundleReader, BundleVerdict, ReadingDepth, RecordedBundle};

/// Reads the bundle of a plan once, and judges it.
pub(crate) struct BundleCheck<'a> {
    plan: &'a RecordingPlan,
    reader: &'a mut BundleReader<'a>,
    /// The bundle that was judged.
    pub(crate) recorded: RecordedBundle,
    /// GPU work of another process, if the recorded program has none.
    pub(crate) other_work: Option<OtherWork>,
}

impl<'a> BundleCheck<'a> {
    pub(crate) fn new(plan: &'a RecordingPlan, reader: &'a mut BundleReader<'a>) -> Self {
        let unread = BundleVerdict::Doubtful("the bundle was not read".to_owned());
        Self {
            plan,
            reader,
            recorded: RecordedBundle::new(unread),
            other_work: None,
        }
    }

    /// Judges a bundle: a recording of the GPU must contain GPU work of the recorded process.
    pub(crate) fn judge(&mut self, bundle: &Path) -> BundleVerdict {
        let depth = if self.plan.is_about_gpu {
            ReadingDepth::Tables
        } else {
            ReadingDepth::Facts
        };
        self.recorded = (self.reader)(bundle, depth);

        match &self.recorded.verdict {
            BundleVerdict::Empty(_) => {
                self.other_work = self.work_of_other();
                match &self.other_work {
                    Some(_) => BundleVerdict::Good,
                    None => self.recorded.verdict.clone(),
                }
            }
            // The bundle may be newer than the versions that metalens knows. Without this file,
            // no tool can open it.
            BundleVerdict::Doubtful(_) if !bundle.join("form.template").exists() => {
                let why = "it has no form.template, which every tool needs to open it";
                BundleVerdict::Unreadable(why.to_owned())
            }
            verdict => verdict.clone(),
        }
    }

    /// Returns the GPU work of a process that started during the recording, if the recording started
    /// the program that has none.
    fn work_of_other(&self) -> Option<OtherWork> {
        let is_launched = matches!(self.plan.xctrace_request.record.target, Target::Launch(_));
        let recorded = self.recorded.program.as_ref()?.pid?;
        let before = self.plan.xctrace_request.running_before.as_ref()?;
        OtherWork::find(&self.recorded.others, recorded, before).filter(|_| is_launched)
    }
}
