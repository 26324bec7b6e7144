//! Makes the recordings of the experiments, each once, in bounded time and room.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use metalens_doctor::{
    CheckVerdict, MacFacts, PlannedRecording, SystemCommands, diagnose, scratch_files,
    temporary_folders,
};
use metalens_exporter::{ExportRequest, Exporter, TableSelection};
use metalens_recorder::{
    LeftProcesses, OutputRoute, Probe, ProbePlan, ReadingDepth, RecordRequest, RecordTimeouts,
    RecordedBundle, Recorder, RecordingEvent, RecordingPlan, RecordingSubject, StopRequest,
    Watcher, as_text, log_beside, redactor,
};
use metalens_xctrace::command::TimeRange;
use metalens_xctrace::{Tool, ToolSource, Version};
use rustix::time::{ClockId, clock_gettime};

use crate::VerifyEvent;
use crate::evidence::{Answer, EvidenceFile, MachineSeen, RecordingSeen, SCHEMA};
use crate::fake_tools::FakeTools;
use crate::inspect;
use crate::recordings::{Absence, MadeRecording, MissingRecording, Purpose};

/// Settings of the experiments.
pub struct Setup<'a> {
    /// The program metalens, which runs the bundled workload.
    pub program: PathBuf,
    /// Name of the bundled workload.
    pub workload: String,
    /// Number of its measured steps.
    pub steps: u64,
    /// The `xctrace`, or fakes of it.
    pub recorders: Recorders,
    /// Folder for the recordings.
    pub folder: PathBuf,
    /// Time after which a recording stops.
    pub time_limit: Duration,
    /// Names of the experiments to run; empty for all.
    pub only: Vec<String>,
    /// Tables that metalens reads.
    pub default_tables: Vec<String>,
    /// Reads a recording for the recorder.
    pub read: &'a dyn Fn(&Path, ReadingDepth) -> RecordedBundle,
    /// Returns how often the user asked to stop.
    pub stops: &'a dyn Fn() -> usize,
    /// True once the user asked to stop.
    pub is_stopped: Arc<AtomicBool>,
}

/// The `xctrace` that records.
#[derive(Debug)]
pub enum Recorders {
    /// The one of Apple, if it was found.
    Xctrace(Result<Tool, metalens_xctrace::Error>),
    /// Programs that behave like it.
    Fake(Box<FakeTools>),
}

impl Recorders {
    fn tool(&self) -> Result<&Tool, &metalens_xctrace::Error> {
        match self {
            Self::Xctrace(tool) => tool.as_ref(),
            Self::Fake(fake) => Ok(&fake.plain),
        }
    }

    fn recorder(&self, purpose: Purpose) -> Recorder {
        match self {
            Self::Xctrace(_) => Recorder::Xctrace,
            Self::Fake(fake) => Recorder::SimulatorAsXctrace(
                match purpose {
                    Purpose::Counters => &fake.with_counters,
                    _ if purpose.is_wrapped() => &fake.of_child,
                    _ => &fake.plain,
                }
                .clone(),
            ),
        }
    }

    fn notifyutil(&self) -> &Path {
        match self {
            Self::Xctrace(_) => Path::new("/usr/bin/notifyutil"),
            Self::Fake(fake) => &fake.notifyutil,
        }
    }
}

/// Largest transcript of the evidence, in bytes.
const LONGEST_TRANSCRIPT: u64 = 1 << 20;
/// Room that must be free before a recording, in bytes: 240 MB per second, the most that was seen, for
/// the usual time limit of 20 s.
const ROOM_BYTES: u64 = 5_000_000_000;
/// Room for a fake `xctrace`, whose recordings are small.
const FAKE_ROOM_BYTES: u64 = 100_000_000;

/// A recording, or the reason why there is none.
type Made<T> = Result<T, MissingRecording>;

/// Makes recordings, and keeps those that it made.
pub(crate) struct Lab<'a, 'w> {
    setup: Setup<'a>,
    /// `None` without an `xctrace` that runs.
    version: Option<Version>,
    watch: &'w mut dyn FnMut(VerifyEvent<'_>),
    made: BTreeMap<Purpose, Made<Rc<MadeRecording>>>,
    seen: Vec<RecordingSeen>,
    pub(crate) scratch: ScratchSeen,
    system: SystemCommands,
}

/// Sizes of scratch files, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScratchSeen {
    /// Number of recordings that were watched.
    pub(crate) recordings: u64,
    /// Size before the first recording.
    pub(crate) before: u64,
    /// Largest growth when `xctrace` had ended.
    pub(crate) most: u64,
    /// Growth at the end of all recordings.
    pub(crate) left: u64,
}

impl<'a, 'w> Lab<'a, 'w> {
    pub(crate) fn new(setup: Setup<'a>, watch: &'w mut dyn FnMut(VerifyEvent<'_>)) -> Self {
        let tool = setup.recorders.tool().map_err(ToString::to_string);
        let version = tool.and_then(|tool| tool.version().map_err(|error| error.to_string()));
        let version = version.map_err(|why| watch(VerifyEvent::NoXctrace(why)));
        let system = SystemCommands::default();
        let mut lab = Self {
            setup,
            version: version.ok(),
            watch,
            made: BTreeMap::new(),
            seen: Vec::new(),
            scratch: ScratchSeen::default(),
            system,
        };
        lab.scratch.before = lab.scratch_bytes();
        lab
    }

    pub(crate) fn tell(&mut self, event: VerifyEvent<'_>) {
        (self.watch)(event);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        (self.setup.stops)() > 0
    }

    /// Returns a recording, which is made if it was not yet.
    pub(crate) fn recording(&mut self, purpose: Purpose) -> Made<Rc<MadeRecording>> {
        if let Some(made) = self.made.get(&purpose) {
            return made.clone();
        }
        self.tell(VerifyEvent::Recording(purpose.words()));
        let start = Instant::now();
        let made = self.record(purpose).map(Rc::new);
        let transcript = self.transcript(purpose);
        self.seen
            .push(seen(purpose, &made, start.elapsed(), transcript));
        self.made.insert(purpose, made.clone());
        made
    }

    /// Returns what `xctrace` said, as it may be published.
    pub(crate) fn transcript(&self, purpose: Purpose) -> Vec<String> {
        let text = match metalens_files::read_text(&self.log(purpose), LONGEST_TRANSCRIPT) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => format!("the transcript cannot be read: {error}"),
        };
        let temporary = std::env::temp_dir();
        let setup = &self.setup;
        let places = [
            (&setup.folder, "<folder>"),
            (&setup.program, "<metalens>"),
            (&temporary, "<temporary>"),
        ];
        let redactor = redactor();
        let lines = text.lines().map(|line| {
            let replaced = |line: String, (path, name): &(&PathBuf, &str)| {
                line.replace(&*path.to_string_lossy(), name)
            };
            redactor.redact(&places.iter().fold(line.to_owned(), replaced))
        });
        lines.collect()
    }

    fn log(&self, purpose: Purpose) -> PathBuf {
        self.setup.folder.join(format!("{}.log", purpose.name()))
    }

    /// Makes a recording: checks the room, listens and watches while it is recorded.
    fn record(&mut self, purpose: Purpose) -> Made<MadeRecording> {
        if self.version.is_none() {
            return Err(missing(Absence::NoXctrace, "no xctrace runs"));
        }
        if self.is_stopped() {
            return Err(missing(Absence::Stopped, "you stopped before"));
        }
        // Each would cost minutes of waiting, and tell no more.
        let mut missed = self.made.values().filter_map(|made| made.as_ref().err());
        if missed.any(|missing| missing.why == Absence::NeverBegan) {
            let text = "an earlier recording never began";
            return Err(missing(Absence::NeverBegan, text));
        }
        self.check_room()?;

        let running = (purpose == Purpose::Attached).then(|| self.start_program());
        let running = running.transpose()?;
        let mut request = self.request(purpose);
        if let Some(running) = &running {
            request.subject = RecordingSubject::Process(running.0.id().to_string());
        }
        if purpose == Purpose::WithProbe {
            request.environment = self.with_probe(&request.output)?;
        }
        let mut plan = RecordingPlan::new(request).map_err(|error| failed(&error))?;
        if purpose == Purpose::ShadersToFile {
            plan.xctrace_request.program_output = OutputRoute::File;
        }

        let listener = self.listen(&plan);
        let mut at_end = None;
        let outcome = plan.carry_out(
            None,
            &mut self.follower(purpose == Purpose::Interrupted),
            &mut |bundle, depth| {
                // `xctrace` has ended.
                at_end = Some(self.scratch_bytes());
                (self.setup.read)(bundle, depth)
            },
        );
        let heard = listener.map(heard);

        let after = self.scratch_bytes();
        let before = self.scratch.before;
        let growth = |bytes: u64| bytes.saturating_sub(before);
        self.scratch.recordings += 1;
        self.scratch.most = self.scratch.most.max(growth(at_end.unwrap_or(after)));
        self.scratch.left = growth(after);
        let outcome = outcome.map_err(|failure| failed(&failure.error))?;
        let left = outcome.left_over.as_ref();
        if matches!(purpose, Purpose::Outlasting | Purpose::Interrupted) {
            left.into_iter().flat_map(LeftProcesses::pids).for_each(end);
        }
        Ok(MadeRecording {
            heard,
            left: left.map(|left| left.pids().count() as u64),
            outcome,
        })
    }

    /// Refuses a disk that may become full.
    fn check_room(&self) -> Made<()> {
        let needed = match self.setup.recorders {
            Recorders::Xctrace(_) => ROOM_BYTES,
            Recorders::Fake(_) => FAKE_ROOM_BYTES,
        };
        for folder in [self.setup.folder.clone(), std::env::temp_dir()] {
            let free = metalens_files::free_bytes(&folder);
            if free.is_ok_and(|free| free < needed) {
                let needed = metalens_text::units::bytes(needed);
                let text = format!("less than {needed} is free in {}", folder.display());
                return Err(missing(Absence::NoRoom, &text));
            }
        }
        Ok(())
    }

    /// Returns the request to the recorder.
    fn request(&self, purpose: Purpose) -> RecordRequest {
        let bundle = self.setup.folder.join(format!("{}.trace", purpose.name()));
        let run = self.workload(1);
        let subject = if purpose.is_wrapped() {
            let script = if purpose == Purpose::Wrapper {
                format!("echo '{SPOKEN}' >&2; \"$@\"; exit $?")
            } else {
                OUTLASTING.to_owned()
            };
            let shell = ["/bin/sh", "-c", &script, "sh"].map(OsString::from);
            let work = bundle.with_extension("work.json");
            let mut words: Vec<OsString> = shell.into();
            words.extend(run);
            // Beside the bundle it would be in the way of the recorder's own.
            words.extend([
                "--output".into(),
                work.with_file_name("wrapped.json").into(),
            ]);
            words.extend(self.is_fake().then(|| OsString::from("--simulated")));
            RecordingSubject::Program(words)
        } else {
            self.subject()
        };

        let limit = if purpose == Purpose::Outlasting {
            self.setup.time_limit.min(OUTLASTED)
        } else {
            self.setup.time_limit
        };
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let mut request = RecordRequest {
            time_limit_ns: Some(limit),
            timeouts: self.timeouts(),
            log: Some(self.log(purpose)),
            ..RecordRequest::new(self.setup.recorders.recorder(purpose), subject, bundle)
        };
        purpose.apply(&mut request);
        request
    }

    fn follower(&self, interrupts: bool) -> Follower<'a> {
        Follower {
            stops: self.setup.stops,
            stops_after: interrupts.then(|| self.setup.time_limit / 4),
            stops_at: None,
        }
    }

    /// Returns the command that runs the bundled workload, with its steps repeated.
    fn workload(&self, repeats: u64) -> Vec<OsString> {
        let steps = (self.setup.steps * repeats).to_string();
        let words = ["workload", &self.setup.workload, "--count", &steps];
        let program = self.setup.program.clone().into_os_string();
        let words = words.into_iter().map(OsString::from);
        std::iter::once(program).chain(words).collect()
    }

    fn subject(&self) -> RecordingSubject {
        RecordingSubject::Workload {
            name: self.setup.workload.clone(),
            command: self.workload(1),
        }
    }

    /// Starts the workload, for a recording that attaches to it. A fake xctrace needs any process.
    fn start_program(&self) -> Made<Running> {
        let mut words = self.workload(LASTING);
        let work = self.setup.folder.join("attached-program.json");
        words.extend(["--output".into(), work.into()]);
        if self.is_fake() {
            words = ["sleep", "600"].map(OsString::from).into();
        }
        let mut command = Command::new(words.remove(0));
        command.args(words).stdin(Stdio::null());
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let failed = |error: std::io::Error| missing(Absence::Other, &error.to_string());
        Ok(Running(started.map_err(failed)?))
    }

    /// Runs the workload with the probe in it, without `xctrace`, and returns its log. The error is for
    /// the user alone.
    pub(crate) fn log_by_probe(&mut self) -> Result<PathBuf, String> {
        self.tell(VerifyEvent::Recording("the probe alone"));
        let log = self.setup.folder.join("probe-alone.jsonl");
        let request = RecordRequest {
            discards_output: true,
            ..RecordRequest::new(Recorder::Xctrace, self.subject(), log)
        };
        let mut follower = self.follower(false);
        let plan = Probe::unpack().and_then(|probe| ProbePlan::new(request, probe));
        let recorded = plan.and_then(|plan| plan.carry_out(Stdio::null(), &mut follower));
        recorded
            .map(|recorded| recorded.log)
            .map_err(|error| error.to_string())
    }

    /// Returns the variables that load the probe into the program of a recording.
    fn with_probe(&self, bundle: &Path) -> Made<Vec<(String, String)>> {
        let log = log_beside(bundle);
        let probe = Probe::unpack().map_err(|error| failed(&error))?;
        as_text(probe.variables(&log, true)).map_err(|error| failed(&error))
    }

    /// Returns whether no program is started.
    pub(crate) fn is_fake(&self) -> bool {
        matches!(self.setup.recorders, Recorders::Fake(_))
    }

    /// Returns times that keep all experiments within minutes.
    fn timeouts(&self) -> RecordTimeouts {
        let usual = RecordTimeouts::default();
        RecordTimeouts {
            start: Duration::from_secs(60),
            save: Duration::from_secs(120),
            scratch: if self.is_fake() {
                Duration::from_secs(1)
            } else {
                usual.scratch
            },
            ..usual
        }
    }

    /// Starts to listen to the notification of a recording, if it has one.
    fn listen(&self, plan: &RecordingPlan) -> Option<duct::Handle> {
        let name = plan.xctrace_request.record.tracing_started.as_ref()?;
        let listen = duct::cmd!(self.setup.recorders.notifyutil(), "-1", name);
        let listen = listen.stdin_null().stdout_null().stderr_null();
        listen.unchecked().start().ok()
    }

    /// Returns the size of the scratch files in the temporary folders.
    fn scratch_bytes(&self) -> u64 {
        let folders = temporary_folders(&self.system, Some(&std::env::temp_dir()));
        scratch_files(&folders).iter().map(|file| file.bytes).sum()
    }

    /// Exports tables of a bundle into a new folder, which is returned. The error says why it is
    /// incomplete; it is for the user alone.
    pub(crate) fn export(&self, bundle: &Path, wanted: TableSelection) -> Result<PathBuf, String> {
        let tool = self.setup.recorders.tool();
        let tool = tool.map_err(ToString::to_string)?.clone();
        let exporter = Exporter::new(tool, Arc::clone(&self.setup.is_stopped))
            .map_err(|error| error.to_string())?;
        let folder = bundle.with_extension(match wanted {
            TableSelection::These(_) => "one.export",
            _ => "export",
        });
        let request = ExportRequest {
            bundle: bundle.to_owned(),
            folder: folder.clone(),
            run: None,
            wanted,
            default_tables: self.setup.default_tables.clone(),
            range: TimeRange::default(),
            force: false,
        };

        let exported = exporter
            .export(&request, &|_| {})
            .map_err(|error| error.to_string())?;
        if exported.is_complete() {
            return Ok(folder);
        }
        let failed: Vec<String> = exported
            .failed
            .iter()
            .map(|failed_export| format!("{}: {}", failed_export.schema, failed_export.why))
            .collect();
        Err(format!(
            "tables are missing or cut off; {}",
            failed.join("; ")
        ))
    }

    /// Returns the verdicts of `metalens doctor` by check. What it found may name people and programs.
    fn doctor(&self) -> BTreeMap<String, CheckVerdict> {
        let (temporary, home) = (std::env::temp_dir(), std::env::var("HOME").ok());
        let planned = PlannedRecording {
            folder: &self.setup.folder,
            temporary: Some(&temporary),
            template: RecordRequest::TEMPLATE,
            time_limit: Some(self.setup.time_limit),
            program: None,
            home: home.as_deref(),
        };
        let tool = Tool::find(&ToolSource::from_environment());
        let checks = diagnose(&self.system, &planned, tool).checks.into_iter();
        checks.map(|check| (check.id, check.verdict)).collect()
    }

    /// Returns the evidence: the answers, the machine and the recordings.
    pub(crate) fn into_evidence(self, answers: Vec<Answer>) -> EvidenceFile {
        let stopped = self.is_stopped();
        let synthetic = matches!(self.setup.recorders, Recorders::Fake(_));
        let is_mac = !synthetic && cfg!(target_os = "macos");
        let machine = is_mac.then(|| MacFacts::gather(&self.system));
        let doctor = is_mac.then(|| self.doctor());
        let of = |value: fn(&MacFacts) -> Option<String>| machine.as_ref().and_then(value);
        EvidenceFile {
            schema: SCHEMA,
            metalens: env!("CARGO_PKG_VERSION"),
            synthetic,
            stopped,
            machine: MachineSeen {
                macos: of(|machine| machine.macos.value.clone()),
                macos_build: of(|machine| machine.macos_build.value.clone()),
                chip: of(|machine| machine.chip.value.clone()),
                model: of(|machine| machine.model.value.clone()),
                gpu_cores: machine.as_ref().and_then(|machine| machine.gpu_cores.value),
                is_virtual: machine
                    .as_ref()
                    .and_then(|machine| machine.is_virtual.value),
                uptime_hours: is_mac.then(|| clock_gettime(ClockId::Monotonic).tv_sec / 3600),
                xctrace: self.version.as_ref().map(|version| version.dotted.clone()),
                xcode_build: self.version.map(|version| version.build),
            },
            doctor: doctor.unwrap_or_default(),
            answers,
            recordings: self.seen,
        }
    }
}

/// Words that the shell around the workload prints on standard error.
pub(crate) const SPOKEN: &str = "metalens on standard error";
/// Factor of the steps of a workload that must outlast its recording.
const LASTING: u64 = 1_000;
/// Script of a shell that goes on after the workload. Without the trap, a system that continues a
/// suspended process whose parent ends would end it too.
const OUTLASTING: &str = "trap '' HUP; \"$@\"; exec sleep 600";
/// Longest recording of that shell.
const OUTLASTED: Duration = Duration::from_secs(10);

/// Ends a process that the recording of our own shell left.
fn end(pid: u32) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    // It may have ended meanwhile.
    let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
}

/// Time for a listener to end after the recording: a busy machine may be late.
const LISTENING: Duration = Duration::from_secs(1);

/// Ends a listener, and returns whether it heard the notification.
fn heard(listener: duct::Handle) -> bool {
    let heard = listener.wait_timeout(LISTENING).ok().flatten();
    let is_success = heard.is_some_and(|output| output.status.success());
    // It has ended, or waits for nothing.
    let _ = listener.kill();
    is_success
}

fn missing(why: Absence, private: &str) -> MissingRecording {
    MissingRecording {
        why,
        private: private.to_owned(),
    }
}

/// Returns the absence of a recording that the recorder could not make.
fn failed(error: &metalens_recorder::Error) -> MissingRecording {
    missing(Absence::of_error(error), &error.to_string())
}

/// Describes a recording for the evidence.
fn seen(
    purpose: Purpose,
    made: &Made<Rc<MadeRecording>>,
    time: Duration,
    transcript: Vec<String>,
) -> RecordingSeen {
    let recording = made.as_ref().ok().map(|made| &made.outcome.recording);
    RecordingSeen {
        purpose: purpose.words(),
        result: match made {
            Ok(_) => "recorded",
            Err(missing) => missing.why.word(),
        },
        milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        bytes: recording.map(|recording| metalens_files::path_size(&recording.bundle)),
        exit_code: recording.and_then(|recording| recording.code),
        transcript,
        tables: recording.map_or_else(Vec::new, |recording| inspect::tables(&recording.bundle)),
    }
}

/// A program that ends when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Follows a recording: passes on stops, which it counts, or stops it by itself.
struct Follower<'a> {
    stops: &'a dyn Fn() -> usize,
    /// Time between the begin of the recording and its interrupt.
    stops_after: Option<Duration>,
    stops_at: Option<Instant>,
}

impl Watcher for Follower<'_> {
    fn on_event(&mut self, event: RecordingEvent<'_>) {
        if event == RecordingEvent::Recording {
            self.stops_at = self.stops_after.map(|time| Instant::now() + time);
        }
    }

    fn stop_request(&mut self) -> StopRequest {
        let is_due = self.stops_at.is_some_and(|at| at <= Instant::now());
        match (self.stops)() {
            0 if is_due => StopRequest::Stop,
            0 => StopRequest::None,
            1 => StopRequest::Stop,
            _ => StopRequest::GiveUp,
        }
    }
}
