//! Plans a run of a scenario: its work on the GPU, and the optional parts beside it.

mod driver;
mod oddities;
mod process;
mod table_order;

use crate::error::Error;
use crate::optional::{
    Optional, allocations, engines, memory, planned, samples, signposts, states,
};
use crate::plan::{Kick, Plan, ProcessIndex};
use crate::scenario::{Process, Scenario};
use crate::values::nanos::Nanos;

/// A planned run: the work, and the optional parts beside it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) optional: Optional,
}

/// Longest duration of a run: the end date stays on the day of the start date.
const WALL_NS_MAX: u64 = 3_600_000_000_000;

/// Returns the error of a run that would not end within [`WALL_NS_MAX`].
fn too_long(field: &str, run: u32) -> Error {
    Error::field(
        field,
        format!("makes run {run} longer than an hour"),
        "runs of up to one hour",
    )
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
        process::process(&mut plan, scenario, position, process)?;
    }
    table_order::settle(&mut plan, scenario.clock);
    driver::serve(&mut plan);
    plan.wall_ns = wall_ns(&plan, scenario)?;

    let optional = optional(scenario, &plan)?;
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

/// Plans the optional parts of a run whose work is planned, all within its duration.
fn optional(scenario: &Scenario, plan: &Plan) -> Result<Optional, Error> {
    let recording = &scenario.recording;
    let processes = scenario.processes_of(plan.run).enumerate();
    let processes = processes.map(|(position, (_, process))| (ProcessIndex::at(position), process));
    let processes: Vec<(ProcessIndex, &Process)> = processes.collect();

    Ok(Optional {
        performance: states::plan(&recording.performance, plan),
        thermal: states::plan(&recording.thermal, plan),
        memory: memory::plan(each(&processes, |process| process.memory.as_ref()), plan),
        wired: memory::plan_levels(&recording.wired, plan),
        allocations: allocations::plan(
            each(&processes, |process| process.allocation.as_slice()),
            plan,
        )?,
        wiring: planned(
            entries(&processes, |process| &process.wiring),
            |wiring| [wiring.start, wiring.length],
            plan,
        ),
        signposts: signposts::plan(entries(&processes, |process| &process.signpost), plan),
        samples: samples::plan(
            entries(&processes, |process| process.samples.as_slice()),
            plan,
        )?,
        hangs: planned(
            entries(&processes, |process| &process.hang),
            |hang| [hang.start, hang.length],
            plan,
        ),
        engines: engines::plan(entries(&processes, |process| &process.engine), plan),
        counters: recording.counter.clone(),
    })
}

/// Returns a part of each process.
fn each<'s, T>(
    processes: &[(ProcessIndex, &'s Process)],
    part: fn(&'s Process) -> T,
) -> impl Iterator<Item = (ProcessIndex, T)> {
    processes
        .iter()
        .map(move |&(index, process)| (index, part(process)))
}

/// Returns the entries of a part of each process.
fn entries<'s, T>(
    processes: &[(ProcessIndex, &'s Process)],
    part: fn(&'s Process) -> &'s [T],
) -> impl Iterator<Item = (ProcessIndex, &'s T)> {
    each(processes, part).flat_map(|(index, part)| part.iter().map(move |entry| (index, entry)))
}
