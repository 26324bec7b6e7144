//! Gives the kicks the order, ids and lanes that Instruments gives them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::plan::{Kick, Plan};
use crate::values::kinds::Clock;

/// Cuts all times to the clock, then sorts and numbers the kicks.
pub(super) fn settle(plan: &mut Plan, clock: Clock) {
    cut_times(plan, clock);
    // The sort is stable: rows that start together stay in the order they were planned in.
    plan.kicks.sort_by_key(|kick| kick.start_ns);
    number_submissions(&mut plan.kicks);
    let lanes = lanes(&plan.kicks, plan.channels.len());
    for (kick, lane) in plan.kicks.iter_mut().zip(lanes) {
        kick.depth = lane;
    }
}

/// Cuts all times to ticks of the clock, as a recording shows them.
fn cut_times(plan: &mut Plan, clock: Clock) {
    if clock == Clock::Free {
        return;
    }
    // 42 ns is one tick of the clock.
    let shortest_ns = clock.cut(42);

    for kick in &mut plan.kicks {
        kick.start_ns = clock.cut(kick.start_ns);
        kick.duration_ns = clock.cut(kick.duration_ns).max(shortest_ns);
    }

    for encoder in &mut plan.encoders {
        encoder.start_ns = clock.cut(encoder.start_ns);
        encoder.duration_ns = clock.cut(encoder.duration_ns).max(shortest_ns);
    }

    for buffer in &mut plan.buffers {
        buffer.committed_ns = clock.cut(buffer.committed_ns);
        buffer.completed_ns = clock.cut(buffer.completed_ns);
    }

    for activity in &mut plan.activities {
        activity.start_ns = clock.cut(activity.start_ns);
        activity.end_ns = clock.cut(activity.end_ns);
    }
}

/// First submission id of a run, as large as in real recordings.
const FIRST_SUBMISSION: u32 = 0xd169_0001;

/// Numbers the submissions in the order they reached the GPU. Split kicks keep one number.
fn number_submissions(kicks: &mut [Kick]) {
    let count = kicks
        .iter()
        .map(|kick| kick.submission)
        .max()
        .map_or(0, |max| max as usize + 1);
    let mut numbers: Vec<Option<u32>> = vec![None; count];
    let mut next = FIRST_SUBMISSION;
    for kick in kicks {
        let number = *numbers[kick.submission as usize].get_or_insert_with(|| {
            next += 1;
            next - 1
        });
        kick.submission = number;
    }
}

/// Returns the lane of each kick: the number of earlier rows of its channel that end at or after
/// its start.
///
/// ```text
/// lane 0  [------)[---)     [--)
/// lane 1         [---)               <- touching counts
/// ```
fn lanes(kicks: &[Kick], channels: usize) -> Vec<u32> {
    let mut ends: Vec<BinaryHeap<Reverse<u64>>> = vec![BinaryHeap::new(); channels];
    let lane_of = |kick: &Kick| {
        let ends = &mut ends[kick.channel.get()];
        while ends
            .peek()
            .is_some_and(|Reverse(end_ns)| *end_ns < kick.start_ns)
        {
            ends.pop();
        }
        let lane = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        ends.push(Reverse(kick.end_ns()));
        lane
    };
    kicks.iter().map(lane_of).collect()
}
