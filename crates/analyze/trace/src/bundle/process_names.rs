//! Finds the names of processes and threads.
//!
//! Rows contain only numbers. The displayed name of a process is the last part of the path of its
//! program, which `form.template` has. A bundle without that file still has the table
//! `process-info`, with names that the system cuts at 31 characters. A thread is displayed with its
//! name, its number and its process.

use std::collections::BTreeMap;

use super::files::Files;
use super::manager::Store;
use super::store::Rows;
use super::uniquing::{USUAL_LENGTH, Uniques};
use crate::error::Result;
use crate::names::{Names, Process, ProcessId, Thread, ThreadId};
use crate::toc::Run;

/// The names of processes and threads, by the numbers in rows.
#[derive(Debug, Default)]
pub(crate) struct ProcessNames {
    /// Displayed names by pid, from `form.template`.
    displayed: BTreeMap<u32, String>,
    /// Index of the name by process reference, from `process-info`.
    processes: BTreeMap<u64, u64>,
    /// Facts by thread reference, from `thread-info`.
    threads: BTreeMap<u64, ThreadFacts>,
}

/// The facts about a thread in its last row of `thread-info`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ThreadFacts {
    /// Index of the name in the list of strings.
    name: Option<u64>,
    is_main: bool,
}

impl ProcessNames {
    /// Reads the names of processes and threads that the bundle has.
    pub(crate) fn read(
        files: &Files,
        stores: &[Store],
        uniques: &Uniques,
        run: &Run,
    ) -> Result<Self> {
        let mut process_names = Self::default();
        for process in &run.processes {
            if let (Some(pid), 1..=USUAL_LENGTH) = (process.pid, process.name.len()) {
                process_names.displayed.insert(pid, process.name.clone());
            }
        }
        for store in stores {
            match store.schema.as_str() {
                "process-info" => {
                    process_names.add_processes(&Rows::read_all(files, store)?, uniques);
                }
                "thread-info" => process_names.add_threads(&Rows::read_all(files, store)?, uniques),
                _ => {}
            }
        }
        Ok(process_names)
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

    /// Adds the names of threads from the rows of a table that has them.
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
            // A thread may be listed several times; its last row is valid.
            let facts = ThreadFacts {
                name: name.filter(|&name| uniques.name(name).is_some()),
                is_main: main == Some(1),
            };
            self.threads.insert(thread, facts);
        }
    }

    /// Returns the process of a reference, or `None` if the bundle has no such process.
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

    /// Returns a process as displayed, such as `bench (12)`.
    pub(crate) fn process_display(&self, reference: u64, uniques: &Uniques) -> Option<String> {
        let (name, pid) = self.process_parts(reference, uniques)?;
        Some(format!("{name} ({pid})"))
    }

    /// Returns the pid of a reference.
    pub(crate) fn pid(reference: u64, uniques: &Uniques) -> Option<u64> {
        let [pid, _] = uniques.pair(reference)?;
        // The upper half contains other bits in some recordings.
        Some(pid & u64::from(u32::MAX))
    }

    /// Returns the name and the pid of a reference.
    pub(crate) fn process_parts(&self, reference: u64, uniques: &Uniques) -> Option<(String, u32)> {
        let pid = u32::try_from(Self::pid(reference, uniques)?).ok()?;
        let displayed = self.displayed.get(&pid).map(String::as_str);
        let listed = || uniques.name(*self.processes.get(&reference)?);
        let known = displayed.or_else(listed).unwrap_or("Unknown");
        Some((known.to_owned(), pid))
    }

    /// Returns the thread of a reference, or `None` if the bundle has no such thread.
    pub(crate) fn thread(
        &self,
        reference: u64,
        uniques: &Uniques,
        names: &mut Names,
    ) -> Option<ThreadId> {
        let [tid, process] = uniques.pair(reference)?;
        let display = self.thread_display(reference, uniques)?;
        let thread = Thread {
            display: names.symbol(&display),
            tid: Some(tid),
            process: self.process(process, uniques, names),
        };
        Some(names.thread_id(thread))
    }

    /// Returns a thread as displayed, such as `Main Thread 0x1f (bench, pid: 12)`.
    pub(crate) fn thread_display(&self, reference: u64, uniques: &Uniques) -> Option<String> {
        let [tid, process] = uniques.pair(reference)?;
        let (process, pid) = self.process_parts(process, uniques)?;
        let facts = self.threads.get(&reference).copied().unwrap_or_default();
        let name = facts.name.and_then(|name| uniques.name(name));
        let name = match (name, facts.is_main) {
            (_, true) => "Main Thread",
            // Instruments cuts the name of a thread at "0x", where it expects the number
            // that it adds.
            (Some(name), false) => name.split("0x").next().unwrap_or(name),
            (None, false) => &process,
        };
        Some(format!("{name} 0x{tid:x} ({process}, pid: {pid})"))
    }
}
