//! Defines a scenario: which processes submit work to the GPU, and how the recording shows it.

pub(crate) mod presets;
pub(crate) mod random;
pub(crate) mod recording;
pub(crate) mod table;
mod validate;

use serde::{Deserialize, Serialize};

use crate::optional::{Allocation, EngineWork, Hang, Memory, Samples, Signpost, Wiring};
use crate::values::kinds::{Clock, Generation, Role};
use crate::values::stream::Stream;
use recording::Recording;
use table::Table;

/// A complete description of a synthetic recording. Stored as TOML; see `fixtures/scenarios`.
///
/// # Optional parts
///
/// ```toml
/// [recording]
/// shader-timeline = true          # divides kicks among the `shaders` of their process
///
/// [[recording.performance]]       # also [[recording.thermal]]; pieces may have gaps between them
/// state = "Minimum"
/// start = "0ms"
/// end = "705ms"                   # by default where the next piece starts
/// induced = true
///
/// [[recording.wired]]             # wired system memory
/// at = "1ms"
/// bytes = 1_000_000
///
/// [[recording.counter]]           # one value while any kick runs, another while none does
/// name = "ALU Limiter"
/// unit = "percent"                # or "gigabytes-per-second", "count"
/// busy = 80
/// kernels = { add = 12 }          # instead of `busy` while a kick with this label runs
/// idle = 0
/// period = "100us"
///
/// [[process]]
/// name = "bench"
/// pid = 4321
/// role = "target"
/// shaders = ["matmul"]
/// memory = { start-bytes = 65536, step-bytes = 4096, every = 8 }   # or [{ at = "…", bytes = … }]
/// samples = { period = "1ms", host-function = "tokenize", blocked = true }
///
/// [[process.stream]]
/// count = 8
/// duration = "10us"
/// spill = { bytes = 256, every = 2 }         # registers that the compiler spilled to memory
/// sampled = { percent = 60, nested = true }  # part of each kick that the shader timeline sees
/// oddities = { error-every = 4, lose-encoder-every = 3, lose-encoder-from = "everywhere" }
///
/// [[process.wiring]]              # memory that the driver wires; `unwire = true` gives it back
/// start = "701ms"
/// length = "200us"
/// bytes = 4_194_304
///
/// [[process.signpost]]
/// name = "step"
/// every = 4                       # command buffers; or from = "…" and to = "…", or `from` alone
///
/// [[process.hang]]
/// start = "701ms"
/// length = "1ms"
///
/// [[process.engine]]
/// kind = "neural-engine"          # mps, core-ml, drawable-wait, neural-engine-internal
/// label = "encoder"
/// start = "701ms"
/// length = "200us"
/// every = "1ms"
/// count = 8
/// ```
///
/// `fixtures/findings` has two small scenarios for each finding: one that triggers it and one that
/// nearly does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Short name of the scenario.
    #[serde(default)]
    pub name: String,
    /// Purpose of the scenario, in one line.
    #[serde(default)]
    pub about: String,
    /// Seed of the random draws. The same scenario and seed give the same bytes.
    #[serde(default)]
    pub seed: u64,
    /// Version of Xcode whose export format is written.
    #[serde(default)]
    pub xcode: Generation,
    /// Resolution of the recorder's clock.
    #[serde(default)]
    pub clock: Clock,
    /// Number of times that the work is recorded into the same document.
    #[serde(default = "one_run")]
    pub runs: u32,
    /// Tables to export; all if absent. The table of contents always lists all tables.
    pub tables: Option<Vec<Table>>,
    /// Facts about the recording in its table of contents.
    #[serde(default)]
    pub recording: Recording,
    /// Processes in the recording, with their work.
    #[serde(default)]
    pub process: Vec<Process>,
}

/// A process in the recording.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Process {
    /// Name of the process, in any script and with any punctuation.
    pub name: String,
    /// Process id, unique within a run.
    pub pid: u32,
    /// Relation of the process to the recording.
    #[serde(default)]
    pub role: Role,
    /// Runs in which the process exists, counted from 1; all runs if absent.
    pub runs: Option<Vec<u32>>,
    /// Functions that the shader profiler lists for the process (the list has no times).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shaders: Vec<String>,
    /// Streams of GPU work; empty if the process never reached the GPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stream: Vec<Stream>,
    /// Memory that Metal allocates for the process; by default 64 KiB for the recorded process.
    pub memory: Option<Memory>,
    /// Metal resources that it allocates and frees, at most eight kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocation: Vec<Allocation>,
    /// Memory that the driver wires and unwires for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wiring: Vec<Wiring>,
    /// Signposts that the process emits with `os_signpost`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signpost: Vec<Signpost>,
    /// Stack samples of its submitting thread; none if absent.
    pub samples: Option<Samples>,
    /// Times during which its main thread did not respond.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hang: Vec<Hang>,
    /// Work of engines beside the GPU's channels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engine: Vec<EngineWork>,
}

impl Scenario {
    /// Largest number of runs in a scenario.
    pub const RUNS_MAX: u32 = 12;

    /// Returns the number of GPU intervals of all runs, before oddities join or split some.
    pub fn intervals_planned(&self) -> u64 {
        (1..=self.runs)
            .map(|run| {
                let streams = self
                    .processes_of(run)
                    .flat_map(|(_, process)| &process.stream);
                streams.map(Stream::kicks).sum::<u64>()
            })
            .sum()
    }

    /// Returns the processes that exist in a run, with their index in the scenario.
    pub(crate) fn processes_of(&self, run: u32) -> impl Iterator<Item = (usize, &Process)> {
        let exists =
            move |process: &Process| process.runs.as_ref().is_none_or(|runs| runs.contains(&run));
        self.process
            .iter()
            .enumerate()
            .filter(move |(_, process)| exists(process))
    }
}

fn one_run() -> u32 {
    1
}
