//! Plans the Metal resources that processes allocate and free, and memory that the driver wires.

use super::model::{Buffer, Plan, PlannedAllocation, PlannedWiring, ProcessIndex};
use crate::error::Error;
use crate::scenario::Scenario;
use crate::scenario::allocation::Allocation;

/// Largest number of resources of an entry; a larger number is probably a typing error.
const RESOURCES_MAX: usize = 1_000_000;
/// Id of the first resource.
const FIRST_ID: u64 = 0x8d43_8949;

/// Returns the resources of the processes whose applications were recorded, with new ids.
pub(super) fn allocations(
    scenario: &Scenario,
    plan: &Plan,
) -> Result<Vec<PlannedAllocation>, Error> {
    let mut allocations = Vec::new();
    for (position, (_, process)) in scenario.processes_of(plan.run).enumerate() {
        let index = ProcessIndex::at(position);
        if !plan.is_instrumented(index) {
            continue;
        }
        for (caller, allocation) in process.allocation.iter().enumerate() {
            let field = format!("process[{position}].allocation[{caller}]");
            add(&mut allocations, plan, index, caller, allocation, &field)?;
        }
    }
    for (id, allocation) in (FIRST_ID..).zip(&mut allocations) {
        allocation.id = id;
    }
    Ok(allocations)
}

fn add(
    allocations: &mut Vec<PlannedAllocation>,
    plan: &Plan,
    process: ProcessIndex,
    caller: usize,
    allocation: &Allocation,
    field: &str,
) -> Result<(), Error> {
    let own = plan.buffers.iter();
    let mut own: Vec<&Buffer> = own.filter(|buffer| buffer.process == process).collect();
    own.sort_by_key(|buffer| plan.encoder(buffer.first_encoder).start_ns);

    let step = allocation
        .every
        .map_or(own.len().max(1), |every| every.get() as usize);
    let starts = (0..own.len())
        .step_by(step)
        .take(allocation.steps.map_or(usize::MAX, |steps| steps as usize));
    let count = allocation.count.get() as usize;
    if starts.len().saturating_mul(count) > RESOURCES_MAX {
        let problem = format!("makes more than {RESOURCES_MAX} resources");
        return Err(Error::field(field, problem, "fewer or larger resources"));
    }

    for start in starts {
        let made_ns = plan.encoder(own[start].first_encoder).start_ns;
        let end = allocation
            .lives
            .and_then(|lives| own.get(start + lives as usize));
        let freed_ns = end.map(|buffer| buffer.committed_ns.max(made_ns));
        for _ in 0..count {
            allocations.push(PlannedAllocation {
                process,
                caller,
                label: allocation.label.clone(),
                id: 0,
                bytes: allocation.bytes,
                inside: allocation.inside,
                made_ns: (!allocation.before).then_some(made_ns),
                freed_ns,
            });
        }
    }
    Ok(())
}

/// Returns what the driver wires and unwires for all processes within the run.
pub(super) fn wiring(scenario: &Scenario, plan: &Plan) -> Vec<PlannedWiring> {
    let mut wiring = Vec::new();
    for (position, (_, process)) in scenario.processes_of(plan.run).enumerate() {
        wiring.extend(process.wiring.iter().map(|wiring| {
            let start_ns = scenario.clock.cut(wiring.start.get());
            PlannedWiring {
                process: ProcessIndex::at(position),
                start_ns,
                end_ns: start_ns + scenario.clock.cut(wiring.length.get()),
                bytes: wiring.bytes,
                unwire: wiring.unwire,
            }
        }));
    }
    wiring.retain(|wiring| wiring.end_ns <= plan.wall_ns);
    wiring.sort_by_key(|wiring| wiring.start_ns);
    wiring
}
