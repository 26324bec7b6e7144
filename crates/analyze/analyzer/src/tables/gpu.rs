//! Tables of the GPU's intervals, and of the times when it was active.

use metalens_trace::Integers;

use super::columns::{Either, Labels, OrNull, Processes, Spans, Texts, columns};
use super::reader::tables;

tables! {
    /// Tables of the GPU's intervals and states.
    struct GpuTables {
        intervals: GpuIntervals = GPU_INTERVALS,
        states: GpuStates = GPU_STATES,
    }
}

columns! {
    /// Table of GPU intervals.
    table GPU_INTERVALS = "metal-gpu-intervals";
    struct GpuIntervals {
        processes: Processes = "process",
        spans: Spans = "start" and "duration",
        /// Ids of the command buffers; 0 means none.
        command_buffers: OrNull<Integers> = "cmdbuffer-id",
        /// Ids of the encoders; 0 means none.
        encoders: OrNull<Integers> = "encoder-id",
        channels: OrNull<Texts> = "channel-name",
        /// Formatted labels; plain text in case some version writes that.
        labels: OrNull<Either<Labels, Texts>> = "event-label",
        latencies: OrNull<Integers> = "start-latency",
    }
    also "gpu"
}

columns! {
    /// Table of the GPU's own Active and Idle times.
    table GPU_STATES = "metal-gpu-state-intervals";
    struct GpuStates {
        /// State of the GPU: `Active` or `Idle`.
        states: Texts = "state",
        spans: Spans = "start" and "duration",
    }
}
