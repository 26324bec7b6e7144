//! Reads every GPU interval of a trace, of all processes, in order of time.

use std::num::NonZeroU64;

use metalens_trace::{Integers, Names, Place, Problem, Symbol};

use super::commands::id_of;
use super::interval::Interval;
use super::raw_intervals::raw_intervals;
use crate::basics::by_id::ById;
use crate::basics::distinct::distinct;
use crate::basics::moment::Moment;
use crate::basics::spans::{Span, between, united};
use crate::error::{Error, Result};
use crate::tables::RawTables;
use crate::tables::columns::{Either, at};
use crate::tables::commands::Encoders;
use crate::tables::gpu::GpuTables;
use crate::tables::gpu::{GPU_INTERVALS, GpuIntervals, GpuStates};
use crate::tables::reader::if_any;

/// GPU intervals of a run, sorted by start; those with equal starts in the table's order.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// GPU intervals of all processes.
    pub intervals: Vec<Interval>,
    /// Time for which the GPU reports that it was active, if recorded.
    pub active: Option<Vec<Span>>,
    /// True if the intervals are computed from raw events.
    pub is_raw: bool,
}

impl Timeline {
    /// Reads the table of GPU intervals, or computes them from raw events if it is absent or empty.
    /// Fails if there is no interval.
    pub(crate) fn read(gpu: GpuTables, raw: RawTables, names: &mut Names) -> Result<Self> {
        Self::derived(gpu, names).or_else(|error| {
            // The Active time is derived too, and as absent as the intervals.
            raw_intervals(raw, names)
                .filter(|_| lacks_intervals(&error))
                .map(|intervals| Self {
                    intervals,
                    active: None,
                    is_raw: true,
                })
                .ok_or(error)
        })
    }

    /// Reads the tables and frees their memory: a million rows are too many to be kept twice. Fails
    /// if there is no interval.
    pub(crate) fn derived(tables: GpuTables, names: &Names) -> Result<Self> {
        let states = if_any(tables.states)?;
        let active = states.map(|states| active_of(&states, names)).transpose()?;
        let table = tables.intervals.map_err(|absent| {
            if absent.is_unrecorded {
                Error::IntervalsNotRecorded(absent.error)
            } else {
                Error::Trace(absent.error)
            }
        })?;
        let mut intervals = intervals_of(table, names)?;
        if intervals.is_empty() {
            return Err(Error::NoRows {
                table: GPU_INTERVALS.schema.to_owned(),
            });
        }

        check_channels(&intervals)?;
        if !intervals.is_sorted_by_key(|interval| interval.span.start_ns) {
            intervals.sort_by_key(|interval| interval.span.start_ns);
        }
        Ok(Self {
            intervals,
            active,
            is_raw: false,
        })
    }

    /// Gives intervals without a process that of their command buffer, as the encoder list or other
    /// intervals of it tell.
    pub(crate) fn attribute(&mut self, encoders: Option<&Encoders>) {
        let is_nameless = |interval: &&mut Interval| interval.process.is_none();
        if self
            .intervals
            .iter()
            .all(|interval| interval.process.is_some())
        {
            return;
        }
        let listed = encoders.into_iter().flat_map(|table| {
            let rows = 0..table.ids.len();
            rows.filter_map(|row| {
                let process = at(table.processes.as_ref()?, row)?;
                Some((id_of(&table.buffer_ids, row)?, process))
            })
        });
        let named = self.intervals.iter();
        let named =
            named.filter_map(|interval| Some((interval.command_buffer?, interval.process?)));
        let owners = ById::new(listed.chain(named).collect());
        for interval in self.intervals.iter_mut().filter(is_nameless) {
            interval.process = interval
                .command_buffer
                .and_then(|buffer| owners.get(buffer));
        }
    }
}

/// Returns whether an analysis failed because the table of GPU intervals is absent or empty:
/// [`selection_with_raw_events`](crate::selection_with_raw_events) may have them.
pub fn lacks_intervals(error: &Error) -> bool {
    match error.cause() {
        Error::NoRows { .. } | Error::OnlyCpu { .. } | Error::IntervalsNotRecorded(_) => true,
        Error::Trace(error) => matches!(
            error.problem(),
            Problem::NoSuchTable { schema, .. } if schema == GPU_INTERVALS.schema
        ),
        _ => false,
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

/// Refuses intervals on more channels than any GPU has: some steps look at each channel.
fn check_channels(intervals: &[Interval]) -> Result<()> {
    const MAX: usize = 64;
    let channels = intervals.iter().filter_map(|interval| interval.channel);
    if distinct(channels).len() <= MAX {
        return Ok(());
    }
    let problem = Problem::Unexpected(format!("more than {MAX} channels"));
    let place = Place {
        table: Some(GPU_INTERVALS.schema.to_owned()),
        ..Place::default()
    };
    Err(Error::Trace(metalens_trace::Error::new(problem, place)))
}

fn label(table: &GpuIntervals, row: usize, names: &Names) -> Option<Symbol> {
    match &*table.labels {
        Either::Left(formatted) => Some(names.label(at(formatted, row)?)?.text),
        Either::Right(plain) => at(plain, row),
    }
}

/// Returns the id of a row; `None` for null and 0.
fn id_at(ids: &Integers, row: usize) -> Option<NonZeroU64> {
    NonZeroU64::new(ids.get(row)?)
}

/// Returns the union of the rows whose state is Active.
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
