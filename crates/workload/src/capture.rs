//! Capturing a few steps to a `.gputrace`: what must hold for it.

use std::path::Path;

use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::run::Options;

/// The variable that Metal wants set before a process may capture itself.
pub(crate) const ENABLED: &str = "MTL_CAPTURE_ENABLED";

/// How many steps are captured: the last of the warm-up, so that the measured
/// ones run as they would without.
pub const CAPTURED_STEPS: u64 = 2;

/// Refuses what would fail only after the work was done.
pub(crate) fn check(plan: &Plan, options: &Options) -> Result<()> {
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

fn refusal(plan: &Plan, path: &Path, enabled: bool) -> Option<(&'static str, &'static str)> {
    if path.extension().is_none_or(|one| one != "gputrace") {
        return Some((
            "Xcode opens only files called .gputrace",
            "name it FILE.gputrace",
        ));
    }
    if path.symlink_metadata().is_ok() {
        return Some((
            "it exists, and a capture is never overwritten",
            "name another, or remove it",
        ));
    }
    if plan.warm_up == 0 {
        return Some((
            "it is the last warm-up steps that are captured, and there are none",
            "--warm-up 2",
        ));
    }
    (!enabled).then_some((
        "MTL_CAPTURE_ENABLED is not 1",
        "Metal lets a process capture itself only if it was started with MTL_CAPTURE_ENABLED=1 in \
         its environment",
    ))
}

/// The steps that are captured, of all steps.
#[cfg_attr(
    not(target_os = "macos"),
    expect(dead_code, reason = "only Metal captures")
)]
pub(crate) fn captured_steps(plan: &Plan) -> std::ops::Range<u64> {
    plan.warm_up.saturating_sub(CAPTURED_STEPS)..plan.warm_up
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Settings;

    #[test]
    fn what_cannot_be_captured_is_refused_before_any_work() {
        let plan = |warm_up| {
            let settings = Settings {
                warm_up: Some(warm_up),
                ..Settings::default()
            };
            Plan::new("eager", &settings).unwrap()
        };
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old.gputrace");
        std::fs::create_dir(&old).unwrap();
        let new = folder.path().join("new.gputrace");
        let cases: [(&Path, u64, bool, Option<&str>); 5] = [
            (&new, 2, true, None),
            (&new, 2, false, Some("MTL_CAPTURE_ENABLED is not 1")),
            (&new, 0, true, Some("there are none")),
            (&old, 2, true, Some("never overwritten")),
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
