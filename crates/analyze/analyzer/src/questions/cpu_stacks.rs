//! Collapses the stacks of the CPU samples of a recording, which needs no GPU data.

use metalens_trace::{InputKind, Names, ProcessId, Target as RunTarget, Trace};

use crate::error::{Error, Result, seconds};
use crate::findings::notes::unnamed_functions;
use crate::metrics::cpu::samples::{Sample, Samples};
use crate::metrics::cpu::stacks::{CollapsedStacks, collapse};
use crate::metrics::cpu::tally::{Members, Tally, by_weight, identity, tally_by, with_unnamed};
use crate::request::Request;
use crate::subject::chosen_processes::choose;
use crate::subject::processes::ProcessUse;
use crate::tables::cpu::{CpuTable, TIME_SAMPLE, unreadable};

/// Stacks of the CPU samples of a recording, and facts about the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuStacks {
    /// Stacks of the samples.
    pub stacks: CollapsedStacks,
    /// True if nothing was measured.
    pub synthetic: bool,
    /// Names of the processes, the most weight first; `None` if they are all that were sampled.
    pub processes: Option<Vec<String>>,
    /// Number of samples.
    pub samples: u64,
    /// Summed weights of the samples, in the unit of the stacks.
    pub weight: u64,
    /// Number of threads that were sampled.
    pub threads: u64,
    /// Notes that a reader needs to interpret the numbers.
    pub notes: Vec<String>,
}

/// Returns the stacks of a trace's CPU samples. The trace must have been read with
/// [`selection`](crate::selection) or [`stacks_selection`](crate::stacks_selection).
pub fn cpu_stacks(trace: &Trace, request: &Request) -> Result<CpuStacks> {
    let chosen = ChosenSamples::new(trace, request)?;
    let (samples, mine, names) = (&chosen.samples, &chosen.mine, &trace.names);
    let tally = Tally::new(mine);
    let ambiguities = trace.ambiguities(&[samples.table]);
    let mut notes: Vec<String> = trace.notes.iter().map(ToString::to_string).collect();
    notes.extend(ambiguities.iter().map(ToString::to_string));
    notes.extend(chosen.notes(names));

    Ok(CpuStacks {
        stacks: collapse(samples.unit, mine, names),
        synthetic: trace.run.synthetic,
        processes: chosen.members.is_some().then(|| processes(mine, names)),
        samples: tally.samples,
        weight: tally.weight,
        threads: tally_by(mine, |sample| identity(sample, names)).len() as u64,
        notes,
    })
}

/// Samples that the request is about.
struct ChosenSamples {
    /// All samples of the trace.
    samples: Samples,
    /// Chosen processes; `None` if they are all.
    members: Option<Members>,
    /// Samples of the chosen processes in the requested time.
    mine: Vec<Sample>,
}

impl ChosenSamples {
    fn new(trace: &Trace, request: &Request) -> Result<Self> {
        Self::read(trace, request).map_err(|error| error.with_issues(&trace.run.issues))
    }

    fn read(trace: &Trace, request: &Request) -> Result<Self> {
        let names = &trace.names;
        let samples = CpuTable::copy(trace)
            .map(|table| Samples::read(table, &trace.run, names))
            .transpose()?
            .flatten()
            .ok_or_else(|| match unreadable(trace) {
                Some(error) => Error::Trace(error),
                None if trace.kind == InputKind::Log => Error::unanswered(
                    "a command-buffer log has no CPU samples",
                    "`metalens record --recorder both` makes a log and a recording with them",
                ),
                None => Error::NoSamples,
            })?;

        let chosen = chosen_processes(&samples.rows, trace, request)?;
        let members = chosen.map(|processes| Members::new(&processes, names));
        let (from, to) = (
            request.from_ns.unwrap_or(0),
            request.to_ns.unwrap_or(u64::MAX),
        );
        let in_time = |sample: &&Sample| (from..to).contains(&sample.time_ns);
        let rows = samples.rows.iter();
        let mine: Vec<Sample> = rows
            .filter(in_time)
            .filter(|sample| members.as_ref().is_none_or(|members| members.has(sample)))
            .copied()
            .collect();

        if mine.is_empty() {
            let time = |sample: Option<&Sample>| seconds(sample.map_or(0, |sample| sample.time_ns));
            let (first, last) = (time(samples.rows.first()), time(samples.rows.last()));
            return Err(Error::unanswered(
                format!(
                    "no CPU samples in this part of the recording; the first is at {first}, the last at {last}"
                ),
                "choose --from and --to so that they include some of these samples",
            ));
        }
        Ok(Self {
            samples,
            members,
            mine,
        })
    }

    fn notes(&self, names: &Names) -> Vec<String> {
        let mut notes = Vec::new();
        let unnamed = with_unnamed(&self.mine, names);
        if unnamed > 0 {
            notes.push(unnamed_functions(unnamed, self.mine.len() as u64).text);
        }
        if self.samples.waiting_recorded == Some(false) {
            notes.push(
                "only running threads were sampled: a waiting thread left no sample, so the shares \
                 are shares of CPU time, not of wall-clock time"
                    .to_owned(),
            );
        }
        if self.samples.table == TIME_SAMPLE {
            notes.push(
                "the call stacks of time-sample have no names and are left out: export time-profile \
                 for call stacks"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Returns the processes whose stacks are asked for: the requested ones, else the recorded one;
/// `None` if they are all.
fn chosen_processes(
    rows: &[Sample],
    trace: &Trace,
    request: &Request,
) -> Result<Option<Vec<ProcessId>>> {
    let is_unnamed = matches!(
        trace.run.target,
        RunTarget::AllProcesses | RunTarget::Unknown
    );
    if request.processes.is_empty() && is_unnamed {
        return Ok(None);
    }

    let used = sampled(rows, &trace.names);
    match choose(&request.processes, &trace.run, &trace.names, &used) {
        Ok(chosen) => Ok(Some(chosen.processes)),
        Err(Error::NoGpuIntervals {
            wanted, present, ..
        }) => Err(Error::NoSamplesOfProcess {
            wanted,
            present: present
                .into_iter()
                .map(|process| (process.name, process.pid))
                .collect(),
        }),
        Err(other) => Err(other),
    }
}

/// Returns all processes with samples, in the form from which [`choose`] chooses.
fn sampled(rows: &[Sample], names: &Names) -> Vec<ProcessUse> {
    let mut used: Vec<ProcessUse> = tally_by(rows, |sample| sample.process)
        .into_iter()
        .filter_map(|(id, tally)| {
            Some(ProcessUse {
                id: id?,
                process: names.process(id?)?,
                intervals: tally.samples,
                busy_ns: tally.weight,
            })
        })
        .collect();
    used.sort_by_key(|process| (std::cmp::Reverse(process.busy_ns), process.id));
    used
}

/// Returns the names of the processes of samples, the most weight first.
fn processes(mine: &[Sample], names: &Names) -> Vec<String> {
    let name = |id: Option<ProcessId>| match id.and_then(|id| names.process(id)) {
        Some(process) => names.text(process.name).to_owned(),
        None => "unknown process".to_owned(),
    };
    let tallies = tally_by(mine, |sample| sample.process).into_iter();
    let mut list: Vec<(String, Tally)> = tallies.map(|(id, tally)| (name(id), tally)).collect();
    list.sort_by_key(|(name, tally)| by_weight(*tally, name.clone()));

    let mut list: Vec<String> = list.into_iter().map(|(name, _)| name).collect();
    list.dedup();
    list
}
