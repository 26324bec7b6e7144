//! Whose fault the idle time is, and how long work travels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summary::Distribution;

/// Where the idle time went. The parts sum to `total_ns`, exactly.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleTime {
    /// All gaps: the same as `gaps.total_ns`.
    pub total_ns: u64,
    /// The parts.
    #[serde(flatten)]
    pub parts: GapParts,
    /// Pairs of which the second was encoded only when the first was known to be
    /// done: the program waited.
    pub serialized: u64,
    /// What those pairs took in completion and launch: the way to the GPU and back,
    /// once for each, which one command buffer for many would take once for all.
    pub round_trips_ns: u64,
    /// Joinable pairs of two command buffers: only those can be serialized.
    pub between_buffers: u64,
    /// Pairs with both a completion and an encoding on record.
    pub joinable: u64,
    /// Gaps; each lies between the interval that ends at its start and the one
    /// that starts at its end.
    pub pairs: u64,
    /// Pairs whose first has no completion on record.
    pub without_completion: u64,
    /// Pairs whose second has no encoding on record.
    pub without_encoding: u64,
    /// Encodings that the encoder list lost and other tables have; null if none.
    pub recovered: Option<Recovered>,
}

impl IdleTime {
    /// The time that one cause took; `None` where the recording cannot tell it.
    ///
    /// A gap is told apart by the completion of the work before it and the encoding of
    /// the work after it. Where either is not on record the whole gap is unexplained, so
    /// that every other part is too small by an unknown amount. Up to a twentieth of the
    /// idle time that is let pass; beyond it, as without the tables altogether, the parts
    /// are no measurement. What is unexplained always is one.
    #[must_use]
    pub fn known(&self, cause: Cause) -> Option<u64> {
        let is_told = cause == Cause::Unknown || self.is_explained();
        is_told.then(|| self.parts.of(cause))
    }

    /// The serialized pairs; `None` where the recording cannot tell, by the same rule.
    #[must_use]
    pub fn known_serialized(&self) -> Option<u64> {
        self.is_explained().then_some(self.serialized)
    }

    fn is_explained(&self) -> bool {
        /// One part in so many may stay unexplained.
        const PARTS: u128 = 20;
        PARTS * u128::from(self.parts.unknown_ns) <= u128::from(self.total_ns)
    }
}

/// The time of a gap, or of many, by what was waited for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapParts {
    /// The GPU was done, and the program did not know yet.
    pub completion_ns: u64,
    /// The program knew, and did something else than encode the next work.
    pub host_ns: u64,
    /// The program encoded the next work.
    pub encoding_ns: u64,
    /// The next work was encoded and on its way to the GPU.
    pub submission_ns: u64,
    /// The next work had been encoded before the gap began: the GPU had it, and
    /// driver or hardware took their time.
    pub queued_ns: u64,
    /// The next work was encoded, and another process held the GPU.
    pub contention_ns: u64,
    /// The recording does not say.
    pub unknown_ns: u64,
}

impl GapParts {
    /// All parts, which is the gap.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.by_cause().iter().map(|&(_, ns)| ns).sum()
    }

    /// The largest part; of equal ones the first in the order of time.
    #[must_use]
    pub fn cause(&self) -> Cause {
        let mut largest = (Cause::Completion, 0);
        for (cause, ns) in self.by_cause() {
            if ns > largest.1 {
                largest = (cause, ns);
            }
        }
        largest.0
    }

    /// The part of one cause.
    #[must_use]
    pub fn of(&self, cause: Cause) -> u64 {
        let parts = self.by_cause();
        let part = parts.into_iter().find(|&(one, _)| one == cause);
        part.map_or(0, |(_, ns)| ns)
    }

    /// Each part, in the order of time.
    #[must_use]
    pub fn by_cause(&self) -> [(Cause, u64); 7] {
        [
            (Cause::Completion, self.completion_ns),
            (Cause::Host, self.host_ns),
            (Cause::Encoding, self.encoding_ns),
            (Cause::Submission, self.submission_ns),
            (Cause::Queued, self.queued_ns),
            (Cause::Contention, self.contention_ns),
            (Cause::Unknown, self.unknown_ns),
        ]
    }

    /// Returns the parts that are not zero, the largest first.
    #[must_use]
    pub fn largest_first(&self) -> Vec<(Cause, u64)> {
        let mut parts = self.by_cause().to_vec();
        parts.retain(|&(_, ns)| ns > 0);
        parts.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
        parts
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.completion_ns += other.completion_ns;
        self.host_ns += other.host_ns;
        self.encoding_ns += other.encoding_ns;
        self.submission_ns += other.submission_ns;
        self.queued_ns += other.queued_ns;
        self.contention_ns += other.contention_ns;
        self.unknown_ns += other.unknown_ns;
    }
}

/// What a gap was spent on.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// Waiting to learn that the GPU is done.
    Completion,
    /// The program was busy with something else.
    Host,
    /// The program encoded.
    Encoding,
    /// The work was on its way to the GPU.
    Submission,
    /// The GPU had the work already.
    Queued,
    /// Another process held the GPU.
    Contention,
    /// The recording does not say.
    Unknown,
}

impl Cause {
    /// All of them, in the order of time.
    pub const ALL: [Self; 7] = [
        Self::Completion,
        Self::Host,
        Self::Encoding,
        Self::Submission,
        Self::Queued,
        Self::Contention,
        Self::Unknown,
    ];

    /// Returns the cause's id, as reports, tables and stylesheets spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Host => "host",
            Self::Encoding => "encoding",
            Self::Submission => "submission",
            Self::Queued => "queued",
            Self::Contention => "contention",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the cause as tables, charts and sentences call it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Completion => "completion latency",
            Self::Host => "host work",
            Self::Encoding => "encoding",
            Self::Submission => "submission latency",
            Self::Queued => "queued",
            Self::Contention => "contention",
            Self::Unknown => "unknown",
        }
    }

    /// Returns what happened during that time, in one clause.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Completion => "GPU done, program not notified yet",
            Self::Host => "program not encoding yet",
            Self::Encoding => "program encoding the next command buffer",
            Self::Submission => "next work committed, not started yet",
            Self::Queued => "next work committed before the gap",
            Self::Contention => "another process on the GPU",
            Self::Unknown => "not recorded",
        }
    }
}

/// Encodings that the encoder list lost, by the table in which they were found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recovered {
    /// In `metal-application-intervals`: the encoding itself.
    pub from_intervals: u64,
    /// In the table of submissions: the span up to the commit of a buffer of one
    /// encoder, which is a little longer than the encoding.
    pub from_submissions: u64,
}

/// How long work travels. A command buffer of the target counts if at least one of its
/// intervals lies in the window. Its latencies follow from all its intervals in the
/// recording, including those outside the window.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// From the commit of a command buffer to the start of its first interval.
    pub submission: Option<Distribution>,
    /// From the end of a command buffer's last interval to its completion;
    /// negative where the completion is stamped first.
    pub completion: Option<Distribution>,
    /// From one commit of the target to its next, if both command buffers count.
    pub commit_interval: Option<Distribution>,
    /// The encodings that begin in the window.
    pub encoding: Option<Distribution>,
    /// The length of the union of those encodings.
    pub encoding_busy_ns: Option<u64>,
    /// The threads that encoded, as displayed.
    pub encoding_threads: Vec<String>,
    /// How many command buffers the GPU had in hand.
    pub queue: Option<Queue>,
}

/// Command buffers that were committed and not yet done by the GPU. Includes command
/// buffers that ran only before or after the window, and those that were committed
/// before the recording began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// Their mean number over the window.
    pub mean_depth: f64,
    /// The most at once.
    pub max_depth: u64,
    /// How long there was none: nothing was committed that was not done.
    pub empty_ns: u64,
    /// How long there was just one.
    pub one_ns: u64,
    /// How long there were more.
    pub more_ns: u64,
    /// Over time, in equal parts of the window.
    pub over_time: Vec<QueueChunk>,
}

/// The queue during one part of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueChunk {
    /// When it begins.
    pub start_ns: u64,
    /// The mean depth.
    pub mean_depth: f64,
}
