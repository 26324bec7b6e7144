//! Tests that every figure of a report equals the truth, which the simulator counts from its own
//! plan by sweeps and tallies, without reading anything.

use metalens_analyzer::{Error, Request};
use metalens_simulator::{OptionalTruth, Scenario, Truth, presets, random_scenario, write_export};
use serde_json::Value;

use super::report;

#[test]
fn presets_match_the_truth() {
    for preset in presets().iter().filter(|preset| preset.name != "million") {
        check(preset.name, &preset.scenario().unwrap());
    }
}

#[test]
fn random_scenarios_match_the_truth() {
    for seed in 0..300 {
        check(&format!("seed {seed}"), &random_scenario(seed));
    }
}

/// Kernels are named by shaders that cover half of their intervals, and have their spills.
#[test]
fn shaders_and_spills_match_the_truth() {
    for sampled in ["100", "50", "49", "0"] {
        for nested in [false, true] {
            let text = format!(
                r#"
[recording]
shader-timeline = true

[[process]]
name = "bench"
pid = 12
role = "target"
shaders = ["mul", "exp", "add"]

[[process.stream]]
count = 40
duration = {{ cycle = ["9us", "10us", "13us"] }}
submit = "batched"
encoders-per-buffer = 4
encoder-label = ["a", "b"]
spill = {{ every = 3, bytes = 64 }}
sampled = {{ percent = {sampled}, nested = {nested} }}
oddities = {{ coalesce-every = 3, coalesced-name = "labels", split-every = 7 }}
"#
            );
            let scenario = Scenario::from_toml(&text).unwrap();
            check(&format!("{sampled} %, nested: {nested}"), &scenario);
        }
    }
}

fn check(name: &str, scenario: &Scenario) {
    let folder = metalens_testing::scratch();
    for truth in write_export(scenario, folder.path(), false).unwrap() {
        let run = Some(u64::from(truth.run));
        let found = report(folder.path(), run, &Request::default());
        // What such a recording has beside GPU intervals is no matter here.
        let found = found.map_err(|error| match error {
            Error::WithoutGpu { error, .. } => *error,
            error => error,
        });
        match found {
            Ok(report) => {
                assert!(report.run.synthetic, "{name} is not marked");
                assert!(
                    report.notes[0].text().starts_with("SYNTHETIC"),
                    "{name}: {:?}",
                    report.notes
                );
                let report = serde_json::to_value(report).unwrap();
                let mut expected = expected(&truth);
                fold_idle(&report, &mut expected["idle"], name);
                contains(&report, &expected, name);
                // The table of contents gives whole microseconds.
                let wall_ns = (truth.duration_ns + 500) / 1_000 * 1_000;
                assert_eq!(report["run"]["duration_ns"], wall_ns, "{name}");
            }
            Err(Error::NoProcesses { .. }) => assert!(truth.window.is_none(), "{name}"),
            Err(Error::NoRows { .. }) => assert_eq!(truth.counts.all_intervals, 0, "{name}"),
            Err(Error::NoGpuIntervals { present, .. }) => {
                assert!(truth.window.is_none(), "{name} has rows of the process");
                let named = truth
                    .processes
                    .iter()
                    .map(|p| (p.name.clone(), p.intervals));
                let present = present.into_iter().map(|p| (p.name, p.intervals));
                assert_eq!(sorted(present), sorted(named), "{name}");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// Keys that are compared separately: the first two here, the others in `truth_beside`, as are the
/// optional parts.
const COMPARED_SEPARATELY: [&str; 6] = [
    "run",
    "duration_ns",
    "recovered_idle",
    "latency",
    "queue",
    "errors",
];

/// Returns the truth without what is compared separately.
fn expected(truth: &Truth) -> Value {
    let mut truth = serde_json::to_value(Truth {
        optional: OptionalTruth::default(),
        ..truth.clone()
    })
    .unwrap();
    let keys = truth.as_object_mut().unwrap();
    for key in COMPARED_SEPARATELY {
        keys.remove(key);
    }
    truth
}

/// Compares sums of causes that the truth divides in another way, and removes these causes from the
/// truth: the driver's times if only the order of its rows tells them, and the completion latency of
/// a program that does not wait for each.
pub(super) fn fold_idle(report: &Value, truth: &mut Value, at: &str) {
    let Some(truth) = truth.as_object_mut() else {
        return;
    };
    let mut compare = |causes: &[&str]| {
        let sum =
            |value: &dyn Fn(&str) -> u64| causes.iter().map(|cause| value(cause)).sum::<u64>();
        let found = sum(&|cause| report["idle"][cause].as_u64().unwrap_or(0));
        let expected = sum(&|cause| truth.get(cause).and_then(Value::as_u64).unwrap_or(0));
        assert_eq!(found, expected, "{at}: {causes:?}");
        causes.iter().for_each(|&cause| drop(truth.remove(cause)));
    };
    if report["latency"]["driver_source"] == "order" {
        compare(&[
            "driver_wait_ns",
            "driver_ns",
            "start_latency_ns",
            "submission_ns",
            "queued_ns",
            "contention_ns",
        ]);
    }
    let waiting = &report["replay"]["waiting"];
    let waits_each = waiting["in_flight"] == 1 && waiting["pairs"] == waiting["of"];
    if waiting["verdict"] != "waits" || !waits_each {
        compare(&["completion_ns", "host_ns", "encoding_ns"]);
        truth.remove("serialized");
    }
}

/// Checks that a report contains everything in the truth, with lists of the same lengths.
fn contains(report: &Value, truth: &Value, at: &str) {
    match (report, truth) {
        (Value::Object(report), Value::Object(truth)) => {
            for (key, value) in truth {
                let found = report.get(key).unwrap_or(&Value::Null);
                contains(found, value, &format!("{at}.{key}"));
            }
        }
        (Value::Array(report), Value::Array(truth)) => {
            assert_eq!(
                report.len(),
                truth.len(),
                "{at}: {report:?} against {truth:?}"
            );
            for (index, (report, truth)) in report.iter().zip(truth).enumerate() {
                contains(report, truth, &format!("{at}[{index}]"));
            }
        }
        _ => assert_eq!(report, truth, "{at}"),
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort();
    items
}
