//! One recording, from the first line to the bundle in its place.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use metalens_xctrace::command::{Record, Target};

use crate::attempt::{Attempt, Ended, Hurry};
use crate::error::{Error, Result, file};
use crate::keep::{give_back, renamed, set_aside};
use crate::landing;
use crate::promote::promote;
use crate::request::{Recording, Request, StoppedBy};
use crate::staging::Staging;
use crate::verdict::{said, try_again, warnings};
use crate::watch::{Check, Event, Watcher, Wish};

/// Makes a recording.
///
/// # Errors
///
/// If there is none, or none that is whole; where what there is of it lies is in
/// the error.
pub fn record(request: &Request, watcher: &mut dyn Watcher) -> Result<Recording> {
    let output = &request.record.output;
    if output.symlink_metadata().is_ok() && !request.force && !request.record.append_run {
        return Err(Error::Exists(output.clone()));
    }
    let ran_in = std::env::current_dir().map_err(file("find", "."))?;
    let staging = Staging::beside(output, &ran_in)?;
    match attempts(request, &staging, watcher) {
        Ok(ended) => land(request, &staging, ended, &ran_in, watcher),
        Err(Hurry::Failed(error)) => {
            // At most a copy of what was to be appended to.
            let _ = staging.clear();
            Err(error)
        }
        Err(Hurry::LostSight(error)) => Err(Error::NotFollowed {
            why: Box::new(error),
            kept: staging.leave(),
        }),
        Err(Hurry::LeftSaving { pid, for_s }) => {
            let bundle = staging.leave();
            Err(match for_s {
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

/// Starts it, and starts it again while something else records.
fn attempts(
    request: &Request,
    staging: &Staging,
    watcher: &mut dyn Watcher,
) -> std::result::Result<Ended, Hurry> {
    let record = staged(&request.record, staging);
    let append_to = request.record.append_run.then_some(&*request.record.output);
    let mut attempt = 1;
    loop {
        staging.prepare(append_to)?;
        let ended = Attempt::start(request, &record, staging)?.run(watcher)?;
        match try_again(&ended.transcript) {
            Some(why) if !ended.was_recorded() && attempt < request.patience.tries => {
                watcher.happened(Event::TryingAgain(why));
                pause(request.patience.pause, watcher);
            }
            _ => return Ok(ended),
        }
        attempt += 1;
    }
}

/// The same, into the staging folder.
fn staged(record: &Record, staging: &Staging) -> Record {
    let mut record = Record {
        output: staging.bundle.clone(),
        ..record.clone()
    };
    if let Target::Launch(launch) = &mut record.target {
        launch.stdout = Some(staging.target_output.clone());
    }
    record
}

fn pause(length: Duration, watcher: &mut dyn Watcher) {
    let until = Instant::now() + length;
    while Instant::now() < until && watcher.wish() == Wish::GoOn {
        thread::sleep(Duration::from_millis(50));
    }
}

/// Finds the bundle, judges it, and puts it in its place. From here on nothing that fails
/// costs a recording.
fn land(
    request: &Request,
    staging: &Staging,
    ended: Ended,
    ran_in: &Path,
    watcher: &mut dyn Watcher,
) -> Result<Recording> {
    let output = &request.record.output;
    let saved_as = ended.transcript.saved_as.as_deref();
    let Some(found) = landing::find(&staging.bundle, ran_in, saved_as) else {
        return Err(no_recording(request, &ended));
    };
    if !ended.was_recorded() && is_worthless(&watcher.check(&found)) {
        // Why there is none says more than why a stub cannot be removed.
        let _ = staging.clear();
        return Err(no_recording(request, &ended));
    }
    if found != staging.bundle {
        watcher.happened(Event::FoundElsewhere(&found));
    }
    let found = staging.bring_home(&found).map_err(|error| {
        let given = give_back(&found);
        let why = [Some(error), given.err()].into_iter().flatten();
        let why: Vec<String> = why.map(|error| error.to_string()).collect();
        Error::Elsewhere {
            why: why.join("; "),
            kept: found,
        }
    })?;
    if saved_as.is_none() {
        let why = format!("xctrace did not say that it saved it: {}", said(&ended));
        return Err(not_whole(&found, output, &why, &[]));
    }

    let mut warnings = warnings(&ended);
    match watcher.check(&found) {
        Check::Good => {}
        Check::Doubtful(why) => warnings.push(why),
        Check::Unreadable(why) => return Err(not_whole(&found, output, &why, &warnings)),
        Check::Empty(why) => {
            let kept = set_aside(&found, output, "empty");
            return Err(Error::Empty {
                why: kept.why(&why, &found, &warnings),
                kept: kept.at,
            });
        }
    }
    settle(request, staging, ended, &found, warnings)
}

/// Gives a good recording back, and its name to it.
fn settle(
    request: &Request,
    staging: &Staging,
    ended: Ended,
    found: &Path,
    warnings: Vec<String>,
) -> Result<Recording> {
    let output = &request.record.output;
    // Before anybody but root can see it.
    let given = give_back(found);
    let may_replace = request.force || request.record.append_run;
    if let Err(error) = promote(found, output, may_replace, &staging.aside()) {
        let kept = set_aside(found, output, "new");
        return Err(Error::Elsewhere {
            why: kept.why(&error.to_string(), found, &[]),
            kept: kept.at,
        });
    }
    let mut warnings: Vec<String> = warnings
        .iter()
        .map(|text| renamed(text, found, output))
        .collect();
    if let Err(error) = staging.forget_replaced() {
        warnings.push(error.to_string());
    }
    let (given, not_given) = match given {
        Ok(given) => (given.map(|given| given.under(found, output)), None),
        Err(error) => (None, Some(renamed(&error.to_string(), found, output))),
    };
    Ok(Recording {
        bundle: output.clone(),
        code: ended.code,
        stopped_by: stopped_by(&ended),
        warnings,
        given,
        not_given,
        transcript: ended.transcript,
    })
}

/// Whether a bundle of which nothing was said can go: what can be read, or may be read by
/// others, is a recording whatever was said.
fn is_worthless(check: &Check) -> bool {
    matches!(check, Check::Empty(_) | Check::Unreadable(_))
}

fn not_whole(found: &Path, output: &Path, why: &str, warnings: &[String]) -> Error {
    let kept = set_aside(found, output, "incomplete");
    Error::NotWhole {
        why: kept.why(why, found, warnings),
        kept: kept.at,
    }
}

fn no_recording(request: &Request, ended: &Ended) -> Error {
    match ended {
        Ended {
            was_wished: true, ..
        } if !ended.was_recorded() => Error::Interrupted,
        Ended {
            never_began: true, ..
        } => Error::NeverBegan {
            seconds: request.patience.start.as_secs(),
        },
        _ if ended.was_recorded() => Error::NoBundle { said: said(ended) },
        _ => Error::NotStarted { said: said(ended) },
    }
}

fn stopped_by(ended: &Ended) -> StoppedBy {
    let transcript = &ended.transcript;
    match ended.was_wished {
        _ if transcript.reached_limit => StoppedBy::TimeLimit,
        _ if transcript.target_exited => StoppedBy::TargetExit,
        true => StoppedBy::Wish,
        false => StoppedBy::Unknown,
    }
}
