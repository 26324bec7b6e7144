//! Simulates stack samples of the thread that submits the work of a process.

use serde::{Deserialize, Serialize};

use super::Optional;
use crate::error::Error;
use crate::plan::{ActivityKind, Plan, ProcessIndex};
use crate::random::Random;
use crate::sheet::functions;
use crate::sheet::table;
use crate::values::checks::Place;
use crate::values::nanos::Nanos;

/// Largest number of samples of a process; a larger number is probably a typing error.
const SAMPLES_MAX: u64 = 1_000_000;

/// Stack samples of the submitting thread, as Time Profiler takes them, from its first encoding
/// until all work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Samples {
    /// Time between two samples.
    pub period: Nanos,
    /// Function in which the thread is between a completion and the next encoding.
    pub host_function: String,
    /// True to sample the thread while it waits, too. Time Profiler does so only on request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// True if the thread is in that function from the start of the recording to its first encoding,
    /// too, as if it loaded a model.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_start: bool,
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            period: Nanos::new(1_000_000),
            host_function: "host_work".to_owned(),
            blocked: false,
            from_start: false,
        }
    }
}

/// Checks the samples of a process.
pub(crate) fn check(place: &Place, samples: &Samples) -> Result<(), Error> {
    place.period("period", samples.period)?;
    place.name("host-function", &samples.host_function)
}

/// Returns samples with a short period.
pub(crate) fn random(random: &mut Random) -> Samples {
    Samples {
        period: Nanos::new(random.between(2_000, 50_000)),
        host_function: "tokenize<T>".to_owned(),
        blocked: random.once_in(2),
        from_start: false,
    }
}

/// A sample of a thread's stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) process: ProcessIndex,
    pub(crate) at_ns: u64,
    pub(crate) weight_ns: u64,
    pub(crate) kind: ActivityKind,
}

/// Plans the stack samples of the processes, ordered by time.
pub(crate) fn plan<'s>(
    entries: impl Iterator<Item = (ProcessIndex, &'s Samples)>,
    plan: &Plan,
) -> Result<Vec<Sample>, Error> {
    let mut planned = Vec::new();
    for (process, samples) in entries {
        sample(samples, plan, process, &mut planned)?;
    }
    planned.sort_by_key(|sample| sample.at_ns);
    Ok(planned)
}

/// Adds the samples of one thread. Its activities overlap if it serves several streams.
fn sample(
    samples: &Samples,
    plan: &Plan,
    process: ProcessIndex,
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
            at_ns: plan.clock.cut(ordinal * period_ns),
            weight_ns: period_ns,
            kind,
        }));
    }
    Ok(())
}

table! {
    TIME_PROFILE: "time-profile", "What threads were doing, sampled.";
    |plan, optional| for sample in &optional.samples => {
        let state = if sample.kind.is_running() { "Running" } else { "Blocked" };
        "time" "Sample Time" SampleTime = sample.at_ns;
        "thread" "Thread" Thread = sample.process;
        "process" "Process" Process = sample.process;
        "core" "Core" Core = 4 + sample.process.get() as u64 % 4;
        "thread-state" "State" ThreadState = state;
        "weight" "Weight" Weight = sample.weight_ns;
        "stack" "Backtrace" Backtrace = &functions::stack(plan, sample.process, sample.kind);
    }
}
