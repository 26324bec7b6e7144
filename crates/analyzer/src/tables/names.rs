//! What may name the work besides its labels: shaders and debug groups.

use metalens_trace::{LabelId, Table};

use super::columns::{Processes, Spans, Texts, Threads};
use super::reader::TableReader;

/// The table of shader samples.
pub(crate) const SHADER_SAMPLES: TableReader<ShaderSamples> = TableReader {
    schema: "metal-shader-profiler-intervals",
    columns: &["start", "duration", "name", "channel-name", "process"],
    read: ShaderSamples::read,
};

/// The table of shaders.
pub(crate) const SHADER_LIST: TableReader<ShaderList> = TableReader {
    schema: "metal-shader-profiler-shader-list",
    columns: &["name", "pso-name", "shader-type", "process"],
    read: ShaderList::read,
};

/// The table of debug groups and completion handlers.
pub(crate) const APPLICATION_EVENTS: TableReader<ApplicationEvents> = TableReader {
    schema: "metal-application-event-interval",
    columns: &[
        "start",
        "duration",
        "event-type",
        "process",
        "thread",
        "event-label",
    ],
    read: ApplicationEvents::read,
};

/// Samples of shaders that ran.
#[derive(Debug)]
pub(crate) struct ShaderSamples {
    pub names: Texts,
    pub channels: Texts,
    pub spans: Spans,
    /// None if the table names no process at all.
    pub processes: Option<Processes>,
}

impl ShaderSamples {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            names: table.take_texts("name")?,
            channels: table.take_texts("channel-name").unwrap_or_default(),
            spans: Spans::read(table)?,
            processes: table.take_processes("process").ok(),
        })
    }
}

/// Shaders without times.
#[derive(Debug)]
pub(crate) struct ShaderList {
    pub names: Texts,
    pub pipelines: Texts,
    pub kinds: Texts,
    /// None if the table names no process at all.
    pub processes: Option<Processes>,
}

impl ShaderList {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            names: table.take_texts("name").unwrap_or_default(),
            pipelines: table.take_texts("pso-name").unwrap_or_default(),
            kinds: table.take_texts("shader-type").unwrap_or_default(),
            processes: table.take_processes("process").ok(),
        })
    }
}

/// Debug groups and completion handlers.
#[derive(Debug)]
pub(crate) struct ApplicationEvents {
    /// `Debug Groups`, …
    pub kinds: Texts,
    pub labels: Vec<Option<LabelId>>,
    pub spans: Spans,
    pub threads: Threads,
    /// None if the table names no process at all.
    pub processes: Option<Processes>,
}

impl ApplicationEvents {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            kinds: table.take_texts("event-type")?,
            labels: table.take_labels("event-label")?,
            spans: Spans::read(table)?,
            threads: table.take_threads("thread").unwrap_or_default(),
            processes: table.take_processes("process").ok(),
        })
    }
}
