//! The GPU's intervals, and its own account of when it was active.

use metalens_trace::Integers;

use super::columns::{Either, Labels, OrNull, Processes, Spans, Texts, columns};
use super::reader::TableReader;

/// The table of GPU intervals.
pub(crate) const GPU_INTERVALS: TableReader<GpuIntervals> =
    GpuIntervals::of_table("metal-gpu-intervals");

/// The table of the GPU's own Active and Idle times.
pub(crate) const GPU_STATES: TableReader<GpuStates> =
    GpuStates::of_table("metal-gpu-state-intervals");

columns! {
    /// Everyone's GPU intervals.
    struct GpuIntervals {
        processes: Processes = "process",
        spans: Spans = "start" and "duration",
        /// 0 is none.
        command_buffers: OrNull<Integers> = "cmdbuffer-id",
        /// 0 is none.
        encoders: OrNull<Integers> = "encoder-id",
        channels: OrNull<Texts> = "channel-name",
        /// Formatted labels; should a version write plain text, that is one too.
        labels: OrNull<Either<Labels, Texts>> = "event-label",
        latencies: OrNull<Integers> = "start-latency",
    }
    also "gpu"
}

columns! {
    /// The GPU's states.
    struct GpuStates {
        /// `Active` or `Idle`.
        states: Texts = "state",
        spans: Spans = "start" and "duration",
    }
}
