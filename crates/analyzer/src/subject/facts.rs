//! What a report says of the target, and of who was there.

use metalens_trace::Names;
use rustc_hash::FxHashMap;

use super::processes::ProcessUse;
use super::target::Target;
use crate::report::{AnalyzedProcess, ProcessFacts, ProcessName};

pub(crate) fn target_facts(target: &Target, names: &Names) -> AnalyzedProcess {
    let processes: Vec<ProcessName> = target
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
        chosen_by: target.how,
        processes,
    }
}

/// Each process over the whole recording, and inside the window.
pub(crate) fn process_facts(
    everyone: &[ProcessUse],
    in_window: &[ProcessUse],
    target: &Target,
    names: &Names,
) -> Vec<ProcessFacts> {
    let in_window: FxHashMap<_, _> = in_window.iter().map(|one| (one.id, one)).collect();
    let facts = everyone.iter().map(|one| {
        let here = in_window.get(&one.id);
        ProcessFacts {
            name: names.text(one.process.name).to_owned(),
            pid: one.process.pid,
            is_analyzed: target.is(Some(one.id)),
            intervals: one.intervals,
            busy_ns: one.busy_ns,
            window_intervals: here.map_or(0, |here| here.intervals),
            window_busy_ns: here.map_or(0, |here| here.busy_ns),
        }
    });
    facts.collect()
}
