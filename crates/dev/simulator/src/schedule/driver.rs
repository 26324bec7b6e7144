//! Plans the driver's work on command buffers, between their commits and the GPU.
//!
//! ```text
//! commit  |  pick-up  [ driver ][ one object ][ one object ][ one object ]
//!                     begins               submitted     submitted
//! ```
//!
//! The driver of a process serves one command buffer after another, in the order of their commits.

use crate::plan::{PER_OBJECT_NS, Plan};
use crate::scenario::Scenario;
use crate::scenario::table::Table;

/// Time from commit until the driver starts to work on a buffer, if it is free.
const PICK_UP_NS: u64 = 1_000;

/// Returns whether a recording has the two tables that join the driver's work with command buffers.
pub(super) fn is_recorded(scenario: &Scenario) -> bool {
    let needed = [
        Table::MetalCommandBufferToAcceleratorId,
        Table::MetalGpuSubmissionToCommandBufferId,
    ];
    needed
        .iter()
        .all(|needed| Table::recorded(scenario).any(|table| table == *needed))
}

/// Sets when the driver began to work on each buffer, and submitted each encoder. Both are never later
/// than the GPU's start, however short the submission latency of the scenario is.
pub(super) fn serve(plan: &mut Plan) {
    let mut first_starts: Vec<Option<u64>> = vec![None; plan.buffers.len()];
    let mut starts_of_encoders: Vec<Option<u64>> = vec![None; plan.encoders.len()];
    for kick in &plan.kicks {
        first_starts[kick.buffer.get()].get_or_insert(kick.start_ns);
        starts_of_encoders[kick.encoder.get()].get_or_insert(kick.start_ns);
    }
    let mut by_commit: Vec<usize> = (0..plan.buffers.len()).collect();
    by_commit.sort_by_key(|&index| plan.buffers[index].committed_ns);

    let mut free_ns = vec![0; plan.processes.len()];
    for index in by_commit {
        let buffer = &mut plan.buffers[index];
        let free_ns = &mut free_ns[buffer.process.get()];
        let begins_ns = (buffer.committed_ns + PICK_UP_NS).max(*free_ns);
        let latest_ns = first_starts[index].unwrap_or(u64::MAX);
        // A buffer that the GPU starts before it is committed has no room for the driver.
        buffer.driver_begins_ns = begins_ns.min(latest_ns.max(buffer.committed_ns));
        *free_ns = buffer.driver_end_ns();
    }
    for place in 0..plan.kicks.len() {
        let kick = &plan.kicks[place];
        let buffer = plan.buffer(kick.buffer);
        let before = kick.encoder.get() - buffer.first_encoder.get();
        let work_ns = buffer.driver_ns + (before as u64 + 1) * PER_OBJECT_NS;
        let submitted_ns = buffer.driver_begins_ns + work_ns;
        let first_ns = starts_of_encoders[kick.encoder.get()].unwrap_or(kick.start_ns);
        let latest_ns = first_ns.max(buffer.driver_begins_ns);
        plan.kicks[place].submitted_ns = submitted_ns.min(latest_ns);
    }
}
