//! Tests of GPU intervals from raw events, against the table that Instruments, or the simulator,
//! derived from them.

use std::path::Path;

use metalens_analyzer::{
    Analysis, Error, Request, analyze, compare_raw, lacks_intervals, selection,
    selection_with_raw_events,
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
        let folder = metalens_testing::scratch();
        for form in FORMS {
            let path = folder.path().join(form);
            write(form, &scenario, &path);
            let found = compare_raw(with_raw_events(&path)).unwrap().unwrap();
            assert!(found.agrees(), "{name}, {form}: {found:?}");
            assert!(found.derived > 0, "{name}, {form}");
            assert_eq!(found.same_commits, found.named, "{name}, {form}");
        }
    }
}

/// Checks that raw events in an export are compared at all: one kick that moved is found.
#[test]
fn a_moved_interval_in_an_export_is_found() {
    let folder = metalens_testing::scratch();
    let scenario = Scenario::preset("eager").unwrap();
    write("export", &scenario, folder.path());
    let path = folder.path().join("kdebug.table-6.xml");
    let text = std::fs::read_to_string(&path).unwrap();
    // The argument with the end of the first interval.
    let (before, last) = text.split_once("</row>").unwrap();
    let (head, end) = before.rsplit_once("\">").unwrap();
    let (ticks, tag) = end.split_once('<').unwrap();
    let later = ticks.parse::<u64>().unwrap() + 1;
    std::fs::write(&path, format!("{head}\">{later}<{tag}</row>{last}")).unwrap();

    let found = compare_raw(with_raw_events(folder.path()))
        .unwrap()
        .unwrap();
    assert_eq!((found.agrees(), found.same), (false, found.derived - 1));
}

/// Raw events go on after the recording, and the derived table does not.
#[test]
fn raw_events_after_the_end_are_counted_apart() {
    let folder = metalens_testing::scratch();
    let scenario = Scenario::preset("eager").unwrap();
    write("bundle", &scenario, folder.path());
    let mut trace = with_raw_events(folder.path());
    let last = compare_raw(trace.clone()).unwrap().unwrap();
    assert_eq!((last.agrees(), last.after_end), (true, 0));

    // The recording ends when the last interval starts.
    let intervals = trace.table("metal-gpu-intervals").unwrap();
    let starts = intervals.integers("start").unwrap();
    trace.run.duration_ns = starts.iter().flatten().max();
    let cut = compare_raw(trace).unwrap().unwrap();
    assert!(cut.after_end > 0, "{cut:?}");
    assert_eq!(cut.raw + cut.after_end, last.raw);
}

/// Both forms of a recording.
const FORMS: [&str; 2] = ["bundle", "export"];

/// Writes a recording with raw events.
fn write(form: &str, scenario: &Scenario, path: &Path) {
    let mut scenario = scenario.clone();
    scenario.recording.raw_events = true;
    if form == "bundle" {
        write_bundle(&scenario, path, false).unwrap();
    } else {
        write_export(&scenario, path, false).unwrap();
    }
}

/// Takes the derived table away: the intervals stay, their labels go, and a loud note says so.
#[test]
fn a_recording_without_the_derived_table_has_the_same_intervals() {
    let names = ["eager", "pipelined", "shared-machine"];
    for (name, form) in names
        .iter()
        .flat_map(|name| FORMS.map(|form| (*name, form)))
    {
        let (with, without) = (Scenario::preset(name).unwrap(), without_intervals(name));
        let folder = metalens_testing::scratch();
        let paths = ["with", "without"].map(|name| folder.path().join(name));
        write(form, &with, &paths[0]);
        write(form, &without, &paths[1]);

        let error = analyze(load(&paths[1], &selection()), &Request::default()).err();
        let error = error.unwrap();
        assert!(lacks_intervals(&error), "{name}");
        // A bundle says what was recorded. The table of contents of a synthetic export lists tables that
        // were not exported, too, and then another export has the table.
        let is_unrecorded = matches!(error, Error::IntervalsNotRecorded(_));
        assert_eq!(is_unrecorded, form == "bundle", "{name} {form}");
        let advice = if is_unrecorded {
            "record with the template Metal System Trace"
        } else {
            "export that table too"
        };
        let hint = error.hint().unwrap();
        assert!(hint.contains(advice), "{name} {form}: {hint}");

        let analysis = |path| analyze(with_raw_events(path), &Request::default()).unwrap();
        let (derived, raw) = (analysis(&paths[0]), analysis(&paths[1]));
        assert_eq!(intervals(&derived), intervals(&raw), "{name}");
        assert_eq!(derived.report.busy.busy_ns, raw.report.busy.busy_ns);
        assert_eq!(derived.report.idle, raw.report.idle, "{name}");
        assert_eq!(derived.report.latency, raw.report.latency, "{name}");

        let id = "intervals-from-raw-events";
        let loud = |analysis: &Analysis| {
            let mut notes = analysis.report.loud_notes();
            notes.any(|note| note.id == id)
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
