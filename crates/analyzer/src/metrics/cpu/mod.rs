//! What the program's threads were doing on the CPU, from samples.
//!
//! A sampler looks at threads at a steady pace; each look stands for the time
//! to the next. It says nothing about one gap of 20 µs, but over a thousand of
//! them the looks that fell into some gap are a fair draw of what went on there.
//! Most recordings sample only threads that run: where samples are missing, the
//! thread waited.

pub(crate) mod samples;
pub(crate) mod stacks;
pub(crate) mod tally;

#[cfg(test)]
mod tests;

use metalens_trace::{Names, ThreadId};

use self::samples::{Sample, Samples, is_running};
use self::tally::{
    Members, Tally, identity, in_tracing, in_waiting, of_thread, rank, states, threads,
};
use crate::basics::spans::{Span, length_ns};
use crate::basics::statistics::ratio;
use crate::error::Result;
use crate::report::{Cpu, CpuHost, NotRecorded, WeightUnit};
use crate::subject::target::Target;
use crate::tables::cpu::CpuTable;
use crate::tables::recording::Recording;

/// How many functions the report lists.
const FUNCTIONS: usize = 15;

/// What the target's threads were doing inside the window; none if the trace
/// has no samples at all. `submitters` are the threads that encode, all if it is
/// empty. `host` are the stretches in which the GPU waited for the program,
/// sorted and disjoint.
pub(crate) fn cpu(
    table: Option<CpuTable>,
    recording: &Recording,
    target: &Target,
    submitters: &[ThreadId],
    host: &[Span],
    window: Span,
) -> Result<Option<Cpu>> {
    let Some(table) = table else {
        return Ok(None);
    };
    let names = &recording.names;
    let samples = Samples::of(table, &recording.run, names)?;
    let members = Members::of(&target.processes, names);
    Ok(samples.map(|samples| facts(&samples, &members, submitters, host, window, names)))
}

fn facts(
    samples: &Samples,
    members: &Members,
    submitters: &[ThreadId],
    host: &[Span],
    window: Span,
    names: &Names,
) -> Cpu {
    let inside = |one: &&Sample| (window.start_ns..window.end_ns).contains(&one.time_ns);
    let mine = samples
        .rows
        .iter()
        .filter(inside)
        .filter(|one| members.has(one));
    let mine: Vec<Sample> = mine.copied().collect();
    let whole = Tally::of(&mine);
    let tracing = in_tracing(&mine, names);
    let (thread_count, threads) = threads(&mine, submitters, names);
    Cpu {
        table: samples.table.to_owned(),
        weight_unit: samples.unit,
        period: samples.period(),
        waiting_recorded: samples.waiting_recorded,
        samples: whole.samples,
        weight: whole.weight,
        unweighted: mine.iter().filter(|one| one.weight.is_none()).count() as u64,
        tracing: tracing.samples,
        tracing_weight: tracing.weight,
        states: states(&mine, names),
        thread_count,
        threads,
        host: host_facts(samples.unit, &mine, submitters, host, names),
    }
}

fn host_facts(
    unit: WeightUnit,
    mine: &[Sample],
    submitters: &[ThreadId],
    host: &[Span],
    names: &Names,
) -> Option<CpuHost> {
    let host_ns = length_ns(host);
    if host_ns == 0 {
        return None;
    }
    let submits: Vec<_> = submitters
        .iter()
        .map(|&one| of_thread(one, names))
        .collect();
    let looked_at = |one: &&Sample| submits.is_empty() || submits.contains(&identity(one, names));
    let there = mine.iter().filter(|one| is_inside(host, one.time_ns));
    let there: Vec<Sample> = there.filter(looked_at).copied().collect();
    let whole = Tally::of(&there);
    let running = there
        .iter()
        .filter(|one| is_running(one.state, names))
        .count() as u64;
    let unknown = there.iter().filter(|one| one.state.is_none()).count() as u64;
    let ranking = rank(&there, names, FUNCTIONS);
    Some(CpuHost {
        host_ns,
        samples: whole.samples,
        weight: whole.weight,
        running,
        waiting: whole.samples - running - unknown,
        in_waiting_calls: in_waiting(&there, names).samples,
        coverage: ratio(whole.weight, host_ns).filter(|_| unit == WeightUnit::Ns),
        without_stack: ranking.without_stack,
        self_frames: ranking.self_frames,
        total_frames: ranking.total_frames,
    })
}

/// Whether a moment lies in one of these stretches.
fn is_inside(sorted: &[Span], time_ns: u64) -> bool {
    let at = sorted.partition_point(|span| span.end_ns <= time_ns);
    sorted.get(at).is_some_and(|span| span.start_ns <= time_ns)
}

/// Why the program's part of the idle time has no name, if it has none.
#[must_use]
pub(crate) fn unavailable(cpu: Option<&Cpu>) -> Option<NotRecorded> {
    let why = match cpu {
        None => {
            "the recording has no CPU samples, so what the program did while the GPU waited for \
             it has no name: record with --instrument 'Time Profiler', or export the tables \
             time-profile and time-sample of a recording that has it"
        }
        Some(cpu) if cpu.samples == 0 => {
            "none of the CPU samples is of the target and inside the window, so what it did while \
             the GPU waited for it has no name: if it ran in another process, name that with \
             --process; else its threads were waiting, or ran for less than one sample"
        }
        Some(cpu) if cpu.host.as_ref().is_some_and(|host| host.samples == 0) => {
            "none of the CPU samples fell into the time that the GPU waited for the program: it \
             was too short, or the threads that submit were waiting; a longer recording has more \
             samples"
        }
        Some(_) => return None,
    };
    Some(NotRecorded::new("cpu", why))
}
