//! Computes what the threads of the process did on the CPU, from samples.
//!
//! A sampler looks at threads at regular intervals; each sample stands for the time to the
//! next. It says nothing about one gap of 20 µs. Over a thousand gaps, the samples that fell
//! into some gap are a fair sample of what happened there. Most recordings sample only running
//! threads: if samples are missing, the thread waited.

pub(crate) mod samples;
pub(crate) mod stacks;
pub(crate) mod tally;

#[cfg(test)]
mod tests;

use metalens_message::{Ns, share};
use metalens_trace::{Names, StackId, ThreadId};
use rustc_hash::FxHashMap;

use self::samples::{Sample, Samples};
use self::tally::{
    Activity, Function, Members, Tally, WaitingCalls, caller, identities, identity, in_tracing,
    rank, states, threads, with_unnamed,
};
use crate::basics::spans::{Span, length_ns};
use crate::error::Result;
use crate::report::{Cpu, CpuBefore, CpuHost, NotRecorded, WeightUnit};
use crate::subject::chosen_processes::ChosenProcesses;
use crate::tables::cpu::CpuTable;
use crate::tables::recording::Recording;

/// Stretches of time whose samples are examined.
pub(crate) struct CpuSpans<'a> {
    /// Window of the report.
    pub window: Span,
    /// Time before the first GPU work; `None` if the window was cut there.
    pub before: Option<Span>,
    /// Stretches of idle time that host work caused, sorted and disjoint.
    pub host: &'a [Span],
}

/// CPU samples, each with its function.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SampledFunctions {
    /// Names of functions, with their binaries.
    pub names: Vec<String>,
    /// Samples in the window, in order of time: nanoseconds since the recording began, and the place in
    /// `names` of the innermost function outside of the runtime libraries, `None` without a call stack.
    pub samples: Vec<(u64, Option<usize>)>,
}

/// Returns what the threads of the process did inside the window, and the samples of those that encode;
/// `None` if the trace has no samples at all. `submitters` are the threads that encode; empty if they
/// are unknown.
pub(crate) fn cpu(
    table: Option<CpuTable>,
    recording: &Recording,
    chosen: &ChosenProcesses,
    submitters: &[ThreadId],
    spans: &CpuSpans<'_>,
) -> Result<Option<(Cpu, SampledFunctions)>> {
    let Some(table) = table else {
        return Ok(None);
    };
    let names = &recording.names;
    let samples = Samples::read(table, &recording.run, names)?;
    let members = Members::new(&chosen.processes, names);
    Ok(samples.map(|samples| facts(&samples, &members, submitters, spans, names)))
}

fn facts(
    samples: &Samples,
    members: &Members,
    submitters: &[ThreadId],
    spans: &CpuSpans<'_>,
    names: &Names,
) -> (Cpu, SampledFunctions) {
    let inside = |span: Span| {
        let own = samples.rows.iter().filter(|sample| members.has(sample));
        let rows = own.filter(|row| (span.start_ns..span.end_ns).contains(&row.time_ns));
        rows.copied().collect::<Vec<Sample>>()
    };
    let mine = inside(spans.window);
    let submitting = of_submitters(&mine, submitters, names);

    let tally = Tally::new(&mine);
    let tracing = in_tracing(&mine, names);
    let (thread_count, threads) = threads(&mine, submitters, names);

    let cpu = Cpu {
        table: samples.table.to_owned(),
        weight_unit: samples.unit,
        period: samples.period(),
        waiting_recorded: samples.waiting_recorded,
        samples: tally.samples,
        weight: tally.weight,
        unweighted: mine.iter().filter(|sample| sample.weight.is_none()).count() as u64,
        tracing: tracing.samples,
        tracing_weight: tracing.weight,
        unnamed: with_unnamed(&mine, names),
        states: states(&mine, names),
        thread_count,
        threads,
        host: host_facts(samples.unit, &submitting, spans.host, names),
        before: spans
            .before
            .map(inside)
            .and_then(|rows| before(&rows, names)),
    };
    (cpu, sampled_functions(&submitting, names))
}

/// Returns the function of each sample.
fn sampled_functions(samples: &[Sample], names: &Names) -> SampledFunctions {
    let mut sampled = SampledFunctions::default();
    let mut places: FxHashMap<Function, usize> = FxHashMap::default();
    let mut by_stack: FxHashMap<StackId, Option<usize>> = FxHashMap::default();
    for sample in samples {
        let place = sample.stack.and_then(|stack| {
            *by_stack.entry(stack).or_insert_with(|| {
                let function = caller(stack, names)?;
                Some(*places.entry(function).or_insert_with(|| {
                    sampled.names.push(function_name(function, names));
                    sampled.names.len() - 1
                }))
            })
        });
        sampled.samples.push((sample.time_ns, place));
    }
    sampled
}

/// Returns the name of a function with the file of its binary.
fn function_name((function, binary): Function, names: &Names) -> String {
    let file = binary.map(|binary| names.text(binary));
    let file = file.map(|path| path.rsplit('/').next().unwrap_or(path));
    match (function.map(|function| names.text(function)), file) {
        (Some(function), Some(file)) => format!("{function} of {file}"),
        (Some(function), None) => function.to_owned(),
        (None, Some(file)) => format!("a function of {file}"),
        (None, None) => "a function without a name".to_owned(),
    }
}

/// Returns what the process did before its first GPU work; `None` without samples.
fn before(rows: &[Sample], names: &Names) -> Option<CpuBefore> {
    let tally = Tally::new(rows);
    (tally.samples > 0).then(|| CpuBefore {
        samples: tally.samples,
        weight: tally.weight,
        callers: rank(rows, names).callers,
    })
}

fn host_facts(
    unit: WeightUnit,
    submitting: &[Sample],
    host: &[Span],
    names: &Names,
) -> Option<CpuHost> {
    let host_ns = length_ns(host);
    if host_ns == 0 {
        return None;
    }

    let examined = inside(submitting, host);

    let tally = Tally::new(&examined);
    let calls = WaitingCalls::new(&examined, names);
    let count = |wanted: &dyn Fn(&Sample) -> bool| {
        examined.iter().filter(|sample| wanted(sample)).count() as u64
    };
    let activity = |wanted| count(&|sample| calls.activity(sample, names) == wanted);
    let ranking = rank(&examined, names);

    Some(CpuHost {
        host_ns: Ns(host_ns),
        samples: tally.samples,
        weight: tally.weight,
        running: activity(Activity::Running),
        waiting: activity(Activity::Waiting),
        unknown: activity(Activity::Unknown),
        in_waiting_calls: count(&|sample| calls.has(sample)),
        coverage: share(tally.weight, host_ns).filter(|_| unit == WeightUnit::Ns),
        without_stack: ranking.without_stack,
        self_frames: ranking.self_frames,
        total_frames: ranking.total_frames,
        callers: ranking.callers,
    })
}

/// Returns the samples of the threads that encode; of all threads if they are unknown.
pub(crate) fn of_submitters(
    samples: &[Sample],
    submitters: &[ThreadId],
    names: &Names,
) -> Vec<Sample> {
    let submitters = identities(submitters, names);
    let is_submitter =
        |sample: &&Sample| submitters.is_empty() || submitters.contains(&identity(sample, names));
    samples.iter().filter(is_submitter).copied().collect()
}

/// Returns the samples in these stretches, which are sorted and disjoint.
pub(crate) fn inside(samples: &[Sample], stretches: &[Span]) -> Vec<Sample> {
    let is_inside = |sample: &&Sample| is_inside(stretches, sample.time_ns);
    samples.iter().filter(is_inside).copied().collect()
}

/// Returns whether a point in time lies in one of these stretches.
fn is_inside(sorted: &[Span], time_ns: u64) -> bool {
    let next = sorted.partition_point(|span| span.end_ns <= time_ns);
    sorted
        .get(next)
        .is_some_and(|span| span.start_ns <= time_ns)
}

/// Returns the reason why nothing is known about the program's host work, if nothing is.
pub(crate) fn not_recorded(cpu: Option<&Cpu>, is_log: bool) -> Option<NotRecorded> {
    let why = match cpu {
        None if is_log => {
            "a command-buffer log has no CPU samples: `metalens record --recorder both` makes a log and \
             a recording with them"
        }
        None => {
            "the recording has no CPU samples, so it does not show what the program did during \
             host work: record with --instrument 'Time Profiler', or export the tables \
             time-profile and time-sample if it was recorded"
        }
        Some(cpu) if cpu.samples == 0 => {
            "no CPU sample of the process lies in the window, so the recording does not show what \
             the process did during host work: if another process did the work, select it with \
             --process; otherwise the threads of this one were waiting, or ran for less than one \
             sample"
        }
        Some(cpu) if cpu.host.as_ref().is_some_and(|host| host.samples == 0) => {
            "no CPU sample fell into the host work: it was too short, or the threads that submit \
             were waiting; a longer recording has more samples"
        }
        Some(_) => return None,
    };
    Some(NotRecorded::new("cpu", why))
}
