//! The GPU's intervals, and its own account of when it was active.

use metalens_trace::{Integers, LabelId, Table};

use super::columns::{Processes, Spans, Texts};
use super::reader::TableReader;

/// The table of GPU intervals.
pub(crate) const GPU_INTERVALS: TableReader<GpuIntervals> = TableReader {
    schema: "metal-gpu-intervals",
    columns: &[
        "start",
        "duration",
        "start-latency",
        "channel-name",
        "event-label",
        "process",
        "gpu",
        "cmdbuffer-id",
        "encoder-id",
    ],
    read: GpuIntervals::read,
};

/// The table of the GPU's own Active and Idle times.
pub(crate) const GPU_STATES: TableReader<GpuStates> = TableReader {
    schema: "metal-gpu-state-intervals",
    columns: &["start", "duration", "state"],
    read: GpuStates::read,
};

/// Everyone's GPU intervals. Of a column that is missing all rows are null.
#[derive(Debug)]
pub(crate) struct GpuIntervals {
    pub spans: Spans,
    pub processes: Processes,
    /// 0 is none.
    pub command_buffers: Integers,
    /// 0 is none.
    pub encoders: Integers,
    pub channels: Texts,
    pub labels: Labels,
    pub latencies: Integers,
}

/// Labels are formatted labels; should a version write plain text, that is one too.
#[derive(Debug)]
pub(crate) enum Labels {
    Formatted(Vec<Option<LabelId>>),
    Plain(Texts),
}

impl GpuIntervals {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        let processes = table.take_processes("process")?;
        let labels = match table.take_labels("event-label") {
            Ok(labels) => Labels::Formatted(labels),
            Err(_) => Labels::Plain(table.take_texts("event-label").unwrap_or_default()),
        };
        Ok(Self {
            spans: Spans::read(table)?,
            processes,
            command_buffers: table.take_integers("cmdbuffer-id").unwrap_or_default(),
            encoders: table.take_integers("encoder-id").unwrap_or_default(),
            channels: table.take_texts("channel-name").unwrap_or_default(),
            labels,
            latencies: table.take_integers("start-latency").unwrap_or_default(),
        })
    }
}

/// The GPU's states.
#[derive(Debug)]
pub(crate) struct GpuStates {
    pub spans: Spans,
    /// `Active` or `Idle`.
    pub states: Texts,
}

impl GpuStates {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            states: table.take_texts("state")?,
            spans: Spans::read(table)?,
        })
    }
}
