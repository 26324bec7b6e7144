//! Reads what the driver does with a command buffer between its commit and the GPU, and which ones
//! the program waited for.
//!
//! ```text
//! encoding ─▶ commit ─▶ driver begins ─▶ submitted ─▶ GPU start ─▶ GPU end ─▶ completed
//!                  waiting         driver      GPU start
//!                  for the driver              latency
//! ```
//!
//! Two tables have these times, and are joined by command buffer and encoder to the nanosecond. An
//! export often lacks both and has `metal-driver-intervals`, whose rows name no command buffer. The
//! driver works on the command buffers of a process one after another, in the order of their
//! commits, so that the order joins them if there are as many rows as command buffers. The end of
//! a row then counts as the submission, which comes 2 to 100 µs earlier.

use std::num::NonZeroU64;

use metalens_trace::{Integers, Names, ThreadId};

use super::buffers::Buffer;
use super::chosen_processes::ChosenProcesses;
use super::commands::id_of;
use super::interval::Interval;
use crate::basics::by_id::ById;
use crate::basics::spans::Span;
use crate::error::Result;
use crate::report::ChainSource;
use crate::tables::columns::at;
use crate::tables::commands::ChainTables;
use crate::tables::commands::RecordedWaits;
use crate::tables::machine::DriverWork;
use crate::tables::reader::{TableResult, if_any};

/// Type of a driver's row about a whole command buffer; others are about its encoders.
const COMMAND_BUFFER: &str = "Command Buffer";

/// The driver's work on the command buffers of the chosen processes.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// Times at which the driver began, by command buffer.
    begins: ById<u64>,
    /// Times of the first submission to the GPU, by encoder.
    by_encoder: ById<u64>,
    /// Times of the first submission to the GPU, by command buffer.
    by_buffer: ById<u64>,
    /// The driver's work on command buffers, in order of time.
    work: Vec<Span>,
    /// Source of these times; `None` if the recording has none.
    pub source: Option<ChainSource>,
    /// The program's waits, in the order of their ends; empty if they are not recorded.
    pub waits: Vec<RecordedWait>,
}

/// Wait of the program for a command buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordedWait {
    pub span: Span,
    pub buffer: NonZeroU64,
    /// Thread that waited; `None` if it is not recorded.
    pub thread: Option<ThreadId>,
}

/// Times of the driver's work on a command buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DriverTimes {
    /// Time at which the driver began to work on it.
    pub begins_ns: u64,
    /// Time at which it was submitted to the GPU.
    pub submitted_ns: u64,
}

impl Chain {
    /// Reads the tables, and frees their memory.
    pub(crate) fn read(
        tables: ChainTables,
        driver: &TableResult<DriverWork>,
        chosen: &ChosenProcesses,
        names: &Names,
    ) -> Result<Self> {
        let mut chain = Self {
            work: driver
                .as_ref()
                .map(|driver| work_on_buffers(driver, chosen, names))
                .unwrap_or_default(),
            waits: if_any(tables.waits)?.map_or_else(Vec::new, |waits| recorded(&waits, chosen)),
            ..Self::default()
        };
        let begins = if_any(tables.begins)?;
        let submissions = if_any(tables.submissions)?;
        let (Some(begins), Some(submissions)) = (begins, submissions) else {
            return Ok(chain);
        };

        chain.begins = times_by_id(&begins.times, &begins.ids);
        chain.by_encoder = earliest(&submissions.times, &submissions.encoder_ids);
        chain.by_buffer = earliest(&submissions.times, &submissions.buffer_ids);
        chain.source = Some(ChainSource::Tables);
        Ok(chain)
    }

    /// Joins the driver's rows with the command buffers by their order, if nothing else joins them.
    pub(crate) fn join_by_order(&mut self, buffers: &[Buffer], chosen: &ChosenProcesses) {
        // The driver serves each process on its own.
        if self.source.is_some() || self.work.len() != buffers.len() || chosen.processes.len() > 1 {
            return;
        }
        let commits = buffers
            .iter()
            .map(|buffer| Some((buffer.committed_ns()?, buffer.span.start_ns, buffer.id)));
        let Some(mut commits) = commits.collect::<Option<Vec<_>>>() else {
            return;
        };
        commits.sort_unstable();

        let pairs = || commits.iter().zip(&self.work);
        // A row that does not fit would shift all later ones.
        let fits = pairs().all(|(&(committed_ns, start_ns, _), work)| {
            i128::from(committed_ns) <= i128::from(work.start_ns) && work.start_ns < start_ns
        });
        if !fits || commits.is_empty() {
            return;
        }
        let begins = pairs().map(|(&(.., id), work)| (id, work.start_ns));
        let begins = ById::new(begins.collect());
        let ends = pairs().map(|(&(_, start_ns, id), work)| (id, work.end_ns.min(start_ns)));
        self.by_buffer = ById::new(ends.collect());
        self.begins = begins;
        self.source = Some(ChainSource::Order);
    }

    /// Returns the times of the driver's work before an interval.
    pub(crate) fn times(&self, interval: &Interval) -> Option<DriverTimes> {
        let buffer = interval.command_buffer?;
        let of_encoder = interval.encoder.and_then(|id| self.by_encoder.get(id));
        self.joined(buffer, of_encoder)
    }

    /// Returns the times of the driver's work on a command buffer, up to its first submission.
    pub(crate) fn times_of(&self, buffer: NonZeroU64) -> Option<DriverTimes> {
        self.joined(buffer, None)
    }

    /// Returns the time at which the driver was done with the work that it began at this time.
    pub(crate) fn end_of_work(&self, begins_ns: u64) -> Option<u64> {
        let row = self
            .work
            .binary_search_by_key(&begins_ns, |work| work.start_ns);
        Some(self.work.get(row.ok()?)?.end_ns)
    }

    fn joined(&self, buffer: NonZeroU64, submitted_ns: Option<u64>) -> Option<DriverTimes> {
        let times = DriverTimes {
            begins_ns: self.begins.get(buffer)?,
            submitted_ns: submitted_ns.or_else(|| self.by_buffer.get(buffer))?,
        };
        (times.begins_ns <= times.submitted_ns).then_some(times)
    }
}

/// Returns the driver's work on command buffers of the chosen processes, in order of time.
fn work_on_buffers(driver: &DriverWork, chosen: &ChosenProcesses, names: &Names) -> Vec<Span> {
    let is_buffer = |row: usize| {
        let kind = at(&driver.types, row);
        kind.is_some_and(|kind| names.text(kind) == COMMAND_BUFFER)
    };
    let started = driver.spans.started();
    let own = started.filter(|&(row, _)| chosen.contains(at(&driver.processes, row)));
    let mut work: Vec<Span> = own
        .filter(|&(row, _)| is_buffer(row))
        .map(|(_, span)| span)
        .collect();
    if !work.is_sorted() {
        work.sort_unstable();
    }
    work
}

/// Returns the waits of the chosen processes, in the order of their ends.
fn recorded(waits: &RecordedWaits, chosen: &ChosenProcesses) -> Vec<RecordedWait> {
    let rows = waits.spans.started();
    let own = rows.filter(|&(row, _)| chosen.owns_row(waits.processes.as_ref(), row));
    let mut recorded: Vec<RecordedWait> = own
        .filter_map(|(row, span)| {
            Some(RecordedWait {
                span,
                buffer: id_of(&waits.buffer_ids, row)?,
                thread: at(&waits.threads, row),
            })
        })
        .collect();
    recorded.sort_unstable_by_key(|wait| (wait.span.end_ns, wait.buffer));
    recorded
}

fn entries(times: &Integers, ids: &Integers) -> Vec<(NonZeroU64, u64)> {
    let rows = 0..ids.len();
    rows.filter_map(|row| Some((id_of(ids, row)?, times.get(row)?)))
        .collect()
}

fn times_by_id(times: &Integers, ids: &Integers) -> ById<u64> {
    ById::new(entries(times, ids))
}

/// Returns the earliest time of each id. Newer chips have two rows for an encoder, of which one runs.
fn earliest(times: &Integers, ids: &Integers) -> ById<u64> {
    let mut entries = entries(times, ids);
    entries.sort_unstable();
    entries.dedup_by_key(|&mut (id, _)| id);
    ById::new(entries)
}
