//! Computes when the GPU was active and idle, and on how many channels.

use super::model::{Kick, Plan, ProcessIndex};
use crate::values::kinds::Role;

/// A period with the same number of active channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GpuState {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// Number of active channels; 0 is idle.
    pub(crate) channels: u32,
    /// Number of the color in Instruments.
    pub(crate) color: u64,
}

/// Returns the states from the first kick's start to the last one's end, without gaps.
///
/// ```text
/// Vertex    [-----)
/// Fragment     [------)      [--)
/// states    [1 [2 [1  [idle  [1 )
/// ```
pub(crate) fn states(plan: &Plan) -> Vec<GpuState> {
    let mut edges: Vec<Edge> = plan
        .kicks
        .iter()
        .flat_map(|kick| edges_of(plan, kick))
        .collect();
    edges.sort_by_key(|edge| edge.at_ns);

    let mut kicks_on = vec![0_u32; plan.channels.len()];
    let mut states: Vec<GpuState> = Vec::new();
    let (mut active, mut color) = (0, COLOR_OTHER);
    for (index, edge) in edges.iter().enumerate() {
        let kicks = &mut kicks_on[edge.channel];
        if edge.starts {
            active += u32::from(*kicks == 0);
            *kicks += 1;
            color = edge.color;
        } else {
            *kicks -= 1;
            active -= u32::from(*kicks == 0);
        }

        let until = edges.get(index + 1).map_or(edge.at_ns, |next| next.at_ns);
        extend(
            &mut states,
            edge.at_ns,
            until,
            active,
            if active == 0 { COLOR_IDLE } else { color },
        );
    }
    states
}

/// Returns the color of a kick's process in Instruments. A row without a process has the color of
/// other processes.
pub(crate) fn color(plan: &Plan, kick: &Kick) -> u64 {
    plan.process_of(kick)
        .map_or(COLOR_OTHER, |process| process_color(plan, process))
}

/// Returns the color of a process in Instruments.
pub(crate) fn process_color(plan: &Plan, process: ProcessIndex) -> u64 {
    match plan.process(process).role {
        Role::Target => 0,
        Role::Compositor => 3,
        Role::Other => COLOR_OTHER,
    }
}

const COLOR_IDLE: u64 = 1_000;
const COLOR_OTHER: u64 = 1_001;

/// The start or the end of a kick on a channel.
struct Edge {
    at_ns: u64,
    channel: usize,
    starts: bool,
    color: u64,
}

fn edges_of(plan: &Plan, kick: &Kick) -> [Edge; 2] {
    let edge = |at_ns, starts| Edge {
        at_ns,
        channel: kick.channel.get(),
        starts,
        color: color(plan, kick),
    };
    [edge(kick.start_ns, true), edge(kick.end_ns(), false)]
}

/// Adds a period, and joins it to the previous one if both touch and are alike.
fn extend(states: &mut Vec<GpuState>, start_ns: u64, end_ns: u64, channels: u32, color: u64) {
    if start_ns == end_ns {
        return;
    }
    match states.last_mut() {
        Some(last) if last.channels == channels && last.end_ns == start_ns => last.end_ns = end_ns,
        _ => states.push(GpuState {
            start_ns,
            end_ns,
            channels,
            color,
        }),
    }
}
