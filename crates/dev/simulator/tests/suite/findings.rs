//! Tests the fixtures of the findings: each is small, readable and possible. By the truth's own
//! figures, one of each pair is beyond the limit of its finding and the other just short of it.

use std::fs;
use std::path::{Path, PathBuf};

use metalens_simulator::{Ledger, Scenario, Truth, truths};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/findings")
}

/// Returns rule, file name and text of each fixture.
fn fixtures() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for rule in fs::read_dir(folder()).unwrap() {
        let rule = rule.unwrap();
        for file in fs::read_dir(rule.path()).unwrap() {
            let path = file.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
                let text = fs::read_to_string(&path).unwrap();
                all.push((name(&rule.path()), name(&path), text));
            }
        }
    }
    all.sort();
    all
}

/// Returns whether a case is one beside the pair of its rule: `nearly-unknown`.
fn is_further(file: &str) -> bool {
    file.starts_with("nearly-") || file.starts_with("fires-")
}

fn truth(text: &str) -> Truth {
    truths(&Scenario::from_toml(text).unwrap())
        .unwrap()
        .remove(0)
}

#[test]
fn every_fixture_is_valid_and_small() {
    let all = fixtures();
    let pairs = all.iter().filter(|(_, file, _)| !is_further(file)).count();
    assert_eq!(
        pairs,
        2 * (RULES.len() + RULES_WITHOUT_TRUTH.len()) + 1,
        "a pair per rule, and all-well"
    );
    for (rule, file, text) in all {
        let at = format!("{rule}/{file}");
        let scenario = Scenario::from_toml(&text).unwrap_or_else(|error| panic!("{at}: {error}"));
        assert!(scenario.intervals_planned() <= 300, "{at}");
        assert!(text.lines().count() <= 40, "{at}");
        assert!(text.starts_with("# "), "{at} says what it shows");
    }
}

/// Rules whose figures the truth does not have. The analyzer's own tests run their fixtures.
const RULES_WITHOUT_TRUTH: [&str; 11] = [
    "allocates-in-loop",
    "compiling-inside",
    "driver-bound",
    "few-in-flight",
    "grows-by-step",
    "little-work",
    "slow-host",
    "outliers",
    "slowing-down",
    "starts-late",
    "tables-disagree",
];

/// A function that returns a rule's figure as a multiple of its limit.
type Measure = fn(&Truth) -> f64;

/// Returns the CPU time in gaps as a multiple of its limit. Its larger part decides which of two
/// rules fires.
fn cpu_time(truth: &Truth) -> f64 {
    let share = share_of_idle(truth, |ledger| ledger.host_ns + ledger.encoding_ns);
    not_busy(truth, share / 0.4)
}

/// Rules with figures in the truth. A finding is reported at 1 or more.
const RULES: [(&str, Measure); 26] = [
    ("submission-latency", |truth| {
        not_busy(
            truth,
            share_of_idle(truth, |ledger| ledger.start_latency_ns) / 0.3,
        )
    }),
    ("serialized", |truth| {
        let ledger = truth.idle.unwrap();
        let enough = ledger.joinable >= 20;
        let share = ratio(ledger.serialized, ledger.joinable) / 0.8;
        not_busy(truth, if enough { share } else { 0.0 })
    }),
    ("completion-latency", |truth| {
        not_busy(
            truth,
            share_of_idle(truth, |ledger| ledger.completion_ns) / 0.25,
        )
    }),
    ("tiny-kernels", |truth| {
        let (busy, idle) = (truth.busy.unwrap(), truth.idle.unwrap());
        // Of buffers with several intervals: what grows with their number.
        let costs = ratio(idle.encoding_ns + idle.queued_ns, busy.busy_ns) / 0.5;
        let short = instances(truth, |max_ns| max_ns < 10_000);
        (ratio(short, truth.counts.intervals) / 0.5).min(costs)
    }),
    ("many-encoders-per-buffer", |truth| {
        ratio(truth.counts.encoders, truth.counts.command_buffers) / 32.0
    }),
    ("host-bound", cpu_time),
    ("encoding-bound", cpu_time),
    ("queue-starved", |truth| {
        not_busy(truth, share_of_idle(truth, |ledger| ledger.queued_ns) / 0.2)
    }),
    ("transfers-dominate", |truth| {
        let blit = truth
            .channels
            .iter()
            .find(|channel| channel.name == "Blit")
            .unwrap();
        ratio(blit.sum_ns, truth.busy.unwrap().sum_ns) / 0.3
    }),
    ("small-transfers", |truth| {
        let blit = truth
            .channels
            .iter()
            .find(|channel| channel.name == "Blit")
            .unwrap();
        ratio(blit.intervals, 100)
    }),
    ("shared-gpu", |truth| {
        ratio(
            truth.busy.unwrap().others_busy_ns,
            truth.window.unwrap().span_ns,
        ) / 0.1
    }),
    ("contention", |truth| {
        share_of_idle(truth, |ledger| ledger.contention_ns) / 0.1
    }),
    ("low-performance-state", |truth| {
        let states = &truth.optional.performance.as_ref().unwrap().states;
        let low = states
            .iter()
            .find(|state| state.state == "Minimum")
            .unwrap();
        ratio(low.busy_ns, truth.busy.unwrap().busy_ns) / 0.5
    }),
    ("thermal", |truth| {
        match truth.optional.thermal.as_ref().unwrap().worst.as_deref() {
            Some("Serious" | "Critical") => 1.0,
            Some("Fair") => 0.9,
            other => panic!("{other:?}"),
        }
    }),
    ("unlabeled", |truth| {
        let named = truth
            .kernels
            .iter()
            .filter(|kernel| !kernel.name.starts_with('('));
        let named: u64 = named.map(|kernel| kernel.instances).sum();
        1.0 - ratio(named, truth.counts.intervals)
    }),
    ("eager-execution", |truth| {
        assert_eq!(truth.counts.encoders, truth.counts.command_buffers);
        ratio(
            instances(truth, |max_ns| max_ns < 20_000),
            truth.counts.intervals,
        ) / 0.8
    }),
    ("register-spills", |truth| {
        let spills = truth.kernels.iter().filter_map(|kernel| kernel.spills);
        let spilling_ns: u64 = spills.map(|spills| spills.total_ns).sum();
        ratio(spilling_ns, truth.busy.unwrap().sum_ns) / 0.05
    }),
    ("limiter", |truth| highest_limiter(truth, "matmul") / 80.0),
    ("no-limiter", |truth| 30.0 / highest_limiter(truth, "scan")),
    ("memory-growing", |truth| {
        let memory = truth.optional.memory.unwrap();
        ratio(memory.last_bytes - memory.first_bytes, memory.first_bytes) / 0.2
    }),
    ("wires-memory", |truth| {
        let in_gaps_ns = truth.optional.wired.as_ref().unwrap().in_gaps_ns;
        ratio(in_gaps_ns, truth.idle.unwrap().total_ns) / 0.05
    }),
    ("incomplete-recording", |truth| {
        let (listed, found) = (truth.idle.unwrap(), truth.recovered_idle.unwrap());
        assert_eq!(
            found.joinable, found.pairs,
            "the other tables have what was lost"
        );
        ratio(found.joinable - listed.joinable, found.pairs) / 0.05
    }),
    ("unknown-causes", |truth| {
        let idle = truth.idle.unwrap();
        let share = ratio(idle.total_ns, truth.window.unwrap().span_ns);
        // Where some causes are known, another finding says what was lost.
        let is_unknown = idle.joinable == 0;
        if is_unknown { share / 0.1 } else { 0.0 }
    }),
    ("command-buffer-errors", |truth| {
        if truth.errors > 0 { 1.0 } else { 0.9 }
    }),
    (
        "hangs",
        |truth| if truth.optional.hangs > 0 { 1.0 } else { 0.9 },
    ),
    // The limit is 20 % of 68.25 GB/s; the bytes are in the work file beside the scenario.
    ("inefficient-kernels", |truth| {
        assert!(truth.busy.unwrap().ratio > 0.9);
        1.0
    }),
];

/// Returns the highest mean of a limiter in a kernel, 0 without a sample. The kernel has most of the
/// GPU time.
fn highest_limiter(truth: &Truth, kernel: &str) -> f64 {
    let total_ns = truth.kernels.iter().find(|one| one.name == kernel);
    let share = ratio(total_ns.unwrap().total_ns, truth.busy.unwrap().sum_ns);
    assert!(share > 0.9, "{share}");
    let limiters = truth
        .optional
        .counters
        .iter()
        .filter(|counter| counter.name.ends_with(" Limiter"));
    let means = limiters.flat_map(|limiter| &limiter.kernels);
    let means = means.filter(|one| one.name == kernel);
    means.map(|kernel| kernel.mean).fold(0.0, f64::max)
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn share_of_idle(truth: &Truth, part: fn(&Ledger) -> u64) -> f64 {
    let ledger = truth.idle.unwrap();
    ratio(part(&ledger), ledger.total_ns)
}

/// Returns the measure. Findings about gaps need a GPU that is not busy.
fn not_busy(truth: &Truth, measure: f64) -> f64 {
    assert!(truth.busy.unwrap().ratio < 0.8);
    measure
}

fn instances(truth: &Truth, longest_ns: fn(u64) -> bool) -> u64 {
    let chosen = truth
        .kernels
        .iter()
        .filter(|kernel| longest_ns(kernel.max_ns));
    chosen.map(|kernel| kernel.instances).sum()
}

#[test]
fn one_of_each_pair_is_beyond_the_limit_and_one_just_short() {
    let all = fixtures();
    let text = |rule: &str, file: &str| {
        let found = all
            .iter()
            .find(|fixture| fixture.0 == rule && fixture.1 == file);
        &found.unwrap_or_else(|| panic!("no {rule}/{file}")).2
    };

    for (rule, measure) in RULES
        .iter()
        .filter(|(rule, _)| *rule != "inefficient-kernels")
    {
        let fires = measure(&truth(text(rule, "fires")));
        let nearly = measure(&truth(text(rule, "nearly")));
        assert!(fires >= 1.0, "{rule}/fires: {fires} of the limit");
        let is_near = (0.35..1.0).contains(&nearly);
        assert!(is_near, "{rule}/nearly: {nearly} of the limit");

        let further = all
            .iter()
            .filter(|fixture| fixture.0 == *rule && is_further(&fixture.1));
        for (_, file, text) in further {
            let measure = measure(&truth(text));
            assert!(measure < 1.0, "{rule}/{file}: {measure} of the limit");
        }
    }

    for file in ["fires", "nearly"] {
        let measure = RULES[RULES.len() - 1].1;
        measure(&truth(text("inefficient-kernels", file)));
    }
}

#[test]
fn work_files_match_their_scenarios() {
    for (file, min, max) in [("fires", 0.0, 1.0), ("nearly", 1.0, 1.3)] {
        let path = folder().join(format!("inefficient-kernels/{file}.work.json"));
        let work: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let scenario =
            fs::read_to_string(folder().join(format!("inefficient-kernels/{file}.toml")));
        for kernel in truth(&scenario.unwrap()).kernels {
            let mut entries = work["work"].as_array().unwrap().iter();
            let entry = entries.find(|entry| entry["label"] == kernel.name.as_str());
            let bytes = entry.unwrap()["bytes"].as_f64().unwrap();
            // One byte per nanosecond is 1 GB/s.
            let share = bytes / kernel.avg_ns as f64 / 68.25 / 0.2;
            assert!((min..max).contains(&share), "{file}: {share}");
        }
    }
}

#[test]
fn all_well_has_no_problem() {
    let text = fs::read_to_string(folder().join("all-well/scenario.toml")).unwrap();
    let truth = truth(&text);
    let busy = truth.busy.unwrap();
    assert!(busy.ratio > 0.9 && busy.others_busy_ns == 0, "{busy:?}");
    assert_eq!(truth.kernels.len(), 4);
    for kernel in &truth.kernels {
        assert!(ratio(kernel.total_ns, busy.sum_ns) < 0.3 && kernel.min_ns > 100_000);
    }
    let ledger = truth.idle.unwrap();
    assert_eq!((ledger.joinable, ledger.unknown_ns), (ledger.pairs, 0));
    assert_eq!(
        truth.optional.thermal.unwrap().worst.as_deref(),
        Some("Nominal")
    );
    let memory = truth.optional.memory.unwrap();
    assert_eq!(memory.first_bytes, memory.last_bytes);
    assert_eq!((truth.errors, truth.optional.hangs), (0, 0));
}
