//! Puts the submissions of the process in the order of their commits, each with the times of all its
//! stations. A submission is a command buffer that was committed once.
//!
//! Those of the whole recording are put in order, also if the window is a part of it: what came before
//! a part decides how it begins.

use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;
use std::ops::Range;

use metalens_trace::{Symbol, ThreadId};
use rustc_hash::{FxHashMap, FxHasher};

use super::Subject;
use super::chain::DriverTimes;
use super::interval::Interval;
use crate::basics::spans::{Span, touches};

/// Largest number of GPU intervals whose submissions are all put in order.
const MOST: usize = 1 << 17;
/// About the number of GPU intervals that stand for more of them. All would tell nothing new about a
/// program that repeats its work, and an analysis of a million would take twice as long.
const SAMPLE: usize = 1 << 15;
/// Number of submissions before a part that are replayed and not measured.
const LEAD_IN: usize = 16;
/// Smallest number of submissions of a thread that has a place of its own: a queue of tasks changes its
/// threads.
const OF_THREAD: usize = 8;
/// Largest number of threads that have a place of their own, beside the first: each is compared with each.
const MOST_THREADS: usize = 15;
/// Shortest time between two encoders in which a program could wait, in nanoseconds.
const PAUSE_NS: i64 = 1_000;

/// Submission with the times of its stations, in nanoseconds since the recording began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Submission {
    /// Id of the command buffer.
    pub id: NonZeroU64,
    /// Number of the thread that encoded it, from 0.
    pub thread: usize,
    /// Stands for the labels and channels of its work: the same code makes the same.
    pub kind: u64,
    /// Start of its first encoding; `None` if it is not recorded.
    pub encoding_ns: Option<i64>,
    /// Pauses between its encodings and before its commit, as places in [`Submissions::pauses`].
    pub pauses: Range<usize>,
    /// Commit.
    pub committed_ns: i64,
    /// The driver's work on it; `None` if it is not recorded.
    pub driver: Option<DriverTimes>,
    /// End of the driver's work on it; `None` if it is not recorded.
    pub driver_end_ns: Option<u64>,
    /// Its work on the GPU, as places in [`Submissions::work`].
    pub work: Range<usize>,
    /// Time at which the program was notified of its completion; `None` if it is not recorded.
    pub completed_ns: Option<i64>,
    /// True if it has work in the window.
    pub in_window: bool,
}

/// GPU interval of a submission, or of another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    pub start_ns: i64,
    pub end_ns: i64,
    pub channel: Option<Symbol>,
    /// Its submission to the GPU; `None` if it is not recorded.
    pub submitted_ns: Option<i64>,
    /// Place among the process's intervals in the window; `None` if it lies outside.
    pub interval: Option<usize>,
}

/// GPU interval of another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherWork {
    pub start_ns: i64,
    pub end_ns: i64,
    pub channel: Option<Symbol>,
    pub committed_ns: Option<i64>,
    pub completed_ns: Option<i64>,
}

/// Submissions in the order of their commits.
#[derive(Debug, Default, Clone)]
pub(crate) struct Submissions {
    pub list: Vec<Submission>,
    /// GPU intervals, grouped by submission, in order of their starts.
    pub work: Vec<Work>,
    /// Pauses of the encodings, grouped by submission, in order of time.
    pub pauses: Vec<(i64, i64)>,
    /// GPU intervals of other processes beside them, in order of their starts.
    pub others: Vec<OtherWork>,
    /// Threads by their numbers. The first one stands for all that submit little.
    pub threads: Vec<Option<ThreadId>>,
    /// Number of command buffers in the window that the list lacks: their commit is unknown, or they
    /// were committed several times.
    pub left_out: usize,
    /// True if the list has only submissions in the middle of the window, because there are very many.
    pub is_sample: bool,
    /// True if the window is a part of the recording.
    pub is_part: bool,
}

impl Submissions {
    /// Puts the submissions of the whole recording in order. Of very many, takes those in the middle of
    /// the window. The subject still has the intervals of all processes; those of its own that touch
    /// `window` will be left.
    pub(crate) fn new(subject: &Subject, window: Span) -> Self {
        let buffers = subject.buffers.iter();
        let in_window = buffers.clone().filter(|buffer| buffer.in_window).count();
        let known = buffers
            .filter_map(|buffer| Some((buffer.committed_ns()?, buffer.id, buffer.in_window)));
        let mut commits: Vec<(i64, NonZeroU64, bool)> = known.collect();
        commits.sort_unstable();
        let (mut beyond, mut is_sample) = (0, false);
        let own = subject.mine.iter();
        let own = own.filter(|interval| subject.chosen.contains(interval.process));
        let intervals = own.count();
        if intervals > MOST {
            let first = commits.iter().position(|&(.., inside)| inside).unwrap_or(0);
            let wanted = (SAMPLE * commits.len() / intervals).clamp(1, SAMPLE);
            let inside = commits.iter().filter(|&&(.., inside)| inside).count();
            beyond = inside.saturating_sub(wanted);
            is_sample = beyond > 0;
            let skipped = (first + beyond / 2).saturating_sub(LEAD_IN);
            let taken = wanted + LEAD_IN.min(first + beyond / 2);
            commits = commits.into_iter().skip(skipped).take(taken).collect();
            for commit in commits.iter_mut().take(taken.saturating_sub(wanted)) {
                commit.2 = false;
            }
        }

        let mut rows = rows(subject, &commits, window);
        rows.sort_unstable();
        let mut submissions = Self {
            is_sample,
            is_part: commits.iter().any(|&(.., inside)| !inside),
            threads: threads(subject, &rows),
            ..Self::default()
        };
        let mut rows = rows.into_iter().peekable();
        for (place, &(committed_ns, id, in_window)) in commits.iter().enumerate() {
            let mut own = Vec::new();
            while let Some(row) = rows.next_if(|row| row.0 == place) {
                own.push(row);
            }
            // A command buffer whose work lies outside has no place in it.
            if !own.is_empty() {
                submissions.add(subject, (committed_ns, id, in_window), &own);
            }
        }
        let measured = submissions.list.iter().filter(|each| each.in_window);
        submissions.left_out = in_window.saturating_sub(measured.count() + beyond);
        submissions.others = submissions.others_beside(subject);
        submissions
    }

    /// Returns the places of the submissions of a thread, in order.
    pub(crate) fn of_thread(&self, number: usize) -> Vec<usize> {
        let own = self.list.iter().enumerate();
        let own = own.filter(|(_, each)| each.thread == number);
        own.map(|(place, _)| place).collect()
    }

    /// Returns the place of the submission of a command buffer that was committed at this time.
    pub(crate) fn place_of(&self, id: NonZeroU64, committed_ns: u64) -> Option<usize> {
        let wanted = (signed(committed_ns), id);
        self.list
            .binary_search_by_key(&wanted, |each| (each.committed_ns, each.id))
            .ok()
    }

    /// Returns the GPU intervals of a submission.
    pub(crate) fn work_of(&self, submission: &Submission) -> &[Work] {
        self.work.get(submission.work.clone()).unwrap_or(&[])
    }

    /// Returns whether the work of a submission begins in the window, and in a part of it.
    pub(crate) fn is_in(&self, submission: &Submission, part: Option<Span>) -> bool {
        let first = self.work_of(submission).first();
        let begins = first.and_then(|work| u64::try_from(work.start_ns).ok());
        let is_inside = |part: Span| {
            begins.is_some_and(|ns| touches(Span::new(ns, ns.saturating_add(1)), part))
        };
        submission.in_window && part.is_none_or(is_inside)
    }

    /// Adds a submission with its intervals.
    fn add(
        &mut self,
        subject: &Subject,
        (committed_ns, id, in_window): (i64, NonZeroU64, bool),
        rows: &[(usize, usize, Option<usize>)],
    ) {
        let own = rows
            .iter()
            .filter_map(|&(_, index, kept)| Some((subject.mine.get(index)?, kept)));
        let times = subject.chain.times_of(id);
        // Impossible orders come from damaged rows, and no station may be moved by them.
        let driver = times.filter(|times| i128::from(times.begins_ns) >= i128::from(committed_ns));
        let (first_work, first_pause) = (self.work.len(), self.pauses.len());
        let mut encodings: Vec<(i64, i64)> = Vec::new();
        let mut thread = None;
        let mut kind = FxHasher::default();
        for (interval, kept) in own {
            let submitted = subject
                .chain
                .times(interval)
                .map(|times| times.submitted_ns);
            let submitted = submitted.filter(|&ns| {
                driver.is_some_and(|driver| driver.begins_ns <= ns) && ns <= interval.span.start_ns
            });
            self.work.push(Work {
                start_ns: signed(interval.span.start_ns),
                end_ns: signed(interval.span.end_ns),
                channel: interval.channel,
                submitted_ns: submitted.map(signed),
                interval: kept,
            });
            (
                interval.label.map(Symbol::index),
                interval.channel.map(Symbol::index),
            )
                .hash(&mut kind);
            thread = thread.or_else(|| subject.commands.thread(interval.encoder?));
            if let Some(encoding) = subject.commands.encoding(interval) {
                let span = encoding.span;
                encodings.push((signed(span.start_ns), signed(span.end_ns)));
            }
        }
        encodings.sort_unstable();
        let encoding_ns = encodings
            .first()
            .map(|&(start_ns, _)| start_ns)
            .filter(|&start_ns| start_ns <= committed_ns);
        let mut until_ns = i64::MAX;
        for (start_ns, end_ns) in encodings.into_iter().chain([(committed_ns, committed_ns)]) {
            if start_ns.saturating_sub(until_ns) >= PAUSE_NS && start_ns <= committed_ns {
                self.pauses.push((until_ns, start_ns));
            }
            until_ns = if until_ns == i64::MAX {
                end_ns
            } else {
                until_ns.max(end_ns)
            };
        }
        let thread = self.threads.iter().position(|&each| each == thread);
        self.list.push(Submission {
            id,
            thread: thread.unwrap_or(0),
            kind: kind.finish(),
            encoding_ns,
            pauses: first_pause..self.pauses.len(),
            committed_ns,
            driver_end_ns: driver.and_then(|times| subject.chain.end_of_work(times.begins_ns)),
            driver,
            work: first_work..self.work.len(),
            completed_ns: subject.commands.completion(id).map(signed),
            in_window,
        });
    }

    /// Returns the GPU intervals of other processes during these submissions.
    fn others_beside(&self, subject: &Subject) -> Vec<OtherWork> {
        let first_ns = self.list.first().map(|first| first.committed_ns);
        let last_ns = self.work.iter().map(|work| work.end_ns).max();
        let (Some(first_ns), Some(last_ns)) = (first_ns, last_ns) else {
            return Vec::new();
        };
        let during = Span::new(
            unsigned(first_ns),
            unsigned(last_ns).max(unsigned(first_ns)),
        );
        let others = subject.mine.iter().filter(|interval| {
            touches(interval.span, during) && !subject.chosen.contains(interval.process)
        });
        let others = others.map(|interval| OtherWork {
            start_ns: signed(interval.span.start_ns),
            end_ns: signed(interval.span.end_ns),
            channel: interval.channel,
            committed_ns: interval.committed.ns(),
            completed_ns: interval
                .command_buffer
                .and_then(|id| subject.commands.completion(id))
                .map(signed),
        });
        others.collect()
    }
}

/// Returns the place of each own interval's submission in the order of commits, with its index now and
/// its index among those that will be left.
fn rows(
    subject: &Subject,
    commits: &[(i64, NonZeroU64, bool)],
    window: Span,
) -> Vec<(usize, usize, Option<usize>)> {
    let mut places: Vec<(NonZeroU64, usize)> = commits
        .iter()
        .enumerate()
        .map(|(place, &(_, id, _))| (id, place))
        .collect();
    places.sort_unstable();
    let ends = places.first().zip(places.last());
    let ids = ends.map(|(&(first, _), &(last, _))| first..=last);
    let place = |id: NonZeroU64| {
        // Ids rise with time: of a million intervals, most are far from a few command buffers.
        ids.as_ref().filter(|ids| ids.contains(&id))?;
        let index = places.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        places.get(index).map(|&(_, place)| place)
    };
    let own = subject.mine.iter().enumerate();
    let own = own.filter(|(_, interval)| subject.chosen.contains(interval.process));
    let mut left: usize = 0;
    let own = own.map(|(index, interval)| {
        let is_kept = touches(interval.span, window);
        left += usize::from(is_kept);
        (index, interval, is_kept.then(|| left - 1))
    });
    own.filter_map(|(index, interval, kept)| Some((place(interval.command_buffer?)?, index, kept)))
        .collect()
}

/// Returns the threads that submitted enough to be looked at alone, after one for all others.
fn threads(subject: &Subject, rows: &[(usize, usize, Option<usize>)]) -> Vec<Option<ThreadId>> {
    let thread_of = |interval: &Interval| subject.commands.thread(interval.encoder?);
    let mut counts: FxHashMap<ThreadId, (usize, usize)> = FxHashMap::default();
    for &(place, index, _) in rows {
        if let Some(thread) = subject.mine.get(index).and_then(thread_of) {
            let (count, last) = counts.entry(thread).or_insert((0, usize::MAX));
            *count += usize::from(*last != place);
            *last = place;
        }
    }
    let mut busy: Vec<(usize, ThreadId)> = counts
        .into_iter()
        .filter(|&(_, (count, _))| count >= OF_THREAD)
        .map(|(thread, (count, _))| (count, thread))
        .collect();
    busy.sort_unstable_by(|one, other| other.cmp(one));
    let busy = busy.into_iter().skip(1).take(MOST_THREADS);
    let busy = busy.map(|(_, thread)| Some(thread));
    std::iter::once(None).chain(busy).collect()
}

pub(crate) fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

fn unsigned(ns: i64) -> u64 {
    u64::try_from(ns).unwrap_or(0)
}
