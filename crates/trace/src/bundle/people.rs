//! Who is who: the names of processes and threads.
//!
//! Rows say only numbers. A process's displayed name is the last part of its
//! program's path, which `form.template` has; a bundle without that still has
//! the table `process-info`, whose names are the system's own, cut at 31
//! characters. A thread is displayed by its name, its number, and its process.

use std::collections::BTreeMap;

use super::files::Files;
use super::manager::Store;
use super::store::Rows;
use super::uniquing::{USUAL, Uniques};
use crate::error::Result;
use crate::names::{Names, Process, ProcessId, Thread, ThreadId};
use crate::toc::Run;

/// Names by the numbers that rows have.
#[derive(Debug, Default)]
pub(crate) struct People {
    /// By pid, from `form.template`: as Instruments displays them.
    displayed: BTreeMap<u32, String>,
    /// By process reference, from `process-info`: the place of a string.
    processes: BTreeMap<u64, u64>,
    /// By thread reference, from `thread-info`.
    threads: BTreeMap<u64, ThreadFacts>,
}

/// What `thread-info` says of a thread, in its last row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ThreadFacts {
    /// The place of a string.
    name: Option<u64>,
    is_main: bool,
}

impl People {
    /// Reads the names of processes and threads, as far as the bundle has them.
    pub(crate) fn read(
        files: &Files,
        stores: &[Store],
        uniques: &Uniques,
        run: &Run,
    ) -> Result<Self> {
        let mut people = Self::default();
        for process in &run.processes {
            if let (Some(pid), 1..=USUAL) = (process.pid, process.name.len()) {
                people.displayed.insert(pid, process.name.clone());
            }
        }
        for store in stores {
            match store.schema.as_str() {
                "process-info" => people.add_processes(&Rows::whole(files, store)?, uniques),
                "thread-info" => people.add_threads(&Rows::whole(files, store)?, uniques),
                _ => {}
            }
        }
        Ok(people)
    }

    fn add_processes(&mut self, rows: &Rows, uniques: &Uniques) {
        let (Some(process), Some(name)) = (rows.slot("process"), rows.slot("process-name")) else {
            return;
        };
        for (process, name) in rows.values(process).zip(rows.values(name)) {
            let name = name.filter(|&name| uniques.name(name).is_some());
            if let (Some(process), Some(name)) = (process, name) {
                self.processes.entry(process).or_insert(name);
            }
        }
    }

    fn add_threads(&mut self, rows: &Rows, uniques: &Uniques) {
        let (Some(thread), Some(name), Some(main)) = (
            rows.slot("thread"),
            rows.slot("name"),
            rows.slot("main-thread"),
        ) else {
            return;
        };
        let rows = rows
            .values(thread)
            .zip(rows.values(name))
            .zip(rows.values(main));
        for ((thread, name), main) in rows {
            let Some(thread) = thread else { continue };
            let name = name.map(|name| name >> 32);
            // A thread may be listed again; what is said last holds.
            let facts = ThreadFacts {
                name: name.filter(|&name| uniques.name(name).is_some()),
                is_main: main == Some(1),
            };
            self.threads.insert(thread, facts);
        }
    }

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
        let displayed = self.displayed.get(&pid).map(String::as_str);
        let listed = || uniques.name(*self.processes.get(&reference)?);
        let known = displayed.or_else(listed).unwrap_or("Unknown");
        Some((known.to_owned(), pid))
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
        let facts = self.threads.get(&reference).copied().unwrap_or_default();
        let name = facts.name.and_then(|name| uniques.name(name));
        let name = match (name, facts.is_main) {
            (_, true) => "Main Thread",
            // Instruments cuts a thread's name where it finds what it takes
            // for the number that it puts behind it.
            (Some(name), false) => name.split("0x").next().unwrap_or(name),
            (None, false) => &process,
        };
        Some(format!("{name} 0x{tid:x} ({process}, pid: {pid})"))
    }
}
