//! Says the verdict of `--check`.

use std::process::ExitCode;

use metalens_text::shown;
use metalens_text::units::counted;

use crate::analyzing::Analyzing;
use crate::{exit, out};

/// Says on stderr whether a check passed, and which thresholds it judged. Returns its exit code.
pub(crate) fn verdict(analyzing: &Analyzing, missed: u64, quiet: bool) -> ExitCode {
    let judged = analyzing.request.settings.thresholds.count();
    let judged = counted(judged, "threshold");
    let source = shown(&analyzing.thresholds_from);
    if missed > 0 {
        let times = counted(missed, "time");
        out::note(&format!(
            "Check failed: {judged}, missed {times} ({source})"
        ));
        return exit::missed();
    }
    if !quiet {
        out::note(&format!("Check passed: {judged} ({source})"));
    }
    ExitCode::SUCCESS
}
