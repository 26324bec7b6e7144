//! Tests of GPU intervals from raw events, against the table that Instruments, or the simulator,
//! derived from them.

use std::path::Path;

use metalens_analyzer::{
    Analysis, Request, analyze, compare_raw, lacks_intervals, selection, selection_with_raw_events,
};
use metalens_simulator::{Preset, Scenario, Table, presets, write_bundle};
use metalens_testing::real_recordings;
use metalens_trace::{Input, LoadOptions, Selection, Trace};

fn load(path: &Path, selection: &Selection) -> Trace {
    let input = Input::open(path).unwrap();
    input.load(selection, LoadOptions::default()).unwrap()
}

fn with_raw_events(path: &Path) -> Trace {
    load(path, &selection_with_raw_events())
}

/// Compares all intervals of real bundles: start, end, channel, command buffer, encoder, process.
#[test]
fn raw_events_of_real_bundles_have_the_derived_intervals() {
    let Some(real) = real_recordings() else {
        return;
    };
    // The derived commit of one command buffer, of two intervals, is not that of its event.
    let cases = [
        ("m1-bundle-and-export/gpu_baseline.trace", 1_260, 1_258),
        ("m2-counters-bundle/julia_1.trace", 245, 245),
    ];
    for (bundle, intervals, commits) in cases {
        let found = compare_raw(with_raw_events(&real.join(bundle)))
            .unwrap()
            .unwrap();
        assert!(found.agrees(), "{bundle}: {found:?}");
        assert_eq!(
            (found.derived, found.named, found.same_commits),
            (intervals, intervals, commits)
        );
        assert_eq!(found.other_channels, 0);
    }
}

/// Returns the built-in scenarios whose clock resolves every nanosecond. With the clock of
/// `awkward` the simulator cuts durations, and real tables have differences of cut times.
fn scenarios() -> impl Iterator<Item = (&'static str, Scenario)> {
    let small = |preset: &&Preset| !["awkward", "million"].contains(&preset.name);
    let all = presets().iter().filter(small);
    all.map(|preset| (preset.name, preset.scenario().unwrap()))
}

#[test]
fn raw_events_of_scenarios_have_the_derived_intervals() {
    for (name, scenario) in scenarios() {
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("run.trace");
        write_bundle(&scenario, &bundle, false).unwrap();
        let found = compare_raw(with_raw_events(&bundle)).unwrap().unwrap();
        assert!(found.agrees(), "{name}: {found:?}");
        assert_eq!(found.same_commits, found.named, "{name}");
    }
}

/// Takes the derived table away: the intervals stay, their labels go, and a loud note says so.
#[test]
fn a_bundle_without_the_derived_table_has_the_same_intervals() {
    for name in ["eager", "pipelined", "shared-machine"] {
        let (with, without) = (Scenario::preset(name).unwrap(), without_intervals(name));
        let folder = tempfile::tempdir().unwrap();
        let paths = ["with.trace", "without.trace"].map(|name| folder.path().join(name));
        write_bundle(&with, &paths[0], false).unwrap();
        write_bundle(&without, &paths[1], false).unwrap();

        let error = analyze(load(&paths[1], &selection()), &Request::default()).err();
        assert!(lacks_intervals(&error.unwrap()), "{name}");

        let analysis = |path| analyze(with_raw_events(path), &Request::default()).unwrap();
        let (derived, raw) = (analysis(&paths[0]), analysis(&paths[1]));
        assert_eq!(intervals(&derived), intervals(&raw), "{name}");
        assert_eq!(derived.report.busy.busy_ns, raw.report.busy.busy_ns);
        assert_eq!(derived.report.idle, raw.report.idle, "{name}");
        assert_eq!(derived.report.latency, raw.report.latency, "{name}");

        let id = "intervals-from-raw-events";
        let loud = |analysis: &Analysis| {
            let mut notes = analysis.report.loud_notes();
            notes.any(|note| note.detail.id == id)
        };
        assert!(loud(&raw) && !loud(&derived), "{name}");
    }
}

fn without_intervals(name: &str) -> Scenario {
    let mut scenario = Scenario::preset(name).unwrap();
    let derived = [Table::MetalGpuIntervals, Table::MetalGpuStateIntervals];
    let tables = Table::recorded(&scenario).filter(|table| !derived.contains(table));
    scenario.tables = Some(tables.collect());
    scenario
}

/// Interval as raw events tell it: span, channel, command buffer, encoder and process id.
type Told = (
    u64,
    u64,
    Option<String>,
    Option<u64>,
    Option<u64>,
    Option<u32>,
);

fn intervals(analysis: &Analysis) -> Vec<Told> {
    let told = analysis.intervals().map(|interval| {
        (
            interval.start_ns,
            interval.end_ns,
            interval.channel.map(str::to_owned),
            interval.command_buffer,
            interval.encoder,
            interval.pid,
        )
    });
    let mut told: Vec<Told> = told.collect();
    told.sort();
    told
}
