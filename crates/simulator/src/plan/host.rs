//! What a planned run shows of its processes on the CPU: signposts, stack samples, hangs.

use super::{Buffer, Plan, ProcessIndex};
use crate::error::Error;
use crate::scenario::host::{Samples, Signpost};
use crate::scenario::{Clock, Process, Scenario};

/// One signpost that happened: an event when it has no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) process: ProcessIndex,
    pub(crate) name: String,
    pub(crate) subsystem: String,
    pub(crate) category: String,
    /// Tells apart those of one name that overlap; unique in the run.
    pub(crate) id: u64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: Option<u64>,
}

/// What a submitting thread does, the strongest first: of several at once a sample shows one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doing {
    /// It encodes.
    Encode,
    /// It works between a completion and the next encoding.
    Host,
    /// It takes a break.
    Pause,
    /// It waits for a completion.
    Wait,
}

/// A stretch of a thread's time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Activity {
    pub(crate) process: ProcessIndex,
    pub(crate) doing: Doing,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// One sample of a thread's stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) process: ProcessIndex,
    pub(crate) at_ns: u64,
    pub(crate) weight_ns: u64,
    pub(crate) doing: Doing,
}

/// A time during which a main thread did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hung {
    pub(crate) process: ProcessIndex,
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) kind: String,
}

/// More samples than this are a typing error.
const SAMPLES_MAX: u64 = 1_000_000;

impl Doing {
    /// Whether the thread has a processor.
    pub(crate) const fn is_running(self) -> bool {
        matches!(self, Self::Encode | Self::Host)
    }
}

/// The signposts of all processes, in the order in which they begin.
pub(super) fn signposts(scenario: &Scenario, plan: &Plan) -> Vec<Marked> {
    let mut all = Vec::new();
    for (process, one) in alive(scenario, plan) {
        for signpost in &one.signpost {
            for (start_ns, end_ns) in times(signpost, plan, process, scenario.clock) {
                all.push(Marked {
                    process,
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
    all.retain(|one| one.end_ns.unwrap_or(one.start_ns) <= plan.wall_ns);
    all.sort_by_key(|one| one.start_ns);
    for (id, one) in (1..).zip(&mut all) {
        one.id = id;
    }
    all
}

/// When a signpost begins and ends, as often as it does.
fn times(
    signpost: &Signpost,
    plan: &Plan,
    process: ProcessIndex,
    clock: Clock,
) -> Vec<(u64, Option<u64>)> {
    let cut = |at: crate::scenario::nanos::Nanos| clock.cut(at.get());
    let Some(every) = signpost.every else {
        let from = signpost.from.map(|from| (cut(from), signpost.to.map(cut)));
        return from.into_iter().collect();
    };
    let own = plan.buffers.iter().filter(|one| one.process == process);
    let own: Vec<&Buffer> = own.collect();
    let around = |group: &[&Buffer]| {
        let starts = group
            .iter()
            .map(|one| plan.encoder(one.first_encoder).start_ns);
        let start_ns = starts.min()?;
        let end_ns = group.iter().map(|one| one.completed_ns).max()?;
        Some((start_ns, Some(end_ns.max(start_ns))))
    };
    own.chunks_exact(every.get() as usize)
        .filter_map(around)
        .collect()
}

/// The hangs of all processes, as far as the run goes.
pub(super) fn hangs(scenario: &Scenario, plan: &Plan) -> Vec<Hung> {
    let mut all = Vec::new();
    for (process, one) in alive(scenario, plan) {
        all.extend(one.hang.iter().map(|hang| Hung {
            process,
            start_ns: scenario.clock.cut(hang.start.get()),
            duration_ns: scenario.clock.cut(hang.length.get()),
            kind: hang.kind.clone(),
        }));
    }
    all.retain(|hang| hang.start_ns + hang.duration_ns <= plan.wall_ns);
    all.sort_by_key(|hang| hang.start_ns);
    all
}

/// The stack samples of all processes, in the order of their times.
pub(super) fn samples(scenario: &Scenario, plan: &Plan) -> Result<Vec<Sample>, Error> {
    let mut all = Vec::new();
    for (process, one) in alive(scenario, plan) {
        if let Some(samples) = &one.samples {
            sample(samples, plan, process, scenario.clock, &mut all)?;
        }
    }
    all.sort_by_key(|sample| sample.at_ns);
    Ok(all)
}

/// Samples one thread; its stretches may overlap when it serves several streams.
fn sample(
    samples: &Samples,
    plan: &Plan,
    process: ProcessIndex,
    clock: Clock,
    all: &mut Vec<Sample>,
) -> Result<(), Error> {
    let own = || plan.activities.iter().filter(|one| one.process == process);
    let first_ns = own().map(|one| one.start_ns).min().unwrap_or(0);
    let last_ns = own().map(|one| one.end_ns).max().unwrap_or(0);
    let period_ns = samples.period.get();
    let count = (last_ns - first_ns) / period_ns;
    if count > SAMPLES_MAX {
        let problem = format!("takes {count} samples");
        let field = format!("process[{}].samples.period", process.get());
        return Err(Error::field(&field, problem, "a million or fewer"));
    }
    // The n-th sample is taken when n periods of the recording are over.
    let ordinal = |at_ns: u64| at_ns.div_ceil(period_ns);
    let first = ordinal(first_ns);
    let slot = |at_ns: u64| usize::try_from(ordinal(at_ns) - first).unwrap_or(usize::MAX);
    let mut seen: Vec<Option<Doing>> = vec![None; slot(last_ns)];
    for one in own() {
        for doing in &mut seen[slot(one.start_ns)..slot(one.end_ns)] {
            *doing = Some(doing.map_or(one.doing, |other| other.min(one.doing)));
        }
    }
    for (n, doing) in (first..).zip(seen) {
        let shown = |doing: &Doing| doing.is_running() || samples.blocked;
        all.extend(doing.filter(shown).map(|doing| Sample {
            process,
            at_ns: clock.cut(n * period_ns),
            weight_ns: period_ns,
            doing,
        }));
    }
    Ok(())
}

/// The processes of the run by their place in the plan.
fn alive<'s>(
    scenario: &'s Scenario,
    plan: &Plan,
) -> impl Iterator<Item = (ProcessIndex, &'s Process)> {
    let alive = scenario.processes_of(plan.run).enumerate();
    alive.map(|(position, (_, process))| (ProcessIndex::at(position), process))
}
