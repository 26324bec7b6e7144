//! Tests of the verdict in a word, on recordings whose truth is known.

use metalens_analyzer::{Bound, Report, Request};
use metalens_simulator::Scenario;
use metalens_testing::{analyze_input, analyze_scenario, real_recordings};

fn check(name: &str, report: &Report, expected: Option<Bound>) {
    let verdict = &report.verdict;
    assert_eq!(verdict.bound, expected, "{name}: {}", verdict.why);
    let label = verdict.bound.map_or("No verdict", Bound::label);
    let why = verdict.why.to_lowercase();
    assert!(why.starts_with(&label.to_lowercase()), "{}", verdict.why);
}

#[test]
fn scenarios_have_the_verdict_that_they_were_made_for() {
    use Bound::{CpuEncoding, CpuHost, Gpu, Latency, Mixed};
    let cases = [
        // Each dispatch is committed and waited for on its own.
        ("eager", Latency),
        // The same with a quarter of the dispatches.
        ("fused", Latency),
        // One wait for every 25 dispatches, longer than encoding them.
        ("batched", Latency),
        // Three buffers are committed ahead: all of the idle time passes while work is queued.
        ("pipelined", Gpu),
        // The game encodes its passes while the GPU has nothing to do.
        ("renderer", CpuEncoding),
        // Pauses of the program between bursts.
        ("awkward", CpuHost),
        // Contention has 46 % of the idle time and the program's own work 39 %: neither has half.
        ("shared-machine", Mixed),
        // As eager.
        ("two-runs", Latency),
    ];
    for (name, expected) in cases {
        let scenario = Scenario::preset(name).unwrap();
        let analysis = analyze_scenario(&scenario, &Request::default()).unwrap();
        check(name, &analysis.report, Some(expected));
    }
}

/// The scenarios that fire a finding about the idle time have its verdict.
#[test]
fn findings_and_verdict_agree() {
    use Bound::{Contended, CpuEncoding, CpuHost, Gpu, Latency};
    let cases = [
        ("completion-latency/fires.toml", Latency),
        ("submission-latency/fires.toml", Latency),
        ("serialized/fires.toml", Latency),
        ("host-bound/fires.toml", CpuHost),
        ("encoding-bound/fires.toml", CpuEncoding),
        ("contention/fires.toml", Contended),
        ("all-well/scenario.toml", Gpu),
    ];
    for (name, expected) in cases {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/findings");
        let toml = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let scenario = Scenario::from_toml(&toml).unwrap();
        let analysis = analyze_scenario(&scenario, &Request::default()).unwrap();
        check(name, &analysis.report, Some(expected));
    }
}

#[test]
fn real_recordings_have_their_verdict() {
    let Some(real) = real_recordings() else {
        return;
    };
    // A thousand dispatches, each committed alone and waited for; and a window of one interval.
    let cases = [
        ("m1-launched-1000", Some(Bound::Latency)),
        (
            "m1-bundle-and-export/gpu_baseline.trace",
            Some(Bound::Latency),
        ),
        ("m2-counters-bundle/julia_1.trace", None),
    ];
    for (input, expected) in cases {
        let analysis = analyze_input(&real.join(input), &Request::default()).unwrap();
        check(input, &analysis.report, expected);
    }
}
