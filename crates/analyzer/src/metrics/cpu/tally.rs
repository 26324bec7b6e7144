//! Samples added up: by state, by thread, by process, by function.

use metalens_trace::{Names, ProcessId, StackId, Symbol, ThreadId};
use rustc_hash::FxHashMap;

use super::samples::{Sample, is_running};
use crate::basics::statistics::ratio;
use crate::report::{CpuFrame, CpuState, CpuThread};

/// How many threads are listed.
const THREADS: usize = 32;

/// A number of samples and what they weigh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Samples.
    pub samples: u64,
    /// Their summed weights.
    pub weight: u64,
}

impl Tally {
    /// Of all of these.
    #[must_use]
    pub(crate) fn of(samples: &[Sample]) -> Self {
        let mut tally = Self::default();
        samples.iter().for_each(|one| tally.add(one));
        tally
    }

    /// One more.
    pub(crate) fn add(&mut self, sample: &Sample) {
        self.add_all(Self {
            samples: 1,
            weight: sample.weighs(),
        });
    }

    fn add_all(&mut self, more: Self) {
        self.samples += more.samples;
        self.weight += more.weight;
    }
}

/// Adds up by a key. The keys come in no order: sort before showing.
pub(crate) fn tally_by<K: std::hash::Hash + Eq>(
    samples: &[Sample],
    key: impl Fn(&Sample) -> K,
) -> FxHashMap<K, Tally> {
    let mut tallies: FxHashMap<K, Tally> = FxHashMap::default();
    for sample in samples {
        tallies.entry(key(sample)).or_default().add(sample);
    }
    tallies
}

/// The most weight first, then the most samples, then by what is told apart.
pub(crate) fn by_weight<K: Ord>(tally: Tally, key: K) -> impl Ord {
    (
        std::cmp::Reverse(tally.weight),
        std::cmp::Reverse(tally.samples),
        key,
    )
}

/// One entry per state.
pub(crate) fn states(samples: &[Sample], names: &Names) -> Vec<CpuState> {
    let tallies = tally_by(samples, |one| one.state);
    let mut states: Vec<CpuState> = tallies
        .into_iter()
        .map(|(state, tally)| CpuState {
            state: state.map(|state| names.text(state).to_owned()),
            samples: tally.samples,
            weight: tally.weight,
        })
        .collect();
    states.sort_by_key(|one| {
        let tally = Tally {
            samples: one.samples,
            weight: one.weight,
        };
        by_weight(tally, one.state.clone())
    });
    states
}

/// How many threads there are, and those with the most weight.
pub(crate) fn threads(
    samples: &[Sample],
    submitters: &[ThreadId],
    names: &Names,
) -> (u64, Vec<CpuThread>) {
    let running = |one: &Sample| is_running(one.state, names);
    let tallies = tally_by(samples, |one| (identity(one, names), running(one)));
    let mut by_thread: FxHashMap<_, (Tally, u64)> = FxHashMap::default();
    for ((thread, running), tally) in tallies {
        let (sum, ran) = by_thread.entry(thread).or_default();
        sum.add_all(tally);
        *ran += if running { tally.samples } else { 0 };
    }
    let shown = shown_names(samples, names);
    let submits: Vec<Identity> = submitters
        .iter()
        .map(|&one| of_thread(one, names))
        .collect();
    let mut list: Vec<(Tally, CpuThread)> = by_thread
        .into_iter()
        .map(|(thread, (tally, running))| {
            let facts = CpuThread {
                name: shown.get(&thread).cloned().unwrap_or_default(),
                tid: thread.tid,
                submits: (!submits.is_empty()).then(|| submits.contains(&thread)),
                samples: tally.samples,
                weight: tally.weight,
                running,
                running_share: ratio(running, tally.samples),
            };
            (tally, facts)
        })
        .collect();
    list.sort_by_key(|(tally, one)| by_weight(*tally, (one.name.clone(), one.tid)));
    let count = list.len() as u64;
    let list = list.into_iter().take(THREADS).map(|(_, one)| one);
    (count, list.collect())
}

/// What tells threads apart: a thread may change its name, not its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    tid: Option<u64>,
    pid: Option<u32>,
    /// Only where it has no number.
    display: Option<Symbol>,
}

/// The identity of a sample's thread.
#[must_use]
pub(crate) fn identity(sample: &Sample, names: &Names) -> Identity {
    let process = sample.process.and_then(|id| names.process(id));
    match sample.thread {
        Some(thread) => Identity {
            pid: process.and_then(|process| process.pid),
            ..of_thread(thread, names)
        },
        None => Identity {
            tid: None,
            pid: process.and_then(|process| process.pid),
            display: None,
        },
    }
}

/// The identity of a thread.
#[must_use]
pub(crate) fn of_thread(thread: ThreadId, names: &Names) -> Identity {
    let Some(thread) = names.thread(thread) else {
        return Identity {
            tid: None,
            pid: None,
            display: None,
        };
    };
    let process = thread.process.and_then(|id| names.process(id));
    Identity {
        tid: thread.tid,
        pid: process.and_then(|process| process.pid),
        display: thread.tid.is_none().then_some(thread.display),
    }
}

/// How each thread was displayed last.
fn shown_names(samples: &[Sample], names: &Names) -> FxHashMap<Identity, String> {
    let mut last: FxHashMap<Identity, ThreadId> = FxHashMap::default();
    for sample in samples {
        if let Some(thread) = sample.thread {
            last.insert(identity(sample, names), thread);
        }
    }
    let text = |thread: ThreadId| names.thread(thread).map(|one| names.text(one.display));
    last.into_iter()
        .map(|(identity, thread)| (identity, text(thread).unwrap_or("").to_owned()))
        .collect()
}

/// Functions by what they were in themselves, and by what they were below of.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    /// By innermost frame.
    pub self_frames: Vec<CpuFrame>,
    /// By any frame, once per sample: recursion does not count twice.
    pub total_frames: Vec<CpuFrame>,
    /// Samples that say nothing.
    pub without_stack: u64,
}

/// A function of a binary; all that have no symbol are one.
type Function = (Option<Symbol>, Option<Symbol>);

#[derive(Default)]
struct Frames {
    own: Tally,
    total: Tally,
    /// The last stack that was counted, from 1.
    seen: usize,
}

/// Ranks the functions of samples, and keeps the first `limit`. Each distinct
/// stack is walked once.
pub(crate) fn rank(samples: &[Sample], names: &Names, limit: usize) -> Ranking {
    let mut stacks: Vec<(Option<StackId>, Tally)> =
        tally_by(samples, |one| one.stack).into_iter().collect();
    stacks.sort_unstable_by_key(|(stack, _)| *stack);
    let mut functions: FxHashMap<Function, Frames> = FxHashMap::default();
    let mut without_stack = 0;
    for (at, &(stack, tally)) in stacks.iter().enumerate() {
        let frames = stack.into_iter().flat_map(|stack| names.stack(stack));
        let mut depth = 0;
        for frame in frames {
            let name = Some(frame.name).filter(|&name| !is_address(names.text(name)));
            let function = functions.entry((name, frame.binary)).or_default();
            if depth == 0 {
                function.own.add_all(tally);
            }
            if function.seen != at + 1 {
                function.seen = at + 1;
                function.total.add_all(tally);
            }
            depth += 1;
        }
        if depth == 0 {
            without_stack += tally.samples;
        }
    }
    let whole = Tally::of(samples);
    let top = |of: fn(&Frames) -> Tally| top(&functions, of, whole, names, limit);
    Ranking {
        self_frames: top(|frames| frames.own),
        total_frames: top(|frames| frames.total),
        without_stack,
    }
}

fn top(
    functions: &FxHashMap<Function, Frames>,
    of: fn(&Frames) -> Tally,
    whole: Tally,
    names: &Names,
    limit: usize,
) -> Vec<CpuFrame> {
    let text = |symbol: Option<Symbol>| symbol.map(|symbol| names.text(symbol));
    let tallies = functions
        .iter()
        .map(|(function, frames)| (function, of(frames)));
    let mut list: Vec<(&Function, Tally)> = tallies.filter(|(_, t)| t.samples > 0).collect();
    list.sort_by_key(|((name, binary), tally)| by_weight(*tally, (text(*name), text(*binary))));
    list.truncate(limit);
    let frame = |(&(name, binary), tally): (&Function, Tally)| CpuFrame {
        function: text(name).map(str::to_owned),
        binary: text(binary).map(str::to_owned),
        samples: tally.samples,
        weight: tally.weight,
        share: ratio(tally.weight, whole.weight),
    };
    list.into_iter().map(frame).collect()
}

/// The samples whose innermost function writes the system's trace, as
/// `kdebug_trace` and `__kdebug_trace64` do.
pub(crate) fn in_tracing(samples: &[Sample], names: &Names) -> Tally {
    innermost(samples, names, |name| name.starts_with("kdebug_"))
}

/// The samples whose innermost function is the system call by which a thread
/// goes to sleep, or comes from it: it is caught running there, but only to wait.
pub(crate) fn in_waiting(samples: &[Sample], names: &Names) -> Tally {
    const CALLS: [&str; 12] = [
        "psynch_cvwait",
        "psynch_mutexwait",
        "semwait_signal",
        "ulock_wait",
        "ulock_wait2",
        "mach_msg_trap",
        "mach_msg2_trap",
        "semaphore_wait_trap",
        "semaphore_timedwait_trap",
        "workq_kernreturn",
        "kevent_id",
        "select",
    ];
    innermost(samples, names, |name| CALLS.contains(&name))
}

/// The samples whose innermost function is one of some, by its name without
/// the underscores before it.
fn innermost(samples: &[Sample], names: &Names, wanted: impl Fn(&str) -> bool) -> Tally {
    let mut found = Tally::default();
    for (stack, tally) in tally_by(samples, |one| one.stack) {
        let innermost = stack.and_then(|stack| names.stack(stack).next());
        let name = innermost.map_or("", |frame| names.text(frame.name));
        if wanted(name.trim_start_matches('_')) {
            found.add_all(tally);
        }
    }
    found
}

/// Whether a frame's name is its address again: no symbol was found.
#[must_use]
pub(crate) fn is_address(name: &str) -> bool {
    let digits = name.strip_prefix("0x").unwrap_or("");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The processes of a target, however a table writes their names: by pid where
/// both have one.
#[derive(Debug)]
pub(crate) struct Members(Vec<bool>);

impl Members {
    /// Of these processes.
    #[must_use]
    pub(crate) fn of(processes: &[ProcessId], names: &Names) -> Self {
        let pid_of = |id: ProcessId| names.process(id).and_then(|process| process.pid);
        let pids: Vec<u32> = processes.iter().filter_map(|&id| pid_of(id)).collect();
        let is_one = |(id, process): (ProcessId, metalens_trace::Process)| match process.pid {
            Some(pid) => pids.contains(&pid),
            None => processes.contains(&id),
        };
        Self(names.processes().map(is_one).collect())
    }

    /// Whether a sample is of one of them.
    #[must_use]
    pub(crate) fn has(&self, sample: &Sample) -> bool {
        self.is(sample.process)
    }

    /// Whether a process is one of them.
    #[must_use]
    pub(crate) fn is(&self, process: Option<ProcessId>) -> bool {
        let known = process.and_then(|id| self.0.get(id.index()));
        known.copied().unwrap_or(false)
    }
}
