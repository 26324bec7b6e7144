//! Runs a plan with Metal. Only this module talks to the GPU.
//!
//! objc2's methods that take sizes, offsets or pointers are unsafe, because Metal may not
//! check them. A comment at each such call names what bounds its arguments.

mod encode;
mod errors;
mod gpu;
mod signpost;
mod steps;

use std::time::Instant;

use objc2::rc::autoreleasepool;

use self::gpu::Gpu;
use self::signpost::Interval;
use self::steps::Steps;
use crate::error::Result;
use crate::plan::{Phase, WorkloadPlan};
use crate::run::WorkloadRun;

/// Runs a plan on the system's GPU.
pub(crate) fn run(plan: &WorkloadPlan) -> Result<WorkloadRun> {
    autoreleasepool(|_| run_on(&Gpu::new(plan)?, plan))
}

/// Runs the plan: warm-up, measured steps, then the check of the results.
fn run_on(gpu: &Gpu, plan: &WorkloadPlan) -> Result<WorkloadRun> {
    let mut notes = Vec::new();
    if !gpu.has_unified_memory() {
        notes.push(
            "this GPU has its own memory but the workload uses the CPU's: the connection between \
            them limits the bytes per second"
                .to_owned(),
        );
    }

    let mut steps = Steps::new(gpu, plan);
    for _ in 0..plan.warm_up {
        steps.step(Phase::WarmUp)?;
    }
    let measured_ns = measured(plan, &mut steps)?;

    let mut checked = Vec::new();
    for (index, array) in plan.arrays.iter().enumerate() {
        checked.extend(crate::check::check(array, &gpu.elements(index))?);
    }

    Ok(WorkloadRun {
        device: gpu.name(),
        buffers: steps.into_times(),
        measured_ns,
        checked,
        notes,
    })
}

fn measured(plan: &WorkloadPlan, steps: &mut Steps<'_>) -> Result<u64> {
    let interval = Interval::begin();
    let start = Instant::now();
    for _ in 0..plan.count {
        steps.step(Phase::Measured)?;
    }
    let took = start.elapsed();
    drop(interval);
    Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
}
