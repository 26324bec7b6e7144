//! A request to record, before anything is looked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metalens_xctrace::{Stdin, Tool};
use tempfile::NamedTempFile;

use crate::cargo::Build;
use crate::request::Patience;
use crate::template::Clock;

/// A request to record.
#[derive(Debug)]
pub struct RecordRequest {
    /// The recorder.
    pub recorder: Recorder,
    /// The subject.
    pub subject: Subject,
    /// The bundle.
    pub output: PathBuf,
    /// Whether a bundle of that name may be replaced.
    pub force: bool,
    /// Whether a run is added to a bundle that exists.
    pub append_run: bool,
    /// Whether nothing is to be run, only shown.
    pub dry_run: bool,
    /// The name of a template of Instruments, or its file.
    pub template: String,
    /// Instruments beside it.
    pub instruments: Vec<String>,
    /// Whether CPU samples are added.
    pub cpu: bool,
    /// Whether the times of shaders are added.
    pub shader_timeline: bool,
    /// The clock of the GPU that is asked for.
    pub gpu_clock: Option<Clock>,
    /// The time after which it stops, ns.
    pub time_limit_ns: Option<u64>,
    /// The length of its end that is kept, ns.
    pub window_ns: Option<u64>,
    /// Variables of the program's environment.
    pub environment: Vec<(String, String)>,
    /// The name of the run.
    pub run_name: Option<String>,
    /// A device that is connected.
    pub device: Option<String>,
    /// The program's standard input.
    pub stdin: Stdin,
    /// The times that are waited.
    pub patience: Patience,
}

/// The recorder.
#[derive(Debug)]
pub enum Recorder {
    /// Apple's, wherever it is on this machine.
    Xctrace,
    /// A simulator of it.
    Simulator {
        /// The program that takes its place.
        tool: Tool,
        /// The file of what it shows, which goes away with this.
        scenario: Option<NamedTempFile>,
    },
}

/// The subject of a recording.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A bundled workload.
    Workload {
        /// Its name.
        name: String,
        /// The command that runs it.
        command: Vec<OsString>,
        /// The amount of it, in words of its command line.
        amount: Vec<OsString>,
    },
    /// A program and its arguments.
    Program(Vec<OsString>),
    /// A program that cargo builds first.
    Cargo {
        /// The build.
        build: Build,
        /// The program's arguments.
        arguments: Vec<OsString>,
    },
    /// A process that runs.
    Process(String),
    /// Every process.
    Everyone,
}

impl RecordRequest {
    /// The name of the template that is recorded with unless another is named.
    pub const TEMPLATE: &str = "Metal System Trace";

    /// Asks for a recording with everything else as usual.
    #[must_use]
    pub fn new(recorder: Recorder, subject: Subject, output: PathBuf) -> Self {
        Self {
            recorder,
            subject,
            output,
            force: false,
            append_run: false,
            dry_run: false,
            template: Self::TEMPLATE.to_owned(),
            instruments: Vec::new(),
            cpu: false,
            shader_timeline: false,
            gpu_clock: None,
            time_limit_ns: None,
            window_ns: None,
            environment: Vec::new(),
            run_name: None,
            device: None,
            stdin: Stdin::Nothing,
            patience: Patience::default(),
        }
    }

    /// Returns whether a simulator takes `xctrace`'s place.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        matches!(self.recorder, Recorder::Simulator { .. })
    }

    /// Returns whether what belongs to an old bundle may be replaced.
    pub(crate) fn may_replace(&self) -> bool {
        self.force || self.append_run
    }
}

impl Subject {
    /// Returns the subject in a word.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Workload { name, .. } => name.clone(),
            Self::Program(command) => {
                let program = command.first().map(Path::new);
                let name = program.and_then(Path::file_stem);
                name.map_or_else(
                    || "program".to_owned(),
                    |name| name.to_string_lossy().into_owned(),
                )
            }
            Self::Cargo { build, .. } => {
                let named = [&build.bin, &build.example, &build.bench, &build.package];
                let named = named.into_iter().flatten().next();
                named.cloned().unwrap_or_else(|| "program".to_owned())
            }
            Self::Process(whom) => whom.clone(),
            Self::Everyone => "everyone".to_owned(),
        }
    }

    /// Returns the words that the user gave for it.
    pub(crate) fn words(&self) -> &[OsString] {
        match self {
            Self::Program(command) => command,
            Self::Cargo { arguments, .. } => arguments,
            Self::Workload { .. } | Self::Process(_) | Self::Everyone => &[],
        }
    }
}
