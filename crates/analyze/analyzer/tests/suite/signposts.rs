//! Tests of the phases that a program named, from tables to report.

use std::path::Path;

use metalens_analyzer::{Error, Report, Request, StepsBy};
use metalens_failure::Failure;
use metalens_message::Ns;
use metalens_simulator::{Scenario, write_export};

use super::write_table;
use super::{report, report_of};

fn preset(name: &str) -> Scenario {
    Scenario::preset(name).unwrap()
}

const BENCH: &str = "eager-bench (4101)";

/// Writes `os-signpost` rows of the process of `eager`: ns, begin or end, name, identifier. The
/// message has the last two.
fn write_signposts(folder: &Path, rows: &[(u64, &str, &str, u64)]) {
    let columns = [
        ("time", "event-time"),
        ("process", "process"),
        ("event-type", "event-type"),
        ("identifier", "os-signpost-identifier"),
        ("name", "signpost-name"),
        ("subsystem", "subsystem"),
        ("message", "os-log-metadata"),
    ];
    let row = |&(ns, what, name, id): &(u64, &str, &str, u64)| {
        let (ns, message, id) = (ns.to_string(), format!("{name}  {id}"), id.to_string());
        [&ns, BENCH, what, &id, name, "bench", &message]
            .map(str::to_owned)
            .to_vec()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    write_table(folder, "os-signpost", &columns, &rows);
}

/// Writes `OSSignpostIntervals` rows of it: start and duration in ns, name.
fn write_signpost_intervals(folder: &Path, rows: &[(u64, u64, &str)]) {
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("name", "signpost-name"),
        ("subsystem", "subsystem"),
        ("process", "process"),
        ("start-message", "os-log-metadata"),
    ];
    let row = |&(start, duration, name): &(u64, u64, &str)| {
        let (start, duration) = (start.to_string(), duration.to_string());
        [
            &start,
            &duration,
            name,
            "bench",
            BENCH,
            "of a table of intervals",
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    write_table(folder, "OSSignpostIntervals", &columns, &rows);
}

/// An interval that both tables have counts once.
#[test]
fn signposts_of_two_tables_count_once() {
    let folder = metalens_testing::scratch();
    write_export(&preset("eager"), folder.path(), false).unwrap();
    let events = [(720 * MS, "Begin", "step", 1), (740 * MS, "End", "step", 1)];
    write_signposts(folder.path(), &events);
    let intervals = [
        (720 * MS, 20 * MS, "step"),
        (750 * MS, 5 * MS, "step"),
        (800 * MS, 10 * MS, "save"),
    ];
    write_signpost_intervals(folder.path(), &intervals);
    // The one that events gave has two messages.
    let whole = report(folder.path(), None, &phase("of a table of intervals")).unwrap();
    assert_eq!(whole.steps[0].count, 3);
    let found = report(folder.path(), None, &Request::default()).unwrap();
    let found = found.phases.signposts;
    let found: Vec<_> = found
        .iter()
        .map(|phase| (phase.name.as_str(), phase.count, phase.total_ns))
        .collect();
    assert_eq!(found, [("step", 2, Ns(25 * MS)), ("save", 1, Ns(10 * MS))]);
}

const MS: u64 = 1_000_000;

/// Reports on a recording with these phases:
///
/// ```text
/// ms      700   720   740   760   780   800   …   882
/// step          ├─1───┤     ├─2───┤
/// load    ├───────────────────────────┤ (from 600)    another begins at 850, and never ends
/// ```
fn with_signposts(request: &Request) -> Result<Report, Error> {
    let folder = metalens_testing::scratch();
    write_export(&preset("eager"), folder.path(), false).unwrap();
    let rows = [
        (600 * MS, "Begin", "load", 9),
        (720 * MS, "Begin", "step", 1),
        (740 * MS, "End", "step", 1),
        (760 * MS, "Begin", "step", 2),
        (780 * MS, "End", "step", 2),
        (790 * MS, "End", "load", 9),
        (790 * MS, "Event", "mark", 9),
        (850 * MS, "Begin", "load", 10),
    ];
    write_signposts(folder.path(), &rows);
    report(folder.path(), None, request)
}

fn phase(name: &str) -> Request {
    Request {
        step: Some(name.parse().unwrap()),
        ..Request::default()
    }
}

#[test]
fn named_phases_are_measured() {
    let report = with_signposts(&Request::default()).unwrap();
    let [load, step] = report.phases.signposts.as_slice() else {
        panic!("{:?}", report.phases.signposts);
    };
    assert_eq!((load.name.as_str(), step.name.as_str()), ("load", "step"));
    assert_eq!(
        (load.count, load.unpaired, load.total_ns),
        (1, 1, Ns(190 * MS))
    );
    assert_eq!(
        (step.count, step.unpaired, step.total_ns),
        (2, 0, Ns(40 * MS))
    );
    assert_eq!(
        (step.median_ns, step.window_ns),
        (Some(Ns(20 * MS)), Ns(40 * MS))
    );
    assert_eq!(
        (step.start_ns, step.end_ns),
        (Some(Ns(720 * MS)), Some(Ns(780 * MS)))
    );
    assert_eq!(load.window_ns, Ns(790 * MS) - report.window.start_ns);
    assert!(load.is_analyzed && step.is_analyzed);
    // A phase has the busy time of windows that are cut to it.
    let parts = [(720, 740), (760, 780)].map(|(from, to)| {
        let request = Request {
            from_ns: Some(from * MS),
            to_ns: Some(to * MS),
            ..Request::default()
        };
        with_signposts(&request).unwrap()
    });
    let busy: Ns = parts.iter().map(|part| part.busy.busy_ns).sum();
    assert_eq!(step.busy_ns, busy);
    assert!(
        !report
            .not_recorded
            .iter()
            .any(|part| part.what == "phases.signposts")
    );
}

/// A phase makes steps of what was committed during it, and one of them is a window.
#[test]
fn a_window_is_cut_to_a_named_step() {
    let whole = with_signposts(&phase("step")).unwrap();
    let main = &whole.steps[0];
    assert_eq!(
        (main.by, main.name.as_str(), main.count),
        (StepsBy::Named, "step", 2)
    );
    // What comes between the two is part of the first, and what comes after the second of none.
    assert_eq!(main.measured, 1);
    let both = [1, 2].map(|number| {
        with_signposts(&phase(&format!("step:{number}")))
            .unwrap()
            .window
    });
    assert!(
        (720 * MS..722 * MS).contains(&both[0].start_ns.0),
        "{both:?}"
    );
    assert_eq!(both[0].end_ns, both[1].start_ns);
    assert!(
        (760 * MS..762 * MS).contains(&both[1].start_ns.0),
        "{both:?}"
    );
    assert!((779 * MS..782 * MS).contains(&both[1].end_ns.0), "{both:?}");
    assert_eq!(both[1].excluded[0].why.text, "before step 2");

    let error = with_signposts(&phase("step:3")).unwrap_err();
    assert_eq!(error.to_string(), "there is no step 3: the recording has 2");
}

#[test]
fn a_message_names_a_step() {
    let window = with_signposts(&phase("step 2:1")).unwrap().window;
    assert!(
        (760 * MS..762 * MS).contains(&window.start_ns.0),
        "{window:?}"
    );
    let error = with_signposts(&phase("step 3")).unwrap_err();
    assert!(matches!(error, Error::NoSuchStep { .. }));
}

/// The work of a phase is what was encoded during it, and what the GPU ran meanwhile is not.
#[test]
fn work_belongs_to_the_phase_that_encoded_it() {
    let text = r#"
[[process]]
name = "bench"
pid = 12
role = "target"

[[process.stream]]
count = 4
duration = "1ms"
encode = "10us"
submit = "pipelined"
encoders-per-buffer = 1
in-flight = 8
encoder-label = ["a", "a", "b", "b"]
start = "1ms"

[[process.signpost]]
name = "prefill"
from = "1ms"
to = "1020us"

[[process.signpost]]
name = "decode"
from = "1020us"
to = "1040us"
"#;
    let report = report_of(&Scenario::from_toml(text).unwrap(), &Request::default()).unwrap();
    let told = report.phases.signposts.iter().map(|phase| {
        let encoded = phase.encoded.as_ref().unwrap();
        let kernels = encoded.kernels.iter();
        let kernels: Vec<_> = kernels
            .map(|kernel| (kernel.name.as_str(), kernel.instances, kernel.total_ns))
            .collect();
        // The GPU ran nothing during either.
        (phase.name.as_str(), phase.busy_ns, kernels)
    });
    let mut told: Vec<_> = told.collect();
    told.sort();
    assert_eq!(
        told,
        [
            ("decode", Ns(0), vec![("b", 2, Ns(2 * MS))]),
            ("prefill", Ns(0), vec![("a", 2, Ns(2 * MS))]),
        ]
    );
    assert_eq!(report.phases.unplaced, 0);
}

#[test]
fn an_unknown_phase_is_an_error() {
    match with_signposts(&phase("decode")) {
        Err(Error::NoSuchStep { present, .. }) => assert_eq!(present, ["load", "step"]),
        other => panic!("{other:?}"),
    }
    match report_of(&preset("eager"), &phase("decode")) {
        Err(error @ Error::NoSuchStep { .. }) => {
            assert!(error.hint().unwrap().contains("os_signpost"));
        }
        other => panic!("{other:?}"),
    }
}
