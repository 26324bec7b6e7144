//! Analyzes the CPU samples of a recording by themselves, without any GPU data.

use metalens_message::Ns;
use metalens_trace::{Names, ProcessId, Target as RunTarget, Trace};

use crate::error::{Error, Result, seconds};
use crate::findings::notes::unnamed_functions;
use crate::metrics::cpu::samples::{Sample, Samples};
use crate::metrics::cpu::stacks::{CollapsedStacks, collapse};
use crate::metrics::cpu::tally::{
    Members, Tally, by_weight, rank, states, tally_by, threads, with_unnamed,
};
use crate::report::{ChosenBy, PROFILE_SCHEMA, Profile, ProfileProcess};
use crate::request::Request;
use crate::subject::chosen_processes::choose;
use crate::subject::processes::ProcessUse;
use crate::tables::cpu::{CpuTable, TIME_SAMPLE, unreadable};
use crate::tables::recording::{run_facts, source};

/// Number of functions that a profile lists.
const FUNCTIONS: usize = 50;

/// Returns the profile of a trace's threads and functions. The trace must have been read with
/// [`selection`](crate::selection) or [`profile_selection`](crate::profile_selection).
pub fn profile(trace: &Trace, request: &Request) -> Result<Profile> {
    let chosen = ChosenSamples::new(trace, request)?;
    let (samples, mine, names) = (&chosen.samples, &chosen.mine, &trace.names);
    let tally = Tally::new(mine);
    let ranking = rank(mine, names, FUNCTIONS);
    let (thread_count, threads) = threads(mine, &[], names);

    let mut notes: Vec<String> = trace.notes.iter().map(ToString::to_string).collect();
    notes.extend(
        trace
            .ambiguities(&[samples.table])
            .iter()
            .map(ToString::to_string),
    );
    notes.extend(chosen.notes(names));

    Ok(Profile {
        schema: PROFILE_SCHEMA.to_owned(),
        source: source(trace),
        run: run_facts(trace),
        how: chosen.chosen_by,
        table: samples.table.to_owned(),
        weight_unit: samples.unit,
        period: samples.period(),
        waiting_recorded: samples.waiting_recorded,
        first_ns: mine.first().map(|sample| Ns(sample.time_ns)),
        last_ns: mine.last().map(|sample| Ns(sample.time_ns)),
        samples: tally.samples,
        weight: tally.weight,
        unweighted: mine.iter().filter(|sample| sample.weight.is_none()).count() as u64,
        without_stack: ranking.without_stack,
        processes: processes(&samples.rows, chosen.members.as_ref(), names),
        states: states(mine, names),
        thread_count,
        threads,
        self_frames: ranking.self_frames,
        total_frames: ranking.total_frames,
        notes,
    })
}

/// Returns the same samples as collapsed stacks, for flame graphs.
pub fn collapsed_stacks(trace: &Trace, request: &Request) -> Result<CollapsedStacks> {
    let chosen = ChosenSamples::new(trace, request)?;
    let (unit, mine) = (chosen.samples.unit, &chosen.mine);
    Ok(collapse(unit, mine, &trace.names))
}

/// Samples that the request is about.
struct ChosenSamples {
    /// All samples of the trace.
    samples: Samples,
    /// Reason why the processes were chosen; `None` if the profile covers all.
    chosen_by: Option<ChosenBy>,
    /// Chosen processes; `None` if the profile covers all.
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
            .ok_or_else(|| unreadable(trace).map_or(Error::NoSamples, Error::Trace))?;

        let (chosen_by, members) = match chosen_processes(&samples.rows, trace, request)? {
            Some((by, processes)) => (Some(by), Some(Members::new(&processes, names))),
            None => (None, None),
        };
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
            chosen_by,
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

/// Returns the processes that the profile is about: the requested ones, else the recorded one;
/// `None` if it covers all.
fn chosen_processes(
    rows: &[Sample],
    trace: &Trace,
    request: &Request,
) -> Result<Option<(ChosenBy, Vec<ProcessId>)>> {
    let is_unnamed = matches!(
        trace.run.target,
        RunTarget::AllProcesses | RunTarget::Unknown
    );
    if request.processes.is_empty() && is_unnamed {
        return Ok(None);
    }

    let used = sampled(rows, &trace.names);
    match choose(&request.processes, &trace.run, &trace.names, &used) {
        Ok(chosen) => Ok(Some((chosen.chosen_by, chosen.processes))),
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

fn processes(rows: &[Sample], members: Option<&Members>, names: &Names) -> Vec<ProfileProcess> {
    let is_analyzed = |sample: &Sample| members.is_none_or(|members| members.has(sample));
    let tallies = tally_by(rows, |sample| (sample.process, is_analyzed(sample)));

    let mut list: Vec<(Tally, ProfileProcess)> = tallies
        .into_iter()
        .map(|((id, is_analyzed), tally)| {
            let process = id.and_then(|id| names.process(id));
            let facts = ProfileProcess {
                name: process.map(|process| names.text(process.name).to_owned()),
                pid: process.and_then(|process| process.pid),
                is_analyzed,
                samples: tally.samples,
                weight: tally.weight,
            };
            (tally, facts)
        })
        .collect();

    list.sort_by_key(|(tally, process)| by_weight(*tally, (process.name.clone(), process.pid)));
    list.into_iter().map(|(_, process)| process).collect()
}
