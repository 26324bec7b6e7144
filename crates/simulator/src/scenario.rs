//! A scenario: which processes put which work on the GPU, and how the recording shows it.

pub(crate) mod host;
pub(crate) mod labels;
pub(crate) mod lengths;
pub(crate) mod machine;
pub(crate) mod nanos;
pub(crate) mod presets;
pub(crate) mod random;
pub(crate) mod recording;
pub(crate) mod stream;
pub(crate) mod table;
mod validate;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use host::{Hang, Samples, Signpost};
use machine::Memory;
use recording::Recording;
use stream::Stream;
use table::Table;

/// Everything a synthetic recording is made from. On disk it is TOML; see `fixtures/scenarios`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// A short name.
    #[serde(default)]
    pub name: String,
    /// One line on what it shows.
    #[serde(default)]
    pub about: String,
    /// Where the random draws start; the same scenario and seed give the same bytes.
    #[serde(default)]
    pub seed: u64,
    /// Whose export format is written.
    #[serde(default)]
    pub xcode: Generation,
    /// Which instants the recorder can tell apart.
    #[serde(default)]
    pub clock: Clock,
    /// How often the work is recorded into the same document.
    #[serde(default = "one")]
    pub runs: u32,
    /// The tables exported; all of them when absent. The table of contents lists every one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<Table>>,
    /// What the table of contents says about the recording.
    #[serde(default)]
    pub recording: Recording,
    /// Who used the GPU.
    #[serde(default)]
    pub process: Vec<Process>,
}

/// A process seen by the recorder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Process {
    /// Its name, in any script and with any punctuation.
    pub name: String,
    /// Its process id, unique within a run.
    pub pid: u32,
    /// What it is to the recording.
    #[serde(default)]
    pub role: Role,
    /// The runs it lives in, counted from 1; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<u32>>,
    /// Functions the shader profiler's list names for it (the list has no times).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shaders: Vec<String>,
    /// Its GPU work; none when it never reached the GPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stream: Vec<Stream>,
    /// Memory Metal allocates for it; by default 64 KiB for the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// What it marks with `os_signpost`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signpost: Vec<Signpost>,
    /// Samples of its submitting thread; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// When its main thread did not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hang: Vec<Hang>,
}

/// What a process is to the recording.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The process launched or attached to: exactly one per run, none with `all-processes`.
    Target,
    /// Anyone else.
    #[default]
    Other,
    /// The window server, which Instruments draws in a colour of its own.
    Compositor,
}

/// Which `xctrace` generation's format is written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Generation {
    /// Labels without blanks between their parts: `label   (P (1)) 0x1f`.
    #[serde(rename = "16")]
    Xcode16,
    /// Label parts joined by one blank: `label      ( P (1) )  0x1f`.
    #[default]
    #[serde(rename = "26.0")]
    Xcode26,
    /// As 26.0, with documented schemas and 64-bit commit ids.
    #[serde(rename = "27")]
    Xcode27,
}

/// Which instants the recorder can tell apart.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Clock {
    /// Every nanosecond.
    #[default]
    #[serde(rename = "free")]
    Free,
    /// The 24 MHz clock of Apple silicon: starts and durations are multiples of 41.67 ns, each
    /// cut to whole nanoseconds, so rows that touch may come to lie a nanosecond apart.
    #[serde(rename = "24mhz")]
    Mhz24,
}

impl Scenario {
    /// The most runs a scenario may have.
    pub const RUNS_MAX: u32 = 12;

    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// [`Error::Toml`] when the text is not a scenario, [`Error::Field`] when a value is not possible.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        let scenario: Self = toml::from_str(text)?;
        scenario.validate()?;
        Ok(scenario)
    }

    /// The named preset; [`presets`](crate::presets) lists them.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        presets::presets()
            .iter()
            .find(|preset| preset.name == name)
            .and_then(|preset| preset.scenario().ok())
    }

    /// Checks every field against what a recording could hold.
    ///
    /// # Errors
    /// [`Error::Field`] names the first field that fails.
    pub fn validate(&self) -> Result<(), Error> {
        validate::scenario(self)
    }

    /// GPU intervals planned over all runs, before coalescing takes some and splitting adds some.
    #[must_use]
    pub fn intervals_planned(&self) -> u64 {
        let of_run = |run| {
            let streams = self
                .processes_of(run)
                .flat_map(|(_, process)| &process.stream);
            streams.map(Stream::kicks).sum::<u64>()
        };
        (1..=self.runs).map(of_run).sum()
    }

    /// The processes alive in a run, with their position in the scenario.
    pub(crate) fn processes_of(&self, run: u32) -> impl Iterator<Item = (usize, &Process)> {
        let alive =
            move |process: &Process| process.runs.as_ref().is_none_or(|runs| runs.contains(&run));
        self.process
            .iter()
            .enumerate()
            .filter(move |(_, process)| alive(process))
    }
}

fn one() -> u32 {
    1
}
