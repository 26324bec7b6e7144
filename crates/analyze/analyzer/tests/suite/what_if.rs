//! Tests that predictions come true: a scenario is changed as a prediction assumes, and simulated.

use metalens_analyzer::{GainCertainty, ProgramChange, ReplayAction, Request, selection, what_if};
use metalens_message::Quantity;
use metalens_simulator::{Scenario, truths, write_export};
use metalens_trace::{Input, LoadOptions};

use super::report;

pub(crate) const NO_CHANGE: ProgramChange<'_> = ProgramChange {
    in_flight: None,
    per_buffer: 1,
    encode_ahead: false,
    host: 1.0,
    driver: 1.0,
    latency: 1.0,
    others: true,
    kernel: &|_| 1.0,
};

/// Ten encoders in each command buffer, with gaps that the GPU makes between them.
const GAPS: &str = r#"
    count = 500
    submit = "batched"
    encoders-per-buffer = 10
    duration = ["18us", "22us"]
    encode = ["1us", "2us"]
    launch = ["50us", "60us"]
    completion = ["30us", "40us"]
    host = ["5us", "10us"]
    encoder-label = ["a", "b"]
"#;
/// A program that commits far ahead; only gaps inside of command buffers are left.
const AHEAD: &str = r#"
    count = 500
    submit = "pipelined"
    encoders-per-buffer = 20
    duration = ["20us", "30us"]
    encode = ["2us", "3us"]
    encoder-label = ["a", "b"]
"#;
/// A ring of command buffers, whose completions come late.
const RING: &str = r#"
    count = 400
    duration = ["40us", "60us"]
    encode = ["2us", "4us"]
    host = "0us"
    launch = ["20us", "25us"]
    completion = ["180us", "220us"]
    encoder-label = ["a", "b"]
"#;

fn scenario(stream: &str, more: &str) -> Scenario {
    let process = "[[process]]\nname = \"bench\"\npid = 7\nrole = \"target\"\n[[process.stream]]";
    Scenario::from_toml(&format!("seed = 1\n{process}\n{stream}{more}")).unwrap()
}

#[test]
fn predictions_come_true_in_the_changed_scenario() {
    let in_flight = |times| ProgramChange {
        in_flight: Some(times),
        ..NO_CHANGE
    };
    let check = |stream: &str, before: &str, change: ProgramChange<'_>, after: &str| {
        let folder = metalens_testing::scratch();
        let export = folder.path().join("export");
        write_export(&scenario(stream, before), &export, false).unwrap();
        let input = Input::open(&export).unwrap();
        let trace = input.load(&selection(), LoadOptions::default()).unwrap();
        let predicted = what_if(trace, &Request::default(), &change).unwrap();

        let truth = truths(&scenario(stream, after)).unwrap().remove(0);
        let true_ns = truth.window.unwrap().span_ns;
        let after_ns = predicted.after_ns.expect("the recording tells");
        let off = after_ns.number() / true_ns as f64 - 1.0;
        assert!(
            off.abs() < 0.02,
            "{before} → {after}: {} ns predicted, {true_ns} ns true",
            after_ns.0
        );
    };

    // A gap inside a command buffer is not hidden by other command buffers, however long it is.
    for gap in ["4us", "6us", "11us", "40us"] {
        let (one, two) = (
            format!("gap = \"{gap}\""),
            format!("gap = \"{gap}\"\nin-flight = 2"),
        );
        check(GAPS, &one, in_flight(2), &two);
        let ahead = |in_flight: u32| {
            format!(
                "gap = \"{gap}\"\nin-flight = {in_flight}\nlaunch = \"22us\"\ncompletion = \"20us\""
            )
        };
        check(AHEAD, &ahead(3), in_flight(4), &ahead(12));
    }
    let latencies = |gap: &str, launch: &str, completion: &str| {
        format!("gap = \"{gap}\"\nlaunch = \"{launch}\"\ncompletion = \"{completion}\"")
    };
    let half = ProgramChange {
        latency: 0.5,
        ..NO_CHANGE
    };
    let (whole, halved) = (
        latencies("12us", "24us", "20us"),
        latencies("6us", "12us", "10us"),
    );
    check(AHEAD, &whole, half, &halved);

    // N times as many as are in flight, and as many larger ones.
    let ring = |in_flight: u32| format!("in-flight = {in_flight}");
    check(RING, &ring(2), in_flight(2), &ring(4));
    check(RING, &ring(2), in_flight(3), &ring(6));
    check(RING, &ring(3), in_flight(2), &ring(6));
    let larger = ProgramChange {
        per_buffer: 10,
        ..NO_CHANGE
    };
    let merged = "in-flight = 3\nsubmit = \"batched\"\nencoders-per-buffer = 10";
    check(RING, &ring(3), larger, merged);
}

/// What a finding promises of a replayed change is what the command beside it prints.
#[test]
fn a_gain_is_what_the_command_beside_it_predicts() {
    let mut promised = 0;
    for name in ["eager", "batched", "renderer", "shared-machine", "two-runs"] {
        let folder = metalens_testing::scratch();
        let export = folder.path().join("export");
        write_export(&Scenario::preset(name).unwrap(), &export, false).unwrap();
        let found = report(&export, None, &Request::default()).unwrap();
        let gains = found.findings.iter().filter_map(|finding| finding.gain);
        let gains = gains.filter(|gain| gain.certainty == GainCertainty::About);
        for gain in gains {
            let change = match gain.change.unwrap() {
                ReplayAction::TwiceInFlight => ProgramChange {
                    in_flight: Some(2),
                    ..NO_CHANGE
                },
                ReplayAction::TenPerBuffer => ProgramChange {
                    per_buffer: 10,
                    ..NO_CHANGE
                },
                ReplayAction::EncodeAhead => ProgramChange {
                    encode_ahead: true,
                    ..NO_CHANGE
                },
                other => panic!("{name}: {other:?}"),
            };
            let input = Input::open(&export).unwrap();
            let trace = input.load(&selection(), LoadOptions::default()).unwrap();
            let predicted = what_if(trace, &Request::default(), &change).unwrap();
            let saves_ns = predicted.before_ns - predicted.after_ns.unwrap();
            assert_eq!(saves_ns, gain.saves_ns, "{name}: {gain:?}");
            assert_eq!(predicted.step_after, gain.step, "{name}: {gain:?}");
            promised += 1;
        }
    }
    assert!(promised >= 4, "{promised}");
}
