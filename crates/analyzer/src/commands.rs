//! What the program did with its command buffers: when it encoded what, and
//! when it learnt that the GPU was done.
//!
//! The encoder list joins GPU intervals by their encoder, the completions by
//! their command buffer. The list has been seen to lose a fifth of its rows;
//! what it lost stands in `metal-application-intervals`, or at least, for a
//! buffer of one encoder, in the table of submissions.

use std::num::NonZeroU64;

use metalens_trace::{Column, Integers, Names, Symbol, Table, ThreadId, Trace};

use crate::by_id::ById;
use crate::error::Result;
use crate::rows::{distinct, ours, take};
use crate::spans::Span;
use crate::target::Target;
use crate::timeline::{Interval, spans_of};

/// The table of encoders, which has both labels of each apart.
pub(crate) const ENCODERS: &str = "metal-application-encoders-list";
/// The table of completions.
pub(crate) const COMPLETIONS: &str = "metal-command-buffer-completed";
/// The table of the application's own stretches, encodings among them.
pub(crate) const APPLICATION: &str = "metal-application-intervals";
/// The table of submissions.
pub(crate) const SUBMISSIONS: &str = "metal-application-command-buffer-submissions";

/// The tables that tell of encodings and completions, as far as there are any.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    encoders: Option<Table>,
    completions: Option<Table>,
    application: Option<Table>,
    submissions: Option<Table>,
}

impl Tables {
    /// Takes them out of a trace.
    pub(crate) fn take(trace: &mut Trace) -> Self {
        Self {
            encoders: take(trace, ENCODERS),
            completions: take(trace, COMPLETIONS),
            application: take(trace, APPLICATION),
            submissions: take(trace, SUBMISSIONS),
        }
    }

    /// Everyone's distinct pairs of command-buffer label and encoder label.
    pub(crate) fn label_pairs(&self) -> Vec<(Symbol, Symbol)> {
        self.encoders.as_ref().map(label_pairs).unwrap_or_default()
    }
}

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
    /// when that is asked for.
    pub(crate) fn of(tables: Tables, target: &Target, with_threads: bool) -> Result<Self> {
        let mut found = Self {
            tables: Present {
                encoders: tables.encoders.is_some(),
                completions: tables.completions.is_some(),
            },
            ..Self::default()
        };
        if let Some(table) = tables.encoders {
            found.read_encoders(&table, target, with_threads)?;
        }
        if let Some(table) = tables.completions {
            found.completions = completions(&table)?;
        }
        if let Some(table) = tables.application {
            found.by_interval = spans_by_id(&table, "encoder-id", target, |_| true)?;
        }
        if let Some(table) = tables.submissions {
            let encoders = table.integers("num-encoders")?;
            let single = |row| encoders.get(row) == Some(1);
            found.by_submission = spans_by_id(&table, "cmdbuffer-id", target, single)?;
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
            (ENCODERS, "encoder", listed.contradicted().len()),
            (APPLICATION, "encoder", in_intervals.contradicted().len()),
            (SUBMISSIONS, "command buffer", in_submissions),
            (COMPLETIONS, "command buffer", completions),
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

    fn read_encoders(&mut self, table: &Table, target: &Target, with_threads: bool) -> Result<()> {
        self.encodings = spans_by_id(table, "encoder-id", target, |_| true)?;
        let ours = ours(table, target);
        if let Ok(threads) = table.threads("thread") {
            let mine = (0..table.rows()).filter(|&row| ours(row));
            let mine = mine.filter_map(|row| Some((row, threads.get(row).copied().flatten()?)));
            self.threads = distinct(mine.clone().map(|(_, thread)| thread));
            if with_threads {
                let ids = table.integers("encoder-id")?;
                let entry = |(row, thread)| Some((id_of(ids, row)?, thread));
                self.thread_of = ById::new(mine.filter_map(entry).collect());
            }
        }
        Ok(())
    }
}

/// The spans of the target's rows by an id; the table has 0 or all ones for none.
fn spans_by_id(
    table: &Table,
    id: &str,
    target: &Target,
    wanted: impl Fn(usize) -> bool,
) -> Result<ById<Span>> {
    let ids = table.integers(id)?;
    let ours = ours(table, target);
    let mut entries = Vec::with_capacity(table.rows());
    for (row, span) in spans_of(table)?.enumerate() {
        let span = span?;
        if let Some(id) = id_of(ids, row).filter(|_| wanted(row) && ours(row)) {
            entries.push((id, span));
        }
    }
    Ok(ById::new(entries))
}

fn completions(table: &Table) -> Result<ById<u64>> {
    let (times, ids) = (
        table.integers("timestamp")?,
        table.integers("cmdbuffer-id")?,
    );
    let entry = |row| Some((id_of(ids, row)?, times.get(row)?));
    Ok(ById::new((0..table.rows()).filter_map(entry).collect()))
}

fn id_of(ids: &Integers, row: usize) -> Option<NonZeroU64> {
    NonZeroU64::new(ids.get(row).filter(|&id| id != u64::MAX)?)
}

fn label_pairs(table: &Table) -> Vec<(Symbol, Symbol)> {
    let texts = |mnemonic| {
        let column = table.columns().find(|(spec, _)| spec.mnemonic == mnemonic);
        match column {
            Some((_, Column::Texts(texts))) => Some(texts),
            _ => None,
        }
    };
    let (Some(buffers), Some(encoders)) = (texts("cmdbuffer-label"), texts("encoder-label")) else {
        return Vec::new();
    };
    let pairs = buffers.iter().zip(encoders);
    distinct(pairs.filter_map(|(buffer, encoder)| Some(((*buffer)?, (*encoder)?))))
}

/// The display names of threads.
pub(crate) fn thread_names(threads: &[ThreadId], names: &Names) -> Vec<String> {
    let threads = threads.iter().filter_map(|&id| names.thread(id));
    threads
        .map(|thread| names.text(thread.display).to_owned())
        .collect()
}
