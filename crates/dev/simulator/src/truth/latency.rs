//! Computes the truth about latencies and the queue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tally::Tally;
use crate::plan::sweep::Window;
use crate::plan::{Buffer, Kick, Plan};

/// Submission latency and completion latency of the process's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Time from commit to the start of each row, as in the start-latency column.
    pub start: Spread,
    /// Time from commit to the start of each command buffer's first row.
    pub first_start: Spread,
    /// Time from the end of each command buffer's last row to its completion, if recorded.
    pub completion: Spread,
}

/// Distribution of values. Percentiles are nearest-rank.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of values.
    pub count: u64,
    /// Smallest value; negative if a completion comes before the end.
    pub min_ns: Option<i64>,
    /// Median of the values; `null` without values.
    pub median_ns: Option<i64>,
    /// 95th percentile of the values.
    pub p95_ns: Option<i64>,
    /// Largest value; `null` without values.
    pub max_ns: Option<i64>,
}

/// Depth of the queue: command buffers of the process that were committed and had not ended on the
/// GPU. Buffers that no row names are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// Largest depth inside the window.
    pub max: u64,
    /// Sum of the times that each buffer was in the queue inside the window.
    pub area_ns: u64,
    /// Ratio of `area_ns` to the window's span.
    pub mean: f64,
}

/// Computes the times from commit to start, and from end to completion.
pub(super) fn latency(plan: &Plan, own: &[&Kick]) -> Latency {
    let committed = |kick: &&Kick| plan.buffer(kick.buffer).committed_ns;
    let until_start = |kick: &&Kick| difference(kick.start_ns, committed(kick));
    let buffers = buffer_spans(plan, own);
    let first = |span: &BufferSpan<'_>| difference(span.start_ns, span.buffer.committed_ns);
    let recorded = buffers
        .iter()
        .filter(|span| span.buffer.completion_recorded);

    Latency {
        start: spread(own.iter().map(until_start).collect()),
        first_start: spread(buffers.iter().map(first).collect()),
        completion: spread(
            recorded
                .map(|span| difference(span.buffer.completed_ns, span.end_ns))
                .collect(),
        ),
    }
}

/// Computes the depth of the queue: its largest value and its mean.
pub(super) fn queue(plan: &Plan, own: &[&Kick], window: Window) -> Queue {
    let inside = |at_ns: u64| at_ns.clamp(window.start_ns, window.end_ns);
    let mut edges: Vec<(u64, i64)> = Vec::new();
    let mut area_ns = 0;
    for span in buffer_spans(plan, own) {
        let (from_ns, to_ns) = (inside(span.buffer.committed_ns), inside(span.end_ns));
        if from_ns < to_ns {
            area_ns += to_ns - from_ns;
            edges.extend([(from_ns, 1), (to_ns, -1)]);
        }
    }

    // Sorted by time and step, a leaving buffer comes before an arriving one.
    edges.sort_unstable();
    let (mut depth, mut max) = (0_i64, 0);
    for (_, step) in edges {
        depth += step;
        max = max.max(depth);
    }

    Queue {
        max: max.unsigned_abs(),
        area_ns,
        mean: area_ns as f64 / window.span_ns as f64,
    }
}

/// A command buffer with the time from its first row to its last.
struct BufferSpan<'p> {
    buffer: &'p Buffer,
    start_ns: u64,
    end_ns: u64,
}

fn buffer_spans<'p>(plan: &'p Plan, own: &[&Kick]) -> Vec<BufferSpan<'p>> {
    let mut spans = BTreeMap::new();
    for kick in own {
        let span = spans.entry(kick.buffer).or_insert(BufferSpan {
            buffer: plan.buffer(kick.buffer),
            start_ns: kick.start_ns,
            end_ns: kick.end_ns(),
        });
        span.start_ns = span.start_ns.min(kick.start_ns);
        span.end_ns = span.end_ns.max(kick.end_ns());
    }
    spans.into_values().collect()
}

/// Returns the time from `earlier` to `later`, negative if they are in the other order.
fn difference(later: u64, earlier: u64) -> i64 {
    // The difference fits, since a run is at most an hour long.
    i64::try_from(i128::from(later) - i128::from(earlier)).unwrap_or(i64::MAX)
}

/// Computes the distribution of values. A tally has no negative numbers, so the values are counted
/// from the lowest one.
fn spread(values: Vec<i64>) -> Spread {
    let lowest = values.iter().copied().min().unwrap_or(0).min(0);
    let tally: Tally = values.iter().map(|value| value.abs_diff(lowest)).collect();
    let value = |above: Option<u64>| above.map(|above| lowest.saturating_add_unsigned(above));
    Spread {
        count: tally.count(),
        min_ns: value(tally.min()),
        median_ns: value(tally.percentile(50)),
        p95_ns: value(tally.percentile(95)),
        max_ns: value(tally.max()),
    }
}
