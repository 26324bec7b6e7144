//! Puts the command buffers of the process in the order of their commits, each with the times of all
//! its stations. What waits for what follows from this order.

use std::num::NonZeroU64;
use std::ops::Range;

use super::Subject;
use super::chain::DriverTimes;
use super::interval::Interval;
use crate::basics::spans::{Span, touches};

/// Largest number of GPU intervals whose command buffers are all put in order.
const MOST: usize = 1 << 17;
/// About the number of GPU intervals that stand for more of them. All would tell nothing new about a
/// program that repeats its work, and an analysis of a million would take twice as long.
const SAMPLE: usize = 1 << 15;

/// Command buffer with the times of its stations, in nanoseconds since the recording began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// Id of the command buffer.
    pub id: NonZeroU64,
    /// Start of its first encoding; `None` if it is not recorded.
    pub encoding_ns: Option<i64>,
    /// Commit.
    pub committed_ns: i64,
    /// The driver's work on it; `None` if it is not recorded.
    pub driver: Option<DriverTimes>,
    /// End of the driver's work on it; `None` if it is not recorded.
    pub driver_end_ns: Option<u64>,
    /// GPU intervals of the command buffer, as places in [`Steps::intervals`].
    pub intervals: Range<usize>,
    /// Time at which the program was notified of its completion; `None` if it is not recorded.
    pub completed_ns: Option<i64>,
}

/// Command buffers in the order of their commits.
#[derive(Debug, Default, Clone)]
pub(crate) struct Steps {
    pub list: Vec<Step>,
    /// Indices of the process's GPU intervals, grouped by command buffer, in order of their starts.
    pub intervals: Vec<usize>,
    /// Submission of each of these intervals to the GPU; `None` if it is not recorded.
    pub submitted: Vec<Option<i64>>,
    /// Number of command buffers in the window that the list lacks: their commit is unknown, or they
    /// were committed several times.
    pub left_out: usize,
    /// Whether the list has only command buffers in the middle, because there are very many.
    pub is_sample: bool,
}

impl Steps {
    /// Puts the command buffers of the window in order, or those of the whole recording. Of very many,
    /// takes those in the middle.
    pub(crate) fn new(subject: &Subject, is_whole: bool) -> Self {
        let buffers = subject.buffers.iter();
        let in_window = buffers.clone().filter(|buffer| buffer.in_window).count();
        let wanted = buffers.filter(|buffer| is_whole || buffer.in_window);
        let known = wanted.filter_map(|buffer| Some((buffer.committed_ns()?, buffer.id)));
        let mut commits: Vec<(i64, NonZeroU64)> = known.collect();
        commits.sort_unstable();
        let most = match subject.mine.len() {
            0..=MOST => MOST,
            intervals => (SAMPLE * commits.len() / intervals).clamp(1, SAMPLE),
        };
        let beyond = commits.len().saturating_sub(most);
        if beyond > 0 {
            commits = commits.into_iter().skip(beyond / 2).take(most).collect();
        }

        let mut rows = rows(subject, &commits);
        rows.sort_unstable();
        let (mut list, mut intervals) = (Vec::with_capacity(commits.len()), Vec::new());
        let mut rows = rows.into_iter().peekable();
        for (place, &(committed_ns, id)) in commits.iter().enumerate() {
            let first = intervals.len();
            while let Some((_, index)) = rows.next_if(|&(step, _)| step == place) {
                intervals.push(index);
            }
            list.push(step(subject, committed_ns, id, first, &intervals));
        }
        // A command buffer whose work lies outside the window has no place in it.
        list.retain(|step| !step.intervals.is_empty());
        let mut steps = Self {
            left_out: in_window.saturating_sub(list.len() + beyond),
            is_sample: beyond > 0,
            list,
            intervals,
            submitted: Vec::new(),
        };
        steps.submitted = steps.submissions(subject);
        steps
    }
}

impl Steps {
    /// Returns the indices of a command buffer's intervals.
    pub(crate) fn intervals_of(&self, step: &Step) -> &[usize] {
        self.intervals.get(step.intervals.clone()).unwrap_or(&[])
    }

    /// Returns the command buffers whose work begins in a part of the window.
    pub(crate) fn within(&self, part: Span, mine: &[Interval]) -> Self {
        let is_inside = |step: &&Step| {
            let index = self.intervals.get(step.intervals.start);
            let first = index.and_then(|&index| mine.get(index));
            first.is_some_and(|first| {
                touches(
                    Span::new(first.span.start_ns, first.span.start_ns + 1),
                    part,
                )
            })
        };
        Self {
            list: self.list.iter().filter(is_inside).cloned().collect(),
            intervals: self.intervals.clone(),
            submitted: self.submitted.clone(),
            left_out: self.left_out,
            is_sample: self.is_sample,
        }
    }

    /// Returns the submission of each interval, if it lies between the driver's start and the
    /// interval's.
    fn submissions(&self, subject: &Subject) -> Vec<Option<i64>> {
        let mut submitted = vec![None; self.intervals.len()];
        for step in &self.list {
            for place in step.intervals.clone() {
                let interval = self
                    .intervals
                    .get(place)
                    .and_then(|&index| subject.mine.get(index));
                let times = interval.and_then(|interval| subject.chain.times(interval));
                let ns = times.map(|times| times.submitted_ns).filter(|ns| {
                    step.driver.is_some_and(|driver| driver.begins_ns <= *ns)
                        && interval.is_some_and(|interval| *ns <= interval.span.start_ns)
                });
                if let Some(slot) = submitted.get_mut(place) {
                    *slot = ns.and_then(|ns| i64::try_from(ns).ok());
                }
            }
        }
        submitted
    }
}

/// Returns the place of each interval's command buffer in the order of commits, with its index.
fn rows(subject: &Subject, commits: &[(i64, NonZeroU64)]) -> Vec<(usize, usize)> {
    let mut places: Vec<(NonZeroU64, usize)> = commits
        .iter()
        .enumerate()
        .map(|(place, &(_, id))| (id, place))
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
    let intervals = subject.mine.iter().enumerate();
    intervals
        .filter_map(|(index, interval)| Some((place(interval.command_buffer?)?, index)))
        .collect()
}

fn step(
    subject: &Subject,
    committed_ns: i64,
    id: NonZeroU64,
    first: usize,
    intervals: &[usize],
) -> Step {
    let own = intervals.get(first..).unwrap_or(&[]);
    let encodings = own.iter().filter_map(|&index| {
        let encoding = subject.commands.encoding(subject.mine.get(index)?)?;
        i64::try_from(encoding.span.start_ns).ok()
    });
    let completed_ns = subject.commands.completion(id);
    let times = subject.chain.times_of(id);
    // Impossible orders come from damaged rows, and no station may be moved by them.
    let driver = times.filter(|times| i128::from(times.begins_ns) >= i128::from(committed_ns));
    Step {
        id,
        encoding_ns: encodings.min().filter(|&start_ns| start_ns <= committed_ns),
        committed_ns,
        driver_end_ns: driver.and_then(|times| subject.chain.end_of_work(times.begins_ns)),
        driver,
        intervals: first..intervals.len(),
        completed_ns: completed_ns.and_then(|ns| i64::try_from(ns).ok()),
    }
}
