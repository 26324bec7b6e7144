//! Stores every distinct string, process, thread and stack of a recording once, for all tables.
//!
//! A recording repeats the same few thousand strings millions of times. Tables contain small ids
//! instead, and [`Names`] has their values. One `Names` serves all tables of a recording, so that a
//! process has the same id in each.

use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU32;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// Returns the index of the id, from 0.
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }

            /// Returns the id of an index. The last id is used again if ids run out, which takes
            /// four billion distinct values.
            fn at(index: usize) -> Self {
                let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
                Self(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
            }

            /// Returns the id as a number, never 0.
            pub(crate) fn to_bits(self) -> u32 {
                self.0.get()
            }

            /// Returns the id of a number from [`to_bits`](Self::to_bits); None for 0.
            pub(crate) fn from_bits(bits: u32) -> Option<Self> {
                NonZeroU32::new(bits).map(Self)
            }
        }
    };
}

id_type!(
    /// The id of a string.
    Symbol
);
id_type!(
    /// The id of a process.
    ProcessId
);
id_type!(
    /// The id of a thread.
    ThreadId
);
id_type!(
    /// The id of a formatted label.
    LabelId
);
id_type!(
    /// The id of a call stack.
    StackId
);
id_type!(
    /// The id of a stack frame.
    FrameId
);

/// A process as a recording names it. The pid alone is not enough, since pids are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Process {
    /// Name of the process, possibly cut at 31 characters by the system.
    pub name: Symbol,
    /// Process id, if the recording has one.
    pub pid: Option<u32>,
}

/// A thread as a recording names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Display form, such as `Main Thread 0x1f (bench, pid: 12)`.
    pub display: Symbol,
    /// Thread id, if the recording has one.
    pub tid: Option<u64>,
    /// Process of the thread, if it is known.
    pub process: Option<ProcessId>,
}

/// The parts of a formatted label such as `Command Buffer 0:sin  ( bench (12) )  0x1f`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label {
    /// Text without process and number, such as `Command Buffer 0:sin`.
    pub text: Symbol,
    /// Process in the label, if it has one.
    pub process: Option<ProcessId>,
    /// Display form, if the selection keeps it.
    pub rendered: Option<Symbol>,
    submission: u64,
    has_submission: bool,
}

impl Label {
    /// Returns a label with these parts.
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

    /// Returns the label with another submission number.
    pub(crate) fn with_submission(self, submission: u64) -> Self {
        Self {
            submission,
            has_submission: true,
            ..self
        }
    }

    /// Returns the label without a submission number.
    pub(crate) fn without_submission(self) -> Self {
        Self {
            submission: 0,
            has_submission: false,
            ..self
        }
    }

    /// Returns the number at the end of the label: the GPU submission that it belongs to.
    pub fn submission_id(&self) -> Option<u64> {
        self.has_submission.then_some(self.submission)
    }
}

/// A frame of a call stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Name of the function, or the address if no symbol was found.
    pub name: Symbol,
    /// Address as displayed.
    pub address: Symbol,
    /// Name of the binary, if it is known.
    pub binary: Option<Symbol>,
}

/// All distinct names of a recording.
#[derive(Debug, Clone, Default)]
pub struct Names {
    strings: Strings,
    processes: Distinct<Process>,
    threads: Distinct<Thread>,
    frames: Distinct<Frame>,
    stacks: Distinct<Box<[FrameId]>>,
    labels: Vec<Label>,
    /// Ids of the labels without a submission number.
    unnumbered: FxHashMap<Label, LabelId>,
    /// Names of functions that `xctrace` may spell differently.
    unsure: FxHashSet<Symbol>,
}

impl Names {
    /// Returns an empty set of names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the id of a string, and adds a new string.
    pub fn symbol(&mut self, text: &str) -> Symbol {
        self.strings.intern(text)
    }

    /// Returns the id of the name of a function, and notes if `xctrace` may spell it differently.
    pub(crate) fn function(&mut self, name: &str, is_sure: bool) -> Symbol {
        let symbol = self.symbol(name);
        if !is_sure {
            self.unsure.insert(symbol);
        }
        symbol
    }

    /// Returns whether `xctrace` may spell the name of a function differently.
    pub(crate) fn is_unsure(&self, name: Symbol) -> bool {
        self.unsure.contains(&name)
    }

    /// Returns the id of a string, if it was added before.
    pub fn find_symbol(&self, text: &str) -> Option<Symbol> {
        self.strings.find(text)
    }

    /// Returns the string of an id. An id of another recording gives "".
    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.get(symbol)
    }

    /// Returns the id of a process, and adds a new process.
    pub fn process_id(&mut self, process: Process) -> ProcessId {
        ProcessId::at(self.processes.intern(process))
    }

    /// Returns the process of an id.
    pub fn process(&self, id: ProcessId) -> Option<Process> {
        self.processes.items.get(id.index()).copied()
    }

    /// Returns all processes, in the order in which they were added.
    pub fn processes(&self) -> impl Iterator<Item = (ProcessId, Process)> + '_ {
        let items = self.processes.items.iter().copied();
        items.enumerate().map(|(i, p)| (ProcessId::at(i), p))
    }

    /// Returns the id of a thread, and adds a new thread.
    pub fn thread_id(&mut self, thread: Thread) -> ThreadId {
        ThreadId::at(self.threads.intern(thread))
    }

    /// Returns the thread of an id.
    pub fn thread(&self, id: ThreadId) -> Option<Thread> {
        self.threads.items.get(id.index()).copied()
    }

    /// Returns the id of a frame, and adds a new frame.
    pub fn frame_id(&mut self, frame: Frame) -> FrameId {
        FrameId::at(self.frames.intern(frame))
    }

    /// Returns the id of a stack, and adds a new stack. The innermost frame comes first.
    pub fn stack_id(&mut self, frames: &[FrameId]) -> StackId {
        StackId::at(self.stacks.intern(frames.into()))
    }

    /// Returns the frames of a stack, innermost first.
    pub fn stack(&self, id: StackId) -> impl Iterator<Item = Frame> + '_ {
        let frames = self.frame_ids(id).iter();
        frames.filter_map(|&id| self.frame(id))
    }

    /// Returns the frame of an id.
    pub(crate) fn frame(&self, id: FrameId) -> Option<Frame> {
        self.frames.items.get(id.index()).copied()
    }

    /// Returns the ids of the frames of a stack, innermost first.
    pub(crate) fn frame_ids(&self, id: StackId) -> &[FrameId] {
        let frames = self.stacks.items.get(id.index());
        frames.map_or(&[], |frames| frames)
    }

    /// Returns the id of a label, and adds a new label. Labels with a submission number are not
    /// compared, since nearly all are different.
    pub fn label_id(&mut self, label: Label) -> LabelId {
        let new = LabelId::at(self.labels.len());
        let id = if label.has_submission {
            new
        } else {
            *self.unnumbered.entry(label).or_insert(new)
        };
        if id == new {
            self.labels.push(label);
        }
        id
    }

    /// Returns the number of labels.
    pub(crate) fn label_count(&self) -> usize {
        self.labels.len()
    }

    /// Removes all labels except the first ones.
    pub(crate) fn forget_labels(&mut self, kept: usize) {
        if kept < self.labels.len() {
            self.labels.truncate(kept);
            self.unnumbered.retain(|_, id| id.index() < kept);
        }
    }

    /// Returns the label of an id.
    pub fn label(&self, id: LabelId) -> Option<Label> {
        self.labels.get(id.index()).copied()
    }
}

/// Distinct values in the order in which they were added.
#[derive(Debug, Clone)]
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

/// Distinct strings in one buffer, without separators.
#[derive(Debug, Clone, Default)]
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
    fn a_string_keeps_its_id() {
        let mut names = Names::new();
        let (a, empty, b) = (names.symbol("a"), names.symbol(""), names.symbol("b"));
        assert_eq!(names.symbol("a"), a);
        assert_eq!([a, empty, b].map(|s| names.text(s)), ["a", "", "b"]);
        assert_eq!(names.find_symbol("c"), None);
    }

    #[test]
    fn processes_with_one_name_and_two_pids_are_different() {
        let mut names = Names::new();
        let name = names.symbol("bench");
        let first = names.process_id(Process { name, pid: Some(1) });
        let second = names.process_id(Process { name, pid: Some(2) });
        assert_ne!(first, second);
        assert_eq!(names.process(second).and_then(|p| p.pid), Some(2));
    }
}
