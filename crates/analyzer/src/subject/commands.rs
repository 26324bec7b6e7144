//! What the program did with its command buffers: when it encoded what, and
//! when it learnt that the GPU was done.
//!
//! The encoder list joins GPU intervals by their encoder, the completions by
//! their command buffer. The list has been seen to lose a fifth of its rows;
//! what it lost stands in `metal-application-intervals`, or at least, for a
//! buffer of one encoder, in the table of submissions.

use std::num::NonZeroU64;

use metalens_trace::{Integers, Names, Symbol, ThreadId};

use super::target::Target;
use super::timeline::Interval;
use crate::basics::by_id::ById;
use crate::basics::distinct::distinct;
use crate::basics::spans::Span;
use crate::error::Result;
use crate::tables::CommandTables;
use crate::tables::columns::{Spans, at};
use crate::tables::commands::{
    APPLICATION, COMPLETIONS, Completions, ENCODERS, Encoders, SUBMISSIONS,
};
use crate::tables::reader::{Given, if_any};

/// Everything known of the target's encodings and completions.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    encodings: ById<Span>,
    /// What other tables know of encodings that the list lost, by encoder.
    by_interval: ById<Span>,
    /// The same of buffers of one encoder, by command buffer.
    by_submission: ById<Span>,
    completions: ById<u64>,
    /// The encoders' threads, if anything asks for them.
    thread_of: ById<ThreadId>,
    /// The threads that encoded.
    pub threads: Vec<ThreadId>,
    /// Which tables the input has.
    pub tables: Present,
}

/// Which of the tables an input has.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Present {
    pub encoders: bool,
    pub completions: bool,
}

/// An encoding, and how it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    /// When.
    pub span: Span,
    /// Where it stands.
    pub found_in: FoundIn,
}

/// The table in which an encoding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundIn {
    /// The encoder list.
    List,
    /// `metal-application-intervals`.
    Interval,
    /// The submissions: the whole span up to the commit.
    Submission,
}

impl Commands {
    /// What the tables say of a target; which thread encoded what is only kept
    /// when that is asked for. Each table's memory ends once it is read.
    pub(crate) fn of(tables: CommandTables, target: &Target, with_threads: bool) -> Result<Self> {
        let mut found = Self {
            tables: Present {
                encoders: tables.listed.encoders.is_ok(),
                completions: tables.listed.completions.is_ok(),
            },
            ..Self::default()
        };
        if let Some(table) = if_any(tables.listed.encoders)? {
            found.read_encoders(&table, target, with_threads)?;
        }
        if let Some(table) = if_any(tables.listed.completions)? {
            found.completions = completions_of(&table);
        }
        if let Some(table) = if_any(tables.recovery.application)? {
            let processes = table.processes.as_ref();
            let ours = |row| target.owns(processes, row);
            found.by_interval = spans_by_id(&table.spans, &table.encoder_ids, ours)?;
        }
        if let Some(table) = if_any(tables.recovery.submissions)? {
            let processes = table.processes.as_ref();
            let single = |row| table.encoder_counts.get(row) == Some(1);
            let ours = |row| single(row) && target.owns(processes, row);
            found.by_submission = spans_by_id(&table.spans, &table.buffer_ids, ours)?;
        }
        Ok(found)
    }

    /// When the work of an interval was encoded.
    pub(crate) fn encoding(&self, interval: &Interval) -> Option<Encoding> {
        let listed = interval.encoder.and_then(|id| self.encodings.get(id));
        let in_intervals = || interval.encoder.and_then(|id| self.by_interval.get(id));
        let in_submissions = || {
            let buffer = interval.command_buffer?;
            self.by_submission.get(buffer)
        };
        let found = |found_in| move |span| Encoding { span, found_in };
        listed
            .map(found(FoundIn::List))
            .or_else(|| in_intervals().map(found(FoundIn::Interval)))
            .or_else(|| in_submissions().map(found(FoundIn::Submission)))
    }

    /// When the program learnt that a command buffer was done.
    pub(crate) fn completion(&self, buffer: NonZeroU64) -> Option<u64> {
        self.completions.get(buffer)
    }

    /// Counts the rows of each table whose time differs from that of an earlier row with
    /// the same id. The completions table is everyone's: only command buffers that
    /// `is_mine` accepts count.
    pub(crate) fn contradictions(
        &self,
        is_mine: impl Fn(NonZeroU64) -> bool,
    ) -> [(&'static str, &'static str, usize); 4] {
        let completions = self.completions.contradicted().iter();
        let completions = completions.filter(|&&id| is_mine(id)).count();
        let (listed, in_intervals) = (&self.encodings, &self.by_interval);
        let in_submissions = self.by_submission.contradicted().len();
        [
            (ENCODERS.schema, "encoder", listed.contradicted().len()),
            (
                APPLICATION.schema,
                "encoder",
                in_intervals.contradicted().len(),
            ),
            (SUBMISSIONS.schema, "command buffer", in_submissions),
            (COMPLETIONS.schema, "command buffer", completions),
        ]
    }

    /// The thread that encoded an encoder; only known where there are debug groups.
    pub(crate) fn thread(&self, encoder: NonZeroU64) -> Option<ThreadId> {
        self.thread_of.get(encoder)
    }

    /// All encodings of the list.
    pub(crate) fn listed(&self) -> impl Iterator<Item = Span> + Clone + '_ {
        self.encodings.values()
    }

    /// The encoders of the list, in the order of their ids; none if there is no list.
    pub(crate) fn listed_encoders(&self) -> Option<impl Iterator<Item = u64>> {
        let ids = self.encodings.ids().map(NonZeroU64::get);
        self.tables.encoders.then_some(ids)
    }

    fn read_encoders(
        &mut self,
        table: &Encoders,
        target: &Target,
        with_threads: bool,
    ) -> Result<()> {
        let ours = |row| target.owns(table.processes.as_ref(), row);
        self.encodings = spans_by_id(&table.spans, &table.ids, ours)?;
        let mine = (0..table.threads.len()).filter(|&row| ours(row));
        let mine = mine.filter_map(|row| Some((row, at(&table.threads, row)?)));
        self.threads = distinct(mine.clone().map(|(_, thread)| thread));
        if with_threads {
            let entry = |(row, thread)| Some((id_of(&table.ids, row)?, thread));
            self.thread_of = ById::new(mine.filter_map(entry).collect());
        }
        Ok(())
    }
}

/// The spans of the wanted rows by an id.
fn spans_by_id(
    spans: &Spans,
    ids: &Integers,
    wanted: impl Fn(usize) -> bool,
) -> Result<ById<Span>> {
    let mut entries = Vec::with_capacity(spans.rows());
    for (row, span) in spans.all().enumerate() {
        let span = span?;
        if let Some(id) = id_of(ids, row).filter(|_| wanted(row)) {
            entries.push((id, span));
        }
    }
    Ok(ById::new(entries))
}

fn completions_of(table: &Completions) -> ById<u64> {
    let entry = |row| Some((id_of(&table.ids, row)?, table.times.get(row)?));
    ById::new((0..table.ids.len()).filter_map(entry).collect())
}

/// An id of a row; null, 0 and all ones are none.
fn id_of(ids: &Integers, row: usize) -> Option<NonZeroU64> {
    NonZeroU64::new(ids.get(row).filter(|&id| id != u64::MAX)?)
}

/// Everyone's distinct pairs of command-buffer label and encoder label.
pub(crate) fn label_pairs(encoders: &Given<Encoders>) -> Vec<(Symbol, Symbol)> {
    let Ok(encoders) = encoders else {
        return Vec::new();
    };
    let buffers = encoders.buffer_labels.iter();
    let pairs = buffers.zip(encoders.encoder_labels.iter());
    distinct(pairs.filter_map(|(buffer, encoder)| Some(((*buffer)?, (*encoder)?))))
}

/// The display names of threads.
pub(crate) fn thread_names(threads: &[ThreadId], names: &Names) -> Vec<String> {
    let threads = threads.iter().filter_map(|&id| names.thread(id));
    threads
        .map(|thread| names.text(thread.display).to_owned())
        .collect()
}
