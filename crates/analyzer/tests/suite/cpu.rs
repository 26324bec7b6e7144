//! Tests of the CPU samples of real recordings, if this machine has them.

use std::path::Path;

use metalens_analyzer::{
    Error, Profile, Request, WeightUnit, collapsed_stacks, profile, profile_selection,
};
use metalens_failure::Failure;
use metalens_trace::{Input, LoadOptions, Trace};

use super::real::recordings;
use super::report;

fn load(path: &Path) -> Trace {
    let input = Input::open(path).unwrap();
    input
        .load(&profile_selection(), LoadOptions::default())
        .unwrap()
}

/// The bundle and xctrace's export of it have the same profile, except for the facts about the
/// input.
#[test]
fn a_bundle_and_its_export_have_one_profile() {
    let Some(recordings) = recordings() else {
        return;
    };
    let folder = recordings.join("m1-time-profiler-bundle-and-export");
    let traces = ["cpu_time_profiler.trace", "export"].map(|name| load(&folder.join(name)));
    let stacks = traces
        .each_ref()
        .map(|trace| collapsed_stacks(trace, &Request::default()).unwrap());
    assert_eq!(stacks[0], stacks[1]);
    // 68 rows of 1 ms each, by grep on the export.
    let weight: u64 = stacks[0].lines.iter().map(|(_, weight)| weight).sum();
    assert_eq!((weight, stacks[0].unit), (68_000_000, WeightUnit::Ns));
    let [native, exported] = traces.map(|trace| profile(&trace, &Request::default()).unwrap());
    assert_eq!(native.samples, 68);
    let function = native.self_frames[0].function.as_deref();
    assert_eq!(
        (function, native.self_frames[0].samples),
        (Some("main"), 65)
    );
    let without_input = |profile: Profile| Profile {
        source: exported.source.clone(),
        run: exported.run.clone(),
        notes: Vec::new(),
        waiting_recorded: None,
        ..profile
    };
    assert_eq!(without_input(native), without_input(exported.clone()));
    // The export's table of contents says record-waiting-threads="0".
    assert_eq!(exported.waiting_recorded, Some(false));
}

/// A recording without GPU data is an error, with a hint on what to do instead.
#[test]
fn a_recording_without_gpu_data_is_an_error() {
    let Some(recordings) = recordings() else {
        return;
    };
    let folder = recordings.join("m1-time-profiler-bundle-and-export/export");
    let error = report(&folder, None, &Request::default()).unwrap_err();
    assert!(
        matches!(error, Error::OnlyCpu { samples: 68, .. }),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("metalens stacks"));
}

/// Compares the samples in the window with a count of the table's rows.
#[test]
fn samples_in_the_window_are_counted() {
    let Some(recordings) = recordings() else {
        return;
    };
    let folder = recordings.join("m1-bundle-and-export/export");
    let report = report(&folder, None, &Request::default()).unwrap();
    let trace = load(&folder);
    let times = trace
        .table("time-profile")
        .unwrap()
        .integers("time")
        .unwrap();
    let window = report.window.start_ns..report.window.end_ns;
    let inside = times.iter().flatten().filter(|time| window.contains(time));
    let cpu = report.cpu.unwrap();
    // All rows of this recording are of the recorded process.
    assert_eq!(cpu.samples, inside.count() as u64);
    assert_eq!(cpu.samples, 65);
    assert_eq!(
        cpu.threads.iter().map(|thread| thread.samples).sum::<u64>(),
        65
    );
    // Its main thread encodes; the two others are the system's.
    let submits: Vec<_> = cpu.threads.iter().map(|thread| thread.submits).collect();
    assert_eq!(submits, [Some(false), Some(true), Some(false)]);
    // By an XML library on the export: rows of the window whose first frame is __kdebug_trace64.
    assert_eq!((cpu.tracing, cpu.tracing_weight), (16, 16_000_000));
    assert_eq!(
        (cpu.period, cpu.waiting_recorded),
        (Some(1_000_000), Some(false))
    );
}
