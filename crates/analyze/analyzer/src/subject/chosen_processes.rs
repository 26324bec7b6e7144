//! Chooses the processes that a report is about.
//!
//! The requested ones come first, then the one that the recorder launched or attached to, then
//! the one that kept the GPU busy longest; the report says which it was. A process without GPU
//! intervals is an error that lists those with some: metalens never switches to another
//! process.

use std::cmp::Reverse;

use metalens_message::{message, process};
use metalens_trace::{Names, Process, ProcessId, Run, Target as RunTarget, TargetProcess};

use super::processes::ProcessUse;
use crate::error::{Error, GpuProcess, Result};
use crate::report::{ChosenBy, Note};
use crate::tables::columns::{Processes, at};

/// Processes that a report is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChosenProcesses {
    /// Reason why they were chosen.
    pub chosen_by: ChosenBy,
    /// Ids of the processes, at least one, in order.
    pub processes: Vec<ProcessId>,
    /// Note about the choice.
    pub note: Option<Note>,
}

impl ChosenProcesses {
    /// Returns whether a process is one of the chosen ones.
    pub(crate) fn contains(&self, process: Option<ProcessId>) -> bool {
        process.is_some_and(|process| self.processes.binary_search(&process).is_ok())
    }

    /// Returns whether a row is of a chosen process; in a table that names no process all rows are.
    pub(crate) fn owns_row(&self, processes: Option<&Processes>, row: usize) -> bool {
        processes.is_none_or(|processes| self.contains(at(processes, row)))
    }
}

/// Chooses the processes that a report is about. `used` are those that used the GPU, the
/// busiest first.
pub(crate) fn choose(
    requested_names: &[String],
    run: &Run,
    names: &Names,
    used: &[ProcessUse],
) -> Result<ChosenProcesses> {
    if !requested_names.is_empty() {
        return requested(requested_names, names, used);
    }

    match &run.target {
        RunTarget::Launched(process) => recorded(process, ChosenBy::Launched, names, used),
        RunTarget::Attached(process) => recorded(process, ChosenBy::Attached, names, used),
        RunTarget::Recorded(process) => recorded(process, ChosenBy::Recorded, names, used),
        RunTarget::AllProcesses | RunTarget::Unknown => busiest(names, used),
    }
}

fn requested(
    requested_names: &[String],
    names: &Names,
    used: &[ProcessUse],
) -> Result<ChosenProcesses> {
    let mut processes = Vec::new();
    for wanted in requested_names {
        let matching = used
            .iter()
            .filter(|candidate| matches_request(wanted, candidate.process, names));
        let before = processes.len();
        processes.extend(matching.map(|candidate| candidate.id));
        if processes.len() == before {
            return Err(no_gpu_intervals(wanted.clone(), None, names, used));
        }
    }
    processes.sort_unstable();
    processes.dedup();
    Ok(ChosenProcesses {
        chosen_by: ChosenBy::Requested,
        processes,
        note: None,
    })
}

/// Returns whether a process matches a request: `37` is pid 37 or a process of that name;
/// `bench` is every process of that name.
fn matches_request(wanted: &str, process: Process, names: &Names) -> bool {
    let by_pid = wanted
        .parse()
        .is_ok_and(|pid: u32| process.pid == Some(pid));
    by_pid || same_name(wanted, names.text(process.name))
}

/// Compares names. The system cuts them at 31 or 32 characters, differently in each table.
fn same_name(a: &str, b: &str) -> bool {
    const CUT: usize = 31;
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || (short.chars().count() >= CUT && long.starts_with(short))
}

fn recorded(
    wanted: &TargetProcess,
    chosen_by: ChosenBy,
    names: &Names,
    used: &[ProcessUse],
) -> Result<ChosenProcesses> {
    let is_wanted = |candidate: &&ProcessUse| match wanted.pid {
        Some(pid) => candidate.process.pid == Some(pid),
        None => same_name(&wanted.name, names.text(candidate.process.name)),
    };
    let named: Vec<&ProcessUse> = used.iter().filter(is_wanted).collect();
    if named.is_empty() {
        let pid = wanted.pid.map(|pid| format!(" (pid {pid})"));
        let shown = format!("the process {}{}", wanted.name, pid.unwrap_or_default());
        let ending = wanted
            .termination
            .clone()
            .filter(|_| chosen_by == ChosenBy::Launched);
        return Err(no_gpu_intervals(shown, ending, names, used));
    }

    let other_name = named
        .iter()
        .map(|process| names.text(process.process.name))
        .find(|name| !same_name(&wanted.name, name));
    let note = other_name.map(|name| {
        let text = message!(
            "the recording names the process {}, but its GPU rows have the name {} for that pid",
            process(&wanted.name, true),
            process(name, true)
        );
        Note::quiet("process-renamed", text)
    });
    let mut processes: Vec<ProcessId> = named.iter().map(|process| process.id).collect();
    processes.sort_unstable();
    Ok(ChosenProcesses {
        chosen_by,
        processes,
        note,
    })
}

/// Draws the screen on every Mac, so that it is often the busiest; few people mean it.
const COMPOSITOR: &str = "WindowServer";

fn busiest(names: &Names, used: &[ProcessUse]) -> Result<ChosenProcesses> {
    // `used` is sorted: the busiest comes first.
    let name = |candidate: &ProcessUse| names.text(candidate.process.name);
    let program = used.iter().find(|candidate| name(candidate) != COMPOSITOR);
    let Some(chosen) = program.or(used.first()) else {
        return Err(no_gpu_intervals("a process".to_owned(), None, names, used));
    };

    let is_passed_over = used.first().is_some_and(|first| first.id != chosen.id);
    let besides = is_passed_over.then(|| message!(" besides {}", process(COMPOSITOR, false)));
    let text = message!(
        "no process was named, so this report is about the one that kept the GPU busy longest{}, {}; \
         choose another with --process",
        besides,
        process(name(chosen), true)
    );
    Ok(ChosenProcesses {
        chosen_by: ChosenBy::Busiest,
        processes: vec![chosen.id],
        note: Some(Note::loud("process-guessed", text)),
    })
}

fn no_gpu_intervals(
    wanted: String,
    ending: Option<String>,
    names: &Names,
    used: &[ProcessUse],
) -> Error {
    let mut present: Vec<GpuProcess> = used
        .iter()
        .map(|process| GpuProcess {
            name: names.text(process.process.name).to_owned(),
            pid: process.process.pid,
            intervals: process.intervals,
        })
        .collect();
    present.sort_by_cached_key(|process| (Reverse(process.intervals), process.name.clone()));
    Error::NoGpuIntervals {
        wanted,
        ending,
        present,
    }
}
