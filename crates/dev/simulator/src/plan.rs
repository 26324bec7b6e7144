//! Plans one run: every kick, encoding and command buffer, in integer nanoseconds. All tables and
//! the truth are written from the plan.

mod allocations;
pub(crate) mod driver;
mod engines;
pub(crate) mod host;
pub(crate) mod machine;
mod model;
mod oddities;
mod schedule;
pub(crate) mod shaders;
pub(crate) mod states;
mod table_order;

use crate::error::Error;
use crate::scenario::Scenario;
use crate::scenario::nanos::Nanos;
use model::too_long;
pub(crate) use model::{
    ActivityKind, Buffer, Encoder, Kick, MemoryInterval, Plan, PlannedAllocation, PlannedProcess,
    PlannedSignpost, PlannedState, PlannedWork, ProcessIndex, WALL_NS_MAX,
};

/// Returns the plan of one run of a scenario.
pub(crate) fn plan(scenario: &Scenario, run: u32) -> Result<Plan, Error> {
    let mut plan = Plan {
        run,
        target_kind: scenario.recording.target,
        clock: scenario.clock,
        has_chain: driver::is_recorded(scenario),
        shader_timeline: scenario.recording.shader_timeline,
        counters: scenario.recording.counter.clone(),
        ..Plan::default()
    };

    for (position, process) in scenario.processes_of(run) {
        schedule::process(&mut plan, scenario, position, process)?;
    }
    table_order::settle(&mut plan, scenario.clock);
    driver::serve(&mut plan);
    plan.wall_ns = wall_ns(&plan, scenario)?;

    add_machine_and_host(&mut plan, scenario)?;
    Ok(plan)
}

/// Plans states, memory, signposts, hangs and samples, all within the duration of the run.
fn add_machine_and_host(plan: &mut Plan, scenario: &Scenario) -> Result<(), Error> {
    plan.performance = machine::performance(scenario, plan.wall_ns);
    plan.thermal = machine::thermal(scenario, plan.wall_ns);
    plan.memory = machine::memory(scenario, plan);
    plan.allocations = allocations::allocations(scenario, plan)?;
    plan.wiring = allocations::wiring(scenario, plan);
    plan.wired = machine::wired(scenario, plan.wall_ns);
    plan.signposts = host::signposts(scenario, plan);
    plan.hangs = host::hangs(scenario, plan);
    plan.engines = engines::engines(scenario, plan);
    plan.samples = host::samples(scenario, plan)?;
    Ok(())
}

fn wall_ns(plan: &Plan, scenario: &Scenario) -> Result<u64, Error> {
    let kicks_end = plan.kicks.iter().map(Kick::end_ns).max().unwrap_or(0);
    let completed = plan
        .buffers
        .iter()
        .map(|buffer| buffer.completed_ns)
        .max()
        .unwrap_or(0);
    let last_ns = kicks_end.max(completed);
    let wall_ns = scenario
        .recording
        .wall
        .map_or(last_ns + scenario.recording.tail.get(), Nanos::get);

    if wall_ns < last_ns {
        let problem = format!(
            "ends at {wall_ns} ns, before the last event of run {}",
            plan.run
        );
        return Err(Error::field(
            "recording.wall",
            problem,
            format!("{last_ns} ns or more"),
        ));
    }
    if wall_ns > WALL_NS_MAX {
        return Err(too_long("recording", plan.run));
    }
    Ok(wall_ns)
}
