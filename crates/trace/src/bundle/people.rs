//! Who is who: the names of processes and threads.
//!
//! Rows say only numbers. A process's displayed name is the last part of its
//! program's path, which `form.template` has; a bundle without that still has
//! the table `process-info`, whose names are the system's own, cut at 31
//! characters. A thread is displayed by its name, its number, and its process.

use std::collections::BTreeMap;

use super::uniquing::Uniques;
use crate::names::{Names, Process, ProcessId, Thread, ThreadId};

/// Names by the numbers that rows have.
#[derive(Debug, Default)]
pub(crate) struct People {
    /// By pid, from `form.template`: as Instruments displays them.
    pub(crate) displayed: BTreeMap<u32, String>,
    /// By process reference, from `process-info`.
    pub(crate) processes: BTreeMap<u64, String>,
    /// By thread reference, from `thread-info`.
    pub(crate) threads: BTreeMap<u64, ThreadFacts>,
}

/// What `thread-info` says of a thread, in its last row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ThreadFacts {
    pub(crate) name: Option<String>,
    pub(crate) is_main: bool,
}

impl People {
    /// The process of a reference; `None` if the bundle has no such process.
    pub(crate) fn process(
        &self,
        reference: u64,
        uniques: &Uniques,
        names: &mut Names,
    ) -> Option<ProcessId> {
        let (name, pid) = self.process_parts(reference, uniques)?;
        let name = names.symbol(&name);
        Some(names.process_id(Process {
            name,
            pid: Some(pid),
        }))
    }

    /// `bench (12)`.
    pub(crate) fn process_display(&self, reference: u64, uniques: &Uniques) -> Option<String> {
        let (name, pid) = self.process_parts(reference, uniques)?;
        Some(format!("{name} ({pid})"))
    }

    /// The pid of a reference.
    pub(crate) fn pid(reference: u64, uniques: &Uniques) -> Option<u64> {
        let parts = uniques
            .arrays
            .get(reference)
            .filter(|array| array.len() == 2)?;
        // The upper half has been seen to carry other bits.
        Some(parts.get(0)? & u64::from(u32::MAX))
    }

    /// Name and pid.
    pub(crate) fn process_parts(&self, reference: u64, uniques: &Uniques) -> Option<(String, u32)> {
        let pid = u32::try_from(Self::pid(reference, uniques)?).ok()?;
        let known = self
            .displayed
            .get(&pid)
            .or_else(|| self.processes.get(&reference));
        Some((known.cloned().unwrap_or_else(|| "Unknown".to_owned()), pid))
    }

    /// The thread of a reference; `None` if the bundle has no such thread.
    pub(crate) fn thread(
        &self,
        reference: u64,
        uniques: &Uniques,
        names: &mut Names,
    ) -> Option<ThreadId> {
        let parts = uniques
            .arrays
            .get(reference)
            .filter(|array| array.len() == 2)?;
        let display = self.thread_display(reference, uniques)?;
        let thread = Thread {
            display: names.symbol(&display),
            tid: parts.get(0),
            process: self.process(parts.get(1)?, uniques, names),
        };
        Some(names.thread_id(thread))
    }

    /// `Main Thread 0x1f (bench, pid: 12)`.
    pub(crate) fn thread_display(&self, reference: u64, uniques: &Uniques) -> Option<String> {
        let parts = uniques
            .arrays
            .get(reference)
            .filter(|array| array.len() == 2)?;
        let tid = parts.get(0)?;
        let (process, pid) = self.process_parts(parts.get(1)?, uniques)?;
        let facts = self.threads.get(&reference).cloned().unwrap_or_default();
        let name = match (&facts.name, facts.is_main) {
            (_, true) => "Main Thread",
            // Instruments cuts a thread's name where it finds what it takes
            // for the number that it puts behind it.
            (Some(name), false) => name.split("0x").next().unwrap_or(name),
            (None, false) => &process,
        };
        Some(format!("{name} 0x{tid:x} ({process}, pid: {pid})"))
    }
}
