//! Tables that may name the work besides its labels: shaders and debug groups.

use super::columns::{Labels, OrNull, Processes, Spans, Texts, Threads, columns};

columns! {
    /// Table of shader samples.
    table SHADER_SAMPLES = "metal-shader-profiler-intervals";
    struct ShaderSamples {
        names: Texts = "name",
        spans: Spans = "start" and "duration",
        channels: OrNull<Texts> = "channel-name",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// Table of shaders.
    table SHADER_LIST = "metal-shader-profiler-shader-list";
    struct ShaderList {
        names: OrNull<Texts> = "name",
        pipelines: OrNull<Texts> = "pso-name",
        kinds: OrNull<Texts> = "shader-type",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// Table of debug groups and completion handlers.
    table APPLICATION_EVENTS = "metal-application-event-interval";
    struct ApplicationEvents {
        /// Kind of the row: `Debug Groups`, …
        kinds: Texts = "event-type",
        labels: Labels = "event-label",
        spans: Spans = "start" and "duration",
        threads: OrNull<Threads> = "thread",
        processes: Option<Processes> = "process",
    }
}
