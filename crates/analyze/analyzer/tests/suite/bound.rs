//! Tests of the verdict in a word, on recordings whose truth is known.

use metalens_analyzer::{Bound, ChainSource, Report, Request, WaitVerdict, distrust};
use metalens_message::{Ns, Quantity};
use metalens_simulator::{Ledger, Scenario, Truth, presets, random_scenario, write_export};
use metalens_testing::{analyze_input, analyze_scenario, real_recordings};

use super::report;

fn check(name: &str, report: &Report, expected: Option<Bound>) {
    let verdict = &report.verdict;
    assert_eq!(verdict.bound, expected, "{name}: {}", verdict.why);
    let label = verdict.bound.map_or("No verdict", Bound::label);
    let why = verdict.why.text.to_lowercase();
    let why = why
        .split_once("; then ")
        .map_or(why.as_str(), |(_, why)| why);
    assert!(why.starts_with(&label.to_lowercase()), "{}", verdict.why);
}

#[test]
fn scenarios_have_the_verdict_that_they_were_made_for() {
    use Bound::{CpuEncoding, CpuHost, Gpu, Latency};
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
        // Contention has 46 % of the idle time, but nothing of it holds the program up: the simulator lets
        // both run side by side.
        ("shared-machine", Latency),
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
    use Bound::{CpuEncoding, CpuHost, Gpu, Latency};
    let cases = [
        ("completion-latency/fires.toml", Latency),
        ("submission-latency/fires.toml", Latency),
        ("serialized/fires.toml", Latency),
        ("host-bound/fires.toml", CpuHost),
        ("encoding-bound/fires.toml", CpuEncoding),
        // In the simulator, work of other processes holds up none of the program's.
        ("contention/fires.toml", Latency),
        ("all-well/scenario.toml", Gpu),
    ];
    for (name, expected) in cases {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/findings");
        let toml = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let scenario = Scenario::from_toml(&toml).unwrap();
        let analysis = analyze_scenario(&scenario, &Request::default()).unwrap();
        check(name, &analysis.report, Some(expected));
    }
}

/// Returns the verdict by the true causes of the idle time: that of the group with half of it.
fn by_causes(truth: &Truth, idle: &Ledger) -> Option<Bound> {
    let span_ns = truth.window.unwrap().span_ns;
    if truth.counts.intervals < 2 {
        return None;
    }
    let busy_ns = span_ns - idle.total_ns;
    let is_mostly_busy = 2 * busy_ns >= span_ns;
    let is_gpu = |ns: u64| 10 * ns >= 9 * span_ns;
    if is_gpu(busy_ns) || is_mostly_busy && is_gpu(busy_ns + idle.queued_ns) {
        return Some(Bound::Gpu);
    }
    let is_half = |ns: u64| ns * 2 >= idle.total_ns;
    let (latency_ns, cpu_ns) = (
        idle.completion_ns + idle.submission_ns + idle.start_latency_ns + idle.queued_ns,
        idle.host_ns + idle.encoding_ns,
    );
    let cpu = if idle.encoding_ns > idle.host_ns {
        Bound::CpuEncoding
    } else {
        Bound::CpuHost
    };
    let driver_ns = idle.driver_wait_ns + idle.driver_ns;
    let most_ns = latency_ns
        .max(cpu_ns)
        .max(idle.contention_ns)
        .max(driver_ns);
    if is_half(most_ns) {
        // Two groups with exactly half each are named in this order.
        let groups = [
            (Bound::Latency, latency_ns),
            (cpu, cpu_ns),
            (Bound::Contended, idle.contention_ns),
            (Bound::Driver, driver_ns),
        ];
        groups
            .into_iter()
            .find_map(|(bound, ns)| (ns == most_ns).then_some(bound))
    } else {
        Some(Bound::Mixed)
    }
}

/// Returns every scenario whose truth is known: built-in ones but the largest, those of findings, and
/// random ones.
fn scenarios() -> impl Iterator<Item = (String, Scenario)> {
    let small = presets().iter().filter(|preset| preset.name != "million");
    let built_in = small.map(|preset| (preset.name.to_owned(), preset.scenario().unwrap()));

    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/findings");
    let folders = std::fs::read_dir(folder).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let scenarios = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let of_findings = scenarios.map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let scenario = Scenario::from_toml(&text).unwrap();
        (path.display().to_string(), scenario)
    });

    let random = (0..150).map(|seed| (format!("seed {seed}"), random_scenario(seed)));
    built_in.chain(of_findings).chain(random)
}

#[test]
fn every_scenario_has_the_verdict_of_its_truth() {
    let mut found: Vec<(Option<Bound>, u32)> = Vec::new();
    for (name, scenario) in scenarios() {
        let folder = metalens_testing::scratch();
        for truth in write_export(&scenario, folder.path(), false).unwrap() {
            let run = Some(u64::from(truth.run));
            let (Ok(report), Some(idle)) =
                (report(folder.path(), run, &Request::default()), truth.idle)
            else {
                continue;
            };
            // Some scenarios lack the tables that tell the causes.
            if report.idle.parts.unknown_ns != Ns(idle.unknown_ns) {
                continue;
            }
            let bound = report.verdict.bound;
            let replay = report.replay.as_ref();
            let waits = replay.map_or(WaitVerdict::Unknown, |replay| replay.waiting.verdict);
            // A scenario with steps beside other work is judged by them, and a replay knows more than causes. Where
            // it does not know whether the program waits, it says what either answer gives, or nothing.
            // The order of the driver's rows alone tells other times than the truth has.
            let is_divided = report.latency.driver_source != Some(ChainSource::Order);
            if is_divided
                && idle.unknown_ns == 0
                && waits == WaitVerdict::Unknown
                && report.judged.is_none()
                && !report.is_paced()
            {
                // Work without a process may be of this one.
                let expected = match distrust(&report) {
                    Some(_) => None,
                    None => by_causes(&truth, &idle),
                };
                let is_right = [None, Some(Bound::Mixed), expected].contains(&bound);
                assert!(
                    is_right,
                    "{name}, run {}: {bound:?}, {expected:?}",
                    truth.run
                );
            }
            let busy = report.judged().busy_ns.number() / report.judged().span_ns.number();
            assert!(bound != Some(Bound::Gpu) || busy >= 0.5, "{name}: {busy}");
            match found.iter_mut().find(|(other, _)| *other == bound) {
                Some((_, count)) => *count += 1,
                None => found.push((bound, 1)),
            }
        }
    }
    // Each verdict occurs, and none; but in no scenario does anything hold the program up or keep a pace.
    assert_eq!(found.len(), 7, "{found:?}");
    let all: u32 = found.iter().map(|(_, count)| count).sum();
    assert!(all > 150, "{found:?}");
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
