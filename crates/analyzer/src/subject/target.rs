//! Whom a report is about.
//!
//! Asked for, else what the recorder launched or attached to, else whoever kept
//! the GPU busy longest; the report says which it was. A target without rows is
//! an error that lists who was there: it never becomes somebody else.

use metalens_trace::{Names, Process, ProcessId, Run, Target as RunTarget, TargetProcess};

use super::processes::ProcessUse;
use crate::basics::message::process;
use crate::error::{Error, Present, Result};
use crate::message;
use crate::report::{ChosenBy, Note};
use crate::tables::columns::{Processes, at};

/// The chosen process or processes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    /// How they were found.
    pub how: ChosenBy,
    /// At least one.
    pub processes: Vec<ProcessId>,
    /// What a reader should know about the choice.
    pub note: Option<Note>,
}

impl Target {
    /// Whether an interval of this process is the target's.
    #[must_use]
    pub(crate) fn is(&self, process: Option<ProcessId>) -> bool {
        process.is_some_and(|process| self.processes.contains(&process))
    }

    /// Whether a row is the target's; rows of a table that names no process are.
    pub(crate) fn owns(&self, processes: Option<&Processes>, row: usize) -> bool {
        processes.is_none_or(|processes| self.is(at(processes, row)))
    }
}

/// Chooses whom a report is about.
pub(crate) fn choose(
    asked: &[String],
    run: &Run,
    names: &Names,
    used: &[ProcessUse],
) -> Result<Target> {
    if !asked.is_empty() {
        return requested(asked, names, used);
    }
    match &run.target {
        RunTarget::Launched(process) => recorded(process, ChosenBy::Launched, names, used),
        RunTarget::Attached(process) => recorded(process, ChosenBy::Attached, names, used),
        RunTarget::Recorded(process) => recorded(process, ChosenBy::Recorded, names, used),
        RunTarget::AllProcesses | RunTarget::Unknown => busiest(names, used),
    }
}

fn requested(asked: &[String], names: &Names, used: &[ProcessUse]) -> Result<Target> {
    let mut processes = Vec::new();
    for wanted in asked {
        let found = used
            .iter()
            .filter(|one| answers_to(wanted, one.process, names));
        let before = processes.len();
        processes.extend(found.map(|one| one.id));
        if processes.len() == before {
            return Err(nobody(wanted.clone(), None, names, used));
        }
    }
    processes.sort_unstable();
    processes.dedup();
    Ok(Target {
        how: ChosenBy::Requested,
        processes,
        note: None,
    })
}

/// `37` is pid 37, or a process so called; `bench` is every process so called.
fn answers_to(wanted: &str, process: Process, names: &Names) -> bool {
    let by_pid = wanted
        .parse()
        .is_ok_and(|pid: u32| process.pid == Some(pid));
    by_pid || same_name(wanted, names.text(process.name))
}

/// The system cuts names at 31 or 32 characters, one table here, another there.
fn same_name(a: &str, b: &str) -> bool {
    const CUT: usize = 31;
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || (short.chars().count() >= CUT && long.starts_with(short))
}

fn recorded(
    wanted: &TargetProcess,
    how: ChosenBy,
    names: &Names,
    used: &[ProcessUse],
) -> Result<Target> {
    let is_wanted = |one: &&ProcessUse| match wanted.pid {
        Some(pid) => one.process.pid == Some(pid),
        None => same_name(&wanted.name, names.text(one.process.name)),
    };
    let found: Vec<&ProcessUse> = used.iter().filter(is_wanted).collect();
    if found.is_empty() {
        let pid = wanted.pid.map(|pid| format!(" (pid {pid})"));
        let shown = format!("the target {}{}", wanted.name, pid.unwrap_or_default());
        let ending = wanted
            .termination
            .clone()
            .filter(|_| how == ChosenBy::Launched);
        return Err(nobody(shown, ending, names, used));
    }
    let other_name = found
        .iter()
        .map(|one| names.text(one.process.name))
        .find(|name| !same_name(&wanted.name, name));
    let note = other_name.map(|name| {
        let text = message!(
            "the recording calls its target {}, the GPU's rows of that pid say {}",
            process(&wanted.name, true),
            process(name, true)
        );
        Note::quiet("target-renamed", text)
    });
    Ok(Target {
        how,
        processes: found.iter().map(|one| one.id).collect(),
        note,
    })
}

fn busiest(names: &Names, used: &[ProcessUse]) -> Result<Target> {
    // `used` is sorted: the busiest comes first.
    let Some(first) = used.first() else {
        return Err(nobody("a process".to_owned(), None, names, used));
    };
    let text = message!(
        "nobody was named as target, so this is about the process that kept the GPU busy longest, \
         {}; --process names another",
        process(names.text(first.process.name), true)
    );
    Ok(Target {
        how: ChosenBy::Busiest,
        processes: vec![first.id],
        note: Some(Note::quiet("target-guessed", text)),
    })
}

fn nobody(wanted: String, ending: Option<String>, names: &Names, used: &[ProcessUse]) -> Error {
    let mut present: Vec<Present> = used
        .iter()
        .map(|one| Present {
            name: names.text(one.process.name).to_owned(),
            pid: one.process.pid,
            intervals: one.intervals,
        })
        .collect();
    present.sort_by(|a, b| {
        b.intervals
            .cmp(&a.intervals)
            .then_with(|| a.name.cmp(&b.name))
    });
    Error::NoTargetRows {
        wanted,
        ending,
        present,
    }
}
