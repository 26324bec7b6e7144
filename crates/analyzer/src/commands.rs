//! What the program did with its command buffers: when it encoded what, and
//! when it learnt that the GPU was done.
//!
//! The encoder list joins GPU intervals by their encoder, the completions by
//! their command buffer. The list has been seen to lose a fifth of its rows;
//! what it lost stands in `metal-application-intervals`, or at least, for a
//! buffer of one encoder, in the table of submissions.

use std::num::NonZeroU64;
use std::ops::Range;

use metalens_trace::{Column, Integers, Names, Symbol, Table, ThreadId, Trace};

use crate::error::Result;
use crate::rows::{ours, take};
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
    /// The distinct pairs of command-buffer label and encoder label.
    pub label_pairs: Vec<(Symbol, Symbol)>,
    /// Which tables the input has.
    pub tables: Present,
}

/// Which of the tables an input has.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Present {
    pub encoders: bool,
    pub completions: bool,
    /// One of those in which lost encodings stand.
    pub recovery: bool,
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
    /// Takes the tables out of a trace; which thread encoded what is only kept
    /// when that is asked for.
    pub(crate) fn take(trace: &mut Trace, target: &Target, with_threads: bool) -> Result<Self> {
        let mut found = Self::default();
        if let Some(table) = take(trace, ENCODERS) {
            found.tables.encoders = true;
            found.read_encoders(&table, target, with_threads)?;
        }
        if let Some(table) = take(trace, COMPLETIONS) {
            found.tables.completions = true;
            found.completions = completions(&table)?;
        }
        for (schema, id) in [(APPLICATION, "encoder-id"), (SUBMISSIONS, "cmdbuffer-id")] {
            let Some(table) = take(trace, schema) else {
                continue;
            };
            found.tables.recovery = true;
            match schema {
                APPLICATION => found.by_interval = spans_by_id(&table, id, target, |_| true)?,
                _ => {
                    let encoders = table.integers("num-encoders")?;
                    let single = |row| encoders.get(row) == Some(1);
                    found.by_submission = spans_by_id(&table, id, target, single)?;
                }
            }
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

    /// The thread that encoded an encoder; only known where there are debug groups.
    pub(crate) fn thread(&self, encoder: NonZeroU64) -> Option<ThreadId> {
        self.thread_of.get(encoder)
    }

    /// All encodings of the list.
    pub(crate) fn listed(&self) -> impl Iterator<Item = Span> + '_ {
        self.encodings.entries.iter().map(|&(_, span)| span)
    }

    /// The encoders of the list, in the order of their ids; none if there is no list.
    pub(crate) fn listed_encoders(&self) -> Option<Vec<u64>> {
        let ids = self.encodings.entries.iter().map(|&(id, _)| id.get());
        self.tables.encoders.then(|| ids.collect())
    }

    fn read_encoders(&mut self, table: &Table, target: &Target, with_threads: bool) -> Result<()> {
        self.label_pairs = label_pairs(table);
        self.encodings = spans_by_id(table, "encoder-id", target, |_| true)?;
        let ours = ours(table, target);
        if let Ok(threads) = table.threads("thread") {
            let mine = (0..table.rows()).filter(|&row| ours(row));
            let mine = mine.filter_map(|row| Some((row, threads.get(row).copied().flatten()?)));
            self.threads = mine.clone().map(|(_, thread)| thread).collect();
            if with_threads {
                let ids = table.integers("encoder-id")?;
                let entry = |(row, thread)| Some((id_of(ids, row)?, thread));
                self.thread_of = ById::new(mine.filter_map(entry).collect());
            }
            self.threads.sort_unstable();
            self.threads.dedup();
        }
        Ok(())
    }
}

/// Values by id, sorted: ids rise with time, so that sorting is quick and the
/// list is half the size of a map.
#[derive(Debug)]
struct ById<T> {
    entries: Vec<(NonZeroU64, T)>,
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<T: Copy> ById<T> {
    /// Of an id that comes twice the first counts.
    fn new(mut entries: Vec<(NonZeroU64, T)>) -> Self {
        if !entries.is_sorted_by_key(|&(id, _)| id) {
            entries.sort_by_key(|&(id, _)| id);
        }
        entries.dedup_by_key(|&mut (id, _)| id);
        Self { entries }
    }

    fn get(&self, id: NonZeroU64) -> Option<T> {
        let near = self.near(id);
        let entries = self.entries.get(near)?;
        let at = entries.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        entries.get(at).map(|&(_, value)| value)
    }

    /// Where an id stands if it does: ids are handed out in turn, so that a
    /// guess by its size is seldom far off, and millions of lookups do not each
    /// halve the whole list.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a guess"
    )]
    fn near(&self, id: NonZeroU64) -> Range<usize> {
        let count = self.entries.len();
        let Some((&(first, _), &(last, _))) = self.entries.first().zip(self.entries.last()) else {
            return 0..0;
        };
        if !(first..=last).contains(&id) {
            return 0..0;
        }
        let part = (id.get() - first.get()) as f64 / (last.get() - first.get()).max(1) as f64;
        let guess = ((part * count as f64) as usize).min(count - 1);
        let is_before = |at: usize| self.entries.get(at).is_some_and(|&(one, _)| one < id);
        let (mut start, mut end, mut step) = (guess, guess + 1, 8);
        while start > 0 && !is_before(start) {
            start = start.saturating_sub(step);
            step *= 2;
        }
        while end < count && is_before(end - 1) {
            end = (end + step).min(count);
            step *= 2;
        }
        start..end
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
    let mut pairs: Vec<(Symbol, Symbol)> = pairs
        .filter_map(|(buffer, encoder)| Some(((*buffer)?, (*encoder)?)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The display names of threads.
pub(crate) fn thread_names(threads: &[ThreadId], names: &Names) -> Vec<String> {
    let threads = threads.iter().filter_map(|&id| names.thread(id));
    threads
        .map(|thread| names.text(thread.display).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Ids close together, far apart, and some of each.
        #[test]
        fn an_id_is_found_wherever_it_stands(
            ids in prop::collection::vec(prop_oneof![1_u64..300, any::<u64>()], 0..200),
            asked in prop_oneof![0_u64..300, any::<u64>()],
        ) {
            let entries = ids.iter().filter_map(|&id| Some((NonZeroU64::new(id)?, id)));
            let by_id = ById::new(entries.collect());
            for id in ids.iter().copied().chain([asked]).filter_map(NonZeroU64::new) {
                let expected = ids.contains(&id.get()).then_some(id.get());
                prop_assert_eq!(by_id.get(id), expected);
            }
        }
    }
}
