//! One run of `xctrace record`: what it says is followed, what is wished is
//! passed on, and nothing is waited for without end.
//!
//! ```text
//! preparing ──says that it records──> recording ──ends, or is asked to──> ending ──> ended
//!     │ too long: asked to stop,           │ past its limit:                  │ no growth for too
//!     │ then, if it says nothing           │ asked to stop                    │ long: left to itself
//!     └ and writes nothing, ended          └                                  └
//! ```

use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use metalens_files::folder_size;
use metalens_xctrace::command::{Length, Record};
use metalens_xctrace::{OutputLine, RunningTool, Stream, StreamLine, Transcript};

use crate::error::Error;
use crate::output::Tail;
use crate::request::{Patience, Request};
use crate::staging::Staging;
use crate::watch::{Event, Watcher, Wish};

/// How often it is looked after.
const TICK: Duration = Duration::from_millis(50);
/// How often a growing bundle is measured.
const MEASURE: Duration = Duration::from_millis(500);
/// How long it is listened to once it has ended: something it started may hold
/// its streams, and talk for ever.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A run.
pub(crate) struct Attempt<'a> {
    running: RunningTool,
    patience: &'a Patience,
    limit: Option<Duration>,
    /// Where it may write.
    bundles: [PathBuf; 2],
    output: Tail,
    transcript: Transcript,
    phase: Phase,
    /// Since when it is in that phase.
    since: Instant,
    /// When it last said something, or its bundle grew.
    stirred: Instant,
    measured: Instant,
    bytes: u64,
    was_wished: bool,
    never_began: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Preparing,
    Recording,
    Ending,
    /// Asked to stop before it began; how often it was told so more firmly.
    Refused(u8),
}

/// A run that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) transcript: Transcript,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Whether it was asked to stop because that was wished.
    pub(crate) was_wished: bool,
    /// Whether it was asked to stop because it did not begin.
    pub(crate) never_began: bool,
}

impl Ended {
    /// Whether anything was recorded, as far as it said so. One that could not
    /// even start says that it saves, all the same: what it saves is nothing.
    pub(crate) fn was_recorded(&self) -> bool {
        let transcript = &self.transcript;
        let was_saving = transcript.was_saving && !transcript.reported_failure;
        transcript.was_recording || was_saving || transcript.saved_as.is_some()
    }
}

/// Why a run was left before its end.
#[derive(Debug)]
pub(crate) enum Hurry {
    /// It still saves; for how long nothing was seen, or else it was given up.
    LeftSaving { pid: u32, for_s: Option<u64> },
    /// Something failed before anything was recorded.
    Failed(Error),
    /// It could not be followed any longer, and may still write.
    LostSight(Error),
}

impl From<Error> for Hurry {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<metalens_xctrace::Error> for Hurry {
    fn from(error: metalens_xctrace::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<'a> Attempt<'a> {
    /// Starts one.
    pub(crate) fn start(
        request: &'a Request,
        record: &Record,
        staging: &Staging,
    ) -> Result<Self, Hurry> {
        let arguments = record.arguments(&request.version)?;
        let running = request.tool.start(&arguments, request.stdin)?;
        let limit = record.time_limit.map(Length::milliseconds);
        let now = Instant::now();
        Ok(Self {
            running,
            patience: &request.patience,
            limit: limit.map(Duration::from_millis),
            bundles: [staging.bundle.clone(), staging.stray.clone()],
            output: Tail::of(staging.target_output.clone()),
            transcript: Transcript::default(),
            phase: Phase::Preparing,
            since: now,
            stirred: now,
            measured: now,
            bytes: folder_size(&staging.bundle) + folder_size(&staging.stray),
            was_wished: false,
            never_began: false,
        })
    }

    /// Follows it to its end.
    pub(crate) fn run(mut self, watcher: &mut dyn Watcher) -> Result<Ended, Hurry> {
        let followed = self.follow(watcher);
        followed.map_err(|hurry| match hurry {
            Hurry::Failed(error) => {
                // What fails here too cannot be helped, and the first failure says more.
                let _ = self.running.leave();
                Hurry::LostSight(error)
            }
            left => left,
        })
    }

    fn follow(&mut self, watcher: &mut dyn Watcher) -> Result<Ended, Hurry> {
        watcher.happened(Event::Starting);
        let (code, signal) = loop {
            if let Some(line) = self.running.next(TICK) {
                self.hear(&line, watcher);
            }
            self.output
                .drain(|bytes| watcher.happened(Event::TargetOutput(bytes)));
            if let Some(ended) = self.running.ended()? {
                break ended;
            }
            self.measure(watcher);
            self.heed(watcher)?;
            self.watch_the_clock()?;
        };
        // What is still in the pipes. It says last what it saved: a busy machine may be slow to
        // hand that on.
        let ended = Instant::now();
        while ended.elapsed() < LAST_WORDS {
            match self.running.next_or_end(TICK) {
                Ok(line) => self.hear(&line, watcher),
                Err(RecvTimeoutError::Timeout) if self.transcript.saved_as.is_none() => {}
                Err(_) => break,
            }
        }
        self.output
            .drain(|bytes| watcher.happened(Event::TargetOutput(bytes)));
        Ok(Ended {
            transcript: std::mem::take(&mut self.transcript),
            code,
            signal,
            was_wished: self.was_wished,
            never_began: self.never_began,
        })
    }

    fn hear(&mut self, line: &StreamLine, watcher: &mut dyn Watcher) {
        self.stirred = Instant::now();
        match self.transcript.add(line) {
            OutputLine::Recording => {
                self.enter(Phase::Recording);
                watcher.happened(Event::Recording);
            }
            // It says so even if there is nothing to save.
            OutputLine::Saving { has_failed: true } if !self.transcript.was_recording => {
                self.enter(Phase::Ending);
            }
            OutputLine::TimeLimit
            | OutputLine::TargetExited
            | OutputLine::Saving { .. }
            | OutputLine::Saved(_) => {
                self.enter(Phase::Ending);
                watcher.happened(Event::Saving { bytes: self.bytes });
            }
            OutputLine::Error(text) | OutputLine::Warning(text) => {
                watcher.happened(Event::Trouble(&text))
            }
            OutputLine::Other if line.stream == Stream::Err => {
                watcher.happened(Event::Line(&line.text));
            }
            OutputLine::Starting | OutputLine::IssuesFollow | OutputLine::Other => {}
        }
    }

    fn enter(&mut self, phase: Phase) {
        if self.phase != phase {
            self.phase = phase;
            self.since = Instant::now();
            self.stirred = self.since;
        }
    }

    /// Whether the bundle grows, which is the only sign of life while it is saved.
    fn measure(&mut self, watcher: &mut dyn Watcher) {
        if self.phase == Phase::Recording || self.measured.elapsed() < MEASURE {
            return;
        }
        self.measured = Instant::now();
        let bytes = self.bundles.iter().map(|one| folder_size(one)).sum();
        if bytes == self.bytes {
            return;
        }
        self.bytes = bytes;
        self.stirred = self.measured;
        match self.phase {
            Phase::Ending => watcher.happened(Event::Saving { bytes }),
            // It writes: it must have heard, and saves what there is.
            Phase::Refused(_) => self.enter(Phase::Ending),
            Phase::Preparing | Phase::Recording => {}
        }
    }

    fn heed(&mut self, watcher: &mut dyn Watcher) -> Result<(), Hurry> {
        match (watcher.wish(), self.phase) {
            (Wish::GoOn, _) => Ok(()),
            (_, Phase::Preparing) => {
                self.was_wished = true;
                watcher.happened(Event::Stopping);
                self.refuse()
            }
            (_, Phase::Recording) => {
                self.was_wished = true;
                watcher.happened(Event::Stopping);
                self.stop()
            }
            (Wish::GiveUp, Phase::Ending) => match self.running.pid() {
                Some(pid) => Err(self.left(pid, None)),
                None => Ok(()),
            },
            (Wish::GiveUp, Phase::Refused(_)) => Ok(self.running.kill()?),
            (Wish::Stop, Phase::Ending | Phase::Refused(_)) => Ok(()),
        }
    }

    fn watch_the_clock(&mut self) -> Result<(), Hurry> {
        let passed = self.since.elapsed();
        match self.phase {
            Phase::Preparing if passed > self.patience.start => {
                self.never_began = true;
                self.refuse()
            }
            Phase::Recording => match self.limit {
                Some(limit) if passed > limit + self.patience.overrun => self.stop(),
                _ => Ok(()),
            },
            Phase::Ending if self.stirred.elapsed() > self.patience.save => {
                let pid = self.running.pid().unwrap_or_default();
                Err(self.left(pid, Some(self.patience.save.as_secs())))
            }
            // It neither speaks nor writes: there is nothing to lose.
            Phase::Refused(times) if passed > self.patience.heed => {
                self.enter(Phase::Refused(times + 1));
                match times {
                    0 => Ok(self.running.terminate()?),
                    _ => Ok(self.running.kill()?),
                }
            }
            Phase::Preparing | Phase::Ending | Phase::Refused(_) => Ok(()),
        }
    }

    /// Leaves it to itself, so that it can end in peace.
    fn left(&self, pid: u32, for_s: Option<u64>) -> Hurry {
        match self.running.leave() {
            Ok(()) => Hurry::LeftSaving { pid, for_s },
            Err(error) => error.into(),
        }
    }

    /// Asks it to stop and save.
    fn stop(&mut self) -> Result<(), Hurry> {
        self.enter(Phase::Ending);
        Ok(self.running.interrupt()?)
    }

    /// Asks it to stop before it has begun.
    fn refuse(&mut self) -> Result<(), Hurry> {
        self.enter(Phase::Refused(0));
        Ok(self.running.interrupt()?)
    }
}
