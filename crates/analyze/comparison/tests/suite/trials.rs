//! Measures the false-positive and detection rates of the default gate.
//!
//! A trial records a program three times, and then three times again: unchanged, with one kernel 10
//! % slower, and with its gaps doubled. Runs differ by their seeds. For machines that are less
//! steady than a simulator, the kernels and gaps of each run are also longer or shorter by a random
//! factor.
//!
//! A second program has twenty kernels, each with noise of its own from run to run, and three stalls in each
//! run, as real ones have.

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

/// Returns a run of twenty kernels, of which each takes so much more or less time in this run, and varies within
/// it. It stalls three times, for 1 to 10 ms.
fn twenty(seed: u64, noise: f64, factor: f64) -> Report {
    /// Kernels after which all times come again.
    const CYCLE: u64 = 400;
    let draw = |number: u64| drawn(seed * 10_000 + number);
    // The sum of three even draws is nearly normal, with a standard deviation of 1.
    let normal = |number: u64| (0..3).map(|part| draw(number * 3 + part)).sum::<f64>();
    let times = |us: &dyn Fn(u64) -> f64| {
        let times = (0..CYCLE).map(|number| format!("\"{:.0}ns\"", 1_000.0 * us(number)));
        times.collect::<Vec<_>>().join(", ")
    };
    let durations = times(&|number| {
        let of_run = 1.0 + noise * normal(number % 20);
        (20.0 + 5.0 * (number % 20) as f64) * factor * of_run * (1.0 + 0.05 * draw(1_000 + number))
    });
    let host = times(&|number| match number {
        150 => 5_500.0 + 4_500.0 * draw(90),
        _ => 15.0 + 10.0 * draw(2_000 + number),
    });
    let labels: Vec<String> = (0..20).map(|number| format!("\"k{number}\"")).collect();
    let labels = labels.join(", ");
    let toml = format!(
        "tables = [\"metal-gpu-intervals\", \"metal-application-encoders-list\", \
         \"metal-command-buffer-completed\"]\n\
         [[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
         [[process.stream]]\ncount = {}\nsubmit = \"sync\"\nencoder-label = [{labels}]\n\
         duration = {{ cycle = [{durations}] }}\nencode = [\"6us\", \"9us\"]\n\
         launch = [\"80us\", \"95us\"]\ncompletion = [\"55us\", \"80us\"]\nhost = {{ cycle = [{host}] }}\n",
        3 * CYCLE
    );
    report(&toml, seed)
}

/// Returns the share of trials in percent in which the default gate fails, and in which it cannot decide, for so
/// many runs of twenty kernels a side.
fn of_twenty(trials: u64, runs: u64, noise: f64, factor: f64) -> [f64; 2] {
    let (mut failed, mut undecided) = (0.0, 0.0);
    for trial in 0..trials {
        let first = trial * 2 * runs + 1;
        let side = |from: u64, factor: f64| -> Vec<Report> {
            let seeds = from..from + runs;
            seeds.map(|seed| twenty(seed, noise, factor)).collect()
        };
        let (base, new) = (side(first, 1.0), side(first + runs, factor));
        let found = compare(&base, &new, &CompareOptions::default());
        let gate = judge(&found, &Gate::default());
        failed += f64::from(u32::from(gate.missed && !gate.inconclusive));
        undecided += f64::from(u32::from(gate.inconclusive));
    }
    [failed, undecided].map(|count| 100.0 * count / trials as f64)
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
    for (factor, expected) in [(1.0, 0.0), (1.1, 100.0), (0.9, 0.0)] {
        assert_eq!(of_twenty(3, 3, 0.01, factor), [expected, 0.0], "{factor}");
    }
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

    println!("\n| twenty kernels | unchanged | all 10 % slower | all 10 % faster |");
    println!("| --- | --- | --- | --- |");
    for (noise, runs) in [(0.01, 3), (0.01, 5), (0.03, 3), (0.03, 5)] {
        let cells = [1.0, 1.1, 0.9].map(|factor| {
            let [failed, undecided] = of_twenty(u64::from(TRIALS) / 5, runs, noise, factor);
            format!("{failed:.0}, {undecided:.0}")
        });
        let noise = 100.0 * noise;
        println!(
            "| σ {noise:.0} %, {runs} against {runs} | {} |",
            cells.join(" | ")
        );
    }
}
