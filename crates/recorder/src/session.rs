//! One recording, from the first line to the bundle in its place.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use metalens_xctrace::command::{Record, Target};

use crate::attempt::{Attempt, Ended, Hurry};
use crate::error::{Error, Result, file};
use crate::landing;
use crate::ownership::{Given, Owner, give_folder};
use crate::promote::{free_name, move_new, promote};
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
    let ended = match attempts(request, &staging, watcher) {
        Ok(ended) => ended,
        Err(Hurry::Failed(error)) => return Err(error),
        Err(Hurry::LeftSaving {
            pid,
            for_s: Some(seconds),
        }) => {
            let bundle = staging.keep();
            return Err(Error::StillSaving {
                pid,
                bundle,
                seconds,
            });
        }
        Err(Hurry::LeftSaving { pid, for_s: None }) => {
            let bundle = staging.keep();
            return Err(Error::GaveUp { pid, bundle });
        }
    };
    land(request, &staging, ended, &ran_in, watcher)
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

/// Finds the bundle, judges it, and puts it in its place.
fn land(
    request: &Request,
    staging: &Staging,
    ended: Ended,
    ran_in: &Path,
    watcher: &mut dyn Watcher,
) -> Result<Recording> {
    let transcript = &ended.transcript;
    let Some(found) = landing::find(&staging.bundle, ran_in, transcript.saved_as.as_deref())
        .filter(|_| ended.was_recorded() || transcript.saved_as.is_some())
    else {
        staging.clear()?;
        return Err(no_recording(request, &ended));
    };
    if found != staging.bundle {
        watcher.happened(Event::FoundElsewhere(&found));
    }
    let output = &request.record.output;
    let not_whole = |why: String| {
        let kept = set_aside(&found, output, "incomplete")?;
        Err(Error::NotWhole { why, kept })
    };
    if transcript.saved_as.is_none() {
        return not_whole(format!(
            "xctrace did not say that it saved it: {}",
            said(&ended)
        ));
    }
    let mut warnings = warnings(&ended);
    match watcher.check(&found) {
        Check::Good => {}
        Check::Doubtful(why) => warnings.push(why),
        Check::Unreadable(why) => return not_whole(with(why, &warnings)),
        Check::Empty(why) => {
            let kept = set_aside(&found, output, "empty")?;
            let why = with(why, &warnings);
            return Err(Error::Empty { why, kept });
        }
    }
    let given = give_back(&found)?;
    let may_replace = request.force || request.record.append_run;
    promote(&found, output, may_replace, &staging.aside())?;
    Ok(Recording {
        bundle: output.clone(),
        code: ended.code,
        stopped_by: stopped_by(&ended),
        warnings,
        given,
        transcript: ended.transcript,
    })
}

/// Keeps a bundle that must not have the name that was asked for, under one that
/// says what is wrong with it.
fn set_aside(found: &Path, output: &Path, what: &str) -> Result<PathBuf> {
    give_back(found)?;
    let kept = free_name(output, what);
    move_new(found, &kept)?;
    Ok(kept)
}

/// What is wrong with a bundle, and what its recorder said, which may be why.
fn with(why: String, warnings: &[String]) -> String {
    match warnings {
        [] => why,
        said => format!("{why}. Of the recording: {}", said.join("; ")),
    }
}

/// To whom ran `sudo`, if anybody did: before anybody but root can see it.
fn give_back(bundle: &Path) -> Result<Option<Given>> {
    let owner = Owner::who_ran_sudo();
    owner.map(|owner| give_folder(bundle, owner)).transpose()
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
