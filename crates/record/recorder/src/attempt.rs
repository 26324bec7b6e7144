//! Runs `xctrace record` once: reads its output, passes on stop requests, and bounds every wait.
//!
//! ```text
//! preparing ──says that it records──> recording ──ends, or is asked to──> ending ──> ended
//!     │ too long: asked to stop;           │ past its limit:                  │ no growth for too
//!     │ then, if it prints nothing         │ asked to stop                    │ long: left running
//!     └ and writes nothing, terminated     └                                  └
//! ```

use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use metalens_doctor::SystemCommands;
use metalens_files::path_size;
use metalens_xctrace::command::{Length, Record, Target};
use metalens_xctrace::{OutputLine, RunningTool, Stream, StreamLine, Transcript};

use crate::error::Error;
use crate::idle_target::{ProgramState, idle_message, program_state, stalled_message};
use crate::log::RunLog;
use crate::plan::LONG_RECORDINGS;
use crate::request::{OutputRoute, RecordTimeouts, XctraceRequest};
use crate::running::RunningProcesses;
use crate::staging::{MAX_STUB_BYTES, Staging};
use crate::start_signal::StartSignal;
use crate::tail::{MOST_OUTPUT, Tail};
use crate::watch::{RecordingEvent, StopRequest, Watcher};

/// Interval at which the run is checked.
const TICK: Duration = Duration::from_millis(50);
/// Interval at which the size of a growing bundle is measured.
const MEASURE: Duration = Duration::from_millis(500);
/// Time to read the output after the end. A process that `xctrace` started may keep its pipes
/// open and write forever.
const LAST_OUTPUT: Duration = Duration::from_secs(5);

/// Runs `ps`, for a moment in which nothing else is checked.
const PS: SystemCommands = SystemCommands {
    time_limit: Duration::from_secs(2),
};

/// A run of `xctrace record` in progress.
pub(crate) struct Attempt<'a> {
    running: RunningTool,
    timeouts: &'a RecordTimeouts,
    limit: Option<Duration>,
    /// Paths that it may write the bundle to.
    bundles: [PathBuf; 2],
    /// File with the output of the program, if it has one.
    output: Option<Tail>,
    transcript: Transcript,
    stage: AttemptStage,
    /// Start of the current stage.
    stage_start: Instant,
    /// Last time that it printed something, or that its bundle grew.
    last_activity: Instant,
    last_measured: Instant,
    bytes: u64,
    stop_requested: bool,
    never_began: bool,
    /// True if the output of the program comes through that of `xctrace`.
    shares_output: bool,
    /// Program that `xctrace` starts.
    program: Option<PathBuf>,
    running_before: Option<&'a RunningProcesses>,
    /// State of the program when it was looked at last, and when; `None` once the user was told.
    seen: Option<(Instant, ProgramState)>,
    /// True if the recording may become too long, until the user was told.
    may_be_long: bool,
    start_signal: StartSignal,
    log: RunLog,
}

/// The stage of an attempt, see the drawing above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttemptStage {
    Preparing,
    Recording,
    Ending,
    /// Asked to stop before it started recording; the number of stronger signals sent since.
    StoppingEarly(u8),
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct AttemptEnd {
    pub(crate) transcript: Transcript,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// True if it was asked to stop because the user wanted so.
    pub(crate) stop_requested: bool,
    /// True if it was asked to stop because it never started recording.
    pub(crate) never_began: bool,
    /// True if a part of the program's output was dropped.
    pub(crate) is_output_cut: bool,
}

impl AttemptEnd {
    /// Returns whether anything was recorded, as far as its output says. An `xctrace` that
    /// could not start prints that it saves, too, although there is nothing to save.
    pub(crate) fn was_recorded(&self) -> bool {
        let transcript = &self.transcript;
        let was_saving = transcript.was_saving && !transcript.reported_failure;

        transcript.was_recording || was_saving || transcript.saved_as.is_some()
    }
}

/// The reason why a run was left before its end.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// Still saving. `idle_seconds` is how long its bundle has not grown, or `None` if
    /// the user gave up waiting.
    StillSaving { pid: u32, idle_seconds: Option<u64> },
    /// Something failed before anything was recorded.
    Failed(Error),
    /// The run could not be followed any longer, and may still write.
    LostTrack(Error),
}

impl From<Error> for AttemptError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<metalens_xctrace::Error> for AttemptError {
    fn from(error: metalens_xctrace::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<'a> Attempt<'a> {
    /// Starts a run into the staging folder.
    pub(crate) fn start(
        request: &'a XctraceRequest,
        record: &Record,
        staging: &Staging,
    ) -> Result<Self, AttemptError> {
        let arguments = record.arguments(&request.version)?;
        let log = RunLog::begin(request.log.as_deref(), &request.version.to_string())?;
        // Notifications are not kept for later: whoever listens must do so before xctrace starts.
        let start_signal = StartSignal::begin(
            request.started_file.as_deref(),
            record.tracing_started.as_deref(),
        );
        let running = request.tool.start(&arguments, request.stdin)?;
        let limit = record.time_limit.map(Length::milliseconds);
        let now = Instant::now();

        Ok(Self {
            running,
            timeouts: &request.timeouts,
            limit: limit.map(Duration::from_millis),
            bundles: [staging.bundle.clone(), staging.stray.clone()],
            output: (request.program_output == OutputRoute::File)
                .then(|| Tail::new(staging.target_output.clone(), MOST_OUTPUT)),
            transcript: Transcript::of(&staging.bundle),
            stage: AttemptStage::Preparing,
            stage_start: now,
            last_activity: now,
            last_measured: now,
            bytes: 0,
            stop_requested: false,
            never_began: false,
            shares_output: request.program_output == OutputRoute::Shared,
            program: match &record.target {
                Target::Launch(launch) => Some(launch.program.clone()),
                Target::Attach(_) | Target::AllProcesses => None,
            },
            running_before: request.running_before.as_ref(),
            seen: Some((now, ProgramState::Unknown)),
            may_be_long: record.window.is_none() && record.time_limit.is_none(),
            start_signal,
            log,
        })
    }

    /// Follows the run to its end.
    pub(crate) fn run(mut self, watcher: &mut dyn Watcher) -> Result<AttemptEnd, AttemptError> {
        self.follow(watcher).map_err(|error| match error {
            AttemptError::Failed(error) => {
                // If this fails too, the first failure says more.
                let _ = self.running.leave();
                AttemptError::LostTrack(error)
            }
            other => other,
        })
    }

    /// Follows `xctrace` until it ends.
    fn follow(&mut self, watcher: &mut dyn Watcher) -> Result<AttemptEnd, AttemptError> {
        watcher.on_event(RecordingEvent::Starting);
        let (code, signal) = loop {
            if let Some(line) = self.running.next(TICK) {
                self.handle_line(&line, watcher);
            }
            if self.stage == AttemptStage::Preparing && self.start_signal.was_posted() {
                self.begin_recording(watcher);
            }
            self.pass_on_output(watcher);
            if let Some(ended) = self.running.ended()? {
                break ended;
            }
            self.measure(watcher);
            self.check_program(watcher);
            self.check_length(watcher);
            self.start_signal.check();
            self.handle_stop_request(watcher)?;
            self.check_timeouts(watcher)?;
        };

        // The pipes may have more. Where the bundle was saved comes last, and a busy machine may
        // be slow to pass that on.
        let ended = Instant::now();
        while ended.elapsed() < LAST_OUTPUT {
            match self.running.next_or_end(TICK) {
                Ok(line) => self.handle_line(&line, watcher),
                Err(RecvTimeoutError::Timeout) if self.transcript.saved_as.is_none() => {}
                Err(_) => break,
            }
        }
        self.pass_on_output(watcher);
        self.log.end(code, signal);

        Ok(AttemptEnd {
            transcript: std::mem::take(&mut self.transcript),
            code,
            signal,
            stop_requested: self.stop_requested,
            never_began: self.never_began,
            is_output_cut: self.output.as_ref().is_some_and(Tail::is_cut),
        })
    }

    /// Passes on what the program has printed into its file.
    fn pass_on_output(&mut self, watcher: &mut dyn Watcher) {
        if let Some(output) = &mut self.output {
            output.drain(|bytes| watcher.on_event(RecordingEvent::TargetOutput(bytes)));
        }
    }

    /// Handles a line that `xctrace` printed.
    fn handle_line(&mut self, line: &StreamLine, watcher: &mut dyn Watcher) {
        self.last_activity = Instant::now();
        self.log.line(line);
        match self.transcript.add(line) {
            OutputLine::Recording => self.begin_recording(watcher),
            OutputLine::PasswordAsked if self.stage == AttemptStage::Preparing => {
                let text = line.text.trim().trim_start_matches("xctrace: ");
                watcher.on_event(RecordingEvent::Warning(text));
                // Nobody can answer: it reads from a terminal that it has no part of.
                self.enter(AttemptStage::StoppingEarly(1));
                let _ = self.running.kill();
            }
            // `xctrace` prints that it saves even if there is nothing to save.
            OutputLine::Saving { has_failed: true } if !self.transcript.was_recording => {
                self.enter(AttemptStage::Ending);
            }
            OutputLine::TimeLimit
            | OutputLine::TargetExited
            | OutputLine::Saving { .. }
            | OutputLine::Saved(_) => {
                self.enter(AttemptStage::Ending);
                watcher.on_event(RecordingEvent::Saving { bytes: self.bytes });
            }
            OutputLine::Error(text) | OutputLine::Warning(text) => {
                watcher.on_event(RecordingEvent::Warning(&text));
            }
            // What asks for a password later is a line of the program.
            OutputLine::Other | OutputLine::PasswordAsked if line.stream == Stream::Err => {
                watcher.on_event(RecordingEvent::Line(line));
            }
            // Without a file of its own, the program prints through `xctrace`.
            OutputLine::Other if self.shares_output && self.stage == AttemptStage::Recording => {
                let line = format!("{}{}", line.text, line.end.text());
                watcher.on_event(RecordingEvent::TargetOutput(line.as_bytes()));
            }
            OutputLine::Starting
            | OutputLine::IssuesFollow
            | OutputLine::PasswordAsked
            | OutputLine::Other => {}
        }
    }

    /// Notes that it records, whatever says so first.
    fn begin_recording(&mut self, watcher: &mut dyn Watcher) {
        self.transcript.was_recording = true;
        self.start_signal.recording();
        let is_early = matches!(
            self.stage,
            AttemptStage::Preparing | AttemptStage::StoppingEarly(_)
        );
        if is_early {
            self.enter(AttemptStage::Recording);
            watcher.on_event(RecordingEvent::Recording);
        }
    }

    fn enter(&mut self, stage: AttemptStage) {
        if self.stage != stage {
            self.stage = stage;
            self.stage_start = Instant::now();
            self.last_activity = self.stage_start;
        }
    }

    /// Notes whether the bundle grows, which is the only sign of life while it is saved.
    fn measure(&mut self, watcher: &mut dyn Watcher) {
        if self.stage == AttemptStage::Recording || self.last_measured.elapsed() < MEASURE {
            return;
        }

        self.last_measured = Instant::now();
        let bytes = self.bundles.iter().map(|bundle| path_size(bundle)).sum();
        if bytes == self.bytes {
            return;
        }

        self.bytes = bytes;
        self.last_activity = self.last_measured;
        match self.stage {
            AttemptStage::Ending => watcher.on_event(RecordingEvent::Saving { bytes }),
            // It writes, so it has reacted to the stop request and saves what it has.
            AttemptStage::StoppingEarly(_) => self.enter(AttemptStage::Ending),
            AttemptStage::Preparing | AttemptStage::Recording => {}
        }
    }

    /// Says once if the program has not done anything for some time.
    fn check_program(&mut self, watcher: &mut dyn Watcher) {
        let is_recording = self.stage == AttemptStage::Recording;
        let pause = self.timeouts.first_work;
        if !is_recording || self.stage_start.elapsed() < pause {
            return;
        }
        let Some((_, before)) = self.seen.take_if(|(since, _)| since.elapsed() >= pause) else {
            return;
        };

        let state = self.program_state();
        let message = match &state {
            ProgramState::Waits(pids) => idle_message(pids),
            ProgramState::Works(_) if state == before => stalled_message(pause.as_secs()),
            _ => {
                self.seen = Some((Instant::now(), state));
                return;
            }
        };
        watcher.on_event(RecordingEvent::Note(&message));
    }

    /// Returns what the program does, if `xctrace` starts one.
    fn program_state(&self) -> ProgramState {
        match (&self.program, self.running_before) {
            (Some(program), Some(before)) => program_state(&PS, program, before),
            _ => ProgramState::Unknown,
        }
    }

    /// Returns whether it records although it has not said so: its program works, or its bundle grows.
    fn records_silently(&self) -> bool {
        let grows = self.bytes > MAX_STUB_BYTES;
        self.transcript.has_started
            && (grows || matches!(self.program_state(), ProgramState::Works(_)))
    }

    /// Says once that a recording without a limit becomes long.
    fn check_length(&mut self, watcher: &mut dyn Watcher) {
        let is_long = self.stage_start.elapsed() >= self.timeouts.long;
        if self.may_be_long && self.stage == AttemptStage::Recording && is_long {
            self.may_be_long = false;
            let text = format!(
                "the recording is {} s long: {LONG_RECORDINGS}. Ctrl-C stops and saves; next time consider \
                 --time-limit, or --window 10s, which keeps the end",
                self.timeouts.long.as_secs()
            );
            watcher.on_event(RecordingEvent::Note(&text));
        }
    }

    /// Passes on a stop request of the user, as the stage allows.
    fn handle_stop_request(&mut self, watcher: &mut dyn Watcher) -> Result<(), AttemptError> {
        match (watcher.stop_request(), self.stage) {
            (StopRequest::None, _) => Ok(()),
            (_, AttemptStage::Preparing) => {
                self.stop_requested = true;
                watcher.on_event(RecordingEvent::Stopping);
                self.stop_early()
            }
            (_, AttemptStage::Recording) => {
                self.stop_requested = true;
                watcher.on_event(RecordingEvent::Stopping);
                self.stop()
            }
            (StopRequest::GiveUp, AttemptStage::Ending) => match self.running.pid() {
                Some(pid) => Err(self.leave(pid, None)),
                None => Ok(()),
            },
            (StopRequest::GiveUp, AttemptStage::StoppingEarly(_)) => Ok(self.running.kill()?),
            (StopRequest::Stop, AttemptStage::Ending | AttemptStage::StoppingEarly(_)) => Ok(()),
        }
    }

    /// Stops or gives up on an `xctrace` that takes too long in its stage.
    fn check_timeouts(&mut self, watcher: &mut dyn Watcher) -> Result<(), AttemptError> {
        let passed = self.stage_start.elapsed();
        match self.stage {
            AttemptStage::Preparing if passed > self.timeouts.start && self.records_silently() => {
                self.begin_recording(watcher);
                Ok(())
            }
            AttemptStage::Preparing if passed > self.timeouts.start => {
                self.never_began = true;
                self.stop_early()
            }
            AttemptStage::Recording => match self.limit {
                Some(limit) if passed > limit + self.timeouts.overrun => {
                    if self.transcript.believe() {
                        self.enter(AttemptStage::Ending);
                        return Ok(());
                    }
                    self.stop()
                }
                _ => Ok(()),
            },
            AttemptStage::Ending if self.last_activity.elapsed() > self.timeouts.save => {
                let pid = self.running.pid().unwrap_or_default();
                Err(self.leave(pid, Some(self.timeouts.save.as_secs())))
            }
            // It neither prints nor writes, so that stronger signals lose nothing.
            AttemptStage::StoppingEarly(signals) if passed > self.timeouts.stop_response => {
                self.enter(AttemptStage::StoppingEarly(signals + 1));
                match signals {
                    0 => Ok(self.running.terminate()?),
                    _ => Ok(self.running.kill()?),
                }
            }
            AttemptStage::Preparing | AttemptStage::Ending | AttemptStage::StoppingEarly(_) => {
                Ok(())
            }
        }
    }

    /// Leaves `xctrace` running, so that it can finish saving.
    fn leave(&self, pid: u32, idle_seconds: Option<u64>) -> AttemptError {
        match self.running.leave() {
            Ok(()) => AttemptError::StillSaving { pid, idle_seconds },
            Err(error) => error.into(),
        }
    }

    /// Asks `xctrace` to stop and save.
    fn stop(&mut self) -> Result<(), AttemptError> {
        self.enter(AttemptStage::Ending);
        Ok(self.running.interrupt()?)
    }

    /// Asks `xctrace` to stop before it has started recording.
    fn stop_early(&mut self) -> Result<(), AttemptError> {
        self.enter(AttemptStage::StoppingEarly(0));
        Ok(self.running.interrupt()?)
    }
}
