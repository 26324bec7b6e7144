//! Every GPU interval of a trace, whoever's it is, in order of time.

use std::num::NonZeroU64;

use metalens_trace::{
    Error, Integers, LabelId, Names, Place, Problem, ProcessId, Symbol, Table, Trace,
};

use crate::error::Result;
use crate::moment::Moment;
use crate::spans::{Span, between, united};

/// The table of GPU intervals.
pub(crate) const GPU_INTERVALS: &str = "metal-gpu-intervals";
/// The table of the GPU's own Active and Idle times.
pub(crate) const GPU_STATES: &str = "metal-gpu-state-intervals";

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
    /// The timeline of a trace, whose tables of GPU intervals and states it
    /// takes: a million rows are too many to be held twice.
    pub(crate) fn take(trace: &mut Trace) -> Result<Self> {
        let active = match trace.find_table(GPU_STATES) {
            Some(_) => Some(active_of(&trace.take_table(GPU_STATES)?, &trace.names)?),
            None => None,
        };
        let mut intervals = intervals_of(&trace.take_table(GPU_INTERVALS)?, &trace.names)?;
        if !intervals.is_sorted_by_key(|interval| interval.span.start_ns) {
            intervals.sort_by_key(|interval| interval.span.start_ns);
        }
        Ok(Self { intervals, active })
    }
}

fn intervals_of(table: &Table, names: &Names) -> Result<Vec<Interval>> {
    let processes = table.processes("process")?;
    let optional = Optional::of(table, names);
    let mut intervals = Vec::with_capacity(table.rows());
    for (row, span) in spans_of(table)?.enumerate() {
        let span = span?;
        intervals.push(Interval {
            span,
            committed: optional.committed(row, span),
            process: processes.get(row).copied().flatten(),
            channel: optional.channel(row),
            label: optional.label(row),
            command_buffer: id_at(optional.command_buffers, row),
            encoder: id_at(optional.encoders, row),
        });
    }
    Ok(intervals)
}

/// The columns that a report can do without.
struct Optional<'a> {
    names: &'a Names,
    command_buffers: Option<&'a Integers>,
    encoders: Option<&'a Integers>,
    channels: Option<&'a [Option<Symbol>]>,
    labels: Option<Labels<'a>>,
    latencies: Option<&'a Integers>,
}

/// Labels are formatted labels; should a version write plain text, that is one too.
enum Labels<'a> {
    Formatted(&'a [Option<LabelId>]),
    Plain(&'a [Option<Symbol>]),
}

impl<'a> Optional<'a> {
    fn of(table: &'a Table, names: &'a Names) -> Self {
        let formatted = table.labels("event-label").map(Labels::Formatted);
        let labels = formatted.or_else(|_| table.texts("event-label").map(Labels::Plain));
        Self {
            names,
            command_buffers: table.integers("cmdbuffer-id").ok(),
            encoders: table.integers("encoder-id").ok(),
            channels: table.texts("channel-name").ok(),
            labels: labels.ok(),
            latencies: table.integers("start-latency").ok(),
        }
    }

    fn committed(&self, row: usize, span: Span) -> Moment {
        let latency = self.latencies.and_then(|latencies| latencies.get(row));
        Moment::at(latency.and_then(|latency| between(latency, span.start_ns)))
    }

    fn channel(&self, row: usize) -> Option<Symbol> {
        *self.channels?.get(row)?
    }

    fn label(&self, row: usize) -> Option<Symbol> {
        match self.labels.as_ref()? {
            Labels::Formatted(labels) => Some(self.names.label((*labels.get(row)?)?)?.text),
            Labels::Plain(labels) => *labels.get(row)?,
        }
    }
}

/// An id of a row; null and 0 are none.
fn id_at(ids: Option<&Integers>, row: usize) -> Option<NonZeroU64> {
    NonZeroU64::new(ids?.get(row)?)
}

/// The union of the rows whose state is Active.
fn active_of(table: &Table, names: &Names) -> Result<Vec<Span>> {
    let states = table.texts("state")?;
    let active = names.find_symbol("Active");
    let mut spans = Vec::new();
    for (span, state) in spans_of(table)?.zip(states) {
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

/// `start` and `duration` of each row; neither may be null.
pub(crate) fn spans_of(table: &Table) -> Result<impl Iterator<Item = Result<Span>>> {
    let starts = table.integers("start")?;
    let durations = table.integers("duration")?;
    Ok((0..table.rows()).map(move |row| {
        let start = starts.get(row).ok_or_else(|| null(table, row, "start"))?;
        let duration = durations
            .get(row)
            .ok_or_else(|| null(table, row, "duration"))?;
        Ok(Span::new(start, start + duration))
    }))
}

fn null(table: &Table, row: usize, column: &str) -> Error {
    let place = Place {
        table: Some(table.schema.name.clone()),
        row: Some(row as u64 + 1),
        column: Some(column.to_owned()),
        ..Place::file(&table.file)
    };
    let problem = Problem::BadNumber {
        text: "<sentinel/>".to_owned(),
    };
    Error::new(problem, place)
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Of nobody, on no channel, from start to end.
    pub(crate) fn interval(start: u64, end: u64) -> Interval {
        Interval {
            span: Span::new(start, end),
            committed: Moment::default(),
            process: None,
            channel: None,
            label: None,
            command_buffer: None,
            encoder: None,
        }
    }
}
