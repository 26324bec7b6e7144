//! Checks whether a run can be captured to a `.gputrace`, before any work is done.

use std::path::Path;

use crate::error::{Error, Result};
use crate::plan::WorkloadPlan;
use crate::run::Options;

/// Environment variable that Metal requires before a process may capture itself.
pub(crate) const ENABLED: &str = "MTL_CAPTURE_ENABLED";

/// Number of captured steps. They are the last ones of the warm-up, so that the capture does
/// not disturb the measured steps.
pub const CAPTURED_STEPS: u64 = 2;

/// Rejects a capture that would fail, which Metal reports only after the work was done.
pub(crate) fn check(plan: &WorkloadPlan, options: &Options) -> Result<()> {
    let Some(path) = &options.capture else {
        return Ok(());
    };
    let enabled = std::env::var_os(ENABLED).is_some_and(|value| value == "1");
    refusal(plan, path, enabled).map_or(Ok(()), |(why, hint)| {
        Err(Error::Capture {
            path: path.clone(),
            why: why.to_owned(),
            hint,
        })
    })
}

/// Returns the reason why a capture would fail, with a hint, or `None`.
fn refusal(
    plan: &WorkloadPlan,
    path: &Path,
    enabled: bool,
) -> Option<(&'static str, &'static str)> {
    // Each refusal is a reason and a hint.
    if path.extension().is_none_or(|ending| ending != "gputrace") {
        return Some((
            "the name must end in .gputrace, or Xcode cannot open the file",
            "name it FILE.gputrace",
        ));
    }

    if path.symlink_metadata().is_ok() {
        return Some((
            "the file exists, and a capture never overwrites one",
            "choose another name, or remove the file",
        ));
    }

    if plan.warm_up == 0 {
        return Some((
            "the last warm-up steps are captured, and this run has none",
            "add --warm-up 2",
        ));
    }

    (!enabled).then_some((
        "MTL_CAPTURE_ENABLED is not 1",
        "set MTL_CAPTURE_ENABLED=1 in the environment before the process starts: Metal requires it",
    ))
}

/// Returns the indices of the captured steps.
#[cfg_attr(
    not(target_os = "macos"),
    expect(dead_code, reason = "only Metal captures")
)]
pub(crate) fn captured_steps(plan: &WorkloadPlan) -> std::ops::Range<u64> {
    plan.warm_up.saturating_sub(CAPTURED_STEPS)..plan.warm_up
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::WorkloadSettings;

    #[test]
    fn captures_that_would_fail_are_refused_before_any_work() {
        let plan = |warm_up| {
            let settings = WorkloadSettings {
                warm_up: Some(warm_up),
                ..WorkloadSettings::default()
            };
            WorkloadPlan::new("eager", &settings).unwrap()
        };

        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old.gputrace");
        std::fs::create_dir(&old).unwrap();
        let new = folder.path().join("new.gputrace");
        let cases: [(&Path, u64, bool, Option<&str>); 5] = [
            (&new, 2, true, None),
            (&new, 2, false, Some("MTL_CAPTURE_ENABLED is not 1")),
            (&new, 0, true, Some("this run has none")),
            (&old, 2, true, Some("never overwrites")),
            (folder.path(), 2, true, Some(".gputrace")),
        ];

        for (path, warm_up, enabled, expected) in cases {
            let why = refusal(&plan(warm_up), path, enabled).map(|(why, _)| why);
            match expected {
                None => assert_eq!(why, None),
                Some(part) => assert!(why.unwrap().contains(part), "{why:?}"),
            }
        }
    }
}
