//! Plans one run: every kick, encoding and command buffer, in integer nanoseconds. All tables and
//! the truth are written from the plan.

pub(crate) mod driver;
mod model;
mod oddities;
mod schedule;
pub(crate) mod states;
mod table_order;

use crate::error::Error;
use crate::optional::Optional;
use crate::scenario::Scenario;
use crate::scenario::nanos::Nanos;
use model::too_long;
pub(crate) use model::{
    ActivityKind, Buffer, Encoder, Kick, Plan, PlannedProcess, ProcessIndex, WALL_NS_MAX,
};

/// A planned run: the work, and the optional parts beside it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) optional: Optional,
}

/// Plans one run of a scenario.
pub(crate) fn plan(scenario: &Scenario, run: u32) -> Result<Run, Error> {
    let mut plan = Plan {
        run,
        target_kind: scenario.recording.target,
        gpu: scenario.recording.gpu.clone(),
        clock: scenario.clock,
        has_chain: driver::is_recorded(scenario),
        shader_timeline: scenario.recording.shader_timeline,
        ..Plan::default()
    };

    for (position, process) in scenario.processes_of(run) {
        schedule::process(&mut plan, scenario, position, process)?;
    }
    table_order::settle(&mut plan, scenario.clock);
    driver::serve(&mut plan);
    plan.wall_ns = wall_ns(&plan, scenario)?;

    let optional = Optional::plan(scenario, &plan)?;
    Ok(Run { plan, optional })
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
