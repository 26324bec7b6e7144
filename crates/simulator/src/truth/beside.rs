//! What is true beside the gaps: latencies, the queue, states, memory, signposts, shaders.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Window;
use super::sweep::{Segment, time_ns};
use super::tally::Tally;
use crate::plan::machine::Stretch;
use crate::plan::{Buffer, Kick, Plan, ProcessIndex, shaders};

/// How long the target's work was under way to the GPU, and the news of its end to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// From commit to the start of each row: what the start-latency column says.
    pub start: Spread,
    /// From commit to the start of each command buffer's first row.
    pub first_start: Spread,
    /// From the end of each command buffer's last row to its completion, of those recorded.
    pub completion: Spread,
}

/// Values from the least to the most. Percentiles are nearest-rank.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// The least; a completion may come before the end.
    pub min_ns: Option<i64>,
    /// The middle one.
    pub median_ns: Option<i64>,
    /// The 95th percentile.
    pub p95_ns: Option<i64>,
    /// The most.
    pub max_ns: Option<i64>,
}

/// The target's command buffers that were committed and had not ended on the GPU. Those none of
/// whose rows name them are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    /// The most at once inside the window.
    pub max: u64,
    /// Buffers by the time each was in the queue inside the window, added up.
    pub area_ns: u64,
    /// `area_ns` of the window's span.
    pub mean: f64,
}

/// Which states the window saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct States {
    /// In the order of their names.
    pub states: Vec<InState>,
    /// The window's time that no state covers.
    pub uncovered_ns: u64,
    /// The worst thermal state known by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<String>,
}

/// The window's time in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InState {
    /// The state.
    pub state: String,
    /// Time in it.
    pub total_ns: u64,
    /// Of that, time with a row of the target's.
    pub busy_ns: u64,
    /// Whether Instruments forced any of it.
    pub induced: bool,
}

/// What Metal had allocated for the target inside the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocated {
    /// When the window starts; the first level inside it when nothing was said before.
    pub first_bytes: u64,
    /// The most.
    pub peak_bytes: u64,
    /// When it ends.
    pub last_bytes: u64,
}

/// The signposts of one name, of any process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignpostTotal {
    /// What they mark.
    pub name: String,
    /// Who marks it.
    pub subsystem: String,
    /// In which category.
    pub category: String,
    /// In which process.
    pub pid: u32,
    /// Intervals.
    pub count: u64,
    /// Events, which have no length.
    pub events: u64,
    /// The intervals' lengths, added up.
    pub total_ns: u64,
}

/// What one shader of the target's took of its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShaderTotal {
    /// The function.
    pub name: String,
    /// Rows of the shader timeline.
    pub count: u64,
    /// Their lengths, added up.
    pub total_ns: u64,
}

/// Commit to start, end to completion.
pub(super) fn latency(plan: &Plan, own: &[&Kick]) -> Latency {
    let committed = |kick: &&Kick| plan.buffer(kick.buffer).committed_ns;
    let until_start = |kick: &&Kick| difference(kick.start_ns, committed(kick));
    let buffers = runs(plan, own);
    let first = |run: &Run<'_>| difference(run.start_ns, run.buffer.committed_ns);
    let recorded = buffers.iter().filter(|run| run.buffer.completion_recorded);
    Latency {
        start: spread(own.iter().map(until_start).collect()),
        first_start: spread(buffers.iter().map(first).collect()),
        completion: spread(
            recorded
                .map(|run| difference(run.buffer.completed_ns, run.end_ns))
                .collect(),
        ),
    }
}

/// How many buffers were committed and not done at a time.
pub(super) fn queue(plan: &Plan, own: &[&Kick], window: Window) -> Queue {
    let inside = |at_ns: u64| at_ns.clamp(window.start_ns, window.end_ns);
    let mut edges: Vec<(u64, i64)> = Vec::new();
    let mut area_ns = 0;
    for run in runs(plan, own) {
        let (from_ns, to_ns) = (inside(run.buffer.committed_ns), inside(run.end_ns));
        if from_ns < to_ns {
            area_ns += to_ns - from_ns;
            edges.extend([(from_ns, 1), (to_ns, -1)]);
        }
    }
    // Where one leaves as another comes, they are not both there.
    edges.sort_unstable();
    let (mut now, mut max) = (0_i64, 0);
    for (_, step) in edges {
        now += step;
        max = max.max(now);
    }
    Queue {
        max: max.unsigned_abs(),
        area_ns,
        mean: area_ns as f64 / window.span_ns as f64,
    }
}

/// A command buffer from its first row to its last.
struct Run<'p> {
    buffer: &'p Buffer,
    start_ns: u64,
    end_ns: u64,
}

fn runs<'p>(plan: &'p Plan, own: &[&Kick]) -> Vec<Run<'p>> {
    let mut runs = BTreeMap::new();
    for kick in own {
        let run = runs.entry(kick.buffer).or_insert(Run {
            buffer: plan.buffer(kick.buffer),
            start_ns: kick.start_ns,
            end_ns: kick.end_ns(),
        });
        run.start_ns = run.start_ns.min(kick.start_ns);
        run.end_ns = run.end_ns.max(kick.end_ns());
    }
    runs.into_values().collect()
}

/// The window's time state by state.
pub(super) fn states(stretches: &[Stretch], segments: &[Segment], window: Window) -> States {
    let mut by_name = BTreeMap::<&str, InState>::new();
    let mut covered_ns = 0;
    for stretch in stretches {
        let from_ns = stretch.start_ns.max(window.start_ns);
        let to_ns = stretch.end_ns.min(window.end_ns);
        if from_ns >= to_ns {
            continue;
        }
        let entry = by_name.entry(&stretch.state).or_insert_with(|| InState {
            state: stretch.state.clone(),
            total_ns: 0,
            busy_ns: 0,
            induced: false,
        });
        entry.total_ns += to_ns - from_ns;
        entry.busy_ns += busy_ns(segments, from_ns, to_ns);
        entry.induced |= stretch.induced;
        covered_ns += to_ns - from_ns;
    }
    States {
        states: by_name.into_values().collect(),
        uncovered_ns: window.span_ns - covered_ns,
        worst: None,
    }
}

/// The same of thermal states, which have a worst.
pub(super) fn thermal(stretches: &[Stretch], segments: &[Segment], window: Window) -> States {
    let mut states = states(stretches, segments, window);
    let seen = |name: &&str| states.states.iter().any(|one| one.state == **name);
    let worst = ["Critical", "Serious", "Fair", "Nominal"];
    states.worst = worst.into_iter().find(seen).map(str::to_owned);
    states
}

/// Time with a row of the target's; segments are in order and do not overlap.
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

/// The target's memory; nothing when none was recorded inside the window.
pub(super) fn memory(plan: &Plan, target: ProcessIndex, window: Window) -> Option<Allocated> {
    let (_, levels) = plan.memory.iter().find(|(process, _)| *process == target)?;
    let during = levels
        .iter()
        .filter(|held| held.start_ns < window.end_ns && held.end_ns > window.start_ns);
    let bytes: Vec<u64> = during.map(|held| held.bytes).collect();
    Some(Allocated {
        first_bytes: *bytes.first()?,
        peak_bytes: *bytes.iter().max()?,
        last_bytes: *bytes.last()?,
    })
}

/// Signposts by process and name.
pub(super) fn signposts(plan: &Plan) -> Vec<SignpostTotal> {
    let mut totals = BTreeMap::new();
    for marked in &plan.signposts {
        let pid = plan.process(marked.process).pid;
        let key = (pid, &marked.name, &marked.subsystem, &marked.category);
        let total = totals.entry(key).or_insert_with(|| SignpostTotal {
            name: marked.name.clone(),
            subsystem: marked.subsystem.clone(),
            category: marked.category.clone(),
            pid,
            count: 0,
            events: 0,
            total_ns: 0,
        });
        match marked.end_ns {
            Some(end_ns) => {
                total.count += 1;
                total.total_ns += end_ns - marked.start_ns;
            }
            None => total.events += 1,
        }
    }
    totals.into_values().collect()
}

/// The target's shaders by name.
pub(super) fn shader_totals(plan: &Plan, target: ProcessIndex) -> Vec<ShaderTotal> {
    let mut totals = BTreeMap::new();
    let own = shaders::shares(plan).into_iter();
    for share in own.filter(|share| share.process == target) {
        let total = totals.entry(share.name).or_insert_with(|| ShaderTotal {
            name: share.name.to_owned(),
            count: 0,
            total_ns: 0,
        });
        total.count += 1;
        total.total_ns += share.duration_ns;
    }
    totals.into_values().collect()
}

/// From `earlier` to `later`, negative when they are not.
fn difference(later: u64, earlier: u64) -> i64 {
    // A run is at most an hour long.
    i64::try_from(i128::from(later) - i128::from(earlier)).unwrap_or(i64::MAX)
}

/// Counts values below zero by moving all of them up.
fn spread(values: Vec<i64>) -> Spread {
    let lowest = values.iter().copied().min().unwrap_or(0).min(0);
    let moved = values.iter().map(|value| value.abs_diff(lowest));
    let tally: Tally = moved.collect();
    let back = |value: Option<u64>| value.map(|value| lowest.saturating_add_unsigned(value));
    Spread {
        count: tally.count(),
        min_ns: back(tally.min()),
        median_ns: back(tally.percentile(50)),
        p95_ns: back(tally.percentile(95)),
        max_ns: back(tally.max()),
    }
}
