//! How long work travels: from the commit to the GPU and from the GPU back, and
//! how much of it is on its way at once.

use metalens_trace::Names;

use crate::buffers::Buffer;
use crate::commands::{Commands, thread_names};
use crate::report::{Distribution, Latency, Queue, QueueChunk};
use crate::spans::{Running, Span};

/// Into how many parts the window is cut to show the queue over time.
const CHUNKS: u64 = 60;

/// What a report says of latencies.
#[must_use]
pub(crate) fn latency(
    buffers: &[Buffer],
    commands: &Commands,
    window: Span,
    names: &Names,
) -> Latency {
    let inside = |span: &Span| (window.start_ns..window.end_ns).contains(&span.start_ns);
    let encodings = || commands.listed().filter(inside);
    let lengths = encodings().map(|span| between(0, span.length_ns()));
    Latency {
        start: Distribution::of(starts(buffers)),
        completion: Distribution::of(completions(buffers, commands)),
        commit_cadence: Distribution::of(cadence(buffers)),
        encode: Distribution::of(lengths.collect()),
        encode_busy_ns: commands.tables.encoders.then(|| busy(encodings())),
        encode_threads: thread_names(&commands.threads, names),
        queue: queue(buffers, window),
    }
}

fn starts(buffers: &[Buffer]) -> Vec<i64> {
    let start = |one: &Buffer| Some(between(one.committed_ns?, one.start_ns));
    buffers.iter().filter_map(start).collect()
}

fn completions(buffers: &[Buffer], commands: &Commands) -> Vec<i64> {
    let completion = |one: &Buffer| Some(between(one.end_ns, commands.completion(one.id)?));
    buffers.iter().filter_map(completion).collect()
}

fn cadence(buffers: &[Buffer]) -> Vec<i64> {
    let mut commits: Vec<u64> = buffers.iter().filter_map(|one| one.committed_ns).collect();
    commits.sort_unstable();
    let pairs = commits.iter().zip(commits.iter().skip(1));
    pairs.map(|(&one, &next)| between(one, next)).collect()
}

/// Spans nearly always come in order.
fn busy(spans: impl Iterator<Item = Span> + Clone) -> u64 {
    if spans.clone().is_sorted() {
        return Running::busy_ns(spans);
    }
    let mut spans: Vec<Span> = spans.collect();
    spans.sort_unstable();
    Running::busy_ns(spans.into_iter())
}

/// From one moment to another, negative if that came first.
fn between(from_ns: u64, to_ns: u64) -> i64 {
    let length = i128::from(to_ns) - i128::from(from_ns);
    i64::try_from(length).unwrap_or(if length < 0 { i64::MIN } else { i64::MAX })
}

/// The queue over the window; none if no commit is known. A buffer is in it from
/// its commit to the end of its last interval.
fn queue(buffers: &[Buffer], window: Span) -> Option<Queue> {
    let depths = Depths::of(buffers, window)?;
    let mut held = [0_u64; 3];
    for &(span, depth) in &depths.steps {
        let class = usize::try_from(depth).unwrap_or(2).min(2);
        if let Some(held) = held.get_mut(class) {
            *held += span.length_ns();
        }
    }
    Some(Queue {
        mean_depth: mean(depths.weight(window), window.length_ns())?,
        max_depth: depths.steps.iter().map(|&(_, depth)| depth).max()?,
        empty_ns: held[0],
        one_ns: held[1],
        more_ns: held[2],
        over_time: depths.over_time(window),
    })
}

/// How many buffers were in the queue, and from when to when.
struct Depths {
    /// They tile the window.
    steps: Vec<(Span, u64)>,
}

impl Depths {
    fn of(buffers: &[Buffer], window: Span) -> Option<Self> {
        let known = buffers.iter();
        let known = known.filter_map(|one| Some(Span::new(one.committed_ns?, one.end_ns)));
        let inside = known.map(|span| span.clip(window));
        let mut changes: Vec<(u64, bool)> = inside
            .filter(|span| !span.is_empty())
            .flat_map(|span| [(span.start_ns, true), (span.end_ns, false)])
            .collect();
        if changes.is_empty() {
            return None;
        }
        changes.sort_unstable();
        let (mut steps, mut at, mut depth) = (Vec::new(), window.start_ns, 0_u64);
        for (now, more) in changes {
            if now > at {
                steps.push((Span::new(at, now), depth));
                at = now;
            }
            depth = if more { depth + 1 } else { depth - 1 };
        }
        if at < window.end_ns {
            steps.push((Span::new(at, window.end_ns), depth));
        }
        Some(Self { steps })
    }

    /// Depth times length, over a part of the window.
    fn weight(&self, part: Span) -> u128 {
        let from = self
            .steps
            .partition_point(|(span, _)| span.end_ns <= part.start_ns);
        let steps = self.steps.iter().skip(from);
        let steps = steps.take_while(|(span, _)| span.start_ns < part.end_ns);
        let weight = |&(span, depth): &(Span, u64)| {
            u128::from(span.clip(part).length_ns()) * u128::from(depth)
        };
        steps.map(weight).sum()
    }

    fn over_time(&self, window: Span) -> Vec<QueueChunk> {
        let parts = CHUNKS.min(window.length_ns());
        let edge = |part: u64| {
            let offset = u128::from(window.length_ns()) * u128::from(part) / u128::from(parts);
            window.start_ns + u64::try_from(offset).unwrap_or(0)
        };
        let chunk = |part: u64| {
            let span = Span::new(edge(part), edge(part + 1));
            Some(QueueChunk {
                start_ns: span.start_ns,
                mean_depth: mean(self.weight(span), span.length_ns())?,
            })
        };
        (0..parts).filter_map(chunk).collect()
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a mean depth needs three digits, not sixteen"
)]
fn mean(weight: u128, length_ns: u64) -> Option<f64> {
    (length_ns > 0).then(|| weight as f64 / length_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    fn buffer(committed_ns: u64, start_ns: u64, end_ns: u64) -> Buffer {
        Buffer {
            id: NonZeroU64::MIN,
            committed_ns: Some(committed_ns),
            start_ns,
            end_ns,
        }
    }

    /// ```text
    ///     0    10   20   30   40
    /// a   ├c─────GGG┤
    /// b        ├c────────GG┤
    ///     1    2    1     1  0
    /// ```
    #[test]
    fn the_queue() {
        let buffers = [buffer(0, 12, 20), buffer(10, 22, 30)];
        let found = queue(&buffers, Span::new(0, 40)).unwrap();
        assert_eq!((found.max_depth, found.mean_depth), (2, 1.0));
        assert_eq!((found.empty_ns, found.one_ns, found.more_ns), (10, 20, 10));
        assert_eq!(found.over_time.len(), 40);
        assert_eq!(found.over_time[15].mean_depth, 2.0);
        assert_eq!(queue(&[], Span::new(0, 40)), None);
    }

    #[test]
    fn distributions() {
        let buffers = [buffer(0, 12, 20), buffer(10, 18, 30), buffer(40, 41, 50)];
        let start = Distribution::of(starts(&buffers)).unwrap();
        assert_eq!((start.min_ns, start.median_ns, start.max_ns), (1, 8, 12));
        assert_eq!(start.mean_ns, 7);
        assert_eq!(cadence(&buffers), [10, 30]);
        assert_eq!(between(5, 3), -2);
    }
}
