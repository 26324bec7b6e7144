//! What is known of the program's objects: queues, command buffers, encoders and pipelines.
//!
//! Objects are known by address. An address that is used again belongs to the new object, since
//! each way to make one is hooked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metalens_command_log::Kind;

use crate::lock;
use crate::objc::Id;
use crate::session::Session;
use crate::stamps::Stamp;

/// Name of work whose function nobody saw being made into a pipeline.
const UNKNOWN_FUNCTION: &str = "(unknown function)";
/// Name of work that was encoded into an indirect command buffer before.
const INDIRECT_COMMANDS: &str = "(indirect commands)";

/// Objects by address, in parts, so that threads seldom meet.
pub(crate) struct Objects<T> {
    parts: [Mutex<BTreeMap<Id, T>>; 16],
}

impl<T> Objects<T> {
    pub(crate) const fn new() -> Self {
        Self {
            parts: [const { Mutex::new(BTreeMap::new()) }; 16],
        }
    }

    /// Calls a function with the part that has an object, locked.
    pub(crate) fn with<R>(
        &self,
        object: Id,
        run: impl FnOnce(&mut BTreeMap<Id, T>) -> R,
    ) -> Option<R> {
        let part = self.parts.get((object >> 6) % self.parts.len())?;
        Some(run(&mut lock(part)))
    }

    pub(crate) fn insert(&self, object: Id, value: T) {
        let _old = self.with(object, |part| part.insert(object, value));
    }

    pub(crate) fn remove(&self, object: Id) -> Option<T> {
        self.with(object, |part| part.remove(&object)).flatten()
    }
}

impl<T: Clone> Objects<T> {
    pub(crate) fn get(&self, object: Id) -> Option<T> {
        self.with(object, |part| part.get(&object).cloned())
            .flatten()
    }
}

pub(crate) static QUEUES: Objects<u64> = Objects::new();
pub(crate) static BUFFERS: Objects<Arc<Buffer>> = Objects::new();
pub(crate) static ENCODERS: Objects<OpenEncoder> = Objects::new();
/// Names of the functions of pipelines.
pub(crate) static PIPELINES: Objects<Arc<str>> = Objects::new();

/// Numbers a queue that was just made.
pub(crate) fn number_queue(queue: Id) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    QUEUES.insert(queue, number);
    number
}

/// Returns the one copy of a name, so that equal names have equal addresses.
pub(crate) fn intern(name: &str) -> Arc<str> {
    static NAMES: Mutex<BTreeSet<Arc<str>>> = Mutex::new(BTreeSet::new());
    let mut names = lock(&NAMES);
    if let Some(known) = names.get(name) {
        return known.clone();
    }
    let new: Arc<str> = name.into();
    names.insert(new.clone());
    new
}

/// A command buffer of the program.
pub(crate) struct Buffer {
    /// The log that it belongs to, if one was written when it was made.
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) queue: Option<u64>,
    /// Number of its last commit, or 0.
    pub(crate) number: AtomicU64,
    /// Time at which it was scheduled, or 0.
    pub(crate) scheduled: AtomicU64,
    pub(crate) encoded: Mutex<Encoded>,
    /// Its commit, until that is written. Unused in Metal 4, where several commits can be underway.
    pub(crate) committed: Mutex<Option<Committed>>,
}

impl Buffer {
    pub(crate) fn new(session: Option<Arc<Session>>, queue: Option<u64>) -> Self {
        Self {
            session,
            queue,
            number: AtomicU64::new(0),
            scheduled: AtomicU64::new(0),
            encoded: Mutex::default(),
            committed: Mutex::new(None),
        }
    }
}

/// What was encoded into a command buffer since it began.
#[derive(Clone, Default)]
pub(crate) struct Encoded {
    /// Time at which its first encoder was made.
    pub(crate) start: Option<u64>,
    pub(crate) encoders: Vec<Arc<Mutex<Encoder>>>,
}

/// A commit: of one command buffer, or in Metal 4 of several at once.
pub(crate) struct Committed {
    pub(crate) number: u64,
    pub(crate) queue: Option<u64>,
    pub(crate) thread: u64,
    pub(crate) label: Option<String>,
    pub(crate) time: u64,
    pub(crate) encoded: Encoded,
}

/// What became of a commit.
pub(crate) struct Completion {
    pub(crate) scheduled: Option<u64>,
    pub(crate) gpu: Option<(u64, u64)>,
    pub(crate) completed: u64,
    pub(crate) error: Option<String>,
}

/// What was encoded with an encoder.
pub(crate) struct Encoder {
    pub(crate) kind: Kind,
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
    pub(crate) label: Option<String>,
    /// Samples of the GPU's clock, until they are read.
    pub(crate) stamp: Option<Stamp>,
    /// GPU times that were sampled.
    pub(crate) gpu: Option<(u64, u64)>,
    /// Names of functions with the number of dispatches or draws.
    pub(crate) kernels: Vec<(Arc<str>, u64)>,
}

impl Encoder {
    fn count(&mut self, name: &Arc<str>) {
        let mut known = self.kernels.iter_mut().rev();
        match known.find(|(kernel, _)| Arc::ptr_eq(kernel, name)) {
            Some((_, count)) => *count += 1,
            None => self.kernels.push((name.clone(), 1)),
        }
    }

    /// Returns a label that names its kernels: four at most.
    pub(crate) fn label_from_kernels(&self) -> Option<String> {
        const NAMED: usize = 4;
        let names = self.kernels.iter().map(|(name, _)| &**name);
        let mut label = names.take(NAMED).collect::<Vec<_>>().join(" + ");
        let more = self.kernels.len().saturating_sub(NAMED);
        if more > 0 {
            label.push_str(&format!(" + {more} more"));
        }
        (!label.is_empty()).then_some(label)
    }
}

/// An encoder that the program uses right now. The parts of a parallel encoder share what was
/// encoded, and each has a pipeline of its own.
pub(crate) struct OpenEncoder {
    pub(crate) encoder: Arc<Mutex<Encoder>>,
    pub(crate) pipeline: Option<Arc<str>>,
}

/// Notes which pipeline an encoder uses from now on.
pub(crate) fn set_pipeline(encoder: Id, name: Arc<str>) {
    ENCODERS.with(encoder, |part| {
        if let Some(open) = part.get_mut(&encoder) {
            open.pipeline = Some(name);
        }
    });
}

/// Counts a dispatch or a draw.
pub(crate) fn count_work(encoder: Id) {
    ENCODERS.with(encoder, |part| {
        if let Some(open) = part.get_mut(&encoder) {
            let name = open.pipeline.get_or_insert_with(unknown_function);
            lock(&open.encoder).count(name);
        }
    });
}

/// Counts the execution of an indirect command buffer.
pub(crate) fn count_indirect(encoder: Id) {
    ENCODERS.with(encoder, |part| {
        if let Some(open) = part.get(&encoder) {
            lock(&open.encoder).count(&intern(INDIRECT_COMMANDS));
        }
    });
}

/// Returns the name for work whose function is unknown.
pub(crate) fn unknown_function() -> Arc<str> {
    intern(UNKNOWN_FUNCTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_four_kernels_at_most() {
        for (kernels, expected) in [
            (&[][..], None),
            (&["gemm"][..], Some("gemm")),
            (&["a", "b", "c", "d"][..], Some("a + b + c + d")),
            (
                &["a", "b", "c", "d", "e", "f"][..],
                Some("a + b + c + d + 2 more"),
            ),
        ] {
            let encoder = Encoder {
                kind: Kind::Compute,
                start: 0,
                end: None,
                label: None,
                stamp: None,
                gpu: None,
                kernels: kernels.iter().map(|name| (intern(name), 1)).collect(),
            };
            assert_eq!(encoder.label_from_kernels().as_deref(), expected);
        }
    }
}
