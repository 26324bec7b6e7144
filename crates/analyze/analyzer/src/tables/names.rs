//! Tables about single kernels: shaders and debug groups, which may name the work, and spilled
//! registers.

use metalens_trace::Integers;

use super::columns::{Labels, OrNull, Processes, Spans, Texts, Threads, columns};
use super::counters::Numbers;
use super::reader::tables;

tables! {
    /// Tables that may name the work besides its labels.
    struct NameTables {
        shader_samples: ShaderSamples = SHADER_SAMPLES,
        application_events: ApplicationEvents = APPLICATION_EVENTS,
        dispatches: Dispatches = DISPATCHES,
    }
}

columns! {
    /// Table of shader samples.
    table SHADER_SAMPLES = "metal-shader-profiler-intervals";
    struct ShaderSamples {
        names: Texts = "name",
        spans: Spans = "start" and "duration",
        channels: OrNull<Texts> = "channel-name",
        processes: Option<Processes> = "process",
        /// Share of the GPU interval, in percent. Raw numbers of bundles are not read.
        percents: OrNull<Numbers> = "percent-of-kick",
        /// Depth of nesting: a sample inside another has a greater one.
        depths: OrNull<Integers> = "event-depth",
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
    /// Table of the functions that each encoder dispatched, which only a command-buffer log has. A log
    /// is of one process.
    table DISPATCHES = "command-buffer-log-dispatches";
    struct Dispatches {
        encoders: Integers = "encoder-id",
        functions: Texts = "function",
        kinds: Texts = "kind",
        counts: Integers = "dispatches",
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

columns! {
    /// Table of encoders that ran code with spilled registers.
    table SPILL_EVENTS = "graphics-compiler-spill-events";
    struct SpillEvents {
        encoders: Integers = "encoder-id",
        bytes: Integers = "spilled-bytes",
        processes: Option<Processes> = "process",
    }
}
