//! Defines a stream of GPU work: its encoders, their durations, their submission, its oddities.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::labels::Labels;
use super::lengths::Lengths;
use super::nanos::Nanos;

/// Similar work that one thread of a process encodes and submits the same way.
///
/// ```text
/// CPU  [encode][encode]                                 [host][encode]…
/// GPU                  <launch>[duration]<gap>[duration]
/// host is notified                                      ^ completion later
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Stream {
    /// GPU channel: `Compute`, `Vertex`, `Fragment`, `Blit` or any other name.
    pub channel: String,
    /// Number of encoders; each is one kick on the channel.
    pub count: u32,
    /// Start of the first encoding, counted from the start of the recording, or with `follows`
    /// from the end of the previous stream.
    pub start: Option<Nanos>,
    /// True to start when the previous stream of the process has completed.
    pub follows: bool,
    /// Time that each kick occupies the channel.
    pub duration: Lengths,
    /// Shortest idle time of the channel between two kicks of this stream.
    pub gap: Lengths,
    /// Host work between the notification of a completion and the next encoding.
    pub host: Lengths,
    /// CPU time to encode one encoder.
    pub encode: Lengths,
    /// Submission latency: time from commit to the first kick on an idle GPU.
    pub launch: Lengths,
    /// Part of the submission latency in which the driver works on a buffer before it submits the first
    /// encoder, beside what each encoder takes it.
    pub driver: Option<Nanos>,
    /// Completion latency: time from a buffer's last kick until the host is notified.
    pub completion: Lengths,
    /// Way in which the work is submitted.
    pub submit: Submission,
    /// Encoders per command buffer; by default 1 with `sync`, 16 with `batched`, 8 with `pipelined`.
    pub encoders_per_buffer: Option<u32>,
    /// Largest number of buffers committed and not completed; by default 3 with `pipelined`, else 1.
    pub in_flight: Option<u32>,
    /// Labels of the command buffers; the driver's `Command Buffer 0` if absent.
    pub buffer_label: Option<Labels>,
    /// Labels of the encoders; the driver's `Compute Command N` and the like if absent.
    pub encoder_label: Option<Labels>,
    /// Second kick of every encoder on another channel, like a render encoder's fragment work.
    pub then: Option<SecondPass>,
    /// Slower first kicks, if any.
    pub warm_up: Option<WarmUp>,
    /// Regular breaks, taken when all committed work is done.
    pub pause: Option<Pause>,
    /// Registers that the compiler spilled to memory in some encoders, if any.
    pub spill: Option<Spill>,
    /// Part of each kick that the shader timeline samples; all of it if absent.
    pub sampled: Option<Sampled>,
    /// Differences between the recording and the work, as in real recordings.
    pub oddities: Oddities,
}

/// The way in which work is submitted. The three differ only in their defaults: encoders per
/// buffer, and buffers in flight.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Submission {
    /// Encodes one encoder, commits, waits for the completion, and goes on.
    #[default]
    Sync,
    /// Encodes many encoders per buffer, then commits and waits.
    Batched,
    /// Commits buffers ahead, so that the GPU's queue is never empty.
    Pipelined,
}

/// The second kick of every encoder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SecondPass {
    /// Channel of the kick, different from that of the stream.
    pub channel: String,
    /// Time that the kick occupies that channel.
    pub duration: Lengths,
    /// Shortest time from the end of the first kick to the start of the second.
    #[serde(default = "Lengths::nothing")]
    pub lag: Lengths,
}

/// Slower kicks at the start of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WarmUp {
    /// Number of kicks that are slow.
    pub first: u32,
    /// Factor by which they are slower.
    pub factor: u32,
}

/// Regular breaks of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pause {
    /// Number of command buffers between two breaks.
    pub every: NonZeroU32,
    /// Duration of a break, counted from when all buffers have completed.
    pub length: Nanos,
}

/// Registers that the compiler spilled to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Spill {
    /// Every n-th encoder has a spill.
    #[serde(default = "one")]
    pub every: NonZeroU32,
    /// Number of spilled bytes per encoder.
    pub bytes: u32,
}

/// Returns the default of fields that are at least one.
pub(crate) const fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// The part of each kick that the shader timeline samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sampled {
    /// Share of the kick, from its start, in percent.
    pub percent: u32,
    /// True if each sample has another one inside it, of the next shader in the list.
    #[serde(default)]
    pub nested: bool,
}

impl Default for Sampled {
    fn default() -> Self {
        Self {
            percent: 100,
            nested: false,
        }
    }
}

/// Differences between the recording and the work. Each occurs in real recordings, unless its field
/// says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Oddities {
    /// Every n-th pair of encoders of a buffer that the driver runs as one kick.
    pub coalesce_every: Option<NonZeroU32>,
    /// Name of the row of such a kick.
    pub coalesced_name: CoalescedName,
    /// Every n-th kick that is preempted: two rows with the same ids.
    pub split_every: Option<NonZeroU32>,
    /// Time between those two rows.
    pub split_hole: Nanos,
    /// Every n-th encoder that is missing in the encoder list.
    pub lose_encoder_every: Option<NonZeroU32>,
    /// Further tables in which it is missing.
    pub lose_encoder_from: LostFrom,
    /// Every n-th buffer that is missing in the completions.
    pub lose_completion_every: Option<NonZeroU32>,
    /// Every n-th buffer that completes before its last kick ends.
    pub early_completion_every: Option<NonZeroU32>,
    /// Time by which it completes early.
    pub early_by: Nanos,
    /// Every n-th encoder whose kicks name no process, no buffer and no encoder.
    pub unattributed_every: Option<NonZeroU32>,
    /// Every n-th encoder whose kicks have no frame number.
    pub null_frame_every: Option<NonZeroU32>,
    /// Number of buffers that the program commits repeatedly, as Metal 4 allows; each commit is a
    /// new buffer if absent. No such recording is known: that the ids repeat is a guess.
    pub reuse_buffers: Option<NonZeroU32>,
    /// Every n-th buffer that ends in an error: a page fault.
    pub error_every: Option<NonZeroU32>,
}

/// The tables in which a lost encoder is missing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostFrom {
    /// The encoder list only, as in real recordings: the application's intervals have it, and
    /// the submissions have its buffer.
    #[default]
    List,
    /// The application's intervals as well; its buffer is missing there and in the submissions.
    Everywhere,
}

/// The name of the row of a coalesced kick.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoalescedName {
    /// `Coelasced 2 Encoders`, spelled as Instruments spells it.
    #[default]
    Count,
    /// `EncA & EncB`; needs an `encoder-label`.
    Labels,
}

impl Stream {
    /// Returns a stream of `count` kicks on `Compute`, with defaults for all other fields.
    #[must_use]
    pub fn new(count: u32, duration: Lengths) -> Self {
        Self {
            count,
            duration,
            ..Self::default()
        }
    }

    /// Returns the encoders per command buffer, at least one.
    pub(crate) fn encoders_per_buffer(&self) -> u32 {
        let default = match self.submit {
            Submission::Sync => 1,
            Submission::Batched => 16,
            Submission::Pipelined => 8,
        };
        self.encoders_per_buffer.unwrap_or(default).max(1)
    }

    /// Returns the buffers that the host keeps in flight before it waits, at least one.
    pub(crate) fn in_flight(&self) -> usize {
        let default = if self.submit == Submission::Pipelined {
            3
        } else {
            1
        };
        self.in_flight.unwrap_or(default).max(1) as usize
    }

    /// Returns the number of GPU intervals planned, before oddities join or split some.
    pub(crate) fn kicks(&self) -> u64 {
        u64::from(self.count) * if self.then.is_some() { 2 } else { 1 }
    }
}

impl Default for Stream {
    /// Returns a stream without work, which no scenario may have.
    fn default() -> Self {
        Self {
            channel: "Compute".to_owned(),
            count: 0,
            start: None,
            follows: false,
            duration: Lengths::nothing(),
            gap: Lengths::nothing(),
            host: Lengths::nothing(),
            encode: Lengths::fixed(8_000),
            launch: Lengths::fixed(85_000),
            driver: None,
            completion: Lengths::fixed(65_000),
            submit: Submission::default(),
            encoders_per_buffer: None,
            in_flight: None,
            buffer_label: None,
            encoder_label: None,
            then: None,
            warm_up: None,
            pause: None,
            spill: None,
            sampled: None,
            oddities: Oddities::default(),
        }
    }
}

impl Default for Oddities {
    fn default() -> Self {
        Self {
            coalesce_every: None,
            coalesced_name: CoalescedName::default(),
            split_every: None,
            split_hole: Nanos::new(29_000),
            lose_encoder_every: None,
            lose_encoder_from: LostFrom::default(),
            lose_completion_every: None,
            early_completion_every: None,
            early_by: Nanos::new(20_000),
            unattributed_every: None,
            null_frame_every: None,
            reuse_buffers: None,
            error_every: None,
        }
    }
}
