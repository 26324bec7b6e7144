//! Tests of the machine's other activity: as the simulator wrote it, and in real recordings.

use metalens_analyzer::{Report, Request, StateTime};
use metalens_message::{Bytes, Ns};
use metalens_simulator::{Labels, Scenario, StatePiece, write_bundle, write_export};

use super::real::recordings;
use super::{report, report_of};

/// Returns each state with its time in the window and in the busy time of the process.
fn states(states: &[StateTime]) -> Vec<(&str, Ns, Ns)> {
    let states = states.iter();
    states
        .map(|state| (state.state.as_str(), state.total_ns, state.busy_ns))
        .collect()
}

fn failing(report: &Report) -> Vec<&str> {
    let failing = report.sanity.checks.iter().filter(|check| !check.ok);
    failing.map(|check| check.id.as_str()).collect()
}

/// The simulator keeps one state of each kind for the whole recording.
#[test]
fn one_state_for_the_whole_recording() {
    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.recording.performance = vec![StatePiece {
        induced: true,
        ..StatePiece::throughout("Medium")
    }];
    scenario.recording.thermal = vec![StatePiece::throughout("Serious")];
    let report = report_of(&scenario, &Request::default()).unwrap();
    let (span_ns, busy_ns) = (report.window.span_ns, report.busy.busy_ns);
    let performance = report.machine.performance.as_ref().unwrap();
    assert_eq!(states(&performance.states), [("Medium", span_ns, busy_ns)]);
    assert_eq!(performance.states[0].induced_ns, span_ns);
    assert_eq!((performance.unknown_ns, performance.changes), (Ns(0), 0));
    let thermal = report.machine.thermal.as_ref().unwrap();
    assert_eq!(states(&thermal.states), [("Serious", span_ns, busy_ns)]);
    assert_eq!(thermal.worst.as_deref(), Some("Serious"));
    let others = report.machine.others.as_ref().unwrap();
    assert_eq!(
        others.in_gaps_ns,
        report.busy.others_busy_ns.unwrap() - report.busy.others_overlap_ns.unwrap()
    );
}

/// Intervals that MoltenVK leaves on the channel Compute may be no work.
#[test]
fn lifetimes_of_command_buffers_are_noted() {
    let note = |label: &str| {
        let mut scenario = Scenario::preset("eager").unwrap();
        for process in &mut scenario.process {
            for stream in &mut process.stream {
                stream.encoder_label = Some(Labels::Same(label.to_owned()));
            }
        }
        let report = report_of(&scenario, &Request::default()).unwrap();
        let mut notes = report.loud_notes().cloned();
        notes.find(|note| note.id == "lifetimes-count-as-busy")
    };
    let found = note("GL/CL").unwrap();
    assert!(found.text().contains("have the label"), "{found:?}");
    assert!(note("GL").is_none());
}

/// A state with an unknown name is a state: the report has it by that name.
#[test]
fn an_unknown_state_is_kept() {
    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.recording.performance = vec![StatePiece::throughout("Turbo")];
    let folder = metalens_testing::scratch();
    let bundle = folder.path().join("run.trace");
    write_bundle(&scenario, &bundle, false).unwrap();
    let report = report(&bundle, None, &Request::default()).unwrap();
    let states = report.machine.performance.unwrap().states;
    let states: Vec<&str> = states.iter().map(|state| state.state.as_str()).collect();
    assert_eq!(states, ["Turbo"]);
}

/// A file that Git LFS never fetched makes its table missing, and nothing else.
#[test]
fn a_broken_table_makes_only_itself_missing() {
    let scenario = Scenario::preset("eager").unwrap();
    let folder = metalens_testing::scratch();
    write_export(&scenario, folder.path(), false).unwrap();
    let whole = report(folder.path(), None, &Request::default()).unwrap();
    let broken = folder.path().join("device-thermal-state-intervals.xml");
    assert!(broken.exists());
    std::fs::write(
        &broken,
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    )
    .unwrap();
    let partly = report(folder.path(), None, &Request::default()).unwrap();
    assert_eq!(partly.machine.thermal, None);
    assert_eq!(partly.machine.performance, whole.machine.performance);
    assert_eq!(partly.gaps, whole.gaps);
    let why = partly
        .not_recorded
        .iter()
        .find(|part| part.what == "machine.thermal");
    let why = &why.unwrap().why;
    assert!(why.text.contains("could not be read"), "{why}");
}

/// A gap of a real process has an event of the driver in it.
#[test]
fn the_drivers_events_are_named_in_real_gaps() {
    let Some(recordings) = recordings() else {
        return;
    };
    let bundle = recordings.join("m1-bundle-and-export/gpu_baseline.trace");
    let request = Request {
        processes: vec!["63961".to_owned()],
        ..Request::default()
    };
    let gaps = report(&bundle, None, &request).unwrap().gaps.top;
    let named: Vec<_> = gaps
        .iter()
        .filter_map(|gap| gap.driver_event.as_ref())
        .map(|event| (event.name.as_str(), event.longest_ns, event.total_ns))
        .collect();
    let expected = ("Wire 128.00 KiB System Memory", Ns(12_542), Ns(12_542));
    assert_eq!(named, [expected]);
}

/// A real bundle has states that no real export here has: their numbers become names.
#[test]
fn a_real_bundle_has_states() {
    let Some(recordings) = recordings() else {
        return;
    };
    let bundle = recordings.join("m1-bundle-and-export/gpu_baseline.trace");
    let report = report(&bundle, None, &Request::default()).unwrap();
    let (machine, span_ns) = (&report.machine, report.window.span_ns);
    let performance = machine.performance.as_ref().unwrap();
    let all = (span_ns, report.busy.busy_ns);
    assert_eq!(states(&performance.states), [("Minimum", all.0, all.1)]);
    assert_eq!(performance.states[0].induced_ns, span_ns);
    assert_eq!(
        performance.narratives,
        ["Minimum  GPU Performance state due to active device conditions"]
    );
    let thermal = machine.thermal.as_ref().unwrap();
    assert_eq!(states(&thermal.states), [("Fair", all.0, all.1)]);
    let allocated = machine.allocated.as_ref().unwrap();
    assert_eq!(
        (allocated.first_bytes, allocated.peak_bytes),
        (Some(Bytes(393_216)), Some(Bytes(393_216)))
    );
    assert_eq!(machine.wired.unwrap().peak_bytes, Some(Bytes(354_926_592)));
    let compiles = machine.shader_compiles.unwrap();
    assert_eq!((compiles.before.count, compiles.inside.count), (1, 0));
    assert_eq!(machine.others.as_ref().unwrap().in_gaps_ns, Ns(3_818_335));
    assert_eq!(machine.driver.as_ref().unwrap().in_gaps_ns, Ns(12_481_854));
    assert_eq!(report.sanity.encoders_listed, Some(1_000));
    assert_eq!(failing(&report), [""; 0]);
    let missing: Vec<&str> = report
        .not_recorded
        .iter()
        .map(|part| part.what.as_str())
        .collect();
    let expected = [
        "counters",
        "engines",
        "kernels.spills",
        "work",
        "phases.signposts",
    ];
    assert_eq!(missing, expected);
}

/// Before Instruments 16, the table of sizes had another name.
#[test]
fn the_older_table_of_sizes_is_read() {
    let Some(recordings) = recordings() else {
        return;
    };
    let bundle = recordings.join("m2-counters-bundle/julia_1.trace");
    let report = report(&bundle, None, &Request::default()).unwrap();
    let peak = report.machine.allocated.unwrap().peak_bytes;
    assert_eq!(peak, Some(Bytes(12_468_224)));
}

/// An export of five tables lists the other parts as not recorded, each with its reason.
#[test]
fn a_real_export_of_few_tables_lists_the_others() {
    let Some(recordings) = recordings() else {
        return;
    };
    let folder = recordings.join("m1-launched-1000");
    let report = report(&folder, None, &Request::default()).unwrap();
    let (busy, machine) = (&report.busy, &report.machine);
    assert_eq!(
        machine.others.as_ref().unwrap().in_gaps_ns,
        busy.others_busy_ns.unwrap() - busy.others_overlap_ns.unwrap()
    );
    assert_eq!(machine.others.as_ref().unwrap().top.len(), 4);
    assert_eq!(failing(&report), [""; 0]);
    for part in [
        "performance",
        "thermal",
        "allocated",
        "wired",
        "hangs",
        "errors",
    ] {
        let what = format!("machine.{part}");
        let why = report.not_recorded.iter().find(|part| part.what == what);
        let why = &why.unwrap().why;
        assert!(why.text.contains("but the input does not"), "{why}");
    }
}
