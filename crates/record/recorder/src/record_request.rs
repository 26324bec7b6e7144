//! Defines a user's request to record, before anything on the machine is looked up.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use metalens_xctrace::{Stdin, Tool};
use tempfile::NamedTempFile;

use crate::cargo::CargoBuild;
use crate::request::RecordTimeouts;

/// A user's request to record.
#[derive(Debug)]
pub struct RecordRequest {
    /// The `xctrace` to use.
    pub recorder: Recorder,
    /// The program or process to record.
    pub subject: RecordingSubject,
    /// Words of the command that are published, if the caller knows more secrets in it than its
    /// words tell.
    pub published_command: Option<Vec<String>>,
    /// Path of the bundle.
    pub output: PathBuf,
    /// True if an existing bundle may be replaced.
    pub force: bool,
    /// True if the command is only shown.
    pub dry_run: bool,
    /// Name of a template of Instruments, or path of its file.
    pub template: String,
    /// Names of instruments to add to the template.
    pub instruments: Vec<String>,
    /// True to add CPU samples.
    pub cpu: bool,
    /// True to add hardware counters of the GPU.
    pub counters: bool,
    /// True to add the signposts of programs, which Apple's template of the GPU leaves out.
    pub signposts: bool,
    /// True to add the times of shaders.
    pub shader_timeline: bool,
    /// Duration after which the recording stops, in nanoseconds.
    pub time_limit_ns: Option<u64>,
    /// Duration at the end that is kept, in nanoseconds.
    pub window_ns: Option<u64>,
    /// Environment variables for the program.
    pub environment: Vec<(String, String)>,
    /// Standard input of the program.
    pub stdin: Stdin,
    /// True if nobody wants the standard output of the program.
    pub discards_output: bool,
    /// Times after which the session stops waiting.
    pub timeouts: RecordTimeouts,
    /// File to add the output of `xctrace` to.
    pub log: Option<PathBuf>,
}

/// The program that records.
#[derive(Debug)]
pub enum Recorder {
    /// Apple's `xctrace`, as found on this machine.
    Xctrace,
    /// A simulator in place of `xctrace`.
    Simulator {
        /// Program that runs instead of `xctrace`.
        tool: Tool,
        /// File with the scenario to simulate, removed when this is dropped.
        scenario: Option<NamedTempFile>,
    },
    /// A simulator that is treated as `xctrace` is: with changed templates, and all that is observed
    /// besides the recording.
    SimulatorAsXctrace(Tool),
}

impl Recorder {
    /// Returns metalens itself, the program `own`, as a simulator that shows a scenario. Runs with
    /// other seeds have other times.
    ///
    /// # Errors
    ///
    /// If the scenario cannot be written into a temporary file.
    pub fn simulator(own: PathBuf, scenario: Option<&str>, seed: Option<u32>) -> io::Result<Self> {
        let scenario = scenario
            .map(|text| {
                let mut file = tempfile::Builder::new().suffix(".toml").tempfile()?;
                file.write_all(text.as_bytes())?;
                Ok::<_, io::Error>(file)
            })
            .transpose()?;

        let file = scenario.as_ref().map(|file| file.path().into());
        let seed = seed.map(|seed| seed.to_string().into());
        let variables: [(&str, Option<OsString>); 2] = [("SCENARIO", file), ("SEED", seed)];
        let environment = variables.into_iter().filter_map(|(name, value)| {
            Some((format!("METALENS_FAKE_XCTRACE_{name}").into(), value?))
        });
        let tool = Tool {
            before: vec!["fake-xctrace".into(), "--".into()],
            environment: environment.collect(),
            ..Tool::at(own)
        };
        Ok(Self::Simulator { tool, scenario })
    }
}

/// The program or process to record.
#[derive(Debug, Clone)]
pub enum RecordingSubject {
    /// A workload that is bundled with metalens.
    Workload {
        /// Name of the workload.
        name: String,
        /// Command that runs it.
        command: Vec<OsString>,
    },
    /// A program with its arguments.
    Program(Vec<OsString>),
    /// A program that cargo builds first.
    Cargo {
        /// The build that makes the program.
        build: CargoBuild,
        /// Arguments of the program.
        arguments: Vec<OsString>,
    },
    /// A running process, by name or pid.
    Process(String),
    /// All processes on the machine.
    Everyone,
}

impl RecordRequest {
    /// Name of the default template.
    pub const TEMPLATE: &str = "Metal System Trace";

    /// Requests a recording with default settings.
    #[must_use]
    pub fn new(recorder: Recorder, subject: RecordingSubject, output: PathBuf) -> Self {
        Self {
            recorder,
            subject,
            published_command: None,
            output,
            force: false,
            dry_run: false,
            template: Self::TEMPLATE.to_owned(),
            instruments: Vec::new(),
            cpu: false,
            counters: false,
            signposts: true,
            shader_timeline: false,
            time_limit_ns: None,
            window_ns: None,
            environment: Vec::new(),
            stdin: Stdin::Nothing,
            discards_output: false,
            timeouts: RecordTimeouts::default(),
            log: None,
        }
    }

    /// Returns whether a simulator runs in place of `xctrace`, and nothing else is observed.
    pub fn is_simulated(&self) -> bool {
        matches!(self.recorder, Recorder::Simulator { .. })
    }

    /// Returns whether no GPU runs what is recorded.
    pub fn is_synthetic(&self) -> bool {
        !matches!(self.recorder, Recorder::Xctrace)
    }

    /// Returns the options that a simulator takes no notice of: its recordings have the same tables
    /// and the same times without them.
    pub(crate) fn ignored_by_simulator(&self) -> Vec<&'static str> {
        let options = [
            ("--template", self.template != Self::TEMPLATE),
            ("--instrument", !self.instruments.is_empty()),
            ("--cpu", self.cpu),
            ("--counters", self.counters),
            ("--no-signposts", !self.signposts),
            ("--shader-timeline", self.shader_timeline),
        ];
        let given = options.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(option, _)| option).collect()
    }
}

impl RecordingSubject {
    /// Returns a short name of the subject.
    pub fn name(&self) -> String {
        match self {
            Self::Workload { name, .. } => name.clone(),
            Self::Program(command) => {
                let name = command.first().map(Path::new).and_then(Path::file_stem);
                name.map_or_else(
                    || "program".to_owned(),
                    |name| name.to_string_lossy().into_owned(),
                )
            }
            Self::Cargo { build, .. } => build.name().unwrap_or("program").to_owned(),
            Self::Process(process) => process.clone(),
            Self::Everyone => "everyone".to_owned(),
        }
    }

    /// Returns the words of the command line that the user gave.
    pub(crate) fn words(&self) -> &[OsString] {
        match self {
            Self::Program(command) => command,
            Self::Cargo { arguments, .. } => arguments,
            Self::Workload { .. } | Self::Process(_) | Self::Everyone => &[],
        }
    }
}
