//! Types of the replay: which completions the program waited for, and what a change would leave.

use metalens_message::{Factor, Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Note;

/// Name of the schema of a prediction; its number rises when a key is removed or changes meaning.
pub const WHAT_IF_SCHEMA: &str = "metalens.what-if/1";

/// Prediction of a change that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhatIf {
    /// Name and version of this schema: `metalens.what-if/1`.
    pub schema: String,
    /// Number of command buffers that were replayed.
    pub command_buffers: u64,
    /// Number of command buffers in the window whose order is unknown, so that they were not.
    pub left_out: u64,
    /// Whether only command buffers in the middle were replayed, because there are very many. The times
    /// are multiplied to stand for all of them.
    pub is_sample: bool,
    /// Source of the driver's times; null if they are not recorded, so that the driver's work counts
    /// as latency.
    pub driver: Option<ChainSource>,
    /// Whether the program waits for completions.
    pub waiting: Waiting,
    /// True if steps begin on a grid of time, which the change does not move.
    pub is_paced: bool,
    /// Recorded time from the first commit to the end of the last GPU work, in nanoseconds.
    pub before_ns: Ns,
    /// Predicted time of the changed run, in nanoseconds; null if the recording does not tell: if the
    /// most is above the least by more than a quarter.
    pub after_ns: Option<Ns>,
    /// The least that the change may leave, in nanoseconds: the answers that the recording allows, and how
    /// far the program varies.
    pub least_ns: Ns,
    /// The most that it may leave, in nanoseconds.
    pub most_ns: Ns,
    /// `before_ns` divided by `after_ns`; null if nothing is left, or if the recording does not tell.
    pub speedup: Option<Factor>,
    /// Time of a step of the recorded run; null if no steps are known.
    pub step_before: Option<StepTime>,
    /// Time of a step of the changed run; null likewise.
    pub step_after: Option<StepTime>,
    /// Part whose removal would shorten the recorded run most; null if none would.
    pub limited_before: Option<ReplayPart>,
    /// Part whose removal would shorten the changed run most; null if none would.
    pub limited_by: Option<ReplayPart>,
    /// Kernels whose GPU time was changed.
    pub changed_kernels: Vec<String>,
    /// If no change was asked for, what each leaves: first those that the recording tells, and of them
    /// the one that leaves least.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Alternative>,
    /// Notes that change the meaning of every number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// Change that `metalens what-if` can be asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// Option of the command that asks for it, such as `--in-flight 2`.
    pub option: String,
    /// Predicted time of the changed run, in nanoseconds; null if the recording does not tell.
    pub after_ns: Option<Ns>,
    /// The least that the change may leave, in nanoseconds.
    pub least_ns: Ns,
    /// The most that it may leave, in nanoseconds.
    pub most_ns: Ns,
    /// Time of the run divided by `after_ns`; null if nothing is left, or if the recording does not tell.
    pub speedup: Option<Factor>,
    /// Time of a step of the changed run; null if no steps are known, or if the recording does not tell.
    pub step: Option<StepTime>,
}

/// Source of the driver's times: when it began to work on a command buffer, and when it submitted
/// the work to the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChainSource {
    /// The tables `metal-command-buffer-to-accelerator-id` and
    /// `metal-gpu-submission-to-command-buffer-id`, exact to the nanosecond.
    Tables,
    /// The rows of `metal-driver-intervals`, joined with command buffers by their order. The end of a
    /// row counts as the submission, which comes 2 to 100 µs earlier.
    Order,
}

/// What a program goes on after, beside its own work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeldBy {
    /// Its work begins at times that look like those of requests: as irregular as arrivals, and apart from
    /// its own work.
    Requests,
    /// Its work begins a constant time after that of another process.
    OtherProcess,
}

/// Answer to the question whether the program waits for completions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitVerdict {
    /// Encodings begin a constant time after a completion: the program waits.
    Waits,
    /// Encodings begin a constant time after the last commit, or before any completion: it does not
    /// wait.
    DoesNotWait,
    /// The recording does not tell: there are few pairs, or their times hardly vary.
    #[default]
    Unknown,
}

/// Whether the program waits for completions, and how that is known.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// Answer, as the times give it, or the waits themselves.
    pub verdict: WaitVerdict,
    /// True if the program's waits are recorded, as a command-buffer log can have them.
    pub is_recorded: bool,
    /// Number of command buffers that the program keeps in flight: it waits for the one that it
    /// committed this many before. 1 if it waits for the last one; 0 if no wait was looked at.
    pub in_flight: u64,
    /// Number of command buffers whose encoding began after such a completion.
    pub pairs: u64,
    /// Number of command buffers after the first.
    pub of: u64,
    /// What else the program waits for; null if nothing tells of it.
    pub held_by: Option<HeldBy>,
    /// Share of the resampled pairs in which the encoding follows the completion, and not the commit
    /// before: 1 for a program that surely waits, 0 for one that surely does not. Null if the waits are
    /// recorded, or if there are too few pairs.
    pub share: Option<Share>,
}

/// Part of a program's time that the replay can take away.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayPart {
    /// Host work and encoding.
    Host,
    /// The driver's work on command buffers.
    Driver,
    /// Work on the GPU.
    Gpu,
    /// Latencies: from the commit to the driver, from the submission to the GPU, and from the end on
    /// the GPU to the notification.
    Latency,
    /// Work of other processes on the GPU.
    Others,
}

impl ReplayPart {
    /// All parts.
    pub const ALL: [Self; 5] = [
        Self::Host,
        Self::Driver,
        Self::Gpu,
        Self::Latency,
        Self::Others,
    ];

    /// Returns the part as sentences call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Host => "host work and encoding",
            Self::Driver => "the driver",
            Self::Gpu => "the GPU's work",
            Self::Latency => "latencies",
            Self::Others => "other processes",
        }
    }
}

/// Time of a step of the main series in a replay, from its first start on the GPU to that of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepTime {
    /// Median time of a step, in nanoseconds.
    pub median_ns: Ns,
    /// Mean time of a step in nanoseconds, which gives the rate.
    pub mean_ns: Ns,
}

/// Time that is left if parts of the program take no time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Removal {
    /// Parts that take no time.
    pub without: Vec<ReplayPart>,
    /// Time of the run in nanoseconds, as `span_ns` of the replay.
    pub left_ns: Ns,
    /// The same if the program waits for what it seems not to wait for, or the other way; null if the
    /// recording tells.
    pub otherwise_ns: Option<Ns>,
    /// Time of a step without these parts; null if no steps are known.
    pub step: Option<StepTime>,
}

/// Change of a program that the replay can predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayAction {
    /// Twice as many command buffers are in flight: a program that waits for the last one then waits for
    /// the last but one.
    TwiceInFlight,
    /// The program waits for no completion.
    NeverWait,
    /// Ten times as many dispatches share a command buffer.
    TenPerBuffer,
    /// The next command buffer is prepared while the GPU runs the last one, and committed when that
    /// one has completed.
    EncodeAhead,
    /// No other process uses the GPU.
    NoOthers,
    /// Host work and encoding take no time.
    NoHost,
    /// The driver's work takes no time.
    NoDriver,
}

impl ReplayAction {
    /// Returns the option of `metalens what-if` that asks for it.
    pub fn option(self) -> &'static str {
        match self {
            Self::TwiceInFlight => "--in-flight 2",
            Self::NeverWait => "--in-flight 0",
            Self::TenPerBuffer => "--per-buffer 10",
            Self::EncodeAhead => "--encode-ahead",
            Self::NoOthers => "--no-others",
            Self::NoHost => "--host 0",
            Self::NoDriver => "--driver 0",
        }
    }

    /// Returns the part that takes no time with it; `None` if it is another kind of change.
    pub(crate) fn removes(self) -> Option<ReplayPart> {
        match self {
            Self::NoHost => Some(ReplayPart::Host),
            Self::NoDriver => Some(ReplayPart::Driver),
            _ => None,
        }
    }
}

/// Prediction of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// Change of the program.
    pub action: ReplayAction,
    /// Time of the changed run in nanoseconds, as `span_ns` of the replay.
    pub left_ns: Ns,
    /// The least that the change may leave: where the recording does not tell what waits for what, each
    /// answer was replayed.
    pub least_ns: Ns,
    /// The most that it may leave.
    pub most_ns: Ns,
    /// How far these may be off: how far the program varies, and what is unexplained.
    pub error_ns: Ns,
    /// Time of a step of the changed run; null if no steps are known.
    pub step: Option<StepTime>,
    /// Part whose removal would shorten the changed run most; null if none would,
    /// and for all changes but `never-wait`.
    pub limited_by: Option<ReplayPart>,
}

impl Prediction {
    /// Returns whether the recording tells what the change leaves.
    pub fn is_known(&self) -> bool {
        let least_ns = self.least_ns.saturating_sub(self.error_ns);
        is_answer(least_ns, self.most_ns.saturating_add(self.error_ns))
    }
}

/// Returns whether a range is narrow enough for an answer: up to a quarter.
pub fn is_answer(least_ns: Ns, most_ns: Ns) -> bool {
    4 * most_ns.wide() <= 5 * least_ns.wide()
}

/// Replay of the recorded command buffers. Without a change, it gives each station of each command
/// buffer at its recorded time; with one, it predicts what the change leaves.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// Number of command buffers that were replayed.
    pub command_buffers: u64,
    /// Number of command buffers in the window that were not: their commit is unknown, or they were
    /// committed several times.
    pub left_out: u64,
    /// Whether only command buffers in the middle were replayed, because there are very many. All times
    /// are multiplied to stand for all that is judged.
    pub is_sample: bool,
    /// Source of the driver's times; null if they are not recorded, so that the driver's work counts
    /// as latency.
    pub driver: Option<ChainSource>,
    /// Whether the program waits for completions.
    pub waiting: Waiting,
    /// Recorded time from the first commit to the end of the last GPU work, in nanoseconds.
    pub span_ns: Ns,
    /// Time of a step of the recorded run; null if no steps are known.
    pub step: Option<StepTime>,
    /// Time before starts on the GPU that neither a usual latency nor earlier work explains, in
    /// nanoseconds.
    pub unexplained_ns: Ns,
    /// Time that is left without one part, then without two.
    pub removals: Vec<Removal>,
    /// Changes of the program, each with the time that it leaves.
    pub predictions: Vec<Prediction>,
}

impl Replay {
    /// Returns the time that is left without these parts.
    pub fn left_without(&self, parts: &[ReplayPart]) -> Option<Ns> {
        let removal = self.removals.iter().find(|each| each.without == parts);
        Some(removal?.left_ns)
    }

    /// Returns the time that is saved without these parts.
    pub fn saved_without(&self, parts: &[ReplayPart]) -> Option<Ns> {
        Some(self.span_ns.saturating_sub(self.left_without(parts)?))
    }

    /// Returns the time of a step with a change.
    pub(crate) fn step_with(&self, change: ReplayAction) -> Option<StepTime> {
        let Some(without) = change.removes() else {
            return self.prediction(change)?.step;
        };
        let mut removals = self.removals.iter();
        removals.find(|each| each.without == [without])?.step
    }

    /// Returns the prediction of a change.
    pub fn prediction(&self, action: ReplayAction) -> Option<&Prediction> {
        self.predictions.iter().find(|each| each.action == action)
    }
}
