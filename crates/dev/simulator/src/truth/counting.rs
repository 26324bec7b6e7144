//! Counts the truth of a planned run: the window, the busy time, the gaps and the processes.
use std::collections::{BTreeMap, BTreeSet};

use super::model::{
    Busy, Channel, ChosenBy, Counts, Gaps, HistogramBin, ProcessShare, Target, Truth,
};
use super::tally::Tally;
use super::{kernels, latency, ledger};
use crate::plan::states::states;
use crate::plan::sweep::{self, Gap, Segment, Side, TargetRows, Window};
use crate::plan::{Encoder, Kick, Plan, ProcessIndex};
use crate::schedule::Run;
use crate::values::kinds::TargetKind;

/// Returns the truth of a planned run.
pub(crate) fn count_truth(run: &Run) -> Truth {
    let plan = &run.plan;
    let shares = shares(plan);
    let target = target(plan, &shares);
    let is_analyzed = |kick: &Kick| target.is_some() && plan.process_of(kick) == target;
    let own: Vec<&Kick> = plan.kicks.iter().filter(|kick| is_analyzed(kick)).collect();

    let segments = sweep::segments(plan.kicks.iter().map(|kick| {
        let side = if is_analyzed(kick) {
            Side::Target
        } else {
            Side::Foreign
        };
        (kick.start_ns, kick.end_ns(), side)
    }));

    let window = window(&own);
    let gaps = window.map(|window| sweep::gaps(&segments, window));
    let kernels = kernels::kernels(plan, &own);
    let ledger = |known: fn(&Encoder) -> bool| {
        let gaps = gaps.as_deref()?;
        Some(ledger::ledger(plan, &own, &segments, gaps, known))
    };
    let listed = ledger(|encoder| encoder.recorded);
    let recovered = ledger(|encoder| encoder.recorded || encoder.recoverable);

    Truth {
        run: plan.run,
        duration_ns: plan.wall_ns,
        process: target.map(|target| named(plan, target)),
        window,
        counts: counts(plan, &own, kernels.len()),
        busy: window.map(|window| busy(plan, &own, &segments, window)),
        gaps: gaps.as_deref().map(gap_lengths),
        kernels,
        channels: channels(plan, &own),
        processes: shares.into_iter().map(|(_, share)| share).collect(),
        idle: listed,
        recovered_idle: recovered.filter(|_| recovered != listed),
        latency: window.map(|_| latency::latency(plan, &own)),
        queue: window.map(|window| latency::queue(plan, &own, window)),
        errors: count(errors(plan, target)),
        optional: run.optional.truth(
            plan,
            TargetRows {
                process: target,
                rows: &own,
                window,
                segments: &segments,
                gaps: gaps.as_deref().unwrap_or_default(),
            },
        ),
    }
}

fn errors(plan: &Plan, target: Option<ProcessIndex>) -> usize {
    let failed = plan.buffers.iter().filter(|buffer| buffer.is_failed);
    failed
        .filter(|buffer| Some(buffer.process) == target)
        .count()
}

fn target(plan: &Plan, shares: &[(ProcessIndex, ProcessShare)]) -> Option<ProcessIndex> {
    plan.recorded_target()
        .or_else(|| shares.first().map(|(busiest, _)| *busiest))
}

fn named(plan: &Plan, target: ProcessIndex) -> Target {
    let process = plan.process(target);
    Target {
        name: process.name.clone(),
        pid: process.pid,
        chosen_by: match plan.target_kind {
            TargetKind::Launched => ChosenBy::Launched,
            TargetKind::Attached => ChosenBy::Attached,
            TargetKind::AllProcesses => ChosenBy::Busiest,
        },
    }
}

fn window(own: &[&Kick]) -> Option<Window> {
    let start_ns = own.iter().map(|kick| kick.start_ns).min()?;
    let end_ns = own.iter().map(|kick| kick.end_ns()).max()?;
    Some(Window {
        start_ns,
        end_ns,
        span_ns: end_ns - start_ns,
    })
}

fn counts(plan: &Plan, own: &[&Kick], kernels: usize) -> Counts {
    let distinct = |ids: Vec<u64>| count(ids.into_iter().collect::<BTreeSet<_>>().len());
    Counts {
        intervals: count(own.len()),
        encoders: distinct(
            own.iter()
                .map(|kick| plan.encoder(kick.encoder).id)
                .collect(),
        ),
        command_buffers: distinct(own.iter().map(|kick| plan.buffer(kick.buffer).id).collect()),
        kernels: count(kernels),
        all_intervals: count(plan.kicks.len()),
        unattributed: count(plan.kicks.iter().filter(|kick| !kick.attributed).count()),
    }
}

fn busy(plan: &Plan, own: &[&Kick], segments: &[Segment], window: Window) -> Busy {
    let during = |matches: fn(&Segment) -> bool| sweep::time_ns(segments, window, matches);
    let busy_ns = during(|segment| segment.target > 0);
    let sum_ns = own.iter().map(|kick| kick.duration_ns).sum();
    Busy {
        busy_ns,
        sum_ns,
        ratio: ratio(busy_ns, window.span_ns),
        overlap_factor: ratio(sum_ns, busy_ns),
        machine_busy_ns: during(|segment| segment.target + segment.foreign > 0),
        machine_active_ns: active_ns(plan, window),
        others_busy_ns: during(|segment| segment.foreign > 0),
        others_overlap_ns: during(|segment| segment.target > 0 && segment.foreign > 0),
    }
}

fn active_ns(plan: &Plan, window: Window) -> u64 {
    let active = states(plan).into_iter().filter(|state| state.channels > 0);
    active
        .map(|state| {
            state
                .end_ns
                .min(window.end_ns)
                .saturating_sub(state.start_ns.max(window.start_ns))
        })
        .sum()
}

const HISTOGRAM_EDGES_NS: [u64; 7] = [0, 1_000, 5_000, 20_000, 100_000, 1_000_000, 10_000_000];

/// Returns the statistics of the gaps' lengths, with a histogram.
fn gap_lengths(gaps: &[Gap]) -> Gaps {
    let lengths: Tally = gaps.iter().map(Gap::length_ns).collect();
    let upper = HISTOGRAM_EDGES_NS[1..]
        .iter()
        .copied()
        .map(Some)
        .chain([None]);
    let bins = HISTOGRAM_EDGES_NS.into_iter().zip(upper);
    let histogram = bins.map(|(from_ns, to_ns)| {
        let (count, total_ns) = lengths.between(from_ns, to_ns);
        HistogramBin {
            from_ns,
            to_ns,
            count,
            total_ns,
        }
    });

    Gaps {
        count: lengths.count(),
        total_ns: lengths.total(),
        mean_ns: lengths.mean(),
        median_ns: lengths.percentile(50),
        p95_ns: lengths.percentile(95),
        p99_ns: lengths.percentile(99),
        max_ns: lengths.max(),
        below_1us: lengths.between(0, Some(1_000)).0,
        histogram: histogram.collect(),
    }
}

fn channels(plan: &Plan, own: &[&Kick]) -> Vec<Channel> {
    let mut by_name = BTreeMap::<&str, Vec<&Kick>>::new();
    for kick in own {
        by_name
            .entry(plan.channels.text(kick.channel))
            .or_default()
            .push(kick);
    }
    let channels = by_name.into_iter().map(|(name, kicks)| Channel {
        name: name.to_owned(),
        intervals: count(kicks.len()),
        sum_ns: kicks.iter().map(|kick| kick.duration_ns).sum(),
        busy_ns: sweep::covered_ns(&kicks),
    });
    channels.collect()
}

/// Returns the use of the GPU by each process, the busiest first.
fn shares(plan: &Plan) -> Vec<(ProcessIndex, ProcessShare)> {
    let mut by_process = vec![Vec::<&Kick>::new(); plan.processes.len()];
    for kick in &plan.kicks {
        if let Some(process) = plan.process_of(kick) {
            by_process[process.get()].push(kick);
        }
    }

    let mut shares: Vec<_> = by_process
        .into_iter()
        .enumerate()
        .filter_map(|(position, kicks)| {
            let index = ProcessIndex::at(position);
            let process = plan.process(index);
            let share = ProcessShare {
                name: process.name.clone(),
                pid: process.pid,
                intervals: count(kicks.len()),
                busy_ns: sweep::covered_ns(&kicks),
            };
            (!kicks.is_empty()).then_some((index, share))
        })
        .collect();

    shares.sort_by(|(_, a), (_, b)| {
        b.busy_ns
            .cmp(&a.busy_ns)
            .then_with(|| (&a.name, a.pid).cmp(&(&b.name, b.pid)))
    });
    shares
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
