//! Defines a GPU interval, whether a table has it or raw events tell of it.

use std::num::NonZeroU64;

use metalens_trace::{ProcessId, Symbol};

use crate::basics::moment::Moment;
use crate::basics::spans::{Span, between};

/// Row of `metal-gpu-intervals`: one kick of the GPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval {
    /// Time on the GPU.
    pub span: Span,
    /// Time of its command buffer's commit, which is `start - start-latency`: exact to the
    /// nanosecond if the table of submissions has the row's end; before the start of the recording
    /// if the latency is longer. Unknown if the recorder did not know it.
    pub committed: Moment,
    /// Process of the interval; `None` if the recorder did not know it.
    pub process: Option<ProcessId>,
    /// Channel: `Compute`, `Vertex`, `Fragment`, …
    pub channel: Option<Symbol>,
    /// Text of its label: `Command Buffer 0:sin`.
    pub label: Option<Symbol>,
    /// Id of its command buffer; the table has 0 for none.
    pub command_buffer: Option<NonZeroU64>,
    /// Id of its encoder; the table has 0 for none.
    pub encoder: Option<NonZeroU64>,
}

impl Interval {
    /// Returns the time of its commit, if that is known and not before the recording.
    pub(crate) fn committed_ns(&self) -> Option<u64> {
        u64::try_from(self.committed.ns()?).ok()
    }

    /// Returns the time from its commit to its start.
    pub(crate) fn start_latency_ns(&self) -> Option<u64> {
        let latency = between(self.committed.ns()?, self.span.start_ns)?;
        u64::try_from(latency).ok()
    }
}

/// Returns the distinct encoders of some intervals, in the order of their ids.
pub(crate) fn encoders(intervals: &[Interval]) -> Vec<u64> {
    let encoders = intervals.iter().filter_map(|interval| interval.encoder);
    let mut ids: Vec<u64> = encoders.map(NonZeroU64::get).collect();
    // Ids nearly rise with time, so that sorting them is faster than hashing.
    ids.sort_unstable();
    ids.dedup();
    ids
}
