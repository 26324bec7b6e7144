//! Runs a plan with Metal. Only this module talks to the GPU.
//!
//! objc2's methods that take sizes, offsets or pointers are unsafe, because Metal may not
//! check them. A comment at each such call names what bounds its arguments.

mod capture;
mod counters;
mod encode;
mod errors;
mod gpu;
mod signpost;
mod steps;

use std::time::Instant;

use objc2::rc::autoreleasepool;

use self::capture::Capture;
use self::counters::Sampler;
use self::gpu::Gpu;
use self::signpost::Interval;
use self::steps::Steps;
use crate::capture::captured_steps;
use crate::error::Result;
use crate::plan::{Phase, WorkloadPlan};
use crate::run::{CounterSample, Options, WorkloadRun};

/// Runs a plan on the system's GPU.
pub(crate) fn run(plan: &WorkloadPlan, options: &Options) -> Result<WorkloadRun> {
    autoreleasepool(|_| run_on(&Gpu::new(plan)?, plan, options))
}

/// Runs the plan: warm-up, measured steps, then the check of the results.
fn run_on(gpu: &Gpu, plan: &WorkloadPlan, options: &Options) -> Result<WorkloadRun> {
    let mut notes = Vec::new();
    if !gpu.has_unified_memory() {
        notes.push(
            "this GPU has its own memory but the workload uses the CPU's: the connection between \
            them limits the bytes per second"
                .to_owned(),
        );
    }

    let mut clocks = vec![gpu.clocks()];
    let mut steps = Steps::new(gpu, plan);
    let counters = warm_up(gpu, plan, options, &mut steps, &mut notes)?;
    let measured_ns = measured(plan, &mut steps)?;
    let buffers = steps.into_times();
    clocks.push(gpu.clocks());

    let mut checked = Vec::new();
    for (index, array) in plan.arrays.iter().enumerate() {
        checked.extend(crate::check::check(array, &gpu.elements(index))?);
    }

    Ok(WorkloadRun {
        device: gpu.name(),
        buffers,
        measured_ns,
        clocks,
        counters,
        checked,
        notes,
    })
}

/// Runs all warm-up steps. The last ones do what would disturb measured steps: they are
/// captured, or sampled.
fn warm_up(
    gpu: &Gpu,
    plan: &WorkloadPlan,
    options: &Options,
    steps: &mut Steps<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<CounterSample>> {
    let sampler = match (plan.warm_up, &options.capture) {
        (0, _) => Err("no GPU timestamps: they need a warm-up step".to_owned()),
        (_, Some(_)) => Err("no GPU timestamps during a capture".to_owned()),
        (_, None) => Sampler::new(gpu, plan),
    };
    let sampler = match sampler {
        Ok(sampler) => {
            notes.extend(sampler.note());
            Some(sampler)
        }
        Err(why) => {
            notes.push(why);
            None
        }
    };

    let captured = captured_steps(plan);
    let mut capture = None;
    for step in 0..plan.warm_up {
        if let Some(path) = &options.capture
            && step == captured.start
        {
            steps.drain()?;
            capture = Some(Capture::start(gpu, path)?);
        }
        let is_last = step + 1 == plan.warm_up;
        steps.step(Phase::WarmUp, sampler.as_ref().filter(|_| is_last))?;
    }
    steps.drain()?;
    // The capture ends here, so that it has warm-up steps only.
    drop(capture);
    Ok(sampler.map(|sampler| sampler.samples()).unwrap_or_default())
}

fn measured(plan: &WorkloadPlan, steps: &mut Steps<'_>) -> Result<u64> {
    let interval = Interval::begin();
    let start = Instant::now();
    for _ in 0..plan.count {
        steps.step(Phase::Measured, None)?;
    }
    steps.drain()?;
    let took = start.elapsed();
    drop(interval);
    Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
}
