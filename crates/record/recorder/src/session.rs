//! Makes one recording: attempts, judges the bundle, and moves it to its path.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use metalens_xctrace::Transcript;
use metalens_xctrace::command::{Record, Target};

use crate::attempt::{Attempt, AttemptEnd, AttemptError};
use crate::error::{Error, Result, file};
use crate::explain::{Explanation, explain_end, retry_reason, warnings};
use crate::find_bundle::find_bundle;
use crate::plan::SIGNPOSTS;
use crate::promote::promote;
use crate::raw_recording;
use crate::recorded_bundle::BundleVerdict;
use crate::request::{OutputRoute, Recording, StoppedBy, XctraceRequest};
use crate::set_aside::{give_back, renamed, set_aside};
use crate::staging::{Staging, is_stub};
use crate::watch::{RecordingEvent, StopRequest, Watcher};

/// Makes a recording, and returns it if it is complete. `judge` decides that of a bundle.
///
/// # Errors
///
/// If there is no recording, or only an incomplete one. The error says where its bundle is.
pub fn record(
    request: &XctraceRequest,
    watcher: &mut dyn Watcher,
    judge: &mut dyn FnMut(&Path) -> BundleVerdict,
) -> Result<Recording> {
    let output = &request.record.output;
    if output.symlink_metadata().is_ok() && !request.force {
        return Err(Error::Exists(output.clone()));
    }

    let ran_in = std::env::current_dir().map_err(file("find", "."))?;
    let staging = Staging::beside(output, &ran_in)?;
    match attempts(request, &staging, watcher) {
        Ok(ended) => {
            let is_saved = ended.transcript.saved_as.is_some();
            let raw = (!is_saved).then(|| raw_recording::find(&staging.bundle, &staging.stray));
            let landed = land(request, &staging, ended, &ran_in, watcher, judge);
            landed.map_err(|why| with_raw_recording(why, raw.flatten(), output))
        }
        Err(AttemptError::Failed(error)) => {
            // The staging folder has at most a stub.
            let _ = staging.clear();
            Err(error)
        }
        Err(AttemptError::LostTrack(error)) => Err(Error::NotFollowed {
            why: Box::new(error),
            kept: staging.leave(),
        }),
        Err(AttemptError::StillSaving { pid, idle_seconds }) => {
            let bundle = staging.leave();
            Err(match idle_seconds {
                Some(seconds) => Error::StillSaving {
                    pid,
                    bundle,
                    seconds,
                },
                None => Error::GaveUp { pid, bundle },
            })
        }
    }
}

/// Adds to an error where the raw recording is that `xctrace` left in place of a complete bundle.
fn with_raw_recording(why: Error, raw: Option<PathBuf>, output: &Path) -> Error {
    match raw.and_then(|raw| raw_recording::keep(raw, why.bundle(), output)) {
        Some(kept) => Error::Raw {
            why: Box::new(why),
            kept,
        },
        None => why,
    }
}

/// Starts `xctrace`, and starts it again while something else is recording.
fn attempts(
    request: &XctraceRequest,
    staging: &Staging,
    watcher: &mut dyn Watcher,
) -> std::result::Result<AttemptEnd, AttemptError> {
    let mut record = staged(request, staging);
    let mut attempt = 1;

    loop {
        staging.clear()?;
        let ended = Attempt::start(request, &record, staging)?.run(watcher)?;
        if !ended.was_recorded() && leave_out_signposts(&mut record, &ended.transcript) {
            watcher.on_event(RecordingEvent::TryingAgain(
                "this Xcode has no instrument Points of Interest, so that signposts are not recorded",
            ));
            continue;
        }
        match retry_reason(&ended.transcript) {
            Some(why) if !ended.was_recorded() && attempt < request.timeouts.max_attempts => {
                watcher.on_event(RecordingEvent::TryingAgain(why));
                pause(request.timeouts.retry_delay, watcher);
            }
            _ => return Ok(ended),
        }
        attempt += 1;
    }
}

/// Leaves the instrument for signposts out, if `xctrace` has none. Returns whether it did.
fn leave_out_signposts(record: &mut Record, transcript: &Transcript) -> bool {
    let missing = format!("Instrument with name '{SIGNPOSTS}' cannot be found");
    let mut lines = transcript.errors.iter().chain(&transcript.others);
    let is_missing = lines.any(|line| line.contains(&missing));
    let before = record.instruments.len();
    record
        .instruments
        .retain(|name| !is_missing || name != SIGNPOSTS);
    record.instruments.len() < before
}

/// Returns the same command line with its outputs in the staging folder.
fn staged(request: &XctraceRequest, staging: &Staging) -> Record {
    let mut record = Record {
        output: staging.bundle.clone(),
        ..request.record.clone()
    };
    if let Target::Launch(launch) = &mut record.target {
        launch.stdout = match request.program_output {
            OutputRoute::File => Some(staging.target_output.clone()),
            OutputRoute::Shared => Some("-".into()),
            OutputRoute::Discarded => Some("/dev/null".into()),
        };
    }
    record
}

fn pause(length: Duration, watcher: &mut dyn Watcher) {
    let until = Instant::now() + length;
    while Instant::now() < until && watcher.stop_request() == StopRequest::None {
        thread::sleep(Duration::from_millis(50));
    }
}

/// Finds the bundle, judges it, and moves it to its path. From here on, a failure never costs
/// a recording.
fn land(
    request: &XctraceRequest,
    staging: &Staging,
    mut ended: AttemptEnd,
    ran_in: &Path,
    watcher: &mut dyn Watcher,
    judge: &mut dyn FnMut(&Path) -> BundleVerdict,
) -> Result<Recording> {
    let output = &request.record.output;
    let saved_as = ended.transcript.saved_as.clone();
    let Some(bundle) = find_bundle(&staging.bundle, ran_in, saved_as.as_deref()) else {
        return Err(no_recording(request, &ended));
    };
    if !ended.was_recorded() && is_stub(&bundle) && is_worthless(&judge(&bundle)) {
        // The error below says more than one about a stub that cannot be removed.
        let _ = staging.clear();
        return Err(no_recording(request, &ended));
    }

    if bundle != staging.bundle {
        watcher.on_event(RecordingEvent::FoundElsewhere(&bundle));
    }
    let bundle = staging.bring_home(&bundle).map_err(|error| {
        let given = give_back(&bundle);
        let why = [Some(error), given.err()].into_iter().flatten();
        let why: Vec<String> = why.map(|error| error.to_string()).collect();
        Error::Elsewhere {
            why: why.join("; "),
            kept: bundle,
        }
    })?;
    let verdict = judge(&bundle);
    let explained = explain_end(&ended);
    if saved_as.is_none() && !is_whole(&ended, &verdict) {
        let why = format!(
            "xctrace did not confirm that it was saved: {}",
            explained.text
        );
        return Err(incomplete(&bundle, output, &why, &[], explained.remedy));
    }
    ended.transcript.believe();

    let remedy = explained.remedy;
    let is_good = matches!(verdict, BundleVerdict::Good | BundleVerdict::Doubtful(_));
    let mut warnings = warnings(&ended, is_good);
    match verdict {
        BundleVerdict::Good => {}
        BundleVerdict::Doubtful(why) => warnings.push(why),
        BundleVerdict::Unreadable(why) => {
            return Err(incomplete(&bundle, output, &why, &warnings, remedy));
        }
        BundleVerdict::Empty(why) => {
            let kept = set_aside(&bundle, output, "empty");
            return Err(Error::Empty {
                why: kept.explain(&why, &bundle, &warnings),
                kept: kept.path,
                remedy,
            });
        }
    }
    settle(request, staging, ended, &bundle, warnings)
}

/// Gives a good recording back to its user, and moves it to its path, or else to the next free
/// name beside it. If that fails too, it stays in the staging folder.
fn settle(
    request: &XctraceRequest,
    staging: &Staging,
    ended: AttemptEnd,
    bundle: &Path,
    warnings: Vec<String>,
) -> Result<Recording> {
    let output = &request.record.output;
    // This comes first, while the bundle is in a folder that only root can see.
    let given = give_back(bundle);
    if let Err(error) = promote(bundle, output, request.force, &staging.aside()) {
        let kept = set_aside(bundle, output, "new");
        return Err(Error::Elsewhere {
            why: kept.explain(&error.to_string(), bundle, &[]),
            kept: kept.path,
        });
    }

    let mut warnings: Vec<String> = warnings
        .iter()
        .map(|text| renamed(text, bundle, output))
        .collect();
    if let Err(error) = staging.forget_replaced() {
        warnings.push(error.to_string());
    }

    let (given, not_given) = match given {
        Ok(given) => (given.map(|given| given.under(bundle, output)), None),
        Err(error) => (None, Some(renamed(&error.to_string(), bundle, output))),
    };
    Ok(Recording {
        bundle: output.clone(),
        code: ended.code,
        stopped_by: stopped_by(&ended),
        warnings,
        given,
        not_given,
        other_work: None,
        is_output_cut: ended.is_output_cut,
        transcript: ended.transcript,
    })
}

/// Returns whether a recording is complete although `xctrace` did not say that it saved it: it ended
/// well, and the bundle has all that was looked for.
fn is_whole(ended: &AttemptEnd, verdict: &BundleVerdict) -> bool {
    matches!(ended.code, Some(0 | 54)) && *verdict == BundleVerdict::Good
}

/// Returns whether a bundle has nothing that metalens, or perhaps others, can read.
fn is_worthless(check: &BundleVerdict) -> bool {
    matches!(
        check,
        BundleVerdict::Empty(_) | BundleVerdict::Unreadable(_)
    )
}

fn incomplete(
    bundle: &Path,
    output: &Path,
    why: &str,
    warnings: &[String],
    remedy: Option<&'static str>,
) -> Error {
    let kept = set_aside(bundle, output, "incomplete");
    Error::Incomplete {
        why: kept.explain(why, bundle, warnings),
        kept: kept.path,
        remedy,
    }
}

/// Returns the error of an attempt that left no bundle.
fn no_recording(request: &XctraceRequest, ended: &AttemptEnd) -> Error {
    match ended {
        _ if ended.transcript.asked_password && !ended.was_recorded() => Error::PasswordAsked,
        AttemptEnd {
            stop_requested: true,
            ..
        } if !ended.was_recorded() => Error::Interrupted,
        AttemptEnd {
            never_began: true, ..
        } => Error::NeverBegan {
            seconds: request.timeouts.start.as_secs(),
        },
        _ if ended.was_recorded() => Error::NoBundle {
            explanation: explain_end(ended).text,
        },
        _ => {
            let Explanation { text, remedy } = explain_end(ended);
            Error::NotStarted {
                explanation: text,
                remedy,
            }
        }
    }
}

/// Returns the reason why a recording ended.
fn stopped_by(ended: &AttemptEnd) -> StoppedBy {
    let transcript = &ended.transcript;
    if transcript.reached_limit {
        StoppedBy::TimeLimit
    } else if transcript.target_exited {
        StoppedBy::TargetExit
    } else if ended.stop_requested {
        StoppedBy::User
    } else if ended.never_began {
        StoppedBy::Patience
    } else {
        StoppedBy::Unknown
    }
}
