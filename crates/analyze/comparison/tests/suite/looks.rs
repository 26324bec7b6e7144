//! Measures how often a gate that is judged after each pair of runs is wrong, and after how many pairs it is decided,
//! on pairs with a known truth. The table is in docs/bench.md.

use std::collections::BTreeMap;

use metalens_comparison::{CompareOptions, Gate, Number, Runs, compare_runs, judge};
use metalens_testing::Random;

use super::{SMALL, report};

/// The page that has the table.
const PAGE: &str = include_str!("../../../../../docs/bench.md");
const MOST_PAIRS: usize = 30;

/// How runs vary: their deviation, and whether one of ten is up to 30 % slower.
const MACHINES: [(&str, f64, bool); 4] = [
    ("σ 1 %", 0.01, false),
    ("σ 3 %", 0.03, false),
    ("σ 5 %", 0.05, false),
    ("σ 1 %, one run of ten up to 30 % slower", 0.01, true),
];

/// Runs of one report, by their number.
type Copies = BTreeMap<usize, Runs>;

fn copies() -> Copies {
    let report = report(SMALL, 1);
    assert!(report.steps.iter().any(|steps| !steps.kinds.is_empty()));
    let runs = |count: usize| (count, Runs::from_reports(&vec![report.clone(); count]));
    // Looks become rarer, as those of bench do.
    let looks = (3..=MOST_PAIRS).filter(|pairs| pairs.is_multiple_of((pairs / 8).max(1)));
    looks.map(runs).collect()
}

/// Returns runs whose times are longer by these factors.
fn scaled(runs: &Runs, factors: &[f64]) -> Runs {
    let mut runs = runs.clone();
    let times = runs.metrics.iter_mut();
    let times = times.filter(|(id, _)| id.ends_with("_ns"));
    let times = times.map(|(_, values)| values);
    let kernels = runs.kernels.iter_mut();
    let kernels = kernels.flat_map(|kernel| [&mut kernel.med_ns, &mut kernel.total_ns]);
    for values in times.chain(kernels) {
        for (value, factor) in values.iter_mut().zip(factors) {
            *value = value.and_then(|value| Number::new(value.get() * factor));
        }
    }
    runs
}

/// Records pairs until the default gate is decided. Returns whether it failed, whether it is undecided, and the
/// number of pairs.
fn decide(
    copies: &Copies,
    (deviation, spiky): (f64, bool),
    factor: f64,
    seed: u64,
) -> (bool, bool, usize) {
    let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut run = |_: usize| {
        let slower = if spiky && random.uniform() < 0.1 {
            0.3 * random.uniform()
        } else {
            0.0
        };
        (1.0 + deviation * random.normal()) * (1.0 + slower)
    };
    let base: Vec<f64> = (0..MOST_PAIRS).map(&mut run).collect();
    let new: Vec<f64> = (0..MOST_PAIRS).map(|at| factor * run(at)).collect();
    let gate = Gate {
        until_decided: true,
        ..Gate::default()
    };
    let looks = copies.iter().map(|(&pairs, runs)| {
        let [base, new] = [&base, &new].map(|side| scaled(runs, side));
        let found = compare_runs(&base, &new, &CompareOptions::default());
        (pairs, judge(&found, &gate))
    });
    let mut last = None;
    for (pairs, result) in looks {
        let is_decided = !result.inconclusive;
        last = Some((
            result.missed && !result.inconclusive,
            result.inconclusive,
            pairs,
        ));
        if is_decided {
            break;
        }
    }
    last.unwrap()
}

/// Returns the rows of the table, each with the failed and undecided trials in percent, and the mean number of pairs.
fn rows(trials: u64) -> Vec<String> {
    let copies = copies();
    let rows = MACHINES.map(|(name, deviation, spiky)| {
        let cells = [1.0, 1.05, 1.1].map(|factor| {
            let all = (0..trials).map(|seed| decide(&copies, (deviation, spiky), factor, seed));
            let all: Vec<(bool, bool, usize)> = all.collect();
            let percent = |count: usize| 100.0 * count as f64 / all.len() as f64;
            let failed = percent(all.iter().filter(|trial| trial.0).count());
            let undecided = percent(all.iter().filter(|trial| trial.1).count());
            let pairs: usize = all.iter().map(|trial| trial.2).sum();
            assert!(
                factor > 1.0 || failed <= 1.0,
                "{name}: {failed} % false alarms"
            );
            assert!(
                factor < 1.1 || failed >= if spiky { 90.0 } else { 98.0 },
                "{name}: {failed} % caught"
            );
            let pairs = pairs as f64 / all.len() as f64;
            format!("{failed:.1}, {undecided:.1}, {pairs:.1}")
        });
        format!("| {name} | {} |", cells.join(" | "))
    });
    rows.to_vec()
}

#[test]
fn a_gate_of_pairs_is_rarely_wrong() {
    rows(3);
}

/// The page has the rates of 400 trials; `scripts/bench-gate` measures them.
#[test]
#[ignore = "takes minutes: scripts/bench-gate"]
fn the_page_has_the_rates_of_gates_of_pairs() {
    let rows = rows(400).join("\n");
    assert!(PAGE.contains(&rows), "docs/bench.md lacks:\n{rows}");
}
