//! Plans the signposts, stack samples and hangs of a run's processes on the CPU.

use super::model::{
    ActivityKind, Buffer, Plan, PlannedHang, PlannedSignpost, ProcessIndex, Sample,
};
use crate::error::Error;
use crate::scenario::host::{Samples, Signpost};
use crate::scenario::{Clock, Process, Scenario};

/// Largest number of samples of a process; a larger number is probably a typing error.
const SAMPLES_MAX: u64 = 1_000_000;

impl ActivityKind {
    /// Returns whether the thread runs on a processor.
    pub(crate) const fn is_running(self) -> bool {
        matches!(self, Self::Encode | Self::Host)
    }
}

/// Returns the signposts of all processes, ordered by their start.
pub(super) fn signposts(scenario: &Scenario, plan: &Plan) -> Vec<PlannedSignpost> {
    let mut signposts = Vec::new();
    for (index, process) in processes_in_run(scenario, plan) {
        for signpost in &process.signpost {
            for (start_ns, end_ns) in times(signpost, plan, index, scenario.clock) {
                signposts.push(PlannedSignpost {
                    process: index,
                    name: signpost.name.clone(),
                    subsystem: signpost.subsystem.clone(),
                    category: signpost.category.clone(),
                    id: 0,
                    start_ns,
                    end_ns,
                });
            }
        }
    }

    signposts.retain(|signpost| signpost.end_ns.unwrap_or(signpost.start_ns) <= plan.wall_ns);
    signposts.sort_by_key(|signpost| signpost.start_ns);
    for (id, signpost) in (1..).zip(&mut signposts) {
        signpost.id = id;
    }
    signposts
}

/// Returns the start of each occurrence of a signpost, and its end unless it is an event.
fn times(
    signpost: &Signpost,
    plan: &Plan,
    process: ProcessIndex,
    clock: Clock,
) -> Vec<(u64, Option<u64>)> {
    let cut = |time: crate::scenario::nanos::Nanos| clock.cut(time.get());
    let Some(every) = signpost.every else {
        let from = signpost.from.map(|from| (cut(from), signpost.to.map(cut)));
        return from.into_iter().collect();
    };

    let is_own = |buffer: &&Buffer| buffer.process == process;
    let own: Vec<&Buffer> = plan.buffers.iter().filter(is_own).collect();

    own.chunks_exact(every.get() as usize)
        .filter_map(|group| {
            let starts = group
                .iter()
                .map(|buffer| plan.encoder(buffer.first_encoder).start_ns);
            let start_ns = starts.min()?;
            let end_ns = group.iter().map(|buffer| buffer.completed_ns).max()?;
            Some((start_ns, Some(end_ns.max(start_ns))))
        })
        .collect()
}

/// Returns the hangs of all processes that end within the run.
pub(super) fn hangs(scenario: &Scenario, plan: &Plan) -> Vec<PlannedHang> {
    let mut samples = Vec::new();
    for (index, process) in processes_in_run(scenario, plan) {
        samples.extend(process.hang.iter().map(|hang| PlannedHang {
            process: index,
            start_ns: scenario.clock.cut(hang.start.get()),
            duration_ns: scenario.clock.cut(hang.length.get()),
            kind: hang.kind.clone(),
        }));
    }
    samples.retain(|hang| hang.start_ns + hang.duration_ns <= plan.wall_ns);
    samples.sort_by_key(|hang| hang.start_ns);
    samples
}

/// Returns the stack samples of all processes, ordered by time.
pub(super) fn samples(scenario: &Scenario, plan: &Plan) -> Result<Vec<Sample>, Error> {
    let mut hangs = Vec::new();
    for (index, process) in processes_in_run(scenario, plan) {
        if let Some(samples) = &process.samples {
            sample(samples, plan, index, scenario.clock, &mut hangs)?;
        }
    }
    hangs.sort_by_key(|sample| sample.at_ns);
    Ok(hangs)
}

/// Adds the samples of one thread. Its activities overlap if it serves several streams.
fn sample(
    samples: &Samples,
    plan: &Plan,
    process: ProcessIndex,
    clock: Clock,
    all: &mut Vec<Sample>,
) -> Result<(), Error> {
    let own = || {
        plan.activities
            .iter()
            .filter(|activity| activity.process == process)
    };
    let first_ns = own().map(|activity| activity.start_ns).min().unwrap_or(0);
    let last_ns = own().map(|activity| activity.end_ns).max().unwrap_or(0);
    let period_ns = samples.period.get();
    let count = (last_ns - first_ns) / period_ns;
    if count > SAMPLES_MAX {
        let problem = format!("takes {count} samples");
        let field = format!("process[{}].samples.period", process.get());
        return Err(Error::field(&field, problem, "a million or fewer"));
    }

    // Sample N is taken when N periods of the recording have passed.
    let ordinal = |at_ns: u64| at_ns.div_ceil(period_ns);
    let first = ordinal(first_ns);
    let slot = |at_ns: u64| usize::try_from(ordinal(at_ns) - first).unwrap_or(usize::MAX);

    // Of activities at the same time, the sample shows the one with the highest priority.
    let mut slots: Vec<Option<ActivityKind>> = vec![None; slot(last_ns)];
    for activity in own() {
        for kind in &mut slots[slot(activity.start_ns)..slot(activity.end_ns)] {
            *kind = Some(kind.map_or(activity.kind, |other| other.min(activity.kind)));
        }
    }

    for (ordinal, kind) in (first..).zip(slots) {
        let is_shown = |kind: &ActivityKind| kind.is_running() || samples.blocked;
        all.extend(kind.filter(is_shown).map(|kind| Sample {
            process,
            at_ns: clock.cut(ordinal * period_ns),
            weight_ns: period_ns,
            kind,
        }));
    }
    Ok(())
}

/// Returns the processes of the run with their indices in the plan.
pub(super) fn processes_in_run<'s>(
    scenario: &'s Scenario,
    plan: &Plan,
) -> impl Iterator<Item = (ProcessIndex, &'s Process)> {
    let processes = scenario.processes_of(plan.run).enumerate();
    processes.map(|(position, (_, process))| (ProcessIndex::at(position), process))
}
