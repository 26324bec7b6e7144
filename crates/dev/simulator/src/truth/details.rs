//! Computes the truth about latencies, queue, states, memory, signposts and shaders.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::kernels;
use super::sweep::{Segment, Window, time_ns};
use super::tally::Tally;
use crate::plan::PlannedState;
use crate::plan::{Buffer, Kick, Plan, ProcessIndex, shaders};

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

/// The states inside the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    /// States ordered by name.
    pub states: Vec<InState>,
    /// Time in the window that no state covers.
    pub uncovered_ns: u64,
    /// Worst of the known thermal states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
}

/// The window's time in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InState {
    /// Name of the state.
    pub state: String,
    /// Time in the state inside the window.
    pub total_ns: u64,
    /// Part of that time with a row of the process.
    pub busy_ns: u64,
    /// True if Instruments forced any of it.
    pub induced: bool,
}

/// Memory that Metal had allocated for the process inside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocated {
    /// Bytes at the start of the window, or the first level inside it if none came before.
    pub first_bytes: u64,
    /// Largest number of bytes inside the window.
    pub peak_bytes: u64,
    /// Bytes at the end of the window.
    pub last_bytes: u64,
}

/// Totals of the signposts of one name in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignpostTotal {
    /// Name of the signposts.
    pub name: String,
    /// Subsystem that they were logged under.
    pub subsystem: String,
    /// Category that they were logged under.
    pub category: String,
    /// Process id of the process that emitted them.
    pub pid: u32,
    /// Number of intervals.
    pub count: u64,
    /// Number of events, which have no length.
    pub events: u64,
    /// Sum of the intervals' lengths.
    pub total_ns: u64,
    /// Work of the process that was encoded during the intervals, by name and channel. Where the
    /// list of encoders lost an encoder, its commit counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub encoded: Vec<EncodedKernel>,
}

/// Rows of one name on one channel that were encoded during a phase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EncodedKernel {
    /// Name of the rows.
    pub name: String,
    /// Name of the GPU channel.
    pub channel: String,
    /// Number of rows.
    pub instances: u64,
    /// Sum of their durations.
    pub total_ns: u64,
}

/// Share of one shader in the process's rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShaderTotal {
    /// Name of the function.
    pub name: String,
    /// Rows of the shader timeline.
    pub count: u64,
    /// Sum of their lengths.
    pub total_ns: u64,
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

/// Computes the window's time in each state.
pub(super) fn states(planned: &[PlannedState], segments: &[Segment], window: Window) -> States {
    let mut by_name = BTreeMap::<&str, InState>::new();
    let mut covered_ns = 0;
    for state in planned {
        let from_ns = state.start_ns.max(window.start_ns);
        let to_ns = state.end_ns.min(window.end_ns);
        if from_ns >= to_ns {
            continue;
        }

        let entry = by_name.entry(&state.state).or_insert_with(|| InState {
            state: state.state.clone(),
            total_ns: 0,
            busy_ns: 0,
            induced: false,
        });
        entry.total_ns += to_ns - from_ns;
        entry.busy_ns += busy_ns(segments, from_ns, to_ns);
        entry.induced |= state.induced;
        covered_ns += to_ns - from_ns;
    }

    States {
        states: by_name.into_values().collect(),
        uncovered_ns: window.span_ns - covered_ns,
        worst: None,
    }
}

/// Computes the window's time in each thermal state, and the worst of them.
pub(super) fn thermal(planned: &[PlannedState], segments: &[Segment], window: Window) -> States {
    let mut states = states(planned, segments, window);
    let occurs = |name: &&str| states.states.iter().any(|state| state.state == **name);
    let worst = ["Critical", "Serious", "Fair", "Nominal"];
    states.worst = worst.into_iter().find(occurs).map(str::to_owned);
    states
}

/// Computes the time with a row of the process. The segments are in order and do not overlap.
fn busy_ns(segments: &[Segment], from_ns: u64, to_ns: u64) -> u64 {
    let first = segments.partition_point(|segment| segment.to_ns <= from_ns);
    let last = segments.partition_point(|segment| segment.from_ns < to_ns);
    let part = |segment: &Segment| Segment {
        from_ns: segment.from_ns.max(from_ns),
        to_ns: segment.to_ns.min(to_ns),
        ..*segment
    };
    let parts: Vec<Segment> = segments[first..last].iter().map(part).collect();
    let window = Window {
        start_ns: from_ns,
        end_ns: to_ns,
        span_ns: to_ns - from_ns,
    };
    time_ns(&parts, window, |segment| segment.target > 0)
}

/// Computes the memory of the process, or `None` if none was recorded inside the window.
pub(super) fn memory(plan: &Plan, target: ProcessIndex, window: Window) -> Option<Allocated> {
    let (_, levels) = plan.memory.iter().find(|(process, _)| *process == target)?;
    let during = levels
        .iter()
        .filter(|memory| memory.start_ns < window.end_ns && memory.end_ns > window.start_ns);
    let bytes: Vec<u64> = during.map(|memory| memory.bytes).collect();
    Some(Allocated {
        first_bytes: *bytes.first()?,
        peak_bytes: *bytes.iter().max()?,
        last_bytes: *bytes.last()?,
    })
}

/// Computes totals of signposts by process and name, with the process's own work in each.
pub(super) fn signposts(plan: &Plan, own: &[&Kick]) -> Vec<SignpostTotal> {
    let mut totals = BTreeMap::new();
    let mut spans: BTreeMap<_, Vec<(u64, u64)>> = BTreeMap::new();
    for signpost in &plan.signposts {
        let pid = plan.process(signpost.process).pid;
        let key = (pid, &signpost.name, &signpost.subsystem, &signpost.category);
        let total = totals.entry(key).or_insert_with(|| SignpostTotal {
            name: signpost.name.clone(),
            subsystem: signpost.subsystem.clone(),
            category: signpost.category.clone(),
            pid,
            count: 0,
            events: 0,
            total_ns: 0,
            encoded: Vec::new(),
        });
        match signpost.end_ns {
            Some(end_ns) => {
                let spans = spans.entry(key).or_default();
                spans.push((signpost.start_ns, end_ns));
                total.count += 1;
                total.total_ns += end_ns - signpost.start_ns;
            }
            None => total.events += 1,
        }
    }

    for (key, total) in &mut totals {
        total.encoded = encoded(plan, own, spans.get(key).map_or(&[], Vec::as_slice));
    }
    totals.into_values().collect()
}

/// Returns the rows by kernel if the encoding of their encoder started within one of the spans.
fn encoded(plan: &Plan, own: &[&Kick], spans: &[(u64, u64)]) -> Vec<EncodedKernel> {
    let mut kernels = BTreeMap::new();
    for kick in own {
        let encoder = plan.encoder(kick.encoder);
        let at_ns = if encoder.recorded {
            encoder.start_ns
        } else {
            plan.buffer(kick.buffer).committed_ns
        };
        if spans.iter().any(|&(from, to)| from <= at_ns && at_ns < to) {
            let channel = plan.channels.text(kick.channel).to_owned();
            let (name, _) = kernels::name(plan, kick);
            let (instances, total_ns) = kernels.entry((name, channel)).or_insert((0, 0));
            *instances += 1;
            *total_ns += kick.duration_ns;
        }
    }

    let kernel = |((name, channel), (instances, total_ns))| EncodedKernel {
        name,
        channel,
        instances,
        total_ns,
    };
    kernels.into_iter().map(kernel).collect()
}

/// Computes totals of the process's shaders by name.
pub(super) fn shader_totals(plan: &Plan, target: ProcessIndex) -> Vec<ShaderTotal> {
    let mut totals = BTreeMap::new();
    let intervals = shaders::shader_intervals(plan).into_iter();
    for interval in intervals.filter(|interval| interval.process == target) {
        let total = totals.entry(interval.name).or_insert_with(|| ShaderTotal {
            name: interval.name.to_owned(),
            count: 0,
            total_ns: 0,
        });
        total.count += 1;
        total.total_ns += interval.duration_ns;
    }
    totals.into_values().collect()
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
