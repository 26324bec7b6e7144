//! What tables share: every distinct string, process, thread and stack, once.
//!
//! A trace says the same few thousand strings millions of times. Tables hold
//! small numbers instead, and [`Names`] says what they stand for. One `Names`
//! serves all tables of a trace, so that a process is the same number in each.

use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU32;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The place in a list, from 0.
            #[must_use]
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }

            /// The id of the list's next place; the last one when ids run out,
            /// which takes four billion distinct values.
            fn at(index: usize) -> Self {
                let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
                Self(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
            }

            /// As a bare number, never 0.
            pub(crate) fn to_bits(self) -> u32 {
                self.0.get()
            }

            /// Back from [`to_bits`](Self::to_bits); 0 is none.
            pub(crate) fn from_bits(bits: u32) -> Option<Self> {
                NonZeroU32::new(bits).map(Self)
            }
        }
    };
}

id_type!(
    /// A string, by number.
    Symbol
);
id_type!(
    /// A process, by number.
    ProcessId
);
id_type!(
    /// A thread, by number.
    ThreadId
);
id_type!(
    /// A formatted label, by number.
    LabelId
);
id_type!(
    /// A call stack, by number.
    StackId
);
id_type!(
    /// A stack frame, by number.
    FrameId
);

/// A process as a trace names it. The pid alone is not enough: pids are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its name, possibly cut at 31 characters by the system.
    pub name: Symbol,
    /// Its number, where the trace gives one.
    pub pid: Option<u32>,
}

/// A thread as a trace names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Thread {
    /// As displayed, e.g. `Main Thread 0x1f (bench, pid: 12)`.
    pub display: Symbol,
    /// Its number.
    pub tid: Option<u64>,
    /// Its process.
    pub process: Option<ProcessId>,
}

/// A formatted label, taken apart: `Command Buffer 0:sin  ( bench (12) )  0x1f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// The words of it, without process and number: `Command Buffer 0:sin`.
    pub text: Symbol,
    /// The process named in it.
    pub process: Option<ProcessId>,
    /// The whole of it as displayed, when the reader was asked to keep that.
    pub rendered: Option<Symbol>,
    submission: u64,
    has_submission: bool,
}

impl Label {
    /// A label of these parts.
    #[must_use]
    pub fn new(text: Symbol, process: Option<ProcessId>, submission: Option<u64>) -> Self {
        Self {
            text,
            process,
            rendered: None,
            submission: submission.unwrap_or(0),
            has_submission: submission.is_some(),
        }
    }

    /// The same of another submission.
    pub(crate) fn with_submission(self, submission: u64) -> Self {
        Self {
            submission,
            has_submission: true,
            ..self
        }
    }

    /// The same of no submission.
    pub(crate) fn without_submission(self) -> Self {
        Self {
            submission: 0,
            has_submission: false,
            ..self
        }
    }

    /// The number at its end: the GPU submission it belongs to.
    #[must_use]
    pub fn submission_id(&self) -> Option<u64> {
        self.has_submission.then_some(self.submission)
    }
}

/// One frame of a call stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Function name, or the address again where no symbol was found.
    pub name: Symbol,
    /// Address, as displayed.
    pub address: Symbol,
    /// The binary's name.
    pub binary: Option<Symbol>,
}

/// Every distinct name of a trace.
#[derive(Debug, Default)]
pub struct Names {
    strings: Strings,
    processes: Distinct<Process>,
    threads: Distinct<Thread>,
    frames: Distinct<Frame>,
    stacks: Distinct<Box<[FrameId]>>,
    labels: Vec<Label>,
}

impl Names {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of a string, new or known.
    pub fn symbol(&mut self, text: &str) -> Symbol {
        self.strings.intern(text)
    }

    /// The number of a string, if it has one.
    #[must_use]
    pub fn find_symbol(&self, text: &str) -> Option<Symbol> {
        self.strings.find(text)
    }

    /// The string of a number. A number of another trace is "".
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.get(symbol)
    }

    /// The number of a process, new or known.
    pub fn process_id(&mut self, process: Process) -> ProcessId {
        ProcessId::at(self.processes.intern(process))
    }

    /// The process of a number.
    #[must_use]
    pub fn process(&self, id: ProcessId) -> Option<Process> {
        self.processes.items.get(id.index()).copied()
    }

    /// All processes, in the order in which they were met.
    pub fn processes(&self) -> impl Iterator<Item = (ProcessId, Process)> + '_ {
        let items = self.processes.items.iter().copied();
        items.enumerate().map(|(i, p)| (ProcessId::at(i), p))
    }

    /// The number of a thread, new or known.
    pub fn thread_id(&mut self, thread: Thread) -> ThreadId {
        ThreadId::at(self.threads.intern(thread))
    }

    /// The thread of a number.
    #[must_use]
    pub fn thread(&self, id: ThreadId) -> Option<Thread> {
        self.threads.items.get(id.index()).copied()
    }

    /// The number of a frame, new or known.
    pub fn frame_id(&mut self, frame: Frame) -> FrameId {
        FrameId::at(self.frames.intern(frame))
    }

    /// The number of a stack, new or known. Innermost frame first.
    pub fn stack_id(&mut self, frames: &[FrameId]) -> StackId {
        StackId::at(self.stacks.intern(frames.into()))
    }

    /// The frames of a stack, innermost first.
    pub fn stack(&self, id: StackId) -> impl Iterator<Item = Frame> + '_ {
        let frames = self.stacks.items.get(id.index());
        let frames = frames.into_iter().flat_map(|frames| frames.iter());
        frames.filter_map(|id| self.frames.items.get(id.index()).copied())
    }

    /// Keeps a label. Labels are not compared: nearly every one is unique.
    pub fn label_id(&mut self, label: Label) -> LabelId {
        self.labels.push(label);
        LabelId::at(self.labels.len() - 1)
    }

    /// How many labels there are.
    pub(crate) fn labels(&self) -> usize {
        self.labels.len()
    }

    /// Forgets all labels but the first so many.
    pub(crate) fn forget_labels(&mut self, kept: usize) {
        self.labels.truncate(kept);
    }

    /// The label of a number.
    #[must_use]
    pub fn label(&self, id: LabelId) -> Option<Label> {
        self.labels.get(id.index()).copied()
    }
}

/// Distinct values in the order in which they were met.
#[derive(Debug)]
struct Distinct<T> {
    items: Vec<T>,
    index: FxHashMap<T, usize>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            index: FxHashMap::default(),
        }
    }
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    fn intern(&mut self, value: T) -> usize {
        if let Some(&at) = self.index.get(&value) {
            return at;
        }
        let at = self.items.len();
        self.items.push(value.clone());
        self.index.insert(value, at);
        at
    }
}

/// Distinct strings, end to end in one buffer.
#[derive(Debug, Default)]
struct Strings {
    bytes: String,
    ends: Vec<usize>,
    symbols: HashTable<Symbol>,
}

impl Strings {
    fn intern(&mut self, text: &str) -> Symbol {
        let hash = FxBuildHasher.hash_one(text);
        if let Some(found) = self.find_hashed(hash, text) {
            return found;
        }
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
        let symbol = Symbol::at(self.ends.len() - 1);
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.symbols.insert_unique(hash, symbol, |&s| {
            FxBuildHasher.hash_one(slice_of(bytes, ends, s))
        });
        symbol
    }

    fn find(&self, text: &str) -> Option<Symbol> {
        self.find_hashed(FxBuildHasher.hash_one(text), text)
    }

    fn find_hashed(&self, hash: u64, text: &str) -> Option<Symbol> {
        let found = self.symbols.find(hash, |&symbol| self.get(symbol) == text);
        found.copied()
    }

    fn get(&self, symbol: Symbol) -> &str {
        slice_of(&self.bytes, &self.ends, symbol)
    }
}

fn slice_of<'a>(bytes: &'a str, ends: &[usize], symbol: Symbol) -> &'a str {
    let at = symbol.index();
    let before = at.checked_sub(1).and_then(|before| ends.get(before));
    let start = before.copied().unwrap_or(0);
    let end = ends.get(at).copied().unwrap_or(start);
    bytes.get(start..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_keeps_its_number() {
        let mut names = Names::new();
        let (a, empty, b) = (names.symbol("a"), names.symbol(""), names.symbol("b"));
        assert_eq!(names.symbol("a"), a);
        assert_eq!([a, empty, b].map(|s| names.text(s)), ["a", "", "b"]);
        assert_eq!(names.find_symbol("c"), None);
    }

    #[test]
    fn processes_of_one_name_and_two_pids_are_two() {
        let mut names = Names::new();
        let name = names.symbol("bench");
        let first = names.process_id(Process { name, pid: Some(1) });
        let second = names.process_id(Process { name, pid: Some(2) });
        assert_ne!(first, second);
        assert_eq!(names.process(second).and_then(|p| p.pid), Some(2));
    }
}
