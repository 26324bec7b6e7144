//! Tests the estimated times of kernels against programs whose kernels have known times: each splits its step
//! into command buffers, and a buffer has one time.

use std::collections::{BTreeMap, BTreeSet};

use metalens_analyzer::{KernelCount, KernelMix, KernelMixes, estimate_kernels};
use metalens_message::{Ns, Share};
use metalens_testing::Random;
use metalens_text::number::rounded;
use serde_json::{Value, json};

/// Time of each command buffer besides its kernels, in nanoseconds.
const BOUNDARY: f64 = 8_000.0;
const STEPS: usize = 60;
/// Numbers of operations in a command buffer that have no common factor.
const DESIGNED: [usize; 5] = [3, 5, 7, 11, 50];

/// A program: the true time of each kernel, and the kernels of a step in order.
struct Program {
    times: Vec<f64>,
    step: Vec<usize>,
}

/// Returns a whole number below a limit.
fn below(random: &mut Random, limit: usize) -> usize {
    let number = rounded((random.uniform() * limit as f64).floor());
    usize::try_from(number).unwrap().min(limit - 1)
}

impl Program {
    /// A layer of kernels that comes back, between a head and a tail.
    fn random(random: &mut Random) -> Self {
        let count = 4 + below(random, 13);
        let times = (0..count)
            .map(|_| 3e3 * 130_f64.powf(random.uniform()))
            .collect();
        let mut any = |from: usize, to: usize, least: usize, more: usize| -> Vec<usize> {
            let length = least + below(random, more);
            (0..length)
                .map(|_| from + below(random, to - from))
                .collect()
        };
        let layer = any(0, count - 2, 5, 14);
        let (head, tail) = (any(count - 2, count - 1, 1, 1), any(count - 1, count, 1, 2));
        let layers = 8 + below(random, 40);
        Self {
            times,
            step: [head, layer.repeat(layers), tail].concat(),
        }
    }

    /// Runs the program, and returns its mixes. `together` is the part of the shorter neighbor that runs at the
    /// same time.
    fn run(&self, operations: usize, together: f64, random: &mut Random) -> Vec<KernelMix> {
        let mut lengths: BTreeMap<Vec<u64>, Vec<f64>> = BTreeMap::new();
        let clock = 1.0 + 0.005 * random.normal();
        for _ in 0..STEPS {
            let drift = clock * (1.0 + 0.01 * random.normal());
            for buffer in self.step.chunks(operations) {
                let mut counts = vec![0; self.times.len()];
                let (mut length, mut last) = (0.0, 0.0_f64);
                for &kernel in buffer {
                    counts[kernel] += 1;
                    let time = self.times[kernel] * (0.1 * random.normal()).exp();
                    length += time - together * time.min(last);
                    last = time;
                }
                let length = (length * drift + BOUNDARY) * (1.0 + 0.003 * random.normal());
                lengths.entry(counts).or_default().push(length);
            }
        }
        lengths.into_iter().map(mix).collect()
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

fn mix((counts, mut lengths): (Vec<u64>, Vec<f64>)) -> KernelMix {
    let middle = median(&mut lengths);
    let mut deviations: Vec<f64> = lengths
        .iter()
        .map(|length| (length - middle).abs())
        .collect();
    let kernels = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    KernelMix {
        kernels: kernels
            .map(|(kernel, &count)| KernelCount {
                name: format!("k{kernel}"),
                count,
            })
            .collect(),
        intervals: lengths.len() as u64,
        median_ns: Ns(rounded(middle)),
        deviation: Share(1.4826 * median(&mut deviations) / middle),
    }
}

/// Returns whether a vector is a sum of others, by elimination.
fn depends(rows: &[Vec<f64>], wanted: &[f64]) -> bool {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let reduce = |mut row: Vec<f64>, basis: &[Vec<f64>]| {
        for other in basis {
            let pivot = other.iter().position(|cell| cell.abs() > 1e-9).unwrap();
            let factor = row[pivot] / other[pivot];
            for (cell, by) in row.iter_mut().zip(other) {
                *cell -= factor * by;
            }
            row[pivot] = 0.0;
        }
        row
    };
    for row in rows {
        let rest = reduce(row.clone(), &basis);
        let largest = rest.iter().fold(0.0_f64, |most, cell| most.max(cell.abs()));
        if largest > 1e-7 {
            // The largest cell first, so that little is lost.
            let pivot = rest.iter().position(|cell| cell.abs() == largest).unwrap();
            let scaled: Vec<f64> = rest.iter().map(|cell| cell / rest[pivot]).collect();
            for other in &mut basis {
                let factor = other[pivot];
                for (cell, by) in other.iter_mut().zip(&scaled) {
                    *cell -= factor * by;
                }
            }
            basis.push(scaled);
            basis.sort_by_key(|row| row.iter().position(|cell| cell.abs() > 1e-9));
        }
    }
    reduce(wanted.to_vec(), &basis)
        .iter()
        .all(|cell| cell.abs() < 1e-6)
}

/// Returns the kernels that have one time each by the mixes, whatever that of the others is.
fn told_apart(mixes: &[KernelMix], kernels: usize) -> BTreeSet<String> {
    let rows: Vec<Vec<f64>> = mixes
        .iter()
        .map(|mix| {
            let count = |kernel: usize| {
                let name = format!("k{kernel}");
                let found = mix.kernels.iter().find(|each| each.name == name);
                found.map_or(0.0, |each| each.count as f64)
            };
            (0..kernels).map(count).chain([1.0]).collect()
        })
        .collect();
    let unit = |kernel: usize| {
        (0..=kernels)
            .map(|place| f64::from(u8::from(place == kernel)))
            .collect::<Vec<f64>>()
    };
    (0..kernels)
        .filter(|&kernel| depends(&rows, &unit(kernel)))
        .map(|kernel| format!("k{kernel}"))
        .collect()
}

fn estimated(program: &Program, runs: &[usize], random: &mut Random) -> KernelMixes {
    let mixes = runs
        .iter()
        .flat_map(|&operations| program.run(operations, 0.0, random));
    estimate_kernels(mixes.collect())
}

/// Of random programs, what is told is right, and what the mixes cannot tell is not told.
#[test]
fn what_the_mixes_tell_is_told_and_nothing_else() {
    let mut random = Random::new(66);
    let (mut large, mut right, mut covered, mut designed) = (0, 0, 0, 0);
    for case in 0..200 {
        let program = Program::random(&mut random);
        let one = [10 + below(&mut random, 60)];
        let runs: &[usize] = if case % 2 == 0 { &DESIGNED } else { &one };
        let found = estimated(&program, runs, &mut random);
        let can_be = told_apart(&found.mixes, program.times.len());
        for kernel in &found.kernels {
            let names: Vec<&str> = kernel
                .kernels
                .iter()
                .map(|each| each.name.as_str())
                .collect();
            if let [name] = names[..] {
                assert!(can_be.contains(name), "{case}: {name} {found:#?}");
            }
            let truth: f64 = kernel
                .kernels
                .iter()
                .map(|each| {
                    each.count as f64 * program.times[each.name[1..].parse::<usize>().unwrap()]
                })
                .sum();
            if kernel.share > Share(0.02) {
                let off = (kernel.time.ns.0 as f64 / truth - 1.0).abs();
                large += 1;
                right += i32::from(off <= 0.05);
                designed += i32::from(case % 2 == 0);
                // The noise of a dispatch makes its mean half a percent longer than its median.
                let (low, high) = (kernel.time.low_ns.0 as f64, kernel.time.high_ns.0 as f64);
                covered += i32::from(low * 0.99 <= truth && truth <= high * 1.01);
            }
        }
    }
    assert!(large > 300 && designed > 300);
    assert!(
        f64::from(right) >= 0.95 * f64::from(large),
        "{right} of {large}"
    );
    assert!(
        f64::from(covered) >= 0.9 * f64::from(large),
        "{covered} of {large}"
    );
}

/// The whole way from a log: a buffer has its kernels in any order, and one that always comes in pairs is counted
/// by its dispatches.
#[test]
fn a_log_has_the_times_of_its_kernels() {
    let mut random = Random::new(9);
    let names = ["gemm", "pair", "norm"];
    let times = [50e3, 20e3, 5e3];
    let step = [0, 1, 1, 2, 0, 2, 1, 1, 0].repeat(20);
    let header = json!({"format": "command-buffer-log/1", "program": "x", "pid": 7});
    let mut log = format!("{header}\n");
    let (mut now, mut number, mut dispatches) = (1_000_000, 0, [0_u64; 3]);
    for operations in [9, 18, 4, 5, 7, 11, 13, 14].into_iter().cycle().take(96) {
        // No pair is cut apart.
        let mut rest = step.as_slice();
        while !rest.is_empty() {
            let mut end = operations.min(rest.len());
            let ones = rest[..end].iter().filter(|kernel| **kernel == 1).count();
            end += ones % 2;
            let mut kernels = serde_json::Map::new();
            let mut length = BOUNDARY;
            for &kernel in &rest[..end] {
                let count = kernels
                    .get(names[kernel])
                    .and_then(Value::as_u64)
                    .unwrap_or(0);
                kernels.insert(names[kernel].to_owned(), json!(count + 1));
                length += times[kernel] * (0.1 * random.normal()).exp();
                dispatches[kernel] += 1;
            }
            rest = &rest[end..];
            number += 1;
            let buffer = json!({"command_buffer": number, "queue": 1, "encode": now, "commit": now + 1_000,
                "gpu_start": now + 9_000, "gpu_end": now + 9_000 + rounded(length),
                "completed": now + 12_000 + rounded(length),
                "encoders": [{"kind": "compute", "kernels": kernels}]});
            log.push_str(&format!("{buffer}\n"));
            now += 15_000 + rounded(length);
        }
    }
    log.push_str(&format!(
        "{}\n",
        json!({"end": now, "command_buffers": number})
    ));
    let folder = metalens_testing::scratch();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, log).unwrap();

    let report = super::report(&path, None, &metalens_analyzer::Request::default()).unwrap();
    let found = report.mixes.unwrap();
    for ((name, time), dispatches) in names.iter().zip(times).zip(dispatches) {
        let kernel = found
            .kernels
            .iter()
            .find(|kernel| kernel.kernels[0].name == *name);
        // What takes little is not told as sharply as the rest.
        let Some(kernel) = kernel else {
            assert_eq!((*name, &found.not_told), ("norm", &vec!["norm".to_owned()]));
            continue;
        };
        let off = kernel.time.ns.0 as f64 / time - 1.0;
        assert!(off.abs() < 0.05, "{name}: {kernel:?}");
        assert_eq!(
            (kernel.kernels[0].count, kernel.count),
            (1, dispatches),
            "{name}"
        );
    }
}

/// Two kernels that always run together are one, with the time of both.
#[test]
fn kernels_that_always_run_together_are_one() {
    let mut random = Random::new(3);
    let program = Program {
        times: vec![50e3, 5e3, 3e3, 20e3],
        step: [0, 1, 1, 2, 3, 0].repeat(30),
    };
    // In buffers of whole layers each mix is a multiple of one; in others, 1 is always split from itself.
    let mut mixes = Vec::new();
    for operations in [3, 4, 5, 7, 11, 13, 50] {
        mixes.extend(program.run(operations, 0.0, &mut random));
    }
    let together = |mut mix: KernelMix| {
        // Kernel 4 runs twice with each 3.
        let of_third = mix
            .kernels
            .iter()
            .find(|kernel| kernel.name == "k3")
            .map(|kernel| kernel.count);
        if let Some(count) = of_third {
            let name = "k4".to_owned();
            mix.kernels.push(KernelCount {
                name,
                count: 2 * count,
            });
        }
        mix
    };
    let found = estimate_kernels(mixes.into_iter().map(together).collect());
    let both = found
        .kernels
        .iter()
        .find(|kernel| kernel.kernels.len() == 2);
    let both = both.unwrap_or_else(|| panic!("{found:#?}"));
    let names: Vec<(&str, u64)> = both
        .kernels
        .iter()
        .map(|each| (each.name.as_str(), each.count))
        .collect();
    assert_eq!(names, [("k3", 1), ("k4", 2)]);
    assert!(
        (both.time.ns.0 as f64 / 20e3 - 1.0).abs() < 0.05,
        "{both:?}"
    );
    let boundary = found.boundary.unwrap();
    assert!(
        (boundary.ns.0 as f64 / BOUNDARY - 1.0).abs() < 0.1,
        "{boundary:?}"
    );
}

/// One command buffer a step has one mix, and the advice is the runs that would tell.
#[test]
fn one_mix_tells_nothing() {
    let mut random = Random::new(4);
    let program = Program::random(&mut random);
    let found = estimated(&program, &[100_000], &mut random);
    assert!(found.kernels.is_empty());
    let why = found.why_not.unwrap().text;
    assert!(
        why.contains("runs with other numbers of operations"),
        "{why}"
    );
}

/// Where encoders run at the same time, times are no sums, and nothing is told.
#[test]
fn work_that_runs_at_the_same_time_is_no_sum() {
    let mut random = Random::new(5);
    let mut refused = 0;
    for _ in 0..20 {
        let program = Program::random(&mut random);
        let mut mixes = Vec::new();
        for operations in DESIGNED {
            mixes.extend(program.run(operations, 0.8, &mut random));
        }
        let found = estimate_kernels(mixes);
        let why = found
            .why_not
            .as_ref()
            .map(|why| why.text.as_str())
            .unwrap_or_default();
        refused += i32::from(why.contains("are no sums of kernels"));
    }
    // Where a kernel always has the same neighbors, what it adds is a sum.
    assert!(refused >= 15, "{refused}");
}
