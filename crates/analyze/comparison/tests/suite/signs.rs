//! Checks the sign of headlines on random programs with random changes, whose true times are known.
//!
//! A program runs steps one after another, each a few kernels, and waits for each kernel. A change makes
//! it run more or fewer steps, adds or removes a kernel in each step, or makes a kernel faster or slower.

use metalens_comparison::{CompareOptions, TimeBasis, compare};
use metalens_simulator::{Scenario, truths};
use metalens_testing::drawn;

use super::report;

/// Programs that are tried.
const PROGRAMS: u64 = 60;
/// Runs of each side.
const RUNS: u64 = 3;

/// Program, as the kernels of a step with their times in microseconds.
#[derive(Debug, Clone)]
struct Program {
    kernels: Vec<(String, u64)>,
    steps: usize,
}

impl Program {
    fn toml(&self) -> String {
        let labels: Vec<&str> = self.kernels.iter().map(|(name, _)| name.as_str()).collect();
        let times = self.kernels.iter().map(|(_, us)| format!("\"{us}us\""));
        format!(
            "[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
             [[process.stream]]\ncount = {}\nsubmit = \"sync\"\nencoder-label = {labels:?}\n\
             duration = {{ cycle = [{}] }}\nencode = [\"6us\", \"7us\"]\n\
             launch = [\"40us\", \"42us\"]\ncompletion = [\"55us\", \"57us\"]\n",
            self.steps * self.kernels.len(),
            times.collect::<Vec<_>>().join(", ")
        )
    }

    /// Returns the time in which the GPU works.
    fn gpu_ns(&self) -> f64 {
        let step_us: u64 = self.kernels.iter().map(|(_, us)| us).sum();
        (self.steps as u64 * step_us * 1_000) as f64
    }

    /// Returns the median of the true times of the runs, from the first to the last work.
    fn span_ns(&self, first_seed: u64) -> f64 {
        let spans = (0..RUNS).map(|run| {
            let mut scenario = Scenario::from_toml(&self.toml()).unwrap();
            scenario.seed = first_seed + run;
            truths(&scenario).unwrap()[0].window.unwrap().span_ns
        });
        let mut spans: Vec<u64> = spans.collect();
        spans.sort_unstable();
        spans[spans.len() / 2] as f64
    }
}

/// Returns a time in microseconds, from the least one on.
fn us(seed: &mut u64, least: u64, range: usize) -> u64 {
    least + drawn(seed, range) as u64
}

/// Returns a program, and the same with one to three changes.
fn pair(seed: &mut u64) -> (Program, Program) {
    let count = 2 + drawn(seed, 3);
    let kernels = (0..count).map(|number| (format!("kernel_{number}"), us(seed, 5, 300)));
    let base = Program {
        kernels: kernels.collect(),
        steps: 20 + drawn(seed, 20),
    };
    let mut new = base.clone();
    for _ in 0..=drawn(seed, 3) {
        let place = drawn(seed, new.kernels.len());
        match drawn(seed, 4) {
            0 => new.steps = 10 + drawn(seed, 60),
            1 => {
                let added = ("added".to_owned(), us(seed, 2, 400));
                new.kernels.insert(place, added);
            }
            2 if new.kernels.len() > 1 => drop(new.kernels.remove(place)),
            _ => {
                let percent = 20 + drawn(seed, 300) as u64;
                let time = &mut new.kernels[place].1;
                *time = (*time * percent / 100).max(2);
            }
        }
    }
    (base, new)
}

#[test]
fn no_headline_has_the_wrong_sign() {
    let (mut rates, mut whole) = (0, 0);
    let mut seed = 5;
    for number in 0..PROGRAMS {
        let (base, new) = pair(&mut seed);
        let first = [number * 2 * RUNS, number * 2 * RUNS + RUNS];
        let reports = |program: &Program, first: u64| {
            let runs = (0..RUNS).map(|run| report(&program.toml(), first + run));
            runs.collect::<Vec<_>>()
        };
        let options = CompareOptions::default();
        let found = compare(
            &reports(&base, first[0]),
            &reports(&new, first[1]),
            &options,
        );
        let (was, now) = (base.span_ns(first[0]), new.span_ns(first[1]));
        let case = format!("{base:?}\n{new:?}\n{was} {now}\n{}", found.headline);

        // A sentence on a unit of work comes before that on the whole run.
        let mut sentences = found.headline.text.split(". ");
        let first = sentences.next().unwrap();
        let unit = Some(first).filter(|first| first.starts_with("Per "));
        let run = unit.and_then(|_| sentences.next()).unwrap_or(first);
        // Then come its parts.
        let run = run.split("; ").next().unwrap();
        for (word, is_true) in [
            ("times as fast", now < was),
            ("shorter", now < was),
            ("times as long", now > was),
            ("longer", now > was),
        ] {
            assert!(is_true || !run.contains(word), "{case}");
        }
        if (now / was - 1.0).abs() > 0.05 {
            let words = ["times as fast", "shorter", "times as long", "longer"];
            assert!(words.iter().any(|word| run.contains(word)), "{case}");
            whole += 1;
        }

        // Each kernel waits for the one before, so that the GPU works as long as all of them together.
        let parts = found.difference.expect(&case).parts;
        let gpu = parts.iter().find(|part| part.id == "busy.busy_ns").unwrap();
        assert_eq!(gpu.time_ns.change(), new.gpu_ns() - base.gpu_ns(), "{case}");

        // A rate is about a step, so that both sides must have the same kernels in it.
        let is_rate = found.work.basis != TimeBasis::Whole;
        assert_eq!(unit.is_some(), is_rate, "{case}");
        if let Some(rest) = unit {
            let names = |program: &Program| {
                let mut names: Vec<_> = program
                    .kernels
                    .iter()
                    .map(|(name, _)| name.clone())
                    .collect();
                names.sort_unstable();
                names
            };
            assert_eq!(names(&base), names(&new), "{case}");
            let (was, now) = (was / base.steps as f64, now / new.steps as f64);
            assert!(now < was || !rest.contains("times as fast"), "{case}");
            assert!(now > was || !rest.contains("times as long"), "{case}");
            rates += 1;
        }
    }
    assert!(whole > 30 && rates > 3, "{whole} {rates}");
}
