//! Tests of hardware counters: on the real bundle that has some, against a second reading of its
//! bytes and against laws; and on scenarios, against the simulator's truth.

use std::collections::{BTreeMap, BTreeSet};

use metalens_analyzer::{Analysis, CounterUnit, Request, analyze, selection};
use metalens_message::Ns;
use metalens_simulator::{Scenario, Truth, random_scenario, write_bundle, write_export};
use metalens_testing::{RawCounters, raw_counters, real_recordings};
use metalens_trace::{Input, LoadOptions, Selection};

use super::report;

/// Returns the analysis of the real bundle, of the process with the most intervals.
fn real(raw: &RawCounters, request: Request) -> Analysis {
    let load = |request: &Request| {
        let input = Input::open(&raw.bundle).unwrap();
        let trace = input.load(&selection(), LoadOptions::default()).unwrap();
        analyze(trace, request).unwrap()
    };
    let first = load(&request);
    let most = first
        .report
        .processes
        .iter()
        .max_by_key(|process| process.intervals);
    let pid = most.and_then(|process| process.pid).unwrap();
    load(&Request {
        processes: vec![pid.to_string()],
        ..request
    })
}

/// Each of the 7,050 values of 30 counters in the table is the one that the bytes give.
#[test]
fn a_table_has_the_values_of_the_stored_bytes() {
    let Some(recordings) = real_recordings() else {
        return;
    };
    let raw = raw_counters(&recordings);
    let schema = "gpu-counter-value";
    let input = Input::open(&raw.bundle).unwrap();
    let trace = input.load(&Selection::table(schema), LoadOptions::default());
    let trace = trace.unwrap();
    let table = trace.table(schema).unwrap();
    let (times, ids) = (
        table.integers("timestamp").unwrap(),
        table.integers("counter-id").unwrap(),
    );
    let mut found: Vec<(u64, u64, String)> = (0..table.rows())
        .map(|row| {
            let value = table.texts("value").unwrap()[row].unwrap();
            let value = trace.names.text(value).to_owned();
            (times.get(row).unwrap(), ids.get(row).unwrap(), value)
        })
        .collect();
    let mut expected: Vec<(u64, u64, String)> = raw
        .values
        .iter()
        .map(|&(time_ns, id, billionths)| {
            let digits = format!("{billionths:010}");
            let (whole, rest) = digits.split_at(digits.len() - 9);
            (time_ns, id.into(), format!("{whole}.{rest}"))
        })
        .collect();
    found.sort();
    expected.sort();
    assert_eq!(found.len(), 7_050);
    assert!(found == expected, "the values differ");
}

/// The samples and the figures of a report are those of the stored bytes.
#[test]
fn a_report_has_the_values_of_the_stored_bytes() {
    let Some(recordings) = real_recordings() else {
        return;
    };
    let raw = raw_counters(&recordings);
    let analysis = real(&raw, Request::default());
    let mut by_name: BTreeMap<&str, Vec<(u64, f64)>> = BTreeMap::new();
    for &(time_ns, id, billionths) in &raw.values {
        let name = raw.names[id as usize].as_str();
        let value = billionths as f64 / 1e9;
        by_name.entry(name).or_default().push((time_ns, value));
    }
    assert_eq!(analysis.counters().len(), 30);
    let mut compared = 0;
    for series in analysis.counters() {
        let expected = by_name.get_mut(series.name.as_str()).unwrap();
        expected.sort_by_key(|sample| sample.0);
        let samples = series.samples.iter();
        let found: Vec<(u64, f64)> = samples
            .map(|sample| (sample.start_ns, sample.value))
            .collect();
        assert_eq!(&found, expected, "{}", series.name);
        compared += found.len();
    }
    assert_eq!(compared, 7_050);

    let report = &analysis.report;
    let counters = report.counters.as_ref().unwrap();
    assert_eq!(counters.step_ns, Some(Ns(112_625)));
    let busiest = &counters.counters[0];
    assert_eq!(
        (busiest.name.as_str(), busiest.id),
        ("ALU Limiter", Some(0))
    );
    let in_window = by_name["ALU Limiter"].iter();
    let in_window = in_window
        .filter(|sample| (report.window.start_ns..report.window.end_ns).contains(&Ns(sample.0)));
    let largest = in_window.map(|sample| sample.1).fold(0.0, f64::max);
    assert_eq!(busiest.window.max.to_bits(), largest.to_bits());
}

/// Percentages are percentages, the bandwidth is below the chip's, and a sample without any GPU
/// interval in its time has almost nothing.
#[test]
fn real_counters_obey_laws() {
    let Some(recordings) = real_recordings() else {
        return;
    };
    let raw = raw_counters(&recordings);
    let analysis = real(&raw, metalens_testing::with_everyone(Request::default()));
    let counters = analysis.report.counters.as_ref().unwrap();
    assert_eq!(
        counters.chip_gb_per_s.unwrap().max.to_bits(),
        100_f64.to_bits()
    );

    let spans = analysis.everyone().unwrap();
    let spans: Vec<(u64, u64)> = spans.map(|span| (span.start_ns, span.end_ns)).collect();
    let is_idle = |from: u64, to: u64| spans.iter().all(|span| span.1 <= from || to <= span.0);
    let (mut percentages, mut idle) = (0, 0);
    let mut gb_per_s: BTreeMap<u64, f64> = BTreeMap::new();
    for series in analysis.counters() {
        for sample in &series.samples {
            if series.unit == Some(CounterUnit::Percent) {
                percentages += 1;
                assert!((0.0..=100.0).contains(&sample.value), "{sample:?}");
            }
            if series.unit == Some(CounterUnit::GigabytesPerSecond) {
                *gb_per_s.entry(sample.start_ns).or_default() += sample.value;
            }
            if let Some(end_ns) = sample.end_ns.filter(|&end| is_idle(sample.start_ns, end)) {
                idle += 1;
                assert!(
                    sample.value < 0.05,
                    "{} to {end_ns}: {sample:?}",
                    series.name
                );
            }
        }
    }
    assert_eq!(percentages, 27 * 235);
    assert!(idle > 3_000, "{idle}");
    assert_eq!(gb_per_s.len(), 235);
    assert!(gb_per_s.values().all(|&sum| sum < 100.0));
    let largest = gb_per_s.values().copied().fold(0.0, f64::max);
    assert!(largest > 50.0, "{largest}");

    assert!(counters.kernels.iter().any(|kernel| kernel.samples > 0));
    for kernel in &counters.kernels {
        assert_eq!(kernel.why_none.is_some(), kernel.samples == 0, "{kernel:?}");
        let shares: f64 = kernel
            .limiters
            .iter()
            .map(|limiter| limiter.highest_share.0)
            .sum();
        let expected = if kernel.limiters.is_empty() { 0.0 } else { 1.0 };
        assert!((shares - expected).abs() < 1e-9, "{kernel:?}");
        let limiters = kernel.limiters.iter();
        assert!(
            limiters
                .clone()
                .is_sorted_by(|a, b| a.mean_pct >= b.mean_pct)
        );
    }
}

/// Two kernels, one longer than the sampling step and one shorter, with other work at times.
const SCENARIO: &str = r#"
seed = 1

[[recording.counter]]
name = "ALU Limiter"
unit = "percent"
busy = 10
kernels = { matmul = 91, add = 7 }
period = "30us"

[[recording.counter]]
name = "GPU Last Level Cache Limiter"
unit = "percent"
busy = 20
kernels = { matmul = 33 }
idle = 1
period = "30us"

[[recording.counter]]
name = "GPU Read Bandwidth"
unit = "gigabytes-per-second"
busy = 41
period = "30us"

[[recording.counter]]
name = "GPU Write Bandwidth"
unit = "gigabytes-per-second"
busy = 11
period = "30us"

[[process]]
name = "bench"
pid = 4200
role = "target"

[[process.stream]]
count = 12
duration = "200us"
encoder-label = ["matmul", "add"]

[[process.stream]]
count = 12
duration = "20us"
encoder-label = ["tiny"]
start = "30ms"
"#;

#[test]
fn a_bundle_and_an_export_have_the_truth() {
    const POINTS: &str = "gpu-counter-value";
    const INTERVALS: &str = "metal-gpu-counter-intervals";
    let mut scenario = Scenario::from_toml(SCENARIO).unwrap();
    let folder = metalens_testing::scratch();
    let inputs = [
        ("points.trace", false, POINTS),
        ("points", false, POINTS),
        ("intervals.trace", true, INTERVALS),
        ("intervals", true, INTERVALS),
    ];
    for (name, counter_intervals, table) in inputs {
        let input = folder.path().join(name);
        scenario.recording.counter_intervals = counter_intervals;
        let truth = if name.ends_with(".trace") {
            write_bundle(&scenario, &input, false)
        } else {
            write_export(&scenario, &input, false)
        };
        let truth = truth.unwrap();
        let report = report(&input, None, &Request::default()).unwrap();
        assert_eq!(report.counters.as_ref().unwrap().table, table, "{name}");
        assert!(compare(name, &report, &truth[0]) > 3);
        let kernels = &report.counters.as_ref().unwrap().kernels;
        let found: BTreeMap<&str, Option<&str>> = kernels
            .iter()
            .map(|kernel| {
                let first = kernel.limiters.first();
                (
                    kernel.name.as_str(),
                    first.map(|limiter| limiter.counter.as_str()),
                )
            })
            .collect();
        let cache = "GPU Last Level Cache Limiter";
        let expected = [
            ("add", Some(cache)),
            ("matmul", Some("ALU Limiter")),
            ("tiny", None),
        ];
        assert_eq!(found, BTreeMap::from(expected));
        let tiny = kernels.iter().find(|kernel| kernel.name == "tiny").unwrap();
        let why = tiny.why_none.as_ref().unwrap();
        assert!(
            why.text.starts_with("too short: it ran for at most 20"),
            "{why}"
        );
        let bandwidth = kernels.iter().find_map(|kernel| kernel.bandwidth).unwrap();
        assert!((bandwidth.gb_per_s - 52.0).abs() < 1e-6, "{bandwidth:?}");
    }
}

#[test]
fn random_scenarios_have_the_truth() {
    let (mut reports, mut means) = (0, 0);
    for seed in 0..150 {
        let scenario = random_scenario(seed);
        if scenario.recording.counter.is_empty() {
            continue;
        }
        let folder = metalens_testing::scratch();
        let bundle = folder.path().join("run.trace");
        write_bundle(&scenario, &bundle, false).unwrap();
        let export = folder.path().join("export");
        for truth in write_export(&scenario, &export, false).unwrap() {
            let run = Some(u64::from(truth.run));
            for input in [&bundle, &export] {
                if let Ok(report) = report(input, run, &Request::default()) {
                    reports += 1;
                    means += compare(
                        &format!("seed {seed}: {}", input.display()),
                        &report,
                        &truth,
                    );
                }
            }
        }
    }
    assert!(reports > 5, "{reports}");
    assert!(means > 0, "no kernel of {reports} reports has a sample");
}

/// Compares the counters of a report with the truth. Returns the number of kernels' means.
fn compare(name: &str, report: &metalens_analyzer::Report, truth: &Truth) -> usize {
    let near = |found: f64, expected: f64, what: &str| {
        // The table has nine decimals.
        let is_near = (found - expected).abs() <= 1e-8 + 1e-9 * expected.abs();
        assert!(is_near, "{name}: {what}: {found} {expected}");
    };
    let Some(counters) = &report.counters else {
        let samples = truth
            .optional
            .counters
            .iter()
            .map(|counter| counter.samples);
        assert_eq!(samples.sum::<u64>(), 0, "{name}");
        return 0;
    };
    let mut means = 0;
    for expected in truth
        .optional
        .counters
        .iter()
        .filter(|counter| counter.samples > 0)
    {
        let mut listed = counters.counters.iter();
        let found = listed.find(|counter| counter.name == expected.name);
        let found = found.unwrap_or_else(|| panic!("{name}: {}", expected.name));
        assert_eq!(found.window.samples, expected.samples, "{name}");
        assert_eq!(
            found.window.covered_ns,
            Some(Ns(expected.covered_ns)),
            "{name}"
        );
        near(found.window.mean, expected.mean.unwrap(), "mean");
        near(found.window.max, expected.max.unwrap(), "max");
        assert_eq!(found.busy.is_some(), expected.busy_mean.is_some(), "{name}");
        if let (Some(found), Some(expected)) = (found.busy, expected.busy_mean) {
            near(found.mean, expected, "busy mean");
        }

        // Kernels of a shader timeline have the names of shaders.
        let by_label = report
            .kernels
            .iter()
            .all(|kernel| kernel.named_by != metalens_analyzer::NamedBy::ShaderProfiler);
        if !by_label {
            continue;
        }
        let mut seen = BTreeSet::new();
        for kernel in &counters.kernels {
            let channel = kernel.channel.as_deref().unwrap_or_default();
            let mut truths = expected.kernels.iter();
            let truth = truths.find(|truth| truth.name == kernel.name && truth.channel == channel);
            let limiters = kernel.limiters.iter();
            let all = limiters.map(|limiter| (limiter.counter.as_str(), limiter.mean_pct));
            let others = kernel.means.iter();
            let mut all = all.chain(others.map(|mean| (mean.counter.as_str(), mean.mean)));
            let mean = all.find(|(counter, _)| *counter == expected.name);
            assert_eq!(mean.is_some(), truth.is_some(), "{name}: {}", kernel.name);
            if let (Some((_, mean)), Some(truth)) = (mean, truth) {
                assert_eq!(kernel.samples, truth.samples, "{name}: {}", kernel.name);
                near(mean, truth.mean, &kernel.name);
                seen.insert((kernel.name.clone(), channel.to_owned()));
            }
        }
        assert_eq!(
            seen.len(),
            expected.kernels.len(),
            "{name}: {:?}",
            expected.kernels
        );
        means += seen.len();
    }
    means
}

/// The real bundle with counters, of a window server: the cause of its idle time is unknown, so that
/// short intervals say nothing. A kernel that took a sixth of the GPU time is near a limit: by 9
/// samples, which cover all but its edges, ALU Limiter is at 81 %.
#[test]
fn a_real_kernel_is_near_a_limit() {
    let Some(recordings) = real_recordings() else {
        return;
    };
    let report = real(&raw_counters(&recordings), Request::default()).report;
    assert_eq!(report.idle.parts.unknown_ns, report.idle.total_ns);
    assert!(report.shape.short.count * 2 > report.counts.intervals);
    let found = |id: &str| report.findings.iter().find(|finding| finding.id == id);
    assert_eq!(found("tiny-kernels"), None);
    assert_eq!(found("no-limiter"), None);
    let evidence = &found("limiter").unwrap().evidence;
    let told = "its highest limiter was ALU Limiter, 81.2 % on average";
    assert!(evidence.text.contains(told), "{evidence}");
    assert!(evidence.text.contains("9 samples, 97.4 %"), "{evidence}");
}
