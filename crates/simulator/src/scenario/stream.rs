//! A stream of GPU work: how many encoders, how long, how submitted, and what goes odd.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::labels::Labels;
use super::lengths::Lengths;
use super::nanos::Nanos;

/// Like work, encoded and submitted the same way by one thread of a process.
///
/// ```text
/// CPU  [encode][encode]                                 [host][encode]…
/// GPU                  <launch>[duration]<gap>[duration]
/// host knows                                            ^ completion later
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Stream {
    /// The GPU channel: `Compute`, `Vertex`, `Fragment`, `Blit` or anything else.
    #[serde(default = "Stream::default_channel")]
    pub channel: String,
    /// How many encoders; each is one kick on the channel.
    pub count: u32,
    /// When the first encoding starts: since the recording's start, or with `follows` since the
    /// end of the stream before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Nanos>,
    /// Starts when the process's stream before it has completed.
    #[serde(default)]
    pub follows: bool,
    /// How long each kick holds the channel.
    pub duration: Lengths,
    /// The least idle time of the channel between two kicks of this stream.
    #[serde(default = "Stream::nothing")]
    pub gap: Lengths,
    /// What the host does between learning of a completion and encoding again.
    #[serde(default = "Stream::nothing")]
    pub host: Lengths,
    /// CPU time to encode one encoder.
    #[serde(default = "Stream::default_encode")]
    pub encode: Lengths,
    /// From commit to the first kick on an idle GPU.
    #[serde(default = "Stream::default_launch")]
    pub launch: Lengths,
    /// From a buffer's last kick until the host learns of it.
    #[serde(default = "Stream::default_completion")]
    pub completion: Lengths,
    /// How work is submitted.
    #[serde(default)]
    pub submit: Submission,
    /// Encoders per command buffer; by default 1 with `sync`, 16 with `batched`, 8 with `pipelined`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoders_per_buffer: Option<u32>,
    /// Buffers committed but not completed at any time; by default 3 with `pipelined`, else 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// Labels of the command buffers; the driver's `Command Buffer 0` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_label: Option<Labels>,
    /// Labels of the encoders; the driver's `Compute Command N` and the like when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder_label: Option<Labels>,
    /// A second kick of every encoder, on another channel: a render encoder's fragment work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<SecondPass>,
    /// Slower first kicks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
    /// Regular breaks, taken when all committed work is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// What the recording shows otherwise than it was.
    #[serde(default)]
    pub oddities: Oddities,
}

/// How work is submitted. The three differ in their defaults only: encoders per buffer, and
/// buffers in flight.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Submission {
    /// Encode one, commit, wait for its completion, next.
    #[default]
    Sync,
    /// Many encoders per buffer, then commit and wait.
    Batched,
    /// Buffers committed ahead, so that the GPU's queue is never empty.
    Pipelined,
}

/// The second kick of every encoder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SecondPass {
    /// Its channel, not the stream's own.
    pub channel: String,
    /// How long it holds that channel.
    pub duration: Lengths,
    /// How long after the first kick's end it starts at the earliest.
    #[serde(default = "Stream::nothing")]
    pub lag: Lengths,
}

/// Slower first kicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WarmUp {
    /// How many kicks are slow.
    pub first: u32,
    /// How many times slower.
    pub factor: u32,
}

/// Regular breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pause {
    /// After this many command buffers.
    pub every: NonZeroU32,
    /// For this long, once all of them have completed.
    pub length: Nanos,
}

/// What the recording shows otherwise than it was: each a quirk seen in real traces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Oddities {
    /// The driver runs every so-many-th pair of encoders of a buffer as one kick.
    pub coalesce_every: Option<NonZeroU32>,
    /// What such a kick is called.
    pub coalesced_name: CoalescedName,
    /// Every so-many-th kick is pre-empted: two rows with the same ids.
    pub split_every: Option<NonZeroU32>,
    /// The hole between those two rows.
    pub split_hole: Nanos,
    /// Every so-many-th encoder is missing from the encoder list.
    pub lose_encoder_every: Option<NonZeroU32>,
    /// What else it is missing from.
    #[serde(skip_serializing_if = "LostFrom::is_list")]
    pub lose_encoder_from: LostFrom,
    /// Every so-many-th buffer is missing from the completions.
    pub lose_completion_every: Option<NonZeroU32>,
    /// Every so-many-th buffer completes before its last kick ends.
    pub early_completion_every: Option<NonZeroU32>,
    /// By how much.
    pub early_by: Nanos,
    /// Every so-many-th encoder's kicks name no process, no buffer and no encoder.
    pub unattributed_every: Option<NonZeroU32>,
    /// Every so-many-th encoder's kicks have no frame number.
    pub null_frame_every: Option<NonZeroU32>,
    /// Every so-many-th buffer ends in an error.
    pub error_every: Option<NonZeroU32>,
    /// Which error: 2 is a timeout, 3 a page fault, 8 too little memory.
    #[serde(skip_serializing_if = "is_default_error")]
    pub error_code: u32,
}

/// Where a lost encoder is missing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostFrom {
    /// In the encoder list alone, as in real recordings: the application's intervals have it, and
    /// the submissions its buffer.
    #[default]
    List,
    /// In the application's intervals as well, and its buffer in these and in the submissions.
    Everywhere,
}

impl LostFrom {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
    fn is_list(&self) -> bool {
        *self == Self::List
    }
}

const DEFAULT_ERROR: u32 = 3;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
fn is_default_error(code: &u32) -> bool {
    *code == DEFAULT_ERROR
}

/// What the row of a coalesced kick is called.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoalescedName {
    /// `Coelasced 2 Encoders`, spelt as Instruments spells it.
    #[default]
    Count,
    /// `EncA & EncB`; needs an `encoder-label`.
    Labels,
}

impl Stream {
    /// A stream of `count` kicks on `Compute`, every other field at its default.
    #[must_use]
    pub fn new(count: u32, duration: Lengths) -> Self {
        Self {
            channel: Self::default_channel(),
            count,
            start: None,
            follows: false,
            duration,
            gap: Self::nothing(),
            host: Self::nothing(),
            encode: Self::default_encode(),
            launch: Self::default_launch(),
            completion: Self::default_completion(),
            submit: Submission::default(),
            encoders_per_buffer: None,
            in_flight: None,
            buffer_label: None,
            encoder_label: None,
            then: None,
            warm_up: None,
            pause: None,
            oddities: Oddities::default(),
        }
    }

    /// Encoders per command buffer, at least one.
    pub(crate) fn encoders_per_buffer(&self) -> u32 {
        let default = match self.submit {
            Submission::Sync => 1,
            Submission::Batched => 16,
            Submission::Pipelined => 8,
        };
        self.encoders_per_buffer.unwrap_or(default).max(1)
    }

    /// Buffers the host lets run before it waits, at least one.
    pub(crate) fn in_flight(&self) -> usize {
        let default = if self.submit == Submission::Pipelined {
            3
        } else {
            1
        };
        self.in_flight.unwrap_or(default).max(1) as usize
    }

    /// GPU intervals planned, before coalescing and splitting.
    pub(crate) fn kicks(&self) -> u64 {
        u64::from(self.count) * if self.then.is_some() { 2 } else { 1 }
    }

    fn default_channel() -> String {
        "Compute".to_owned()
    }

    fn nothing() -> Lengths {
        Lengths::fixed(0)
    }

    fn default_encode() -> Lengths {
        Lengths::fixed(8_000)
    }

    fn default_launch() -> Lengths {
        Lengths::fixed(85_000)
    }

    fn default_completion() -> Lengths {
        Lengths::fixed(65_000)
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
            error_every: None,
            error_code: DEFAULT_ERROR,
        }
    }
}
