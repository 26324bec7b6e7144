//! The GPU's intervals, and its own account of when it was active.

use metalens_trace::Integers;

use super::columns::{Either, Labels, OrNull, Processes, Spans, Texts, columns};

columns! {
    /// The table of GPU intervals.
    table GPU_INTERVALS = "metal-gpu-intervals";
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
    /// The table of the GPU's own Active and Idle times.
    table GPU_STATES = "metal-gpu-state-intervals";
    struct GpuStates {
        /// `Active` or `Idle`.
        states: Texts = "state",
        spans: Spans = "start" and "duration",
    }
}
