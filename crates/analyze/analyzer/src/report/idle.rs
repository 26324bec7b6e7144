//! Types of the idle time by cause, and of submission and completion latency.

use metalens_message::Ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::replay::ChainSource;
use super::summary::Distribution;

/// Idle time of the GPU by cause. The parts sum to `total_ns` exactly.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleTime {
    /// Summed length of all gaps in nanoseconds; equals `gaps.total_ns`.
    pub total_ns: Ns,
    /// Parts of the total, one for each cause.
    #[serde(flatten)]
    pub parts: GapParts,
    /// Pairs of which the second piece of work was encoded only after the program was notified that
    /// the first was done: the program waited.
    pub serialized: u64,
    /// Time from the end on the GPU to the notification, and from the commit to the start on the GPU,
    /// of the serialized pairs, in nanoseconds: one round trip
    /// for each, which one larger command buffer would take once.
    pub round_trips_ns: Ns,
    /// Contention of the serialized pairs, in nanoseconds: the rest of these round trips, during
    /// which another process ran on the GPU.
    pub round_trips_contended_ns: Ns,
    /// Pairs that can be joined and belong to two command buffers; only those can be serialized.
    pub between_buffers: u64,
    /// Pairs with both a completion and an encoding on record.
    pub joinable: u64,
    /// Number of gaps. Those that the window cuts count, too.
    pub pairs: u64,
    /// Pairs whose first interval has no completion on record.
    pub without_completion: u64,
    /// Pairs whose second interval has no encoding on record.
    pub without_encoding: u64,
    /// Encodings that are missing in the encoder list and were found in other tables; null if none.
    pub recovered: Option<Recovered>,
}

impl IdleTime {
    /// Returns the time of one cause in nanoseconds; `None` if the recording cannot tell it.
    ///
    /// A gap is explained by the completion of the work before it and the encoding of the work
    /// after it. If either is not on record, the whole gap counts as unknown, and every other part
    /// is too small by an unknown amount. Up to a twentieth of the idle time, that is accepted.
    /// Beyond it the other parts are not a measurement. The unknown part always is one.
    pub fn known(&self, cause: Cause) -> Option<Ns> {
        let is_measured = cause == Cause::Unknown || self.is_explained();
        is_measured.then(|| self.parts.get(cause))
    }

    /// Returns the number of serialized pairs; `None` if the recording cannot tell, by the same
    /// rule.
    pub fn known_serialized(&self) -> Option<u64> {
        self.is_explained().then_some(self.serialized)
    }

    fn is_explained(&self) -> bool {
        /// One part in this many may be unknown.
        const PARTS: u128 = 20;
        PARTS * self.parts.unknown_ns.wide() <= self.total_ns.wide()
    }
}

/// Time of one gap or of several, by cause.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapParts {
    /// Completion latency in nanoseconds: the GPU was done, and the program, which waited for that,
    /// was not notified yet.
    pub completion_ns: Ns,
    /// Host work in nanoseconds: the program did not encode the next command buffer yet.
    pub host_ns: Ns,
    /// Encoding in nanoseconds: the program encoded the next command buffer, up to its commit.
    pub encoding_ns: Ns,
    /// Wait for the driver in nanoseconds: the next work was committed, and the driver did not begin
    /// to work on it yet.
    pub driver_wait_ns: Ns,
    /// Time of the driver in nanoseconds: it worked on the next work, up to the submission to the GPU.
    pub driver_ns: Ns,
    /// GPU start latency in nanoseconds: the next work was submitted to the GPU during the gap, and the
    /// GPU did not start it yet.
    pub start_latency_ns: Ns,
    /// Submission latency in nanoseconds, where the driver's times are not recorded: the next work
    /// was committed, and the GPU did not start it yet.
    pub submission_ns: Ns,
    /// Queued time in nanoseconds: the next work was submitted to the GPU before the gap began; where
    /// that is not recorded, it was committed before.
    pub queued_ns: Ns,
    /// Contention in nanoseconds: the next work was committed, and another process ran on the GPU.
    pub contention_ns: Ns,
    /// Unknown time in nanoseconds: the recording does not tell the cause.
    pub unknown_ns: Ns,
}

impl GapParts {
    /// Returns the sum of all parts, which is the length of the gap.
    pub fn total_ns(&self) -> Ns {
        self.by_cause().iter().map(|&(_, ns)| ns).sum()
    }

    /// Returns the cause with the most time; of equal ones the first in the order of time.
    pub fn cause(&self) -> Cause {
        let mut largest = (Cause::Completion, Ns(0));

        for (cause, ns) in self.by_cause() {
            if ns > largest.1 {
                largest = (cause, ns);
            }
        }

        largest.0
    }

    /// Returns the time of one cause in nanoseconds.
    pub fn get(mut self, cause: Cause) -> Ns {
        *self.get_mut(cause)
    }

    /// Borrows the time of one cause in nanoseconds, for a change.
    pub(crate) fn get_mut(&mut self, cause: Cause) -> &mut Ns {
        match cause {
            Cause::Completion => &mut self.completion_ns,
            Cause::Host => &mut self.host_ns,
            Cause::Encoding => &mut self.encoding_ns,
            Cause::DriverWait => &mut self.driver_wait_ns,
            Cause::Driver => &mut self.driver_ns,
            Cause::StartLatency => &mut self.start_latency_ns,
            Cause::Submission => &mut self.submission_ns,
            Cause::Queued => &mut self.queued_ns,
            Cause::Contention => &mut self.contention_ns,
            Cause::Unknown => &mut self.unknown_ns,
        }
    }

    /// Returns the time of each cause in nanoseconds, in the order of time.
    pub fn by_cause(&self) -> [(Cause, Ns); 10] {
        Cause::ALL.map(|cause| (cause, self.get(cause)))
    }

    /// Returns the time between commit and start on the GPU without other processes, in nanoseconds.
    pub fn after_commit_ns(&self) -> Ns {
        self.driver_wait_ns + self.driver_ns + self.start_latency_ns + self.submission_ns
    }

    /// Returns the parts that are not zero, the largest first.
    pub fn largest_first(&self) -> Vec<(Cause, Ns)> {
        let mut parts = self.by_cause().to_vec();
        parts.retain(|&(_, ns)| ns > Ns(0));
        parts.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
        parts
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (cause, ns) in other.by_cause() {
            *self.get_mut(cause) += ns;
        }
    }
}

/// Cause of idle time: the step that the GPU waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Completion latency: the GPU was done, and the program, which waited for that, was not notified
    /// yet.
    Completion,
    /// Host work: the program did not encode the next command buffer yet.
    Host,
    /// Encoding: the program encoded the next command buffer, up to its commit.
    Encoding,
    /// Waiting for the driver: the next work was committed, and the driver did not begin yet.
    DriverWait,
    /// Driver: it worked on the next command buffer, up to the submission to the GPU.
    Driver,
    /// GPU start latency: the next work was submitted to the GPU, and did not start yet.
    StartLatency,
    /// Submission latency, where the driver's times are not recorded: the next work was committed, and
    /// the GPU did not start it yet.
    Submission,
    /// Queued: the next work was submitted to the GPU before the gap began; where that is not
    /// recorded, it was committed before.
    Queued,
    /// Contention: another process ran on the GPU.
    Contention,
    /// Unknown: the recording does not show the cause.
    Unknown,
}

impl Cause {
    /// All causes, in the order of time.
    pub const ALL: [Self; 10] = [
        Self::Completion,
        Self::Host,
        Self::Encoding,
        Self::DriverWait,
        Self::Driver,
        Self::StartLatency,
        Self::Submission,
        Self::Queued,
        Self::Contention,
        Self::Unknown,
    ];

    /// Returns the cause's id, as reports, tables and stylesheets spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Host => "host",
            Self::Encoding => "encoding",
            Self::DriverWait => "driver-wait",
            Self::Driver => "driver",
            Self::StartLatency => "start-latency",
            Self::Submission => "submission",
            Self::Queued => "queued",
            Self::Contention => "contention",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the path of its time in a report, by which comparisons and limits name it.
    pub const fn figure(self) -> &'static str {
        match self {
            Self::Completion => "idle.completion_ns",
            Self::Host => "idle.host_ns",
            Self::Encoding => "idle.encoding_ns",
            Self::DriverWait => "idle.driver_wait_ns",
            Self::Driver => "idle.driver_ns",
            Self::StartLatency => "idle.start_latency_ns",
            Self::Submission => "idle.submission_ns",
            Self::Queued => "idle.queued_ns",
            Self::Contention => "idle.contention_ns",
            Self::Unknown => "idle.unknown_ns",
        }
    }

    /// Returns the name of its time in datasets and CSV, which is the key in a report.
    pub const fn column(self) -> &'static str {
        self.figure().split_at("idle.".len()).1
    }

    /// Returns the cause as tables, charts and sentences call it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Completion => "completion latency",
            Self::Host => "host work",
            Self::Encoding => "encoding",
            Self::DriverWait => "driver wait",
            Self::Driver => "driver",
            Self::StartLatency => "GPU start latency",
            Self::Submission => "submission latency",
            Self::Queued => "queued",
            Self::Contention => "contention",
            Self::Unknown => "unknown",
        }
    }

    /// Returns what happened during that time, in one clause.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Completion => "GPU done, program not told yet",
            Self::Host => "program not encoding yet",
            Self::Encoding => "program encodes the next work",
            Self::DriverWait => "committed, driver not at it yet",
            Self::Driver => "driver prepares the next work",
            Self::StartLatency => "submitted, GPU not started yet",
            Self::Submission => "committed, GPU not started yet",
            Self::Queued => "next work with the GPU already",
            Self::Contention => "another process on the GPU",
            Self::Unknown => "not recorded",
        }
    }
}

/// Number of encodings that are missing in the encoder list, by the table in which they were
/// found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recovered {
    /// Encodings found in `metal-application-intervals`, which has the encoding itself.
    pub from_intervals: u64,
    /// Encodings found in the table of submissions. Their length is the span up to the commit of a
    /// buffer of one encoder, a little longer than the encoding.
    pub from_submissions: u64,
}

/// Submission and completion latency, encoding times and queue depth. A command buffer counts
/// if at least one of its intervals lies in the window. Its latencies follow from all its
/// intervals in the recording, including those outside the window.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Submission latency: the time from the commit of a command buffer to the start of its first
    /// interval. Null if unknown.
    pub submission: Option<Distribution>,
    /// Wait for the driver: the time from the commit of a command buffer to the start of the driver's
    /// work on it. Null if unknown.
    pub driver_wait: Option<Distribution>,
    /// Time from the start of the driver's work on a command buffer to its first submission to the
    /// GPU. Null if unknown.
    pub driver: Option<Distribution>,
    /// GPU start latency: the time from the first submission of a command buffer to the start of its
    /// first interval. Null if unknown.
    pub start: Option<Distribution>,
    /// Source of the driver's times; null if they are not recorded.
    pub driver_source: Option<ChainSource>,
    /// Completion latency: the time from the end of a command buffer's last interval to its
    /// completion. Negative if the completion has the earlier time stamp. Null if unknown.
    pub completion: Option<Distribution>,
    /// Time from one commit of the process to its next, if both command buffers count. Null if
    /// unknown.
    pub commit_interval: Option<Distribution>,
    /// Durations of the encodings that begin in the window. Null if unknown.
    pub encoding: Option<Distribution>,
    /// Length of the union of those encodings in nanoseconds; null if unknown.
    pub encoding_busy_ns: Option<Ns>,
    /// Threads that encoded, named as Instruments displays them.
    pub encoding_threads: Vec<String>,
    /// Queue depth over the window; null if unknown.
    pub queue: Option<Queue>,
}

/// Queue depth: the number of command buffers that were committed and not finished on the GPU.
/// Includes command buffers that ran only before or after the window, and those that were
/// committed before the recording began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// Mean queue depth over the window.
    pub mean_depth: f64,
    /// Largest queue depth in the window.
    pub max_depth: u64,
    /// Time with an empty queue in nanoseconds: nothing was committed that was not finished.
    pub empty_ns: Ns,
    /// Time with exactly one command buffer in the queue, in nanoseconds.
    pub one_ns: Ns,
    /// Time with two or more command buffers in the queue, in nanoseconds.
    pub more_ns: Ns,
    /// Mean queue depth in each of several equal parts of the window, in order.
    pub over_time: Vec<QueueChunk>,
}

/// Queue depth during one part of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueChunk {
    /// Start of the part, in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// Mean queue depth during the part.
    pub mean_depth: f64,
}
