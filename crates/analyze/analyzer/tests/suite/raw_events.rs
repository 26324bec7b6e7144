//! Tests of GPU intervals from raw events, against the table that Instruments, or the simulator,
//! derived from them.

use std::path::Path;

use metalens_analyzer::{
    Error, Request, analyze, lacks_intervals, selection, selection_with_raw_events,
};
use metalens_failure::Failure;
use metalens_simulator::{Preset, Scenario, Table, presets, write_bundle, write_export};
use metalens_testing::real_recordings;
use metalens_trace::{Input, InputKind, IssueSeverity, LoadOptions, RunIssue, Selection, Trace};

fn load(path: &Path, selection: &Selection) -> Trace {
    let input = Input::open(path).unwrap();
    input.load(selection, LoadOptions::default()).unwrap()
}

fn with_raw_events(path: &Path) -> Trace {
    load(path, &selection_with_raw_events())
}

/// Interval: start, end, channel, command buffer, encoder, process id and commit.
type Told = (
    (u64, u64),
    Option<String>,
    [Option<u64>; 2],
    Option<u32>,
    Option<u64>,
);

/// Returns the intervals of all processes on the channels that raw events tell of.
fn intervals(trace: Trace) -> Vec<Told> {
    let request = Request {
        keep_everyone: true,
        ..Request::default()
    };
    let analysis = analyze(trace, &request).unwrap();
    let known = analysis.everyone().unwrap().filter(|interval| {
        let channel = interval.channel.unwrap_or_default();
        ["Vertex", "Fragment", "Compute"].contains(&channel)
    });
    let told = known.map(|interval| {
        (
            (interval.start_ns, interval.end_ns),
            interval.channel.map(str::to_owned),
            [interval.command_buffer, interval.encoder],
            interval.pid,
            interval.committed_ns,
        )
    });
    let mut told: Vec<Told> = told.collect();
    told.sort();
    told
}

/// Checks that a bundle without its derived table has the same intervals, but for some commits, and
/// returns their number.
fn check_without_table(name: &str, bundle: &Path, other_commits: usize) -> usize {
    let derived = with_raw_events(bundle);
    let mut raw = derived.clone();
    raw.take_table("metal-gpu-intervals").unwrap();

    let [derived, raw] = [derived, raw].map(intervals);
    assert_eq!(derived.len(), raw.len(), "{name}");
    let mut others = 0;
    for (derived, raw) in derived.iter().zip(&raw) {
        let parts = |told: &Told| (told.0, told.1.clone(), told.2, told.3);
        assert_eq!(parts(derived), parts(raw), "{name}");
        others += usize::from(derived.4 != raw.4);
    }
    assert_eq!(others, other_commits, "{name}");
    raw.len()
}

#[test]
fn real_bundles_without_the_derived_table_have_its_intervals() {
    let Some(real) = real_recordings() else {
        return;
    };
    // The derived commit of one command buffer, of two intervals, is not that of its event.
    let cases = [
        ("m1-bundle-and-export/gpu_baseline.trace", 1_260, 2),
        ("m2-counters-bundle/julia_1.trace", 245, 0),
    ];
    for (bundle, expected, other_commits) in cases {
        let count = check_without_table(bundle, &real.join(bundle), other_commits);
        assert_eq!(count, expected, "{bundle}");
    }
}

/// The clock of these scenarios resolves every nanosecond. With the clock of `awkward` the simulator
/// cuts durations, and real tables have differences of cut times.
#[test]
fn scenarios_without_the_derived_table_have_its_intervals() {
    let left_out = ["awkward", "million", "no-target-rows"];
    let chosen = |preset: &&Preset| !left_out.contains(&preset.name);
    for preset in presets().iter().filter(chosen) {
        let folder = metalens_testing::scratch();
        let path = folder.path().join("run.trace");
        write_bundle(&preset.scenario().unwrap(), &path, false).unwrap();
        assert!(check_without_table(preset.name, &path, 0) > 0);
    }
}

/// The advice depends on the form, and a loud note says where the intervals are from.
#[test]
fn a_recording_without_the_derived_table_says_so() {
    let folder = metalens_testing::scratch();
    let scenario = without_intervals("eager");
    let [bundle, export] = ["run.trace", "export"].map(|name| folder.path().join(name));
    write_bundle(&scenario, &bundle, false).unwrap();
    write_export(&scenario, &export, false).unwrap();

    let check = |path: &Path, advice: &str| {
        let error = analyze(load(path, &selection()), &Request::default()).err();
        let error = error.unwrap();
        assert!(lacks_intervals(&error), "{error}");
        let hint = error.hint().unwrap();
        assert!(hint.contains(advice), "{hint}");
        matches!(error, Error::IntervalsNotRecorded(_))
    };
    // A bundle says what was recorded. The table of contents of a synthetic export lists tables that
    // were not exported, too, and then another export has the table.
    let template = "record with the template Metal System Trace";
    assert!(check(&bundle, template));
    assert!(!check(&export, "export that table too"));

    let raw = analyze(with_raw_events(&bundle), &Request::default()).unwrap();
    let mut notes = raw.report.loud_notes();
    assert!(notes.any(|note| note.id == "intervals-from-raw-events"));
}

fn without_intervals(name: &str) -> Scenario {
    let mut scenario = Scenario::preset(name).unwrap();
    let derived = [Table::MetalGpuIntervals, Table::MetalGpuStateIntervals];
    let tables = Table::recorded(&scenario).filter(|table| !derived.contains(table));
    scenario.tables = Some(tables.collect());
    scenario
}

/// A bundle lists its tables, and an empty list says that the GPU was not recorded. An export may lack
/// the table alone.
#[test]
fn an_empty_bundle_is_not_told_to_export_a_table() {
    let folder = metalens_testing::scratch();
    write_export(&without_intervals("eager"), folder.path(), false).unwrap();
    let mut trace = load(folder.path(), &selection());
    trace.run.tables.clear();
    let exported = analyze(trace.clone(), &Request::default()).err();
    assert!(matches!(exported, Some(Error::Trace(_))), "{exported:?}");
    trace.kind = InputKind::Bundle;
    let bundled = analyze(trace, &Request::default()).err();
    assert!(
        matches!(bundled, Some(Error::IntervalsNotRecorded(_))),
        "{bundled:?}"
    );
}

/// An error begins with what Instruments reports, and its hint is the remedy.
#[test]
fn issues_of_a_recording_without_intervals_are_in_the_error() {
    let folder = metalens_testing::scratch();
    write_export(&without_intervals("eager"), folder.path(), false).unwrap();
    let mut trace = load(folder.path(), &selection());
    let check = |trace: &Trace, message: &str, remedy: &str| {
        let error = analyze(trace.clone(), &Request::default()).err().unwrap();
        assert!(error.to_string().starts_with(message), "{error}");
        assert!(error.hint().unwrap().contains(remedy), "{:?}", error.hint());
        assert!(lacks_intervals(&error));
    };
    let issue = |message: &str| RunIssue {
        severity: IssueSeverity::Error,
        message: message.to_owned(),
    };
    trace.kind = InputKind::Bundle;
    trace.run.tables.clear();
    trace.run.issues = vec![issue("no luck")];
    check(&trace, "Instruments reports `no luck`; ", "record again");
    trace
        .run
        .issues
        .push(issue("it is under Rosetta translation"));
    check(
        &trace,
        "Instruments reports `no luck`, `it is",
        "arch -arm64",
    );
}
