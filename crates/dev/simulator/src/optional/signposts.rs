//! Simulates the signposts that processes emit with `os_signpost`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::Optional;
use crate::error::Error;
use crate::plan::names;
use crate::plan::{Buffer, Kick, Plan, ProcessIndex};
use crate::random::Random;
use crate::sheet::{sorted, table};
use crate::values::checks::Place;
use crate::values::nanos::Nanos;

/// An `os_signpost`: one interval, one event, or one interval around every `every` command
/// buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Signpost {
    /// Name of the interval or event.
    pub name: String,
    /// Subsystem that the signpost is logged under.
    #[serde(default = "Signpost::default_subsystem")]
    pub subsystem: String,
    /// Category that the signpost is logged under. Instruments shows `PointsOfInterest` by default.
    #[serde(default = "Signpost::default_category")]
    pub category: String,
    /// Start, counted from the start of the recording.
    pub from: Option<Nanos>,
    /// End, counted from the start of the recording; an event if absent.
    pub to: Option<Nanos>,
    /// Number of command buffers per interval, in place of `from` and `to`. The interval lasts
    /// from the start of the first buffer's encoding to the completion of the last.
    pub every: Option<NonZeroU32>,
}

impl Signpost {
    fn default_subsystem() -> String {
        "com.example.synthetic".to_owned()
    }

    fn default_category() -> String {
        "PointsOfInterest".to_owned()
    }
}

/// Checks a signpost, which has either times of its own or a period.
pub(crate) fn check(place: &Place, signpost: &Signpost) -> Result<(), Error> {
    place.name("name", &signpost.name)?;
    place.text("subsystem", &signpost.subsystem)?;
    place.text("category", &signpost.category)?;
    match (signpost.from, signpost.to, signpost.every) {
        (Some(from), to, None) => {
            place.instant("from", from, 0)?;
            to.map_or(Ok(()), |to| place.instant("to", to, from.get() + 1))
        }
        (None, None, Some(_)) => Ok(()),
        _ => place.refuse(
            "",
            "has no time, or times that contradict each other",
            "`from` with or without `to`, or `every` alone",
        ),
    }
}

/// Returns an interval, an event, or intervals around command buffers.
pub(crate) fn random(random: &mut Random) -> Signpost {
    let every = random.optional_count(2, 4);
    let from = Nanos::new(random.between(0, 300_000));
    let to = Nanos::new(from.get() + random.between(1, 100_000));
    Signpost {
        name: "step <1>".to_owned(),
        subsystem: "org.example".to_owned(),
        category: Signpost::default_category(),
        from: every.is_none().then_some(from),
        to: every.is_none().then_some(to).filter(|_| random.once_in(2)),
        every,
    }
}

/// A signpost, or an event if it has no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedSignpost {
    pub(crate) process: ProcessIndex,
    pub(crate) name: String,
    pub(crate) subsystem: String,
    pub(crate) category: String,
    /// Id that is unique in the run, so that overlapping signposts of one name differ.
    pub(crate) id: u64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: Option<u64>,
}

/// Plans the signposts of the processes, ordered by their start.
pub(crate) fn plan<'s>(
    entries: impl Iterator<Item = (ProcessIndex, &'s Signpost)>,
    plan: &Plan,
) -> Vec<PlannedSignpost> {
    let mut planned = Vec::new();
    for (process, signpost) in entries {
        for (start_ns, end_ns) in times(signpost, plan, process) {
            planned.push(PlannedSignpost {
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

    planned.retain(|signpost| signpost.end_ns.unwrap_or(signpost.start_ns) <= plan.wall_ns);
    planned.sort_by_key(|signpost| signpost.start_ns);
    for (id, signpost) in (1..).zip(&mut planned) {
        signpost.id = id;
    }
    planned
}

/// Returns the start of each occurrence of a signpost, and its end unless it is an event.
fn times(signpost: &Signpost, plan: &Plan, process: ProcessIndex) -> Vec<(u64, Option<u64>)> {
    let cut = |time: Nanos| plan.clock.cut(time.get());
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

table! {
    SIGNPOSTS: "os-signpost", "What processes marked with signposts.";
    |_, optional| for (at_ns, event, signpost) in rows(optional) => {
        "time" "Timestamp" EventTime = at_ns;
        "thread" "Thread" Thread = signpost.process;
        "process" "Process" Process = signpost.process;
        "event-type" "Event Type" EventType = event;
        "scope" "Scope" String = "Process";
        "identifier" "Signpost identifier" SignpostId = signpost.id;
        "name" "Name" SignpostName = &signpost.name;
        "format-string" "Format String" FormatString;
        "backtrace" "Backtrace" TextBacktrace;
        "subsystem" "Subsystem" Subsystem = &signpost.subsystem;
        "category" "Category" Category = &signpost.category;
        "message" "Message" OsLogMetadata;
        "emit-location" "Emit Location" ReturnLocation;
    }
}

/// Returns a row for the start of each signpost, and one for its end.
fn rows(optional: &Optional) -> Vec<(u64, &'static str, &PlannedSignpost)> {
    let events = optional.signposts.iter().flat_map(events);
    sorted(events, |(at_ns, _, _)| *at_ns)
}

/// Returns the events of a signpost with their times.
fn events(
    signpost: &PlannedSignpost,
) -> impl Iterator<Item = (u64, &'static str, &PlannedSignpost)> {
    let first = if signpost.end_ns.is_some() {
        "Begin"
    } else {
        "Event"
    };
    let end = signpost.end_ns.map(|end_ns| (end_ns, "End", signpost));
    std::iter::once((signpost.start_ns, first, signpost)).chain(end)
}

/// Totals of the signposts of one name in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignpostTotal {
    /// Name of the signposts.
    pub name: String,
    /// Subsystem that they were logged under.
    pub subsystem: String,
    /// Category that they were logged under.
    pub category: String,
    /// Process id of the process that emitted them.
    pub pid: u32,
    /// Number of intervals.
    pub count: u64,
    /// Number of events, which have no length.
    pub events: u64,
    /// Sum of the intervals' lengths.
    pub total_ns: u64,
    /// Work of the process that was encoded during the intervals, by name and channel. Where the
    /// list of encoders lost an encoder, its commit counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub encoded: Vec<EncodedKernel>,
}

/// Rows of one name on one channel that were encoded during a phase.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EncodedKernel {
    /// Name of the rows.
    pub name: String,
    /// Name of the GPU channel.
    pub channel: String,
    /// Number of rows.
    pub instances: u64,
    /// Sum of their durations.
    pub total_ns: u64,
}

/// Computes totals of signposts by process and name, with the process's own work in each.
pub(crate) fn truth(planned: &[PlannedSignpost], plan: &Plan, own: &[&Kick]) -> Vec<SignpostTotal> {
    let mut totals = BTreeMap::new();
    let mut spans: BTreeMap<_, Vec<(u64, u64)>> = BTreeMap::new();
    for signpost in planned {
        let pid = plan.process(signpost.process).pid;
        let key = (pid, &signpost.name, &signpost.subsystem, &signpost.category);
        let total = totals.entry(key).or_insert_with(|| SignpostTotal {
            name: signpost.name.clone(),
            subsystem: signpost.subsystem.clone(),
            category: signpost.category.clone(),
            pid,
            count: 0,
            events: 0,
            total_ns: 0,
            encoded: Vec::new(),
        });
        match signpost.end_ns {
            Some(end_ns) => {
                let spans = spans.entry(key).or_default();
                spans.push((signpost.start_ns, end_ns));
                total.count += 1;
                total.total_ns += end_ns - signpost.start_ns;
            }
            None => total.events += 1,
        }
    }

    for (key, total) in &mut totals {
        total.encoded = encoded(plan, own, spans.get(key).map_or(&[], Vec::as_slice));
    }
    totals.into_values().collect()
}

/// Returns the rows by kernel if the encoding of their encoder started within one of the spans.
fn encoded(plan: &Plan, own: &[&Kick], spans: &[(u64, u64)]) -> Vec<EncodedKernel> {
    let mut kernels = BTreeMap::new();
    for kick in own {
        let encoder = plan.encoder(kick.encoder);
        let at_ns = if encoder.recorded {
            encoder.start_ns
        } else {
            plan.buffer(kick.buffer).committed_ns
        };
        if spans.iter().any(|&(from, to)| from <= at_ns && at_ns < to) {
            let channel = plan.channels.text(kick.channel).to_owned();
            let (name, _) = names::name(plan, kick);
            let (instances, total_ns) = kernels.entry((name, channel)).or_insert((0, 0));
            *instances += 1;
            *total_ns += kick.duration_ns;
        }
    }

    let kernel = |((name, channel), (instances, total_ns))| EncodedKernel {
        name,
        channel,
        instances,
        total_ns,
    };
    kernels.into_iter().map(kernel).collect()
}
