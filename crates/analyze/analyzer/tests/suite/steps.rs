//! Tests of steps, from scenarios to reports.

use metalens_analyzer::{Report, Request, StepsBy};
use metalens_message::{Ns, Quantity};
use metalens_simulator::{Scenario, random_scenario};

use metalens_failure::Failure;

use super::real::recordings;
use super::{report, report_of};

/// Checks the sign, the number and the usual size of the steps.
fn check(name: &str, report: &Report, expected: (StepsBy, u64, u64)) {
    let main = &report.steps[0];
    let found = (main.by, main.count, main.kinds[0].intervals);
    assert_eq!(found, expected, "{name}: {:?}", report.steps);
    laws(report);
}

/// Checks that steps and other parts tile the run, and that the parts of a step sum to it.
///
/// ```text
/// run  ├ before ┼ step ┼ step ┼ between ┼ step ┼ after ┤
/// ```
fn laws(report: &Report) {
    let Some(main) = report.steps.first() else {
        assert!(report.once.is_empty());
        return;
    };
    assert!(main.is_main && report.steps.iter().skip(1).all(|series| !series.is_main));
    let once: Ns = report
        .once
        .iter()
        .map(|part| part.end_ns - part.start_ns)
        .sum();
    let run = report
        .once
        .first()
        .map_or(report.window.start_ns, |part| part.start_ns);
    let steps = main
        .per_second
        .map_or(0.0, |rate| (main.measured * main.units) as f64 / rate * 1e9);
    let end = report
        .once
        .last()
        .map_or(report.window.end_ns, |part| part.end_ns);
    if report.window.excluded.is_empty() {
        let whole = end - run.min(report.window.start_ns);
        assert!(
            (steps + once.number() - whole.number()).abs() < 2.0,
            "{steps} + {} of {}",
            once.0,
            whole.0
        );
    }
    for series in &report.steps {
        let listed: u64 = series.kinds.iter().map(|kind| kind.count).sum();
        assert!(listed <= series.measured && series.measured <= series.count);
        for kind in &series.kinds {
            let rising = [kind.median_ns, kind.p95_ns, kind.p99_ns, Some(kind.max_ns)];
            assert!(rising.into_iter().flatten().is_sorted(), "{kind:?}");
            if let Some(typical) = &kind.typical {
                let parts = typical.gpu_ns + typical.idle.total_ns();
                assert_eq!(parts, typical.length_ns(), "{typical:?}");
                assert!(typical.number >= series.first);
            }
        }
    }
}

#[test]
fn steps_of_presets_are_found() {
    use StepsBy::{Repeated, Waited};
    let cases = [
        ("eager", (Waited, 250, 4)),
        // One kernel, in a buffer of its own each time.
        ("fused", (Waited, 250, 1)),
        ("two-runs", (Waited, 200, 1)),
        ("shared-machine", (Waited, 100, 2)),
        // Never waits. A frame: six encoders on two channels.
        ("renderer", (Repeated, 60, 12)),
    ];
    for (name, expected) in cases {
        let scenario = Scenario::preset(name).unwrap();
        check(
            name,
            &report_of(&scenario, &Request::default()).unwrap(),
            expected,
        );
    }
}

#[test]
fn steps_of_random_scenarios_tile_the_run() {
    let mut found = 0;
    for seed in 0..100 {
        if let Ok(report) = report_of(&random_scenario(seed), &Request::default()) {
            laws(&report);
            found += report.steps.len();
        }
    }
    assert!(found > 10, "{found}");
}

/// A window has the steps that lie in it, with the numbers and the lengths of the whole recording.
#[test]
fn a_window_keeps_the_numbers_of_its_steps() {
    let scenario = Scenario::preset("eager").unwrap();
    let whole = report_of(&scenario, &Request::default()).unwrap();
    let (start_ns, span_ns) = (whole.window.start_ns, whole.window.span_ns);
    let part = Request {
        from_ns: Some((start_ns + span_ns / 3).0),
        to_ns: Some((start_ns + 2 * span_ns / 3).0),
        ..Request::default()
    };
    let part = report_of(&scenario, &part).unwrap();
    laws(&part);
    let main = &part.steps[0];
    assert!((80..86).contains(&main.first), "{main:?}");
    assert!((80..86).contains(&main.count), "{main:?}");
    assert_eq!(main.name, whole.steps[0].name);
}

/// Unlabeled steps of ten command buffers and a break are found by the waits, each with its buffers.
#[test]
fn a_window_is_cut_to_a_step() {
    let mut scenario = Scenario::preset("eager").unwrap();
    scenario.process[0].stream[0].count = 48;
    scenario.process[0].stream[0].warm_up = None;
    let cut = |step: &str| {
        let request = Request {
            step: Some(step.parse().unwrap()),
            ..Request::default()
        };
        report_of(&scenario, &request)
    };
    let whole = report_of(&scenario, &Request::default()).unwrap();
    check("eager", &whole, (StepsBy::Waited, 12, 4));

    let mut start_ns = whole.window.start_ns;
    for number in 1..=12 {
        let report = cut(&number.to_string()).unwrap();
        let chosen = report.selected_step.unwrap();
        assert_eq!((chosen.number, chosen.count), (number, 12));
        assert_eq!(chosen.by, StepsBy::Waited);
        let window = &report.window;
        assert_eq!((window.start_ns, report.counts.intervals), (start_ns, 4));
        assert_eq!(window.end_ns, chosen.end_ns);
        start_ns = window.end_ns;
        let mut reasons = window.excluded.iter().map(|cut| cut.why.text.as_str());
        let before = format!("before step {number}");
        assert_eq!(reasons.any(|reason| reason == before), number > 1);
    }
    assert_eq!(start_ns, whole.window.end_ns);

    let error = cut("13").unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no step 13: the recording has 12"
    );
    assert_eq!(
        error.hint().as_deref(),
        Some("choose a number from 1 to 12")
    );
}

/// A label makes steps where somebody says so, with a word and a number of units.
#[test]
fn steps_are_chosen_by_name() {
    let scenario = Scenario::preset("eager").unwrap();
    let chosen = |step: &str| {
        let request = Request {
            step: Some(step.parse().unwrap()),
            ..Request::default()
        };
        report_of(&scenario, &request)
    };
    let report = chosen("token=softmax*8").unwrap();
    check("softmax", &report, (StepsBy::Named, 250, 4));
    let (main, found) = (
        &report.steps[0],
        &report_of(&scenario, &Request::default()).unwrap().steps[0],
    );
    assert_eq!((main.name.as_str(), main.units), ("token", 8));
    let rates = main.per_second.zip(found.per_second).unwrap();
    assert!((rates.0 / rates.1 / 8.0 - 1.0).abs() < 0.02, "{rates:?}");
    let error = chosen("tokens").unwrap_err();
    let said = "no phase and no work is named tokens; recorded names: layer, matmul, \
                rms_norm, rope, softmax";
    assert_eq!(error.to_string(), said);
}

/// A step that is committed while earlier ones run waits for its turn: its latency is not that of a step
/// alone.
#[test]
fn the_latency_of_a_step_alone_is_of_those_that_find_the_gpu_free() {
    for (preset, all_alone) in [("eager", true), ("batched", true), ("pipelined", false)] {
        let scenario = Scenario::preset(preset).unwrap();
        let report = report_of(&scenario, &Request::default()).unwrap();
        let main = &report.steps[0];
        let expected = main.latency_ns.filter(|_| all_alone);
        assert_eq!(main.latency_alone_ns, expected, "{preset}");
    }
    // The first of several command buffers in flight finds it free now and then.
    let scenario = Scenario::preset("renderer").unwrap();
    let report = report_of(&scenario, &Request::default()).unwrap();
    let main = &report.steps[0];
    assert!(main.latency_alone_ns < main.latency_ns);
}

#[test]
fn each_dispatch_of_a_real_loop_is_a_step() {
    let Some(recordings) = recordings() else {
        return;
    };
    for folder in ["m1-launched-1000", "m1-bundle-and-export/export"] {
        let found = report(&recordings.join(folder), None, &Request::default()).unwrap();
        check(folder, &found, (StepsBy::Waited, 1_000, 1));
        assert!(found.phases.signposts.is_empty());
        let buffers = &found.shape.command_buffers;
        assert_eq!((buffers.count, buffers.max_encoders), (1_000, Some(1)));
        assert_eq!(buffers.gaps_inside, 0);
    }
}
