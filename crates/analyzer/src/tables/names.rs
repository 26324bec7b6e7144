//! What may name the work besides its labels: shaders and debug groups.

use super::columns::{Labels, OrNull, Processes, Spans, Texts, Threads, columns};
use super::reader::TableReader;

/// The table of shader samples.
pub(crate) const SHADER_SAMPLES: TableReader<ShaderSamples> =
    ShaderSamples::of_table("metal-shader-profiler-intervals");

/// The table of shaders.
pub(crate) const SHADER_LIST: TableReader<ShaderList> =
    ShaderList::of_table("metal-shader-profiler-shader-list");

/// The table of debug groups and completion handlers.
pub(crate) const APPLICATION_EVENTS: TableReader<ApplicationEvents> =
    ApplicationEvents::of_table("metal-application-event-interval");

columns! {
    /// Samples of shaders that ran.
    struct ShaderSamples {
        names: Texts = "name",
        spans: Spans = "start" and "duration",
        channels: OrNull<Texts> = "channel-name",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// Shaders without times.
    struct ShaderList {
        names: OrNull<Texts> = "name",
        pipelines: OrNull<Texts> = "pso-name",
        kinds: OrNull<Texts> = "shader-type",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// Debug groups and completion handlers.
    struct ApplicationEvents {
        /// `Debug Groups`, …
        kinds: Texts = "event-type",
        labels: Labels = "event-label",
        spans: Spans = "start" and "duration",
        threads: OrNull<Threads> = "thread",
        processes: Option<Processes> = "process",
    }
}
