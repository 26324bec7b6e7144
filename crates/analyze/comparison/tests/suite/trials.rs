//! Measures the false-positive and detection rates of the default gate.
//!
//! A trial records a program three times, and then three times again: unchanged, with one kernel 10
//! % slower, and with its gaps doubled. Runs differ by their seeds. For machines that are less
//! steady than a simulator, the kernels and gaps of each run are also longer or shorter by a random
//! factor.

use metalens_analyzer::Report;
use metalens_comparison::{CompareOptions, Gate, GateResult, GateVerdict, compare, judge};

use super::report;

/// Largest random change of a whole run, in either direction.
#[derive(Clone, Copy)]
struct Drift {
    name: &'static str,
    kernels: f64,
    gaps: f64,
}

const AS_SIMULATED: Drift = Drift {
    name: "other seeds alone",
    kernels: 0.0,
    gaps: 0.0,
};
const STEADY: Drift = Drift {
    name: "and kernels ±1 %, gaps ±3 % from run to run",
    kernels: 0.01,
    gaps: 0.03,
};
const UNSTEADY: Drift = Drift {
    name: "and kernels ±3 %, gaps ±10 % from run to run",
    kernels: 0.03,
    gaps: 0.10,
};

/// Factors by which kernels and gaps were changed.
#[derive(Clone, Copy)]
struct Changed {
    matmul: f64,
    gaps: f64,
}

const NOTHING: Changed = Changed {
    matmul: 1.0,
    gaps: 1.0,
};
const SLOWER: Changed = Changed {
    matmul: 1.1,
    gaps: 1.0,
};
const WAITS: Changed = Changed {
    matmul: 1.0,
    gaps: 2.0,
};

/// Returns a number in -1..1 for a seed (splitmix64).
fn drawn(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap()) / f64::from(u32::MAX) * 2.0 - 1.0
}

fn run(seed: u64, drift: Drift, changed: Changed) -> Report {
    let kernels = 1.0 + drift.kernels * drawn(seed * 2);
    let gaps = (1.0 + drift.gaps * drawn(seed * 2 + 1)) * changed.gaps;
    let range = |low: f64, high: f64, factor: f64| {
        let ns = |value: f64| (value * factor * 1_000.0).round();
        format!("[\"{}ns\", \"{}ns\"]", ns(low), ns(high))
    };
    let stream = |label: &str, more: &str, duration: String| {
        format!(
            "[[process.stream]]\ncount = 60\nsubmit = \"sync\"\n{more}encoder-label = \"{label}\"\n\
             duration = {duration}\nencode = {}\nlaunch = {}\ncompletion = {}\nhost = {}\n",
            range(6.0, 9.0, gaps),
            range(80.0, 95.0, gaps),
            range(55.0, 80.0, gaps),
            range(5.0, 25.0, gaps),
        )
    };
    let toml = format!(
        "tables = [\"metal-gpu-intervals\", \"metal-application-encoders-list\", \
         \"metal-command-buffer-completed\"]\n\
         [[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n{}{}",
        stream("matmul", "", range(38.0, 44.0, kernels * changed.matmul)),
        stream("softmax", "follows = true\n", range(18.0, 22.0, kernels)),
    );
    report(&toml, seed)
}

fn three(first: u64, drift: Drift, changed: Changed) -> Vec<Report> {
    (first..first + 3)
        .map(|seed| run(seed, drift, changed))
        .collect()
}

/// Numbers of trials by result.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rates {
    false_alarms: u32,
    inconclusive: u32,
    slower_caught: u32,
    waits_caught: u32,
}

fn has_missed(gate: &GateResult, what: &[&str]) -> bool {
    let mut rows = gate.rows.iter();
    gate.missed
        && rows.any(|row| row.verdict == GateVerdict::Miss && what.contains(&row.what.as_str()))
}

fn rates(trials: u64, drift: Drift) -> Rates {
    let mut rates = Rates::default();
    for trial in 0..trials {
        let seed = trial * 16 + 1;
        let base = three(seed, drift, NOTHING);
        let gate = |first: u64, changed: Changed| {
            let new = three(first, drift, changed);
            judge(
                &compare(&base, &new, &CompareOptions::default()),
                &Gate::default(),
            )
        };
        let same = gate(seed + 3, NOTHING);
        rates.false_alarms += u32::from(same.missed && !same.inconclusive);
        rates.inconclusive += u32::from(same.inconclusive);

        let slower = gate(seed + 6, SLOWER);
        rates.slower_caught += u32::from(has_missed(&slower, &["matmul"]));

        let waits = gate(seed + 9, WAITS);
        rates.waits_caught += u32::from(has_missed(&waits, &["gaps.total_ns"]));
    }
    rates
}

/// Runs a small version of the bench below.
#[test]
fn the_default_gate_separates_changes_from_noise() {
    let expected = Rates {
        false_alarms: 0,
        inconclusive: 0,
        slower_caught: 20,
        waits_caught: 20,
    };
    assert_eq!(rates(20, AS_SIMULATED), expected);
}

/// Measures the rates; `scripts/bench-gate` runs it.
#[test]
#[ignore = "takes a minute: scripts/bench-gate"]
#[expect(clippy::print_stdout, reason = "a bench prints what it found")]
fn bench() {
    const TRIALS: u32 = 200;
    let percent = |count: u32| f64::from(count) / f64::from(TRIALS) * 100.0;
    println!("\n{TRIALS} trials each, 3 runs a side, the default gate");
    println!(
        "{:<46}  {:>12}  {:>12}  {:>18}  {:>14}",
        "runs differ by", "false alarms", "inconclusive", "kernel 10 % slower", "gaps doubled"
    );
    for drift in [AS_SIMULATED, STEADY, UNSTEADY] {
        let found = rates(u64::from(TRIALS), drift);
        println!(
            "{:<46}  {:>10.1} %  {:>10.1} %  {:>9.1} % caught  {:>5.1} % caught",
            drift.name,
            percent(found.false_alarms),
            percent(found.inconclusive),
            percent(found.slower_caught),
            percent(found.waits_caught)
        );
        // The rates of an unsteady machine are printed, but not guaranteed.
        if drift.gaps <= STEADY.gaps {
            assert_eq!(found.false_alarms, 0, "{}", drift.name);
            assert!(percent(found.slower_caught) >= 95.0, "{}", drift.name);
            assert!(percent(found.waits_caught) >= 95.0, "{}", drift.name);
        }
    }
}
