//! Adds up samples by state, by thread, by process and by function.

use metalens_message::share;
use metalens_trace::{Frame, Names, ProcessId, StackId, Symbol, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::samples::{Sample, is_running};
use crate::report::{CpuFrame, CpuState, CpuThread};

/// Number of threads that are listed.
const THREADS: usize = 32;
/// Number of functions that are listed.
const FUNCTIONS: usize = 15;

/// Number of samples with their weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Number of samples.
    pub samples: u64,
    /// Summed weights of the samples.
    pub weight: u64,
}

impl Tally {
    /// Returns the tally of all these samples.
    #[must_use]
    pub(crate) fn new(samples: &[Sample]) -> Self {
        let mut tally = Self::default();
        samples.iter().for_each(|sample| tally.add(sample));
        tally
    }

    /// Adds one sample to the tally.
    pub(crate) fn add(&mut self, sample: &Sample) {
        self.add_all(Self {
            samples: 1,
            weight: sample.weight_or_zero(),
        });
    }

    fn add_all(&mut self, more: Self) {
        self.samples += more.samples;
        self.weight += more.weight;
    }
}

/// Adds up samples by a key. The keys are in no order: sort before showing.
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

/// Returns a sort key: the most weight first, then the most samples, then by the given key.
pub(crate) fn by_weight<K: Ord>(tally: Tally, key: K) -> impl Ord {
    (
        std::cmp::Reverse(tally.weight),
        std::cmp::Reverse(tally.samples),
        key,
    )
}

/// Returns one entry per thread state.
pub(crate) fn states(samples: &[Sample], names: &Names) -> Vec<CpuState> {
    let tallies = tally_by(samples, |sample| sample.state).into_iter();
    let named = tallies.map(|(state, tally)| (state.map(|state| names.text(state)), tally));
    let mut states: Vec<(Option<&str>, Tally)> = named.collect();
    states.sort_by_key(|&(state, tally)| by_weight(tally, state));
    let states = states.into_iter().map(|(state, tally)| CpuState {
        state: state.map(str::to_owned),
        samples: tally.samples,
        weight: tally.weight,
    });
    states.collect()
}

/// Returns the number of threads, and the threads with the most weight.
pub(crate) fn threads(
    samples: &[Sample],
    submitters: &[ThreadId],
    names: &Names,
) -> (u64, Vec<CpuThread>) {
    let calls = WaitingCalls::new(samples, names);
    let tallies = tally_by(samples, |sample| {
        (identity(sample, names), calls.activity(sample, names))
    });
    let mut by_thread: FxHashMap<_, (Tally, [u64; 2])> = FxHashMap::default();
    for ((thread, activity), tally) in tallies {
        let (sum, [running, waiting]) = by_thread.entry(thread).or_default();
        sum.add_all(tally);
        match activity {
            Activity::Running => *running += tally.samples,
            Activity::Waiting => *waiting += tally.samples,
            Activity::Unknown => {}
        }
    }

    let display_names = display_names(samples, names);
    let submitters = identities(submitters, names);
    let mut list: Vec<(Tally, CpuThread)> = by_thread
        .into_iter()
        .map(|(thread, (tally, [running, waiting]))| {
            let facts = CpuThread {
                name: display_names.get(&thread).cloned().unwrap_or_default(),
                tid: thread.tid,
                submits: (!submitters.is_empty()).then(|| submitters.contains(&thread)),
                samples: tally.samples,
                weight: tally.weight,
                running,
                running_share: share(running, running + waiting),
            };
            (tally, facts)
        })
        .collect();

    list.sort_by_key(|(tally, thread)| by_weight(*tally, (thread.name.clone(), thread.tid)));
    let count = list.len() as u64;
    let longest = list.into_iter().take(THREADS).map(|(_, thread)| thread);
    (count, longest.collect())
}

/// Identity of a thread: a thread may change its name, but not its number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    /// Thread id, if the thread has one.
    tid: Option<u64>,
    /// Id of the thread's process, if known.
    pid: Option<u32>,
    /// Displayed name, only if the thread has no id.
    display: Option<Symbol>,
}

/// Returns the identity of a sample's thread.
pub(crate) fn identity(sample: &Sample, names: &Names) -> Identity {
    let process = sample.process.and_then(|id| names.process(id));
    let of_thread = sample
        .thread
        .map(|thread| identity_of_thread(thread, names));
    Identity {
        pid: process.and_then(|process| process.pid),
        ..of_thread.unwrap_or_default()
    }
}

/// Returns the identities of threads.
pub(crate) fn identities(threads: &[ThreadId], names: &Names) -> FxHashSet<Identity> {
    let threads = threads.iter();
    threads
        .map(|&thread| identity_of_thread(thread, names))
        .collect()
}

/// Returns the identity of a thread.
fn identity_of_thread(thread: ThreadId, names: &Names) -> Identity {
    let Some(thread) = names.thread(thread) else {
        return Identity::default();
    };
    let process = thread.process.and_then(|id| names.process(id));
    Identity {
        tid: thread.tid,
        pid: process.and_then(|process| process.pid),
        display: thread.tid.is_none().then_some(thread.display),
    }
}

/// Returns the last displayed name of each thread.
fn display_names(samples: &[Sample], names: &Names) -> FxHashMap<Identity, String> {
    let mut last: FxHashMap<Identity, ThreadId> = FxHashMap::default();
    for sample in samples {
        if let Some(thread) = sample.thread {
            last.insert(identity(sample, names), thread);
        }
    }

    let text = |thread: ThreadId| {
        names
            .thread(thread)
            .map(|thread| names.text(thread.display))
    };
    last.into_iter()
        .map(|(identity, thread)| (identity, text(thread).unwrap_or("").to_owned()))
        .collect()
}

/// Functions ranked by the samples in themselves, and by those in functions that they call.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    /// Functions by samples in which they are the innermost frame.
    pub self_frames: Vec<CpuFrame>,
    /// Functions by samples in which they are any frame, once per sample: recursion does not count
    /// twice.
    pub total_frames: Vec<CpuFrame>,
    /// Functions by samples in which they are the innermost frame outside of the runtime libraries.
    pub callers: Vec<CpuFrame>,
    /// Number of samples without a stack.
    pub without_stack: u64,
}

/// Name and binary of a function; all functions of a binary without a symbol are one.
pub(crate) type Function = (Option<Symbol>, Option<Symbol>);

/// Tallies of one function.
#[derive(Default)]
struct Frames {
    /// Samples with the function as the innermost frame.
    own: Tally,
    /// Samples with the function as the innermost frame outside of the runtime libraries.
    caller: Tally,
    /// Samples with the function anywhere on the stack.
    total: Tally,
    /// Number of the last stack that was counted, from 1; prevents counting it twice.
    last_stack: usize,
}

/// Beginnings of the names of libraries that do the work of whoever calls them: `objc_msgSend` says
/// nothing of what a program did.
const RUNTIMES: &[&str] = &[
    "libobjc",
    "libswift",
    "libsystem",
    "libSystem",
    "libc++",
    "libdispatch",
    "libdyld",
    "dyld",
    "CoreFoundation",
    "Foundation",
];

/// Returns whether a binary is one of these libraries.
pub(crate) fn is_runtime(binary: &str) -> bool {
    let file = binary.rsplit('/').next().unwrap_or(binary);
    RUNTIMES.iter().any(|start| file.starts_with(start))
}

/// Ranks the functions of samples, and keeps the first. Each distinct stack is walked
/// once.
pub(crate) fn rank(samples: &[Sample], names: &Names) -> Ranking {
    let mut stacks: Vec<(Option<StackId>, Tally)> = tally_by(samples, |sample| sample.stack)
        .into_iter()
        .collect();
    stacks.sort_unstable_by_key(|(stack, _)| *stack);

    let mut functions: FxHashMap<Function, Frames> = FxHashMap::default();
    let mut without_stack = 0;
    for (index, &(stack, tally)) in stacks.iter().enumerate() {
        let frames = stack.into_iter().flat_map(|stack| names.stack(stack));
        for (depth, frame) in frames.enumerate() {
            let function = functions.entry(function(&frame, names)).or_default();
            if depth == 0 {
                function.own.add_all(tally);
            }
            if function.last_stack != index + 1 {
                function.last_stack = index + 1;
                function.total.add_all(tally);
            }
        }
        if let Some(caller) = stack.and_then(|stack| caller(stack, names)) {
            functions.entry(caller).or_default().caller.add_all(tally);
        } else {
            without_stack += tally.samples;
        }
    }

    let whole = Tally::new(samples);
    let top = |tally: fn(&Frames) -> Tally| top(&functions, tally, whole, names);
    Ranking {
        self_frames: top(|frames| frames.own),
        total_frames: top(|frames| frames.total),
        callers: top(|frames| frames.caller),
        without_stack,
    }
}

/// Returns the innermost function of a stack outside of the runtime libraries; of a stack that has none,
/// the innermost one.
pub(crate) fn caller(stack: StackId, names: &Names) -> Option<Function> {
    let is_own = |frame: &Frame| {
        let binary = frame.binary.map_or("", |binary| names.text(binary));
        !is_runtime(binary)
    };
    let mut frames = names.stack(stack);
    let innermost = names.stack(stack).next();
    let frame = frames.find(is_own).or(innermost)?;
    Some(function(&frame, names))
}

fn function(frame: &Frame, names: &Names) -> Function {
    let name = Some(frame.name).filter(|&name| !is_address(names.text(name)));
    (name, frame.binary)
}

/// Returns the functions with the most weight, by one of their tallies.
fn top(
    functions: &FxHashMap<Function, Frames>,
    tally: fn(&Frames) -> Tally,
    whole: Tally,
    names: &Names,
) -> Vec<CpuFrame> {
    let text = |symbol: Option<Symbol>| symbol.map(|symbol| names.text(symbol));
    let tallies = functions
        .iter()
        .map(|(function, frames)| (function, tally(frames)));
    let mut list: Vec<(&Function, Tally)> =
        tallies.filter(|(_, tally)| tally.samples > 0).collect();
    list.sort_by_key(|((name, binary), tally)| by_weight(*tally, (text(*name), text(*binary))));
    list.truncate(FUNCTIONS);

    list.into_iter()
        .map(|(&(name, binary), tally)| CpuFrame {
            function: text(name).map(str::to_owned),
            binary: text(binary).map(str::to_owned),
            samples: tally.samples,
            weight: tally.weight,
            share: share(tally.weight, whole.weight),
        })
        .collect()
}

/// Returns the tally of samples whose innermost function writes the system's trace, such as
/// `kdebug_trace` and `__kdebug_trace64`.
pub(crate) fn in_tracing(samples: &[Sample], names: &Names) -> Tally {
    let mut sum = Tally::default();
    for (stack, tally) in tally_by(samples, |sample| sample.stack) {
        if innermost_name(stack, names).starts_with("kdebug_") {
            sum.add_all(tally);
        }
    }
    sum
}

/// Activity of a thread at the moment of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Activity {
    Running,
    Waiting,
    /// The recording does not tell.
    Unknown,
}

/// Stacks whose innermost function is a system call by which a thread goes to sleep, and those of
/// which that is unknown.
#[derive(Debug)]
pub(crate) struct WaitingCalls {
    calls: FxHashSet<StackId>,
    unknown: FxHashSet<StackId>,
}

/// Binary that has all system calls by which threads go to sleep, and those that trace.
const SYSTEM_CALLS: &str = "libsystem_kernel.dylib";

impl WaitingCalls {
    const NAMES: [&str; 15] = [
        "kevent",
        "mach_msg_overwrite_trap",
        "poll",
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

    /// Finds the calls in these samples.
    pub(crate) fn new(samples: &[Sample], names: &Names) -> Self {
        let stacks: FxHashSet<StackId> = samples.iter().filter_map(|sample| sample.stack).collect();
        let stacks = || stacks.iter().copied();
        Self {
            calls: stacks()
                .filter(|stack| {
                    let function = innermost_name(Some(*stack), names);
                    let name = function.strip_suffix("_nocancel").unwrap_or(function);
                    Self::NAMES.contains(&name)
                })
                .collect(),
            unknown: stacks()
                .filter(|&stack| may_be_call(stack, names))
                .collect(),
        }
    }

    /// Returns whether a sample is in such a call.
    pub(crate) fn has(&self, sample: &Sample) -> bool {
        sample
            .stack
            .is_some_and(|stack| self.calls.contains(&stack))
    }

    /// Returns what the thread of a sample was doing. In such a call it waits, also if it was caught
    /// running there: it was only on its way to or from waiting. So without the name of the function
    /// nothing is known of a running thread.
    pub(crate) fn activity(&self, sample: &Sample, names: &Names) -> Activity {
        let is_known = |stack: StackId| !self.unknown.contains(&stack);
        if self.has(sample) {
            Activity::Waiting
        } else if is_running(sample.state, names) && sample.stack.is_some_and(is_known) {
            Activity::Running
        } else if sample.state.is_some() && !is_running(sample.state, names) {
            Activity::Waiting
        } else {
            Activity::Unknown
        }
    }
}

/// Returns whether a stack's innermost function has no name and may be a system call.
fn may_be_call(stack: StackId, names: &Names) -> bool {
    names.stack(stack).next().is_none_or(|frame| {
        let binary = frame.binary.map(|binary| names.text(binary));
        is_address(names.text(frame.name)) && binary.is_none_or(|binary| binary == SYSTEM_CALLS)
    })
}

/// Returns the number of samples with a function that has no name, but an address.
pub(crate) fn with_unnamed(samples: &[Sample], names: &Names) -> u64 {
    let tallies = tally_by(samples, |sample| sample.stack);
    let unnamed = tallies.into_iter().filter(|(stack, _)| {
        let mut frames = stack.iter().flat_map(|&stack| names.stack(stack));
        frames.any(|frame| is_address(names.text(frame.name)))
    });
    unnamed.map(|(_, tally)| tally.samples).sum()
}

/// Returns the name of a stack's innermost function without leading underscores.
fn innermost_name(stack: Option<StackId>, names: &Names) -> &str {
    let innermost = stack.and_then(|stack| names.stack(stack).next());
    let name = innermost.map_or("", |frame| names.text(frame.name));
    name.trim_start_matches('_')
}

/// Returns whether a frame's name is only its address, because no symbol was found.
pub(crate) fn is_address(name: &str) -> bool {
    let digits = name.strip_prefix("0x").unwrap_or("");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Set of the analyzed processes, however a table writes their names: compared by pid if both
/// have one.
#[derive(Debug)]
pub(crate) struct Members(Vec<bool>);

impl Members {
    /// Returns the set of these processes.
    #[must_use]
    pub(crate) fn new(processes: &[ProcessId], names: &Names) -> Self {
        let pid_of = |id: ProcessId| names.process(id).and_then(|process| process.pid);
        let pids: FxHashSet<u32> = processes.iter().filter_map(|&id| pid_of(id)).collect();
        let processes: FxHashSet<ProcessId> = processes.iter().copied().collect();
        let is_member = |(id, process): (ProcessId, metalens_trace::Process)| match process.pid {
            Some(pid) => pids.contains(&pid),
            None => processes.contains(&id),
        };
        Self(names.processes().map(is_member).collect())
    }

    /// Returns whether a sample is of one of the processes.
    pub(crate) fn has(&self, sample: &Sample) -> bool {
        self.contains(sample.process)
    }

    /// Returns whether a process is one of them.
    pub(crate) fn contains(&self, process: Option<ProcessId>) -> bool {
        let is_member = process.and_then(|id| self.0.get(id.index()));
        is_member.copied().unwrap_or(false)
    }
}
