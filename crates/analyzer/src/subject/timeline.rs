//! Every GPU interval of a trace, whoever's it is, in order of time.

use std::num::NonZeroU64;

use metalens_trace::{Integers, Names, ProcessId, Symbol};

use crate::basics::moment::Moment;
use crate::basics::spans::{Span, between, united};
use crate::error::{Error, Result};
use crate::tables::GpuTables;
use crate::tables::columns::{Either, at};
use crate::tables::gpu::{GPU_INTERVALS, GpuIntervals, GpuStates};
use crate::tables::reader::if_any;

/// One row of `metal-gpu-intervals`: one kick of the GPU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval {
    /// When it ran.
    pub span: Span,
    /// When its command buffer was committed, that is `start - start-latency`:
    /// to the nanosecond where the table of submissions ends its rows; before the
    /// recording began if the latency is longer. `None` where the recorder did
    /// not know.
    pub committed: Moment,
    /// Whose it is; `None` where the recorder did not know.
    pub process: Option<ProcessId>,
    /// `Compute`, `Vertex`, `Fragment`, …
    pub channel: Option<Symbol>,
    /// The words of its label: `Command Buffer 0:sin`.
    pub label: Option<Symbol>,
    /// The command buffer it belongs to; the table has 0 for none.
    pub command_buffer: Option<NonZeroU64>,
    /// The encoder it belongs to; the table has 0 for none.
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

/// All intervals of a run, sorted by start; equal starts in the table's order.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// The intervals.
    pub intervals: Vec<Interval>,
    /// When the GPU says that it was active, if it was recorded.
    pub active: Option<Vec<Span>>,
}

impl Timeline {
    /// Reads the tables, whose memory ends here: a million rows are too many to be held
    /// twice. An error if there is no interval.
    pub(crate) fn of(tables: GpuTables, names: &Names) -> Result<Self> {
        let states = if_any(tables.states)?;
        let active = states.map(|states| active_of(&states, names)).transpose()?;
        let mut intervals = intervals_of(tables.intervals.map_err(|absent| absent.error)?, names)?;
        if intervals.is_empty() {
            return Err(Error::NoRows {
                table: GPU_INTERVALS.schema.to_owned(),
            });
        }

        if !intervals.is_sorted_by_key(|interval| interval.span.start_ns) {
            intervals.sort_by_key(|interval| interval.span.start_ns);
        }
        Ok(Self { intervals, active })
    }
}

fn intervals_of(table: GpuIntervals, names: &Names) -> Result<Vec<Interval>> {
    let mut intervals = Vec::with_capacity(table.spans.rows());
    for (row, span) in table.spans.all().enumerate() {
        let span = span?;
        let latency = table.latencies.get(row);
        intervals.push(Interval {
            span,
            committed: Moment::at(latency.and_then(|latency| between(latency, span.start_ns))),
            process: at(&table.processes, row),
            channel: at(&table.channels, row),
            label: label(&table, row, names),
            command_buffer: id_at(&table.command_buffers, row),
            encoder: id_at(&table.encoders, row),
        });
    }
    Ok(intervals)
}

fn label(table: &GpuIntervals, row: usize, names: &Names) -> Option<Symbol> {
    match &*table.labels {
        Either::Left(formatted) => Some(names.label(at(formatted, row)?)?.text),
        Either::Right(plain) => at(plain, row),
    }
}

/// An id of a row; null and 0 are none.
fn id_at(ids: &Integers, row: usize) -> Option<NonZeroU64> {
    NonZeroU64::new(ids.get(row)?)
}

/// The union of the rows whose state is Active.
fn active_of(table: &GpuStates, names: &Names) -> Result<Vec<Span>> {
    let active = names.find_symbol("Active");
    let mut spans = Vec::new();
    for (span, state) in table.spans.all().zip(&table.states) {
        let span = span?;
        if state.is_some() && *state == active {
            spans.push(span);
        }
    }
    if !spans.is_sorted() {
        spans.sort_unstable();
    }
    Ok(united(spans))
}

/// The distinct encoders of some intervals, in the order of their ids.
#[must_use]
pub(crate) fn encoders(intervals: &[Interval]) -> Vec<u64> {
    let ids = intervals.iter().filter_map(|one| one.encoder);
    let mut ids: Vec<u64> = ids.map(NonZeroU64::get).collect();
    // Ids nearly rise with time, so that sorting them is quicker than hashing.
    ids.sort_unstable();
    ids.dedup();
    ids
}
