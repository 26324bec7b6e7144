//! Tests the moment from which kernels take longer against programs that change at a known step: logs of eight
//! kernels, each a command buffer, with noise.

use std::fmt::Write as _;

use metalens_analyzer::{Request, Slowdown};
use metalens_message::Ns;
use metalens_testing::Random;
use metalens_text::number::rounded;
use serde_json::json;

use super::report;

const KERNELS: usize = 8;
const STEPS: usize = 300;

/// Writes a log whose kernels take these factors of their times in each step, and returns what is said of it,
/// with the start of each step since the recording began.
fn run(seed: u64, factor: impl Fn(usize, usize) -> f64) -> (Option<Slowdown>, Vec<u64>) {
    let mut random = Random::new(seed);
    let usual: Vec<f64> = (0..KERNELS).map(|_| 2e4 + 2e5 * random.uniform()).collect();
    let header = json!({"format": "command-buffer-log/1", "program": "engine", "pid": 7});
    let mut log = format!("{header}\n");
    let (mut now, mut number, mut gpu_end) = (1_000_000, 0, 0);
    let mut starts = Vec::new();
    for step in 0..STEPS {
        for (kernel, usual) in usual.iter().enumerate() {
            number += 1;
            let commit = now + 4_000;
            let start = (commit + 9_000).max(gpu_end + 2_000);
            let noise = (0.05 * random.normal()).exp();
            gpu_end = start + rounded(usual * factor(step, kernel) * noise);
            if kernel == 0 {
                starts.push(start);
            }
            let buffer = json!({
                "command_buffer": number, "queue": 1, "thread": 1, "encode": now + 1_000, "commit": commit,
                "gpu_start": start, "gpu_end": gpu_end, "completed": gpu_end + 5_000,
                "encoders": [{"kind": "compute", "kernels": {format!("k{kernel}"): 1}}],
            });
            writeln!(log, "{buffer}").unwrap();
            now = commit;
        }
        let wait = json!({"wait": number, "start": now, "end": gpu_end + 9_000, "thread": 1});
        writeln!(log, "{wait}").unwrap();
        now = gpu_end + 9_000;
    }
    writeln!(log, "{}", json!({"end": now, "command_buffers": number})).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, log).unwrap();
    let report = report(&path, None, &Request::default()).unwrap();
    let began_ns = starts[0] - report.window.start_ns.0;
    let starts = starts.iter().map(|start| start - began_ns);
    (report.slowdown, starts.collect())
}

/// A program, what is said of it, and the step at which it changes at once.
struct Case {
    name: &'static str,
    factor: fn(usize, usize) -> f64,
    longer: u64,
    range: (f64, f64),
    at_step: Option<usize>,
}

#[test]
fn a_change_is_told_with_its_kernels_and_its_moment() {
    let cases = [
        Case {
            name: "the clock falls",
            factor: |step, _| if step < 200 { 1.0 } else { 1.6 },
            longer: 8,
            range: (1.6, 1.6),
            at_step: Some(200),
        },
        Case {
            name: "the clock falls near the end",
            factor: |step, _| if step < 275 { 1.0 } else { 1.3 },
            longer: 8,
            range: (1.3, 1.3),
            at_step: Some(275),
        },
        Case {
            name: "three kernels take longer",
            factor: |step, kernel| [1.5, 1.0][usize::from(step < 150 || kernel > 2)],
            longer: 3,
            range: (1.5, 1.5),
            at_step: Some(150),
        },
        Case {
            name: "all take longer, by other factors",
            factor: |step, kernel| 1.0 + [0.0, 0.2 + 0.1 * kernel as f64][usize::from(step >= 100)],
            longer: 8,
            range: (1.2, 1.9),
            at_step: Some(100),
        },
        Case {
            name: "the machine becomes hot little by little",
            factor: |step, _| 1.0 + 0.6 * step as f64 / STEPS as f64,
            longer: 8,
            range: (1.25, 1.25),
            at_step: None,
        },
    ];
    for case in cases {
        for seed in 1..=5 {
            let name = case.name;
            let (found, starts) = run(seed, case.factor);
            let found = found.unwrap_or_else(|| panic!("{name}: nothing is told"));
            assert_eq!((found.kernels, found.longer), (8, case.longer), "{name}");
            let near = |found: f64, truth: f64| (found / truth - 1.0).abs() < 0.05;
            assert!(near(found.least.0, case.range.0), "{name}: {found:?}");
            assert!(near(found.most.0, case.range.1), "{name}: {found:?}");
            let truth = case.at_step.map(|step| starts[step]);
            assert_eq!(found.at_ns.is_some(), truth.is_some(), "{name}: {found:?}");
            let step_ns = starts[1] - starts[0];
            if let (Some(Ns(found)), Some(truth)) = (found.at_ns, truth) {
                assert!(
                    found.abs_diff(truth) <= 3 * step_ns,
                    "{name}: {found} {truth}"
                );
            }
        }
    }
}

/// Nothing is told of noise, of kernels that become shorter, and of less than a twentieth.
#[test]
fn no_change_is_not_told() {
    let factors: [fn(usize, usize) -> f64; 3] = [
        |_, _| 1.0,
        |step, _| if step < 200 { 1.5 } else { 1.0 },
        |step, _| if step < 200 { 1.0 } else { 1.03 },
    ];
    for (place, factor) in factors.into_iter().enumerate() {
        for seed in 1..=10 {
            let (found, _) = run(seed, factor);
            assert_eq!(found, None, "program {place}, seed {seed}");
        }
    }
}
