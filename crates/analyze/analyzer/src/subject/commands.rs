//! Reads what the program did with its command buffers: when it encoded them, and when it was
//! notified that the GPU was done.
//!
//! The encoder list is joined with GPU intervals by encoder, the completions by command buffer.
//! The list was seen to lose a fifth of its rows. The lost encodings are in
//! `metal-application-intervals`, or at least, for a buffer of one encoder, in the table of
//! submissions.
//!
//! A program that uses Metal 4 may commit a command buffer again, even before its work is done, and no
//! column that is understood tells such commits apart. So a completion that could be of several of
//! them is unknown.

use std::num::NonZeroU64;

use metalens_trace::{Integers, Names, Symbol, ThreadId};

use super::buffers::Buffer;
use super::chosen_processes::ChosenProcesses;
use super::interval::Interval;
use crate::basics::by_id::ById;
use crate::basics::distinct::distinct;
use crate::basics::spans::Span;
use crate::error::Result;
use crate::tables::columns::{Spans, at};
use crate::tables::commands::{APPLICATION, Completions, ENCODERS, Encoders, SUBMISSIONS};
use crate::tables::commands::{ListedTables, RecoveryTables};
use crate::tables::reader::{TableResult, if_any};
use crate::tables::recording::FinishedBuffers;

/// Encodings and completions of the chosen processes.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    encodings: ById<Span>,
    /// Encodings that the list lost, from `metal-application-intervals`, by encoder.
    by_interval: ById<Span>,
    /// Encodings that the list lost, from the submissions of buffers of one encoder, by command
    /// buffer.
    by_submission: ById<Span>,
    completions: ById<u64>,
    /// Ids of command buffers that were committed several times, in order.
    reused: Vec<NonZeroU64>,
    /// Ids of command buffers whose completions contradict their only commit, in order.
    contradicted: Vec<NonZeroU64>,
    /// Command buffers that were encoded in the recording, with the start of their encoding.
    encoded: Vec<(NonZeroU64, u64)>,
    /// Threads of the encoders, if they were requested or there are several.
    thread_of: ById<ThreadId>,
    /// Threads that encoded GPU work.
    pub threads: Vec<ThreadId>,
    /// Tables that the input has.
    pub tables: AvailableTables,
}

/// Tables that an input has.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct AvailableTables {
    pub encoders: bool,
    pub completions: bool,
}

/// Encoding with its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    /// Time of the encoding.
    pub span: Span,
    /// Table that contains the encoding.
    pub found_in: FoundIn,
}

/// Table that contains an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundIn {
    /// The list of encoders.
    List,
    /// The table `metal-application-intervals`.
    Interval,
    /// The table of submissions, with the whole span up to the commit.
    Submission,
}

impl Commands {
    /// Reads the tables of the chosen processes, and frees the memory of each one after reading it.
    /// The encoders' threads are kept only `with_threads`, or if there are several.
    pub(crate) fn read(
        listed: ListedTables,
        recovery: RecoveryTables,
        chosen: &ChosenProcesses,
        with_threads: bool,
    ) -> Result<Self> {
        let mut commands = Self {
            tables: AvailableTables {
                encoders: listed.encoders.is_ok(),
                completions: listed.completions.is_ok(),
            },
            ..Self::default()
        };

        if let Some(table) = if_any(listed.encoders)? {
            commands.read_encoders(&table, chosen, with_threads)?;
        }
        if let Some(table) = if_any(listed.completions)? {
            commands.completions = completions_of(&table);
        }
        if let Some(table) = if_any(recovery.application)? {
            let processes = table.processes.as_ref();
            let is_own = |row| chosen.owns_row(processes, row);
            commands.by_interval = spans_by_id(&table.spans, &table.encoder_ids, is_own)?;
        }
        if let Some(table) = if_any(recovery.submissions)? {
            let processes = table.processes.as_ref();
            // The span of a buffer of several encoders would not be the encoding of one.
            let is_single = |row| table.encoder_counts.get(row) == Some(1);
            let is_own = |row| is_single(row) && chosen.owns_row(processes, row);
            commands.by_submission = spans_by_id(&table.spans, &table.buffer_ids, is_own)?;
        }
        Ok(commands)
    }

    /// Returns the encoding of an interval's work.
    pub(crate) fn encoding(&self, interval: &Interval) -> Option<Encoding> {
        // The list has exact times; a submission's span may be a little longer than the encoding.
        let listed = interval.encoder.and_then(|id| self.encodings.get(id));
        let in_intervals = || interval.encoder.and_then(|id| self.by_interval.get(id));
        let in_submissions = || {
            let buffer = interval.command_buffer?;
            self.by_submission.get(buffer)
        };
        let encoding = |found_in| move |span| Encoding { span, found_in };

        listed
            .map(encoding(FoundIn::List))
            .or_else(|| in_intervals().map(encoding(FoundIn::Interval)))
            .or_else(|| in_submissions().map(encoding(FoundIn::Submission)))
    }

    /// Returns the time at which the program was notified that a command buffer was done; `None`
    /// if it was committed several times, or if that time contradicts its commit.
    pub(crate) fn completion(&self, buffer: NonZeroU64) -> Option<u64> {
        let completed_ns = self.completions.get(buffer)?;
        let is_known = !self.is_reused(buffer) && self.contradicted.binary_search(&buffer).is_err();
        is_known.then_some(completed_ns)
    }

    /// Returns whether a command buffer of the process was committed several times.
    pub(crate) fn is_reused(&self, buffer: NonZeroU64) -> bool {
        self.reused.binary_search(&buffer).is_ok()
    }

    /// Marks the command buffers that were committed several times: their work has several commits,
    /// and they have several completions, or a commit after the only one. If all work has one commit,
    /// a single row is wrong, and only the completion is unknown. `buffers` are sorted by id.
    pub(crate) fn mark_reused(&mut self, buffers: &mut [Buffer]) {
        for buffer in buffers {
            let listed_ns = self.completions.get(buffer.id);
            let completed_ns = listed_ns.and_then(|ns| i64::try_from(ns).ok());
            let is_odd = self.completions.is_contradicted(buffer.id)
                || completed_ns.is_some_and(|ns| buffer.last_committed_ns() > Some(ns));
            buffer.is_reused = is_odd && buffer.has_several_commits();
            if buffer.is_reused {
                self.reused.push(buffer.id);
            } else if is_odd {
                self.contradicted.push(buffer.id);
            }
        }
    }

    /// Counts the command buffers whose completion contradicts their only commit.
    pub(crate) fn contradicted_completions(&self) -> usize {
        self.contradicted.len()
    }

    /// Counts the command buffers that were encoded and completed in a part of the recording; `None` if
    /// the tables do not tell. May be called once. `own` are those of the process with GPU intervals,
    /// sorted by id; `everyone` are the intervals of all processes, sorted by start.
    pub(crate) fn finished(
        &mut self,
        own: &[Buffer],
        everyone: &[Interval],
        part: Span,
    ) -> Option<FinishedBuffers> {
        // Nothing else needs them, and there may be a million.
        let encoded = std::mem::take(&mut self.encoded).into_iter();
        let finished = encoded.filter_map(|(id, encoded_ns)| {
            let span = Span::new(encoded_ns, self.completions.get(id)?);
            (part.start_ns <= span.start_ns && span.end_ns <= part.end_ns).then_some((id, span))
        });
        let (mut count, mut without) = (0, Vec::new());
        for (id, span) in finished {
            count += 1;
            if own.binary_search_by_key(&id, |buffer| buffer.id).is_err() {
                without.push((id, span));
            }
        }
        let without_interval = without_interval(&without, everyone);
        (count > 0).then_some(FinishedBuffers {
            count,
            without_interval,
        })
    }

    /// Counts the rows of each table of encodings whose time differs from that of an earlier row
    /// with the same id.
    pub(crate) fn contradictions(&self) -> [(&'static str, &'static str, usize); 3] {
        let in_submissions = self.by_submission.contradictions();
        [
            (ENCODERS.schema, "encoder", self.encodings.contradictions()),
            (
                APPLICATION.schema,
                "encoder",
                self.by_interval.contradictions(),
            ),
            (SUBMISSIONS.schema, "command buffer", in_submissions),
        ]
    }

    /// Returns the thread that encoded an encoder, if threads were kept.
    pub(crate) fn thread(&self, encoder: NonZeroU64) -> Option<ThreadId> {
        self.thread_of.get(encoder)
    }

    /// Returns all encodings of the list.
    pub(crate) fn listed(&self) -> impl Iterator<Item = Span> + Clone + '_ {
        self.encodings.values()
    }

    /// Returns the encoders of the list, in the order of their ids; `None` if there is no list.
    pub(crate) fn listed_encoders(&self) -> Option<impl Iterator<Item = u64>> {
        let ids = self.encodings.ids().map(NonZeroU64::get);
        self.tables.encoders.then_some(ids)
    }

    fn read_encoders(
        &mut self,
        table: &Encoders,
        chosen: &ChosenProcesses,
        with_threads: bool,
    ) -> Result<()> {
        let is_own = |row| chosen.owns_row(table.processes.as_ref(), row);
        self.encodings = spans_by_id(&table.spans, &table.ids, is_own)?;

        let own = table.spans.started().filter(|&(row, _)| is_own(row));
        let started =
            own.filter_map(|(row, span)| Some((id_of(&table.buffer_ids, row)?, span.start_ns)));
        self.encoded = started.collect();
        self.encoded.sort_unstable();
        self.encoded.dedup_by_key(|(id, _)| *id);

        let mine = (0..table.threads.len())
            .filter(|&row| is_own(row))
            .filter_map(|row| Some((row, at(&table.threads, row)?)));
        self.threads = distinct(mine.clone().map(|(_, thread)| thread));
        if with_threads || self.threads.len() > 1 {
            let entry = |(row, thread)| Some((id_of(&table.ids, row)?, thread));
            self.thread_of = ById::new(mine.filter_map(entry).collect());
        }
        Ok(())
    }
}

/// Returns the spans of the wanted rows, by an id.
fn spans_by_id(
    spans: &Spans,
    ids: &Integers,
    is_wanted: impl Fn(usize) -> bool,
) -> Result<ById<Span>> {
    let mut entries = Vec::with_capacity(spans.rows());
    for (row, span) in spans.all().enumerate() {
        let span = span?;
        if let Some(id) = id_of(ids, row).filter(|_| is_wanted(row)) {
            entries.push((id, span));
        }
    }
    Ok(ById::new(entries))
}

/// Counts the command buffers of which no interval tells. They are sorted by id, each with the time from
/// its encoding to its completion. The recorder was seen to give an interval no command buffer: one in that
/// time may be of any of them, if it counts as work of a process.
fn without_interval(buffers: &[(NonZeroU64, Span)], everyone: &[Interval]) -> u64 {
    if buffers.is_empty() {
        return 0;
    }
    let (mut named, mut nameless) = (Vec::new(), Vec::new());
    for interval in everyone {
        match interval.command_buffer {
            Some(id) => named.extend(buffers.binary_search_by_key(&id, |&(id, _)| id)),
            None if interval.process.is_some() => nameless.push(interval.span.start_ns),
            None => {}
        }
    }
    named.sort_unstable();
    let is_without = |(index, (_, span)): &(usize, &(NonZeroU64, Span))| {
        let next = nameless.partition_point(|&start_ns| start_ns < span.start_ns);
        let has_nameless = nameless.get(next).is_some_and(|&ns| ns <= span.end_ns);
        named.binary_search(index).is_err() && !has_nameless
    };
    buffers.iter().enumerate().filter(is_without).count() as u64
}

fn completions_of(table: &Completions) -> ById<u64> {
    let entry = |row| Some((id_of(&table.ids, row)?, table.times.get(row)?));
    ById::new((0..table.ids.len()).filter_map(entry).collect())
}

/// Returns the id of a row; `None` for null, 0 and all ones.
pub(super) fn id_of(ids: &Integers, row: usize) -> Option<NonZeroU64> {
    NonZeroU64::new(ids.get(row).filter(|&id| id != u64::MAX)?)
}

/// Returns the distinct pairs of command-buffer label and encoder label, of all processes.
pub(crate) fn label_pairs(encoders: &TableResult<Encoders>) -> Vec<(Symbol, Symbol)> {
    let Ok(encoders) = encoders else {
        return Vec::new();
    };
    let buffers = encoders.buffer_labels.iter();
    let pairs = buffers.zip(encoders.encoder_labels.iter());
    distinct(pairs.filter_map(|(buffer, encoder)| Some(((*buffer)?, (*encoder)?))))
}

/// Returns the display names of threads.
pub(crate) fn thread_names(threads: &[ThreadId], names: &Names) -> Vec<String> {
    let threads = threads.iter().filter_map(|&id| names.thread(id));
    threads
        .map(|thread| names.text(thread.display).to_owned())
        .collect()
}
