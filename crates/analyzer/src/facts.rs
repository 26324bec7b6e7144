//! What is known without counting: the source, the run, the target, who was there.

use metalens_trace::{Device, InputKind, Names, Trace};
use rustc_hash::FxHashMap;

use crate::processes::ProcessUse;
use crate::report::{
    DeviceFacts, ProcessFacts, Reader, RunFacts, Source, SourceKind, TargetFacts, TargetProcess,
};
use crate::target::Target;
use crate::timeline::GPU_INTERVALS;

pub(crate) fn source(trace: &Trace) -> Source {
    Source {
        path: trace.path.clone(),
        kind: match trace.kind {
            InputKind::Bundle | InputKind::Exported => SourceKind::Bundle,
            InputKind::Export => SourceKind::Export,
            InputKind::Xml => SourceKind::Xml,
        },
        reader: match trace.kind {
            InputKind::Bundle => Reader::Native,
            InputKind::Export | InputKind::Xml | InputKind::Exported => Reader::Xml,
        },
    }
}

pub(crate) fn run_facts(trace: &Trace) -> RunFacts {
    let run = &trace.run;
    let device = run.device.as_ref();
    RunFacts {
        number: run.number,
        synthetic: run.synthetic,
        template: run.template.clone(),
        instruments_version: run.instruments_version.clone(),
        start: run.start_date.clone(),
        duration_ns: run.duration_ns,
        end_reason: run.end_reason.clone(),
        recording_mode: run.recording_mode.clone(),
        device: DeviceFacts {
            model: device.and_then(|device| device.model.clone()),
            os: device.and_then(operating_system),
            gpu: gpu_name(trace),
        },
    }
}

/// `macOS 26.3.1 (25D2128)`.
fn operating_system(device: &Device) -> Option<String> {
    let version = device.os_version.as_ref()?;
    Some(match &device.platform {
        Some(platform) => format!("{platform} {version}"),
        None => version.clone(),
    })
}

/// The first GPU that a row names.
fn gpu_name(trace: &Trace) -> Option<String> {
    let gpus = trace.find_table(GPU_INTERVALS)?.texts("gpu").ok()?;
    let first = gpus.iter().find_map(|gpu| *gpu)?;
    Some(trace.names.text(first).to_owned())
}

/// What the recording's GPU was set to, such as its `Counter Set`.
pub(crate) fn gpu_setting(trace: &Trace, name: &str) -> Option<String> {
    let settings = trace.run.settings.iter();
    let values = settings
        .filter(|setting| setting.key == "GPU")
        .flat_map(|setting| &setting.values);
    let mut found = values.filter_map(|value| value.strip_prefix(name)?.strip_prefix(':'));
    found.next().map(|value| value.trim().to_owned())
}

pub(crate) fn target_facts(target: &Target, names: &Names) -> TargetFacts {
    let processes: Vec<TargetProcess> = target
        .processes
        .iter()
        .filter_map(|&id| names.process(id))
        .map(|process| TargetProcess {
            name: names.text(process.name).to_owned(),
            pid: process.pid,
        })
        .collect();
    let mut all_names: Vec<&str> = processes
        .iter()
        .map(|process| process.name.as_str())
        .collect();
    all_names.dedup();
    TargetFacts {
        name: all_names.join(", "),
        pid: match processes.as_slice() {
            [only] => only.pid,
            _ => None,
        },
        how: target.how,
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
            is_target: target.is(Some(one.id)),
            intervals: one.intervals,
            busy_ns: one.busy_ns,
            window_intervals: here.map_or(0, |here| here.intervals),
            window_busy_ns: here.map_or(0, |here| here.busy_ns),
        }
    });
    facts.collect()
}
