//! A recording's CPU samples by themselves: no GPU is needed.

use metalens_trace::{Names, ProcessId, Target as RunTarget, Trace};

use crate::error::{Error, Result};
use crate::metrics::cpu::samples::{Sample, Samples};
use crate::metrics::cpu::stacks::{CollapsedStacks, collapse};
use crate::metrics::cpu::tally::{Members, Tally, by_weight, rank, states, tally_by, threads};
use crate::report::{ChosenBy, PROFILE_SCHEMA, Profile, ProfileProcess};
use crate::request::Request;
use crate::subject::processes::ProcessUse;
use crate::subject::target::choose;
use crate::tables::cpu::{CpuTable, TIME_SAMPLE, unreadable};
use crate::tables::recording::{run_facts, source};

/// How many functions a profile lists.
const FUNCTIONS: usize = 50;

/// What the CPU samples of a trace say of threads and functions. The trace must
/// have been read with [`selection`](crate::selection) or
/// [`profile_selection`](crate::profile_selection).
pub fn profile(trace: &Trace, request: &Request) -> Result<Profile> {
    let chosen = Chosen::of(trace, request)?;
    let (samples, mine, names) = (&chosen.samples, &chosen.mine, &trace.names);
    let whole = Tally::of(mine);
    let ranking = rank(mine, names, FUNCTIONS);
    let (thread_count, threads) = threads(mine, &[], names);
    let mut notes: Vec<String> = trace.notes.iter().map(ToString::to_string).collect();
    notes.extend(
        trace
            .ambiguities(&[samples.table])
            .iter()
            .map(ToString::to_string),
    );
    notes.extend(chosen.notes());
    Ok(Profile {
        schema: PROFILE_SCHEMA.to_owned(),
        source: source(trace),
        run: run_facts(trace),
        how: chosen.how,
        table: samples.table.to_owned(),
        weight_unit: samples.unit,
        period: samples.period(),
        waiting_recorded: samples.waiting_recorded,
        first_ns: mine.first().map(|one| one.time_ns),
        last_ns: mine.last().map(|one| one.time_ns),
        samples: whole.samples,
        weight: whole.weight,
        unweighted: mine.iter().filter(|one| one.weight.is_none()).count() as u64,
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

/// The same samples as collapsed stacks, for flame graphs.
pub fn collapsed_stacks(trace: &Trace, request: &Request) -> Result<CollapsedStacks> {
    let chosen = Chosen::of(trace, request)?;
    Ok(collapse(&chosen.samples, &chosen.mine, &trace.names))
}

/// The samples that were asked for.
struct Chosen {
    samples: Samples,
    how: Option<ChosenBy>,
    /// None for everyone.
    members: Option<Members>,
    mine: Vec<Sample>,
}

impl Chosen {
    fn of(trace: &Trace, request: &Request) -> Result<Self> {
        let names = &trace.names;
        let table = CpuTable::copy(trace);
        let samples = table.map(|table| Samples::of(table, &trace.run, names));
        let samples = samples.transpose()?.flatten();
        let samples =
            samples.ok_or_else(|| unreadable(trace).map_or(Error::NoSamples, Error::Trace))?;
        let (how, members) = match whom(&samples.rows, trace, request)? {
            Some((how, processes)) => (Some(how), Some(Members::of(&processes, names))),
            None => (None, None),
        };
        let (from, to) = (
            request.from_ns.unwrap_or(0),
            request.to_ns.unwrap_or(u64::MAX),
        );
        let in_time = |one: &&Sample| (from..to).contains(&one.time_ns);
        let is_mine = |one: &&Sample| members.as_ref().is_none_or(|members| members.has(one));
        let mine = samples.rows.iter().filter(in_time).filter(is_mine);
        let mine: Vec<Sample> = mine.copied().collect();
        if mine.is_empty() {
            return Err(Error::NoSamplesThen {
                first_ns: samples.rows.first().map_or(0, |one| one.time_ns),
                last_ns: samples.rows.last().map_or(0, |one| one.time_ns),
            });
        }
        Ok(Self {
            samples,
            how,
            members,
            mine,
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.samples.waiting_recorded == Some(false) {
            notes.push(
                "only running threads were sampled: a thread that waited left no sample, so the \
                 shares are of the time on a CPU, not of the time on the clock"
                    .to_owned(),
            );
        }
        if self.samples.table == TIME_SAMPLE {
            notes.push(
                "time-sample has call stacks without names, which are left out: export \
                 time-profile for those"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Whom the profile is about: who was asked for, else the recording's target,
/// else everyone.
fn whom(
    rows: &[Sample],
    trace: &Trace,
    request: &Request,
) -> Result<Option<(ChosenBy, Vec<ProcessId>)>> {
    let nobody_named = matches!(
        trace.run.target,
        RunTarget::AllProcesses | RunTarget::Unknown
    );
    if request.processes.is_empty() && nobody_named {
        return Ok(None);
    }
    let used = sampled(rows, &trace.names);
    match choose(&request.processes, &trace.run, &trace.names, &used) {
        Ok(target) => Ok(Some((target.how, target.processes))),
        Err(Error::NoTargetRows {
            wanted, present, ..
        }) => Err(Error::NoTargetSamples {
            wanted,
            present: present.into_iter().map(|one| (one.name, one.pid)).collect(),
        }),
        Err(other) => Err(other),
    }
}

/// Everyone with samples, in the form in which a target is chosen.
fn sampled(rows: &[Sample], names: &Names) -> Vec<ProcessUse> {
    let tallies = tally_by(rows, |one| one.process);
    let mut used: Vec<ProcessUse> = tallies
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
    used.sort_by_key(|one| (std::cmp::Reverse(one.busy_ns), one.id));
    used
}

fn processes(rows: &[Sample], members: Option<&Members>, names: &Names) -> Vec<ProfileProcess> {
    let is_analyzed = |one: &Sample| members.is_none_or(|members| members.has(one));
    let tallies = tally_by(rows, |one| (one.process, is_analyzed(one)));
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
    list.sort_by_key(|(tally, one)| by_weight(*tally, (one.name.clone(), one.pid)));
    list.into_iter().map(|(_, one)| one).collect()
}
