//! Tests of warm-ups and iterations, from scenarios to reports.

use metalens_analyzer::{FoundBy, RegularityVerdict, Report, Request, WarmUpReason};
use metalens_failure::Failure;
use metalens_simulator::{Lengths, Nanos, Pause, Scenario, random_scenario};

use super::real::recordings;
use super::{report, report_of};

const MS: u64 = 1_000_000;

fn skipping() -> Request {
    Request {
        skip_warm_up: true,
        ..Request::default()
    }
}

fn preset(name: &str) -> Scenario {
    Scenario::preset(name).unwrap()
}

/// Checks the number of intervals in the warm-up, and its sign.
fn check_warm_up(name: &str, scenario: &Scenario, expected: Option<(u64, WarmUpReason)>) {
    let counted = report_of(scenario, &Request::default()).unwrap();
    let skipped = report_of(scenario, &skipping()).unwrap();
    let Some(warm_up) = &counted.phases.warm_up else {
        assert_eq!(expected, None, "{name}");
        assert_eq!(skipped.window, counted.window, "{name}");
        return;
    };
    let found = Some((warm_up.intervals, warm_up.why));
    assert_eq!(found, expected, "{name}: {}", warm_up.explanation);
    both_results(&counted, &skipped);
}

/// Checks that reports with and without the warm-up agree on both results.
fn both_results(counted: &Report, skipped: &Report) {
    let kept = counted.phases.warm_up.clone().unwrap();
    let cut = skipped.phases.warm_up.clone().unwrap();
    assert!(!kept.skipped && cut.skipped);
    assert_eq!((kept.steady, kept.whole), (cut.steady, cut.whole));

    assert!(counted.window.excluded.is_empty());
    let excluded: Vec<_> = skipped.window.excluded.iter().collect();
    let excluded: Vec<_> = excluded
        .iter()
        .map(|e| (e.from_ns, e.to_ns, e.why.text.as_str()))
        .collect();
    assert_eq!(excluded, [(kept.start_ns, kept.end_ns, "warm-up")]);

    for (report, summary) in [(counted, kept.whole), (skipped, kept.steady)] {
        assert_eq!(report.window.start_ns, summary.start_ns);
        assert_eq!(report.window.end_ns, summary.end_ns);
        assert_eq!(report.busy.busy_ns, summary.busy_ns);
        assert_eq!(report.counts.intervals, summary.intervals);
        assert_eq!(report.gaps.median_ns, summary.median_gap_ns);
    }
    assert!(kept.intervals * 3 <= counted.counts.intervals);
}

#[test]
fn warm_ups_of_presets_are_found() {
    use WarmUpReason::SlowIntervals;
    check_warm_up("eager", &preset("eager"), Some((4, SlowIntervals)));
    check_warm_up("fused", &preset("fused"), Some((1, SlowIntervals)));
    for name in [
        "batched",
        "pipelined",
        "renderer",
        "shared-machine",
        "two-runs",
    ] {
        check_warm_up(name, &preset(name), None);
    }
    // Three kicks of forty times the length are slow, but kicks here have any length: not certain.
    check_warm_up("awkward", &preset("awkward"), None);
}

/// Half of all kicks are not a warm-up, even if they are slow.
#[test]
fn half_of_the_work_is_not_a_warm_up() {
    let mut scenario = preset("eager");
    scenario.process[0].stream[0]
        .warm_up
        .as_mut()
        .unwrap()
        .first = 500;
    check_warm_up("half", &scenario, None);
}

/// A warm-up may take most of the time: it is the work that is few, not the time.
#[test]
fn a_warm_up_has_any_length() {
    for factor in [20, 100, 400] {
        let mut scenario = preset("eager");
        let warm_up = scenario.process[0].stream[0].warm_up.as_mut().unwrap();
        (warm_up.first, warm_up.factor) = (60, factor);
        let expected = Some((60, WarmUpReason::SlowIntervals));
        check_warm_up(&format!("{factor} times"), &scenario, expected);
    }
}

/// A set-up of a few kicks and a break come before the work.
#[test]
fn a_quiet_gap_ends_a_warm_up() {
    let mut scenario = preset("eager");
    let stream = &mut scenario.process[0].stream;
    stream[0].warm_up = None;
    let mut set_up = stream[0].clone();
    set_up.count = 12;
    // The work starts 20 ms after the set-up has completed.
    (stream[0].follows, stream[0].start) = (true, Some(Nanos::new(20 * MS)));
    stream.insert(0, set_up);
    check_warm_up("set-up", &scenario, Some((12, WarmUpReason::QuietGap)));
    // The break takes most of the window: a model is loaded.
    scenario.process[0].stream[1].start = Some(Nanos::new(5_000 * MS));
    check_warm_up("loading", &scenario, Some((12, WarmUpReason::QuietGap)));
    // With twice the work before the break there are two parts, and no warm-up.
    scenario.process[0].stream[0].count = 2_000;
    check_warm_up("two parts", &scenario, None);
}

/// The first few kicks wait for the host ten times as long as the others.
#[test]
fn long_first_gaps_are_a_warm_up() {
    let mut scenario = preset("eager");
    let stream = &mut scenario.process[0].stream;
    stream[0].warm_up = None;
    let mut first = stream[0].clone();
    (first.count, first.host) = (6, Lengths::fixed(2 * MS));
    stream[0].follows = true;
    stream.insert(0, first);
    // Five gaps are between six kicks; what is encoded after the sixth does not wait.
    check_warm_up("slow host", &scenario, Some((5, WarmUpReason::LongGaps)));
}

/// A warm-up that is found is little of the work, and skipping it cuts off nothing else.
#[test]
fn warm_ups_of_random_scenarios_are_little_work() {
    let mut found = 0;
    for seed in 0..150 {
        let scenario = random_scenario(seed);
        let Ok(counted) = report_of(&scenario, &Request::default()) else {
            continue;
        };
        if counted.phases.warm_up.is_some() {
            both_results(&counted, &report_of(&scenario, &skipping()).unwrap());
            found += 1;
            let streams = scenario.process.iter().flat_map(|process| &process.stream);
            let mut warm_ups = streams.filter_map(|stream| stream.warm_up);
            assert!(
                warm_ups.next().is_some(),
                "seed {seed}: the scenario has no warm-up"
            );
        }
        let segments = &counted.phases.segments;
        let listed: u64 = segments.list.iter().map(|segment| segment.busy_ns).sum();
        assert!(
            segments.count > 50 || listed == counted.busy.busy_ns,
            "seed {seed}"
        );
    }
    assert!(found > 0);
}

#[test]
fn iterations_of_presets_are_found() {
    let cases = [
        ("eager", Some((FoundBy::KernelSequence, 250, 4))),
        // A frame: six encoders on two channels.
        ("renderer", Some((FoundBy::KernelSequence, 60, 12))),
        ("shared-machine", Some((FoundBy::KernelSequence, 100, 2))),
        // One kernel, in a buffer of its own each time.
        ("fused", None),
        ("two-runs", None),
    ];
    for (name, expected) in cases {
        let found = report_of(&preset(name), &Request::default()).unwrap();
        let found = found.phases.iterations;
        let found = found.map(|found| (found.found_by, found.count, found.median_intervals));
        assert_eq!(found, expected, "{name}");
    }
}

/// A program that waits for each of a thousand equal, unlabeled dispatches has no warm-up, no
/// iterations, and one segment.
#[test]
fn uniform_real_recordings_have_no_phases() {
    let Some(recordings) = recordings() else {
        return;
    };
    for folder in ["m1-launched-1000", "m1-bundle-and-export/export"] {
        let found = report(&recordings.join(folder), None, &Request::default()).unwrap();
        let (phases, shape) = (&found.phases, &found.shape);
        assert_eq!(phases.warm_up, None);
        assert_eq!(phases.iterations, None);
        assert_eq!((phases.segments.count, phases.signposts.len()), (1, 0));
        let regularity = phases.regularity.as_ref().unwrap();
        assert_eq!(regularity.verdict, RegularityVerdict::Regular);
        assert!(shape.sequences.is_empty() && shape.overlap.is_empty());
        let buffers = &shape.command_buffers;
        assert_eq!((buffers.count, buffers.max_encoders), (1_000, Some(1)));
        assert_eq!(buffers.gaps_inside, 0);
    }
}

/// Unlabeled steps of ten buffers and a break are found by the breaks.
#[test]
fn iterations_are_found_by_gaps() {
    let mut scenario = preset("eager");
    let stream = &mut scenario.process[0].stream[0];
    (stream.buffer_label, stream.encoder_label, stream.warm_up) = (None, None, None);
    let unlabeled = report_of(&scenario, &Request::default()).unwrap();
    assert_eq!(unlabeled.phases.iterations, None);
    scenario.process[0].stream[0].pause = Some(Pause {
        every: 10.try_into().unwrap(),
        length: Nanos::new(3 * MS),
    });
    let paused = report_of(&scenario, &Request::default()).unwrap();
    let found = paused.phases.iterations.unwrap();
    // The first step has no break before it.
    assert_eq!((found.found_by, found.count), (FoundBy::Gaps, 99));
    assert_eq!((found.median_intervals, found.marker), (10, None));
    // Ten of a cycle of 9, 4, 3 and 2 µs: two cycles and the next 13 or 5 µs.
    assert!([49_000, 41_000].contains(&found.median_busy_ns));
}

/// Iterations follow each other without a hole, and each has the kernels of one cycle.
///
/// ```text
/// work        a b c d a b c d … a b c d
/// iteration   ├─ 1 ──┤├─ 2 ──┤ … ├─ 12 ─┤
/// ```
#[test]
fn a_window_is_cut_to_a_detected_iteration() {
    let mut scenario = preset("eager");
    scenario.process[0].stream[0].count = 48;
    scenario.process[0].stream[0].warm_up = None;
    let cut = |iteration| {
        let request = Request {
            iteration: Some(iteration),
            ..Request::default()
        };
        report_of(&scenario, &request)
    };
    let whole = report_of(&scenario, &Request::default()).unwrap();
    let found = whole.phases.iterations.as_ref().unwrap();
    assert_eq!((found.count, found.median_intervals), (12, 4));

    let mut start_ns = found.start_ns;
    for number in 1..=12 {
        let report = cut(number).unwrap();
        let chosen = report.phases.selected_iteration.unwrap();
        assert_eq!((chosen.number, chosen.count), (number, 12));
        assert_eq!(chosen.found_by, FoundBy::KernelSequence);
        assert_eq!(
            (report.window.start_ns, report.counts.intervals),
            (start_ns, 4)
        );
        assert_eq!(report.window.end_ns, chosen.end_ns);
        start_ns = report.window.end_ns;

        let marker = found.marker.as_ref().unwrap();
        let told = format!(
            "the window is iteration {number} of 12 detected ones: the same kernels repeat in the \
             same order, and {marker} begins each iteration"
        );
        assert!(
            report.loud_notes().any(|note| note.text() == told),
            "{told}"
        );
        let reasons: Vec<&str> = report
            .window
            .excluded
            .iter()
            .map(|e| e.why.text.as_str())
            .collect();
        let before = format!("before iteration {number}");
        assert_eq!(reasons.contains(&before.as_str()), number > 1);
    }
    assert_eq!(start_ns, whole.window.end_ns);

    for number in [0, 13] {
        let error = cut(number).unwrap_err();
        let told = format!("there is no iteration {number}: 12 were detected");
        assert_eq!(error.to_string(), told);
        let hint = "choose a number from 1 to 12 with --iteration";
        assert_eq!(error.hint().as_deref(), Some(hint));
    }
}

/// Breaks mark iterations, too; where nothing repeats there is none to choose.
#[test]
fn an_iteration_needs_a_rule() {
    let first = Request {
        iteration: Some(1),
        ..Request::default()
    };
    let error = report_of(&preset("fused"), &first).unwrap_err();
    let told = "there is no iteration 1: no sequence of kernels, command buffers or gaps repeats \
                regularly";
    assert_eq!(error.to_string(), told);
    assert!(error.hint().unwrap().contains("--from and --to"));

    let mut paused = preset("eager");
    let stream = &mut paused.process[0].stream[0];
    (stream.buffer_label, stream.encoder_label, stream.warm_up) = (None, None, None);
    stream.pause = Some(Pause {
        every: 10.try_into().unwrap(),
        length: Nanos::new(3 * MS),
    });
    let report = report_of(&paused, &first).unwrap();
    let chosen = report.phases.selected_iteration.unwrap();
    assert_eq!((chosen.found_by, chosen.count), (FoundBy::Gaps, 99));
    assert_eq!(report.counts.intervals, 10);
}
