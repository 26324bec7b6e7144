//! Records with the probe: a library in the program itself, which writes a command-buffer log. The
//! program is started as it is, without `xctrace`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use metalens_doctor::{SystemCommands, refuses_libraries};
use metalens_failure::shell;
use metalens_files::{Folder, Owner, WorkFolder, sha256};
use metalens_xctrace::Stdin;
use metalens_xctrace::command::Target;
use rustix::process::{Pid, Signal};
use serde_json::Value;
use tempfile::TempPath;

use crate::error::{Error, Result, file};
use crate::launcher::direct;
use crate::program_end::ProgramEnd;
use crate::record_request::{RecordRequest, RecordingSubject};
use crate::recorded_bundle::RecordedProgram;
use crate::request::StoppedBy;
use crate::target::{WorkloadFiles, target};
use crate::watch::{StopRequest, Watcher};
use crate::work_file;

/// The library, as `build.rs` linked it; empty if this build could not link one.
static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probe"));
/// Folder of the user's files that can be made again.
const CACHE: &str = if cfg!(target_os = "macos") {
    "Library/Caches"
} else {
    ".cache"
};
const ENDING: &str = if cfg!(target_os = "macos") {
    "dylib"
} else {
    "so"
};
/// Variable that makes the system load a library into a program.
const LOADER: &str = if cfg!(target_os = "macos") {
    "DYLD_INSERT_LIBRARIES"
} else {
    "LD_PRELOAD"
};
/// Length that the last line of a log has at most, in bytes.
const END: u64 = 4_096;
/// Folders of logs that are being written.
const DRAFTS: [&str; 2] = [".metalens-log-", ""];
/// Time that a program has to end after each signal.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause between two looks at the program.
const PAUSE: Duration = Duration::from_millis(20);

/// The probe's library on this machine.
#[derive(Debug, Clone)]
pub struct Probe {
    library: PathBuf,
}

impl Probe {
    /// Returns whether this build has the library.
    pub fn is_built_in() -> bool {
        !IMAGE.is_empty()
    }

    /// Writes the library into the user's folder of caches, unless it is there. It stays: a recorded
    /// program may start others that load it after metalens ended, and macOS ends a program that
    /// cannot load it.
    ///
    /// # Errors
    ///
    /// If this build has none, or the folder is not the user's own, or cannot be written.
    pub fn unpack() -> Result<Self> {
        let home = std::env::home_dir().unwrap_or_else(std::env::temp_dir);
        Self::unpack_into(&home.join(CACHE).join("metalens"))
    }

    fn unpack_into(folder: &Path) -> Result<Self> {
        if !Self::is_built_in() {
            return Err(Error::NoProbe);
        }
        let made = Folder::make(folder)?;
        keep_others_out(folder)?;

        // Each build has a name of its own, and no file changes once it is there: the system keeps the
        // signature of a library by its file.
        let name = format!("probe-{}.{ENDING}", sha256(IMAGE));
        let library = folder.join(&name);
        let there = metalens_files::read(&library, IMAGE.len() as u64);
        if !there.is_ok_and(|there| there == IMAGE) {
            made.write_bytes(Path::new(&name), true, IMAGE)?;
        }
        Ok(Self { library })
    }

    /// Returns the path of the library.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// Returns the variables that load the probe into a program and let it write a log. With labels
    /// it names encoders that have no name, so that a recording by `xctrace` shows their kernels.
    pub fn variables(&self, log: &Path, labels: bool) -> Vec<(OsString, OsString)> {
        let mut libraries = self.library.clone().into_os_string();
        if let Some(others) = std::env::var_os(LOADER).filter(|others| !others.is_empty()) {
            libraries.push(":");
            libraries.push(others);
        }
        let mut variables = vec![
            (LOADER.into(), libraries),
            ("METALENS_PROBE_LOG".into(), log.into()),
        ];
        if labels {
            variables.push(("METALENS_PROBE_LABELS".into(), "1".into()));
        }
        variables
    }
}

/// A recording with the probe that is ready to be carried out.
#[derive(Debug)]
pub struct ProbePlan {
    /// The request of the user.
    pub request: RecordRequest,
    /// Reasons why the recording may fail.
    pub warnings: Vec<String>,
    command: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    probe: Probe,
}

/// A log that the probe wrote.
#[derive(Debug)]
pub struct ProbeRecording {
    /// Path of the log.
    pub log: PathBuf,
    /// Number of command buffers that the log lacks, as it says itself.
    pub lost: u64,
    /// Reason for the end of the recording.
    pub stopped_by: StoppedBy,
    /// How the program ended; `None` if nothing is to be said of it.
    pub program_end: Option<ProgramEnd>,
}

impl ProbePlan {
    /// Plans the recording that a user requests. Its output is a log.
    ///
    /// # Errors
    ///
    /// If the probe cannot be loaded into the program, or an existing file is in the way.
    pub fn new(request: RecordRequest, probe: Probe) -> Result<Self> {
        metalens_files::refuse_existing(&request.output, request.force)?;
        let work = work_file::beside(&request.output);
        if matches!(request.subject, RecordingSubject::Workload { .. }) {
            metalens_files::refuse_existing(&work, request.force)?;
        }
        let mut warnings = Vec::new();
        let files = WorkloadFiles {
            work: &work,
            started: None,
        };
        let Target::Launch(launch) = target(&request, files, None, &mut warnings)? else {
            let why = "the probe comes with the program as it starts: --attach and --all-processes need \
                       --recorder xctrace";
            return Err(Error::Target(why.to_owned()));
        };
        // What was a folder that macOS guards, or a program that cannot be traced, is none here.
        warnings.clear();
        let ignored = request.ignored_by_simulator();
        if !ignored.is_empty() {
            let ignored = ignored.join(", ");
            warnings.push(format!("the probe takes no notice of {ignored}"));
        }
        let program = std::iter::once(launch.program.into_os_string());
        Ok(Self {
            command: loadable(program.chain(launch.arguments).collect())?,
            environment: launch.environment,
            warnings,
            probe,
            request,
        })
    }

    /// Returns the words of the command for a shell, with the variables that load the probe.
    pub fn words(&self) -> Vec<Vec<u8>> {
        let variables = self.probe.variables(&self.request.output, false);
        let settings = self.environment.iter().cloned().chain(variables);
        let variables = settings.map(|(name, value)| {
            let mut word = name.as_encoded_bytes().to_vec();
            word.push(b'=');
            word.extend(shell::quoted(&value));
            word
        });
        variables
            .chain(self.command.iter().map(|word| shell::quoted(word)))
            .collect()
    }

    /// Runs the program with its output on a stream, and returns its log.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, or there is no log.
    pub fn carry_out(&self, output: Stdio, watcher: &mut dyn Watcher) -> Result<ProbeRecording> {
        let folder = metalens_files::parent(&self.request.output);
        let draft = LogDraft::beside(folder)?;
        let mut child = self.start(&draft, output)?;
        let (status, stopped_by) = self.wait(&mut child, watcher)?;
        let program_end = ProgramEnd::new(&program(status));
        let Some(written) = draft.written()? else {
            return Err(Error::EmptyLog {
                loaded: draft.programs("loaded-"),
                program: self.request.subject.name(),
                end: program_end.and_then(|end| end.message(stopped_by)),
            });
        };
        let log = self.keep(&draft)?;
        // A program that a signal ended could write no end; any other has one, unless its disk was full.
        if !written.has_end && status.code().is_some() {
            return Err(Error::CutLog {
                log,
                buffers: written.buffers,
            });
        }
        Ok(ProbeRecording {
            log,
            lost: written.lost,
            stopped_by,
            program_end,
        })
    }

    fn start(&self, log: &LogDraft, output: Stdio) -> Result<Child> {
        let (program, arguments) = self
            .command
            .split_first()
            .ok_or_else(|| Error::Target("no program was given".to_owned()))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(log.variables(&self.probe, false))
            .stdout(if self.request.discards_output {
                Stdio::null()
            } else {
                output
            })
            .stdin(match self.request.stdin {
                Stdin::Ours => Stdio::inherit(),
                Stdin::Nothing => Stdio::null(),
            });
        command.spawn().map_err(|error| {
            let program = Path::new(program).display();
            Error::Target(format!("{program} cannot be started: {error}"))
        })
    }

    /// Waits for the end of the program, and ends it at the time limit or if the user asks for that.
    fn wait(
        &self,
        child: &mut Child,
        watcher: &mut dyn Watcher,
    ) -> Result<(ExitStatus, StoppedBy)> {
        let limit = self.request.time_limit_ns.map(Duration::from_nanos);
        let since = Instant::now();
        let mut stopped_by = StoppedBy::TargetExit;
        // A program that asks for Ctrl-C ends well; others need more.
        let mut signals = [Signal::INT, Signal::TERM, Signal::KILL].into_iter();
        let mut next = None;
        loop {
            let ended = child.try_wait();
            if let Some(status) = ended.map_err(file("wait for", self.request.subject.name()))? {
                return Ok((status, stopped_by));
            }
            if stopped_by == StoppedBy::TargetExit {
                if watcher.stop_request() != StopRequest::None {
                    stopped_by = StoppedBy::User;
                    // The terminal sent the program the same signal.
                    next = Some(Instant::now() + PATIENCE / 4);
                } else if limit.is_some_and(|limit| since.elapsed() >= limit) {
                    stopped_by = StoppedBy::TimeLimit;
                    next = Some(Instant::now());
                }
            }
            if next.is_some_and(|next| next <= Instant::now())
                && let Some(signal) = signals.next()
            {
                if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    // It may have ended just now.
                    let _ = rustix::process::kill_process(pid, signal);
                }
                next = Some(Instant::now() + PATIENCE);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Moves the log to its place, which a link may name, and returns that.
    fn keep(&self, draft: &LogDraft) -> Result<PathBuf> {
        let output = &self.request.output;
        let log = TempPath::try_from_path(&draft.log).map_err(file("find", &draft.log))?;
        let moved = if self.request.force {
            log.persist(fs::canonicalize(output).as_ref().unwrap_or(output))
        } else {
            log.persist_noclobber(output)
        };
        moved.map_err(|error| file("write", output)(error.error))?;
        if let Some(owner) = Owner::sudo_user() {
            metalens_files::give_file(output, owner)?;
        }
        Ok(output.clone())
    }
}

/// Returns the words that start a program so that macOS loads the probe into it. Other systems load it into
/// every program.
///
/// # Errors
///
/// If macOS would not load it.
pub fn loadable(command: Vec<OsString>) -> Result<Vec<OsString>> {
    if !cfg!(target_os = "macos") {
        return Ok(command);
    }
    let folder = std::env::current_dir().map_err(file("find", "the current folder"))?;
    let path = std::env::var_os("PATH");
    let find = |word: &OsStr| {
        let found = metalens_xctrace::resolve(word, path.as_deref(), &folder).ok()?;
        Some((found.path, found.first_line))
    };
    let command = direct(&command, &find).map_err(|refused| Error::Target(refused.message()))?;
    let started = command.first().and_then(|program| find(program));
    // The signature of a script is that of its interpreter.
    let image = started.map(|(path, line)| line.first().map_or(path, PathBuf::from));
    let runner = SystemCommands::default();
    let refused = image
        .and_then(|image| other_processor(&image).or_else(|| refuses_libraries(&runner, &image)));
    match refused {
        Some(why) => Err(Error::Target(why)),
        None => Ok(command),
    }
}

/// Kind of processor that the library is for, in the numbers of Mach-O.
const PROCESSOR: u32 = if cfg!(target_arch = "aarch64") {
    0x0100_000c
} else {
    0x0100_0007
};

/// Returns why the processor of a program keeps the library out of it; `None` if it does not, or if the file
/// says nothing of it. The loader ends a program that is told to load a library for another processor.
fn other_processor(program: &Path) -> Option<String> {
    let mut head = Vec::new();
    let read =
        metalens_files::open(program).and_then(|file| file.take(4_096).read_to_end(&mut head));
    let processors = processors(read.ok().map(|_| head.as_slice())?)?;
    (!processors.contains(&PROCESSOR)).then(|| {
        format!(
            "{} is for another processor than metalens, as programs of Rosetta are: install one for this \
             Mac's own, or use --recorder xctrace",
            program.display()
        )
    })
}

/// Returns the kinds of processors that a Mach-O file has code for. The probe reads the same for the programs
/// that its own starts, but no program can be linked with it.
fn processors(head: &[u8]) -> Option<Vec<u32>> {
    let number = |at: usize| head.get(at..at + 4)?.try_into().ok();
    match head {
        [0xcf, 0xfa, 0xed, 0xfe, ..] => Some(vec![number(4).map(u32::from_le_bytes)?]),
        [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, count, ..] => {
            let entries = (0..usize::from(*count)).map(|entry| number(8 + 20 * entry));
            entries
                .map(|number| number.map(u32::from_be_bytes))
                .collect()
        }
        _ => None,
    }
}

/// Lets only the user into a folder: whoever can replace the library runs code in the user's programs.
fn keep_others_out(folder: &Path) -> Result<()> {
    let facts = fs::symlink_metadata(folder).map_err(file("read", folder))?;
    let us = rustix::process::geteuid().as_raw();
    let is_ours = |user: u32| Owner::sudo_user().map_or(us, |owner| owner.uid) == user;
    if !facts.is_dir() || !is_ours(facts.uid()) {
        let folder = folder.display();
        return Err(Error::Target(format!(
            "{folder} is no folder of yours: the probe would be kept there"
        )));
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(file("close", folder))
}

/// Returns how a program ended, as a bundle would say it.
fn program(status: ExitStatus) -> RecordedProgram {
    let termination = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit({code})"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown".to_owned(),
    };
    RecordedProgram {
        termination: Some(termination),
        ..RecordedProgram::default()
    }
}

/// A log until it is kept, in a folder of its own, in which the probe also marks the programs that it was
/// loaded into.
#[derive(Debug)]
pub struct LogDraft {
    folder: WorkFolder,
    log: PathBuf,
}

/// What a log says of itself.
#[derive(Debug, Default)]
struct WrittenLog {
    /// Number of command buffers in it, at least one.
    buffers: u64,
    /// Number of command buffers that it lacks.
    lost: u64,
    has_end: bool,
}

impl LogDraft {
    /// Makes a place for the log of a program that `xctrace` starts.
    ///
    /// # Errors
    ///
    /// If the folder cannot be created.
    pub fn new() -> Result<Self> {
        Self::beside(&std::env::temp_dir())
    }

    fn beside(folder: &Path) -> Result<Self> {
        // The probe does not know where the current folder of the program will be.
        let folder = std::path::absolute(folder).map_err(file("find", folder))?;
        WorkFolder::clear_abandoned(&folder, DRAFTS, |_| true);
        let made = WorkFolder::inside(&folder, DRAFTS);
        let made = made.map_err(file("create a log in", &folder))?;
        Ok(Self {
            log: made.path().join("log.jsonl"),
            folder: made,
        })
    }

    /// Returns the variables that load the probe into a program and let it write this log.
    pub fn variables(&self, probe: &Probe, labels: bool) -> Vec<(OsString, OsString)> {
        let mut variables = probe.variables(&self.log, labels);
        variables.push(("METALENS_PROBE_MARKS".into(), self.folder.path().into()));
        variables
    }

    /// Returns the names of the programs that the probe marked in this way, each once.
    fn programs(&self, mark: &str) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).into_iter().flatten();
        let marks = entries.flatten().map(|entry| entry.path());
        let marks = marks.filter(|path| {
            let name = path.file_name().unwrap_or_default();
            name.as_encoded_bytes().starts_with(mark.as_bytes())
        });
        let programs = marks.filter_map(|mark| {
            let program = PathBuf::from(OsString::from_vec(fs::read(mark).ok()?));
            Some(program.file_name()?.to_string_lossy().into_owned())
        });
        programs.collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// Reads what the log says of itself; `None` if it has no command buffer, or nobody wrote it.
    fn written(&self) -> Result<Option<WrittenLog>> {
        let length = match fs::metadata(&self.log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            facts => facts.map_err(file("read", &self.log))?.len(),
        };
        let read = |from| read_from(&self.log, from).map_err(file("read", &self.log));
        // Only a log without an end is read whole.
        let mut written = read(length.saturating_sub(END))?;
        if !written.has_end {
            written = read(0)?;
        }
        Ok((written.buffers > 0).then_some(written))
    }

    /// Moves the log beside a bundle. Returns its path; `None` if the probe wrote no command buffer.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written.
    pub fn keep(self, bundle: &Path, force: bool) -> Result<Option<PathBuf>> {
        if self.written()?.is_none() {
            return Ok(None);
        }
        let log = log_beside(bundle);
        metalens_files::write(&log, force, |out| {
            let copied = File::open(&self.log).and_then(|mut draft| io::copy(&mut draft, out));
            copied.map(drop).map_err(file("write", &log))
        })?;
        Ok(Some(log))
    }
}

/// Reads what a log says of itself from a place on: its end, or else its command buffers.
fn read_from(log: &Path, from: u64) -> io::Result<WrittenLog> {
    let mut log = File::open(log)?;
    log.seek(SeekFrom::Start(from))?;
    let mut written = WrittenLog::default();
    for line in BufReader::new(log).split(b'\n') {
        let line = line?;
        written.buffers += u64::from(line.starts_with(br#"{"command_buffer":"#));
        // Waits and phases have an end, too.
        let end = line.starts_with(br#"{"end":"#).then_some(&line[..]);
        if let Some(end) = end.and_then(|line| serde_json::from_slice::<Value>(line).ok()) {
            let count = |key: &str| end.get(key).and_then(Value::as_u64).unwrap_or(0);
            written = WrittenLog {
                buffers: count("command_buffers"),
                lost: count("lost"),
                has_end: true,
            };
        }
    }
    Ok(written)
}

/// Returns the path of the log that belongs to a bundle.
pub fn log_beside(bundle: &Path) -> PathBuf {
    bundle.with_extension("jsonl")
}

/// Returns variables as text, for `--env` of `xctrace`.
///
/// # Errors
///
/// If a path is not UTF-8.
pub fn as_text(variables: Vec<(OsString, OsString)>) -> Result<Vec<(String, String)>> {
    let pairs = variables.into_iter();
    pairs
        .map(|(name, value)| Ok((text(name)?, text(value)?)))
        .collect()
}

fn text(text: OsString) -> Result<String> {
    text.into_string().map_err(|text| {
        let text = Path::new(OsStr::new(&text)).display().to_string();
        Error::Target(format!("{text} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library is written once, mended if it changed, and only into a folder of the user.
    #[test]
    fn the_library_is_unpacked_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("caches/metalens");
        let probe = Probe::unpack_into(&cache).unwrap();
        let time = || fs::metadata(probe.library()).unwrap().modified().unwrap();
        assert_eq!(fs::read(probe.library()).unwrap(), IMAGE);
        assert_eq!(fs::metadata(&cache).unwrap().mode() & 0o777, 0o700);
        let before = time();
        assert_eq!(
            Probe::unpack_into(&cache).unwrap().library(),
            probe.library()
        );
        assert_eq!(time(), before);
        fs::write(probe.library(), "cut off").unwrap();
        Probe::unpack_into(&cache).unwrap();
        assert_eq!(fs::read(probe.library()).unwrap(), IMAGE);

        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&cache, &link).unwrap();
        assert!(Probe::unpack_into(&link).is_err());
    }

    /// The bytes are the heads of files that Apple's headers describe.
    #[test]
    fn the_processors_of_a_program_are_known() {
        const ARM: u32 = 0x0100_000c;
        const INTEL: u32 = 0x0100_0007;
        let thin =
            |processor: u32| [&[0xcf, 0xfa, 0xed, 0xfe][..], &processor.to_le_bytes()].concat();
        let both = [
            &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2][..],
            &INTEL.to_be_bytes(),
            &[0; 16],
            &ARM.to_be_bytes(),
            &[0; 16],
        ]
        .concat();
        let check = |head: &[u8], expected: Option<&[u32]>| {
            assert_eq!(processors(head).as_deref(), expected, "{head:x?}");
        };
        check(&thin(ARM), Some(&[ARM]));
        check(&thin(INTEL), Some(&[INTEL]));
        check(&both, Some(&[INTEL, ARM]));
        check(&both[..20], None);
        check(b"\x7fELF and more", None);
        check(b"#!/bin/sh", None);

        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let other = if PROCESSOR == ARM { INTEL } else { ARM };
        fs::write(&program, thin(other)).unwrap();
        assert!(
            other_processor(&program)
                .unwrap()
                .contains("another processor")
        );
        fs::write(&program, both).unwrap();
        assert_eq!(other_processor(&program), None);
    }

    #[test]
    fn a_log_says_at_its_end_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let killed = folder.path().join(".metalens-log-killed");
        fs::create_dir(&killed).unwrap();
        fs::write(killed.join("lock"), "").unwrap();
        let draft = LogDraft::beside(folder.path()).unwrap();
        assert!(!killed.exists());
        let check = |text: &str, expected: Option<(u64, u64, bool)>| {
            fs::write(&draft.log, text).unwrap();
            let written = draft.written().unwrap();
            let written = written.map(|log| (log.buffers, log.lost, log.has_end));
            assert_eq!(written, expected, "{text}");
        };
        assert!(draft.written().unwrap().is_none());
        let line = "{\"command_buffer\":1,\"commit\":1}\n";
        let end = "{\"end\":9,\"command_buffers\":300,\"lost\":2}\n";
        check("", None);
        check("{\"end\":9,\"command_buffers\":0}\n", None);
        check(line, Some((1, 0, false)));
        let wait = "{\"wait\":1,\"start\":1,\"end\":2}\n";
        check(&(line.to_owned() + wait), Some((1, 0, false)));
        check(&line.repeat(300), Some((300, 0, false)));
        check(&(line.repeat(300) + end), Some((300, 2, true)));
        check(&(line.repeat(300) + &end[..20]), Some((300, 0, false)));
    }
}
