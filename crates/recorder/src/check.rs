//! Whether a bundle holds what it was recorded for.

use std::path::Path;

use metalens_failure::{Failure, in_one_line};
use metalens_trace::{Input, Problem};

use crate::analyzed::{NotAnalyzed, analyzed};
use crate::plan::Plan;
use crate::watch::Check;

impl Plan {
    /// Judges a bundle: a recording of the GPU must have GPU work of its target.
    #[must_use]
    pub fn check(&self, bundle: &Path) -> Check {
        let checked = if self.is_about_gpu {
            analyzed(bundle).map(drop)
        } else {
            Input::open(bundle).map(drop).map_err(NotAnalyzed::Trace)
        };
        let record = &self.request.record;
        if record.append_run && runs(bundle) <= runs(&record.output) {
            let why = "no run was added to what was there";
            return Check::Unreadable(why.to_owned());
        }
        let Err(error) = checked else {
            return Check::Good;
        };
        match judge(&error) {
            // Newer than what metalens has seen it may be; without that nobody can read it.
            Check::Doubtful(_) if !bundle.join("form.template").exists() => {
                let why = "it has no form.template, without which nobody can open it";
                Check::Unreadable(why.to_owned())
            }
            judged => judged,
        }
    }
}

/// Returns how many runs a bundle has, as far as it can be read.
fn runs(bundle: &Path) -> usize {
    let input = Input::open(bundle).ok();
    let toc = input.as_ref().and_then(Input::toc);
    toc.map_or(0, |toc| toc.runs.len())
}

fn judge(error: &NotAnalyzed) -> Check {
    use metalens_analyzer::Error;

    let (why, trace) = match error {
        NotAnalyzed::Trace(error) => (in_one_line(error), error),
        NotAnalyzed::Analysis(error) => {
            let why = with_hint(error);
            match error {
                Error::Trace(error) => (why, error),
                Error::NoRows { .. }
                | Error::NoGpuIntervals { .. }
                | Error::NoProcesses { .. }
                | Error::OnlyCpu { .. } => return Check::Empty(why),
                _ => return Check::Doubtful(why),
            }
        }
    };
    match trace.problem() {
        // Newer than what metalens has seen, perhaps; xctrace may know it.
        Problem::UnsupportedBundle { .. } | Problem::UnreadableTable { .. } => {
            Check::Doubtful(format!("metalens cannot read it natively: {why}"))
        }
        _ => Check::Unreadable(why),
    }
}

fn with_hint(error: &metalens_analyzer::Error) -> String {
    let why = in_one_line(error);
    match error.hint() {
        Some(hint) => format!("{why}: {hint}"),
        None => why,
    }
}
