//! Computes the latencies of command buffers, encoding times and queue depth.

use metalens_message::{Ns, message, ungrouped};
use metalens_text::number::Float;
use metalens_trace::Names;

use crate::basics::spans::{RunningUnion, Span, between};
use crate::report::{Distribution, Latency, NotRecorded, Queue, QueueChunk};
use crate::subject::buffers::Buffer;
use crate::subject::chain::{Chain, DriverTimes};
use crate::subject::commands::{Commands, thread_names};

/// Number of equal parts of the window in which the queue depth is shown.
const CHUNKS: u64 = 60;

/// Computes latencies and queue depth. `buffers` are all command buffers of the process in the
/// recording.
pub(crate) fn latency(
    buffers: &[Buffer],
    commands: &Commands,
    chain: &Chain,
    window: Span,
    names: &Names,
) -> Latency {
    let inside = |span: &Span| (window.start_ns..window.end_ns).contains(&span.start_ns);
    let encodings = || commands.listed().filter(inside);
    let lengths = encodings().filter_map(|span| between(span.start_ns, span.end_ns));

    Latency {
        submission: Distribution::from_durations(starts(buffers)),
        driver_wait: Distribution::from_durations(driver(buffers, chain, |buffer, times| {
            between(buffer.committed_ns()?, times.begins_ns)
        })),
        driver: Distribution::from_durations(driver(buffers, chain, |_, times| {
            between(times.begins_ns, times.submitted_ns)
        })),
        start: Distribution::from_durations(driver(buffers, chain, |buffer, times| {
            between(times.submitted_ns, buffer.span.start_ns)
        })),
        driver_source: chain.source,
        completion: Distribution::from_durations(completions(buffers, commands)),
        commit_interval: Distribution::from_durations(commit_intervals(buffers)),
        encoding: Distribution::from_durations(lengths.collect()),
        // The list has lost the encodings if it has none of the process.
        encoding_busy_ns: commands.listed().next().map(|_| Ns(busy(encodings()))),
        encoding_threads: thread_names(&commands.threads, names),
        queue: queue(buffers, window),
    }
}

/// Returns the reason why the queue depth is unknown if command buffers were committed several
/// times; `None` if there are none.
pub(crate) fn not_recorded(buffers: &[Buffer]) -> Option<NotRecorded> {
    let reused = buffers.iter().filter(|buffer| buffer.is_reused).count();
    let why = message!(
        "{} of {} command buffers were committed several times, and the recording does not tell \
         which completion and which work belong to which commit",
        ungrouped(reused as u64),
        ungrouped(buffers.len() as u64)
    );
    (reused > 0).then(|| NotRecorded::new("latency.queue", why))
}

/// Returns the submission latency of each command buffer.
fn starts(buffers: &[Buffer]) -> Vec<i64> {
    in_window(buffers)
        .filter_map(|buffer| between(buffer.committed_ns()?, buffer.span.start_ns))
        .collect()
}

/// Returns a part of the time between commit and start of each command buffer, by the driver's times.
fn driver(
    buffers: &[Buffer],
    chain: &Chain,
    part: impl Fn(&Buffer, DriverTimes) -> Option<i64>,
) -> Vec<i64> {
    in_window(buffers)
        .filter(|buffer| !buffer.is_reused)
        .filter_map(|buffer| part(buffer, chain.times_of(buffer.id)?))
        .collect()
}

/// Returns the completion latency of each command buffer.
fn completions(buffers: &[Buffer], commands: &Commands) -> Vec<i64> {
    in_window(buffers)
        .filter_map(|buffer| between(buffer.span.end_ns, commands.completion(buffer.id)?))
        .collect()
}

/// Returns the time from each commit of the process to its next, if both command buffers count
/// in the window: a pause before the window does not count.
fn commit_intervals(buffers: &[Buffer]) -> Vec<i64> {
    let mut commits: Vec<_> = buffers
        .iter()
        .filter_map(|buffer| Some((buffer.committed_ns()?, buffer.id, buffer.in_window)))
        .collect();
    commits.sort_unstable();

    commits
        .windows(2)
        .filter_map(|pair| match pair {
            &[(this_ns, _, true), (next_ns, _, true)] => between(this_ns, next_ns),
            _ => None,
        })
        .collect()
}

fn in_window(buffers: &[Buffer]) -> impl Iterator<Item = &Buffer> {
    buffers.iter().filter(|buffer| buffer.in_window)
}

/// Returns the length of the union of spans, which are nearly always in order of time.
fn busy(spans: impl Iterator<Item = Span> + Clone) -> u64 {
    if spans.clone().is_sorted() {
        return RunningUnion::busy_ns(spans);
    }

    let mut spans: Vec<Span> = spans.collect();
    spans.sort_unstable();
    RunningUnion::busy_ns(spans.into_iter())
}

/// Computes the queue depth over the window; `None` if no commit is known, or if a buffer was
/// committed several times. A buffer is in the queue from its commit to the end of its last
/// interval, in the window or not.
fn queue(buffers: &[Buffer], window: Span) -> Option<Queue> {
    if buffers.iter().any(|buffer| buffer.is_reused) {
        return None;
    }

    let depths = Depths::new(buffers, window)?;
    let (mut times, mut max_depth, mut weight) = ([0_u64; 3], 0, 0);
    for (span, depth) in depths.steps() {
        let class = usize::try_from(depth).unwrap_or(2).min(2);
        if let Some(time) = times.get_mut(class) {
            *time += span.length_ns();
        }
        max_depth = max_depth.max(depth);
        weight += u128::from(span.length_ns()) * u128::from(depth);
    }

    let mean_depth = mean(weight, window.length_ns())?;
    let [empty_ns, one_ns, more_ns] = times;
    Some(Queue {
        mean_depth,
        max_depth,
        empty_ns: Ns(empty_ns),
        one_ns: Ns(one_ns),
        more_ns: Ns(more_ns),
        over_time: depths.over_time(),
    })
}

/// Queue depth as a step function of time. There may be a million steps, so that none is kept.
struct Depths {
    window: Span,
    /// Commits in order, not before the window.
    commits: Vec<u64>,
    /// Ends in order, not after the window.
    ends: Vec<u64>,
}

impl Depths {
    fn new(buffers: &[Buffer], window: Span) -> Option<Self> {
        let mut known = buffers.iter().filter_map(queued).peekable();
        known.peek()?;
        let inside = known.map(|span| span.clip(window));
        let (mut commits, mut ends): (Vec<u64>, Vec<u64>) = inside
            .filter(|span| !span.is_empty())
            .map(|span| (span.start_ns, span.end_ns))
            .unzip();
        commits.sort_unstable();
        ends.sort_unstable();
        Some(Self {
            window,
            commits,
            ends,
        })
    }

    /// Returns spans with their depth, which tile the window.
    fn steps(&self) -> impl Iterator<Item = (Span, u64)> {
        let mut commits = self.commits.iter().peekable();
        let mut ends = self.ends.iter().peekable();
        let (mut start_ns, mut depth) = (self.window.start_ns, 0_u64);
        std::iter::from_fn(move || {
            // A buffer's end comes after its commit, so that the depth is never below 0.
            while commits.next_if(|&&ns| ns <= start_ns).is_some() {
                depth += 1;
            }
            while ends.next_if(|&&ns| ns <= start_ns).is_some() {
                depth -= 1;
            }
            let next = commits.peek().into_iter().chain(ends.peek()).min();
            let step = Span::new(start_ns, next.map_or(self.window.end_ns, |&&ns| ns));
            start_ns = step.end_ns;
            (!step.is_empty()).then_some((step, depth))
        })
    }

    /// Returns depth times length, summed from the window's start up to each of these times, which come
    /// in order.
    fn weights(&self, until: impl Iterator<Item = u64>) -> Vec<u128> {
        let weight = |from: u64, to: u64, depth| u128::from(to - from) * u128::from(depth);
        let mut steps = self.steps().peekable();
        let mut before = 0;
        let weights = until.map(|ns| {
            while let Some((step, depth)) = steps.next_if(|(step, _)| step.end_ns <= ns) {
                before += weight(step.start_ns, step.end_ns, depth);
            }
            let rest = steps.peek().filter(|(step, _)| step.start_ns < ns);
            before + rest.map_or(0, |&(step, depth)| weight(step.start_ns, ns, depth))
        });
        weights.collect()
    }

    /// Returns the mean depth in equal parts of the window.
    fn over_time(&self) -> Vec<QueueChunk> {
        let parts = CHUNKS.min(self.window.length_ns());
        let edge = |part: u64| self.window.edge(part, parts);
        let weights = self.weights((0..=parts).map(edge));
        let chunks = (0..parts).zip(weights.iter().zip(weights.iter().skip(1)));
        let chunk = |(part, (before, after)): (u64, (&u128, &u128))| {
            Some(QueueChunk {
                start_ns: Ns(edge(part)),
                mean_depth: mean(after - before, edge(part + 1) - edge(part))?,
            })
        };
        chunks.filter_map(chunk).collect()
    }
}

/// Returns the time that a buffer was in the queue; `None` if its commit is not known. A commit
/// before the recording counts from the recording's start: windows begin later.
fn queued(buffer: &Buffer) -> Option<Span> {
    let committed_ns = u64::try_from(buffer.committed_ns()?).unwrap_or(0);
    Some(Span::new(committed_ns, buffer.span.end_ns))
}

fn mean(weight: u128, length_ns: u64) -> Option<f64> {
    (length_ns > 0).then(|| weight.float() / length_ns.float())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::moment::Moment;
    use crate::subject::buffers::buffers;
    use crate::subject::interval::Interval;
    use crate::testing::interval;
    use metalens_message::SignedNs;
    use std::num::NonZeroU64;

    /// Makes command buffers of one interval from (commit, start, end), numbered from 1.
    fn buffers_of(rows: &[(i64, u64, u64)], window: Span) -> Vec<Buffer> {
        let rows = rows.iter().zip(1..);
        let rows = rows.map(|(&(committed_ns, start, end), id)| Interval {
            committed: Moment::at(Some(committed_ns)),
            command_buffer: NonZeroU64::new(id),
            ..interval(start, end)
        });
        let rows: Vec<Interval> = rows.collect();
        buffers(rows.iter(), window)
    }

    /// Checks the queue depth of two command buffers.
    ///
    /// ```text
    ///     0    10   20   30   40
    /// a   ├c─────GGG┤
    /// b        ├c────────GG┤
    ///     1    2    1     1  0
    /// ```
    #[test]
    fn the_queue_depth_is_measured() {
        let window = Span::new(0, 40);
        let found = queue(&buffers_of(&[(0, 12, 20), (10, 22, 30)], window), window).unwrap();
        assert_eq!((found.max_depth, found.mean_depth), (2, 1.0));
        assert_eq!(
            (found.empty_ns, found.one_ns, found.more_ns),
            (Ns(10), Ns(20), Ns(10))
        );
        assert_eq!(found.over_time.len(), 40);
        assert_eq!(found.over_time[15].mean_depth, 2.0);
        assert_eq!(queue(&[], window), None);
    }

    #[test]
    fn the_queue_depth_of_a_cut_window_counts_all_buffers() {
        // No buffer ran in the window.
        let window = Span::new(14, 18);
        let found = queue(&buffers_of(&[(0, 20, 30), (16, 22, 30)], window), window).unwrap();
        assert_eq!((found.max_depth, found.mean_depth), (2, 1.5));
        assert_eq!(
            (found.empty_ns, found.one_ns, found.more_ns),
            (Ns(0), Ns(2), Ns(2))
        );
        // An empty queue is known, not absent.
        let found = queue(&buffers_of(&[(0, 2, 3)], window), window).unwrap();
        assert_eq!((found.max_depth, found.empty_ns), (0, Ns(4)));
    }

    #[test]
    fn distributions() {
        let window = Span::new(0, 100);
        let all = buffers_of(&[(0, 12, 20), (10, 18, 30), (40, 41, 50)], window);
        let start = Distribution::from_durations(starts(&all)).unwrap();
        assert_eq!(
            (start.min_ns, start.median_ns, start.max_ns),
            (SignedNs(1), SignedNs(8), SignedNs(12))
        );
        assert_eq!(start.mean_ns, SignedNs(7));
        assert_eq!(commit_intervals(&all), [10, 30]);
    }

    #[test]
    fn commits_before_the_recording_count() {
        let window = Span::new(0, 110);
        let all = buffers_of(&[(-4_900, 100, 110), (-100, 105, 120)], window);
        assert_eq!(starts(&all), [5_000, 205]);
        assert_eq!(commit_intervals(&all), [4_800]);
        let found = queue(&all, window).unwrap();
        assert_eq!((found.mean_depth, found.more_ns), (2.0, Ns(110)));
    }

    /// Checks that only commits of buffers in the window count, and only if they follow each other.
    ///
    /// ```text
    /// window           ├────────────────┤
    /// in it      c          c──G    c──G       c
    /// ran after              c──────────────G
    /// ```
    #[test]
    fn commit_intervals_of_a_cut_window() {
        let window = Span::new(10, 30);
        let rows = [
            (0, 1, 2),
            (12, 13, 14),
            (13, 40, 41),
            (20, 21, 22),
            (24, 25, 26),
        ];
        // The times from 12 to 13, and from there to 20, are not between two buffers of the window.
        assert_eq!(commit_intervals(&buffers_of(&rows, window)), [4]);
        let wider = Span::new(0, 99);
        assert_eq!(commit_intervals(&buffers_of(&rows, wider)), [12, 1, 7, 4]);
    }
}
