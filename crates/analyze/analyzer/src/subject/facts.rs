//! Makes the report's facts about processes.

use metalens_message::Ns;
use metalens_trace::Names;
use rustc_hash::FxHashMap;

use super::chosen_processes::ChosenProcesses;
use super::processes::ProcessUse;
use crate::report::{AnalyzedProcess, ProcessFacts, ProcessName};

/// Returns the report's facts about the chosen processes.
pub(crate) fn analyzed_process(chosen: &ChosenProcesses, names: &Names) -> AnalyzedProcess {
    let processes: Vec<ProcessName> = chosen
        .processes
        .iter()
        .filter_map(|&id| names.process(id))
        .map(|process| ProcessName {
            name: names.text(process.name).to_owned(),
            pid: process.pid,
        })
        .collect();

    let mut all_names: Vec<&str> = processes
        .iter()
        .map(|process| process.name.as_str())
        .collect();
    all_names.dedup();

    AnalyzedProcess {
        name: all_names.join(", "),
        pid: match processes.as_slice() {
            [only] => only.pid,
            _ => None,
        },
        chosen_by: chosen.chosen_by,
        processes,
    }
}

/// Returns the facts about each process, over the whole recording and inside the window.
pub(crate) fn process_facts(
    everyone: &[ProcessUse],
    in_window: &[ProcessUse],
    chosen: &ChosenProcesses,
    names: &Names,
) -> Vec<ProcessFacts> {
    let in_window: FxHashMap<_, _> = in_window
        .iter()
        .map(|process| (process.id, process))
        .collect();
    let facts = everyone.iter().map(|process| {
        let here = in_window.get(&process.id);
        ProcessFacts {
            name: names.text(process.process.name).to_owned(),
            pid: process.process.pid,
            is_analyzed: chosen.contains(Some(process.id)),
            intervals: process.intervals,
            busy_ns: Ns(process.busy_ns),
            window_intervals: here.map_or(0, |here| here.intervals),
            window_busy_ns: Ns(here.map_or(0, |here| here.busy_ns)),
        }
    });
    facts.collect()
}
