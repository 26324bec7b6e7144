//! Tests what reports say of programs with several threads beside another process, whose truth is known:
//! a changed program is run again, in a machine of its own.
//!
//! Each thread waits for an earlier command buffer of its own, or never. All share a driver and the GPU,
//! which serve what comes first. The other process's work comes at its own times.

use std::collections::VecDeque;

use metalens_analyzer::{Bound, ProgramChange, Report, Request, selection, what_if};
use metalens_message::{Ns, Quantity};
use metalens_trace::{Input, LoadOptions};

use crate::programs::random;
use crate::report;
use crate::what_if::NO_CHANGE;
use crate::windows::tables::{ANALYZED, Interval, OTHER, Tables};

const US: u64 = 1_000;
const BEGIN: u64 = 100_000 * US;

#[derive(Debug, Clone)]
struct Thread {
    count: usize,
    host_ns: u64,
    encode_ns: u64,
    gpu_ns: u64,
    /// Waits for the command buffer this many before; 0: for none.
    depth: usize,
}

#[derive(Debug, Clone)]
struct Machine {
    seed: u64,
    threads: Vec<Thread>,
    /// Distance and length of the other process's work.
    other: Option<(u64, u64)>,
    /// Factors of host work, the GPU's work, latencies and the driver's work.
    host: f64,
    gpu: f64,
    latency: f64,
    driver: f64,
}

/// State of a thread that runs.
#[derive(Default)]
struct Running {
    done: usize,
    free: u64,
    completed: Vec<u64>,
}

struct Run {
    tables: Tables,
    wall_ns: u64,
}

impl Machine {
    fn new(seed: u64) -> Self {
        let pick = |kind: u64, low: f64, high: f64| {
            let share = random(seed, 1, kind);
            whole(low * (high / low).powf(share))
        };
        let threads = (0..1 + seed % 3).map(|number| Thread {
            count: 250,
            host_ns: pick(10 + number, 4e3, 3e5),
            encode_ns: pick(20 + number, 3e3, 4e4),
            gpu_ns: pick(30 + number, 5e3, 2e5),
            depth: usize::try_from(pick(40 + number, 1.0, 4.0)).unwrap()
                - usize::from(seed % 7 == 3),
        });
        Self {
            seed,
            threads: threads.collect(),
            other: (seed % 4 == 1).then(|| (pick(50, 1e6, 4e6), pick(51, 5e4, 8e5))),
            host: 1.0,
            gpu: 1.0,
            latency: 1.0,
            driver: 1.0,
        }
    }

    /// Returns a time that varies, of the command buffer of a thread.
    fn time(&self, usual_ns: u64, thread: usize, place: usize, kind: u64) -> f64 {
        let number = (thread * 1_000_000 + place) as u64;
        usual_ns as f64 * (0.85 + 0.3 * random(self.seed, number, kind))
    }

    fn run(&self) -> Run {
        let mut run = Run {
            tables: Tables::default(),
            wall_ns: 0,
        };
        let mut others: VecDeque<(u64, u64)> = VecDeque::new();
        if let Some((distance_ns, length_ns)) = self.other {
            let arrives =
                |n: u64| BEGIN + n * distance_ns + whole(self.time(distance_ns / 3, 9, 0, n));
            others.extend((0..400).map(|n| (arrives(n), length_ns)));
        }
        let mut threads: Vec<Running> = self.threads.iter().map(|_| Running::default()).collect();
        let (mut driver_free, mut gpu_free, mut first, mut id) = (0, 0, None, 0);
        loop {
            // The thread that commits next.
            let next = (0..threads.len()).filter_map(|number| {
                let (encoding, committed) = self.next(&threads[number], number)?;
                Some((committed, encoding, number))
            });
            let Some((committed, encoding, number)) = next.min() else {
                break;
            };
            let place = threads[number].done;
            let time = |usual_ns, kind| self.time(usual_ns, number, place, kind);
            first.get_or_insert(committed);
            let begins =
                (committed + whole(time(9 * US, 4) * self.latency)).max(driver_free + 11 * US);
            let submitted = begins + whole(time(7 * US, 5) * self.driver);
            driver_free = submitted + 4 * US;
            while let Some(&(arrives, length)) = others.front().filter(|other| other.0 < submitted)
            {
                others.pop_front();
                let start = (arrives + 60 * US).max(gpu_free + 700);
                gpu_free = start + length;
                id += 1;
                run.tables
                    .intervals
                    .push(interval(OTHER, id, start, length, arrives));
            }
            let start = (submitted + whole(time(66 * US, 6) * self.latency)).max(gpu_free + 700);
            let length = whole(time(self.threads[number].gpu_ns, 3) * self.gpu);
            gpu_free = start + length;
            id += 1;
            run.tables
                .intervals
                .push(interval(ANALYZED, id, start, length, committed));
            run.tables
                .encodings
                .push((1_000_000 + id, encoding, committed - encoding));
            run.tables.threads.push(number as u64 + 1);
            run.tables.driver.push((id, begins, submitted, driver_free));
            let done = gpu_free + whole(time(63 * US, 7) * self.latency);
            run.tables.completions.push((id, done));
            let thread = &mut threads[number];
            thread.completed.push(done);
            (thread.done, thread.free) = (place + 1, committed);
            run.wall_ns = gpu_free - first.unwrap();
        }
        run
    }

    /// Returns the next encoding and commit of a thread.
    fn next(&self, thread: &Running, number: usize) -> Option<(u64, u64)> {
        let (own, place) = (&self.threads[number], thread.done);
        if place == own.count {
            return None;
        }
        let awaited = place.checked_sub(own.depth).filter(|_| own.depth > 0);
        let awaited = awaited.map_or(0, |before| thread.completed[before]);
        let from = thread.free.max(awaited).max(BEGIN);
        let encoding = from + whole(self.time(own.host_ns, number, place, 1) * self.host);
        let encode_ns = self.time(own.encode_ns, number, place, 2) * self.host;
        Some((encoding, encoding + whole(encode_ns)))
    }

    /// Returns the changes with what is left of the program that is run again.
    fn changes(&self) -> Vec<(&'static str, ProgramChange<'static>, u64)> {
        let rerun = |change: &dyn Fn(&mut Self)| {
            let mut changed = self.clone();
            change(&mut changed);
            changed.run().wall_ns
        };
        vec![
            (
                "host",
                ProgramChange {
                    host: 0.5,
                    ..NO_CHANGE
                },
                rerun(&|it| it.host = 0.5),
            ),
            (
                "gpu",
                ProgramChange {
                    kernel: &|_| 0.5,
                    ..NO_CHANGE
                },
                rerun(&|it| it.gpu = 0.5),
            ),
            (
                "latency",
                ProgramChange {
                    latency: 0.5,
                    ..NO_CHANGE
                },
                rerun(&|it| it.latency = 0.5),
            ),
            (
                "driver",
                ProgramChange {
                    driver: 0.5,
                    ..NO_CHANGE
                },
                rerun(&|it| it.driver = 0.5),
            ),
            (
                "others",
                ProgramChange {
                    others: false,
                    ..NO_CHANGE
                },
                rerun(&|it| it.other = None),
            ),
            (
                "in flight",
                ProgramChange {
                    in_flight: Some(2),
                    ..NO_CHANGE
                },
                rerun(&|it| it.threads.iter_mut().for_each(|thread| thread.depth *= 2)),
            ),
        ]
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive and short"
)]
fn whole(ns: f64) -> u64 {
    ns as u64
}

fn interval(process: &'static str, id: u64, start: u64, duration: u64, committed: u64) -> Interval {
    Interval {
        start,
        duration,
        process,
        buffer: id,
        encoder: 1_000_000 + id,
        latency: Some(start - committed),
    }
}

/// Returns whether the truth allows a verdict: its part saves nearly half of what all parts beside the
/// GPU's work save.
fn is_true(machine: &Machine, wall_ns: u64, bound: Bound) -> bool {
    let saved = |change: &dyn Fn(&mut Machine)| {
        let mut changed = machine.clone();
        change(&mut changed);
        wall_ns.saturating_sub(changed.run().wall_ns)
    };
    let all = saved(&|it| {
        (it.host, it.latency, it.driver, it.other) = (0.0, 0.0, 0.0, None);
    });
    let own = match bound {
        Bound::Gpu => return 5 * all <= wall_ns,
        Bound::CpuHost | Bound::CpuEncoding => saved(&|it| it.host = 0.0),
        Bound::Latency => saved(&|it| it.latency = 0.0),
        Bound::Driver => saved(&|it| it.driver = 0.0),
        Bound::Contended => saved(&|it| it.other = None),
        Bound::Mixed => all,
        Bound::Paced => 0,
    };
    100 * own >= 45 * all
}

/// Checks the laws of the replay in a report: what takes no time leaves no more, and nothing comes later
/// if more takes no time.
fn check_laws(report: &Report, says: &str) {
    let replay = report.replay.as_ref().unwrap();
    for removal in &replay.removals {
        assert!(removal.left_ns <= replay.span_ns, "{says}: {removal:?}");
        for more in &replay.removals {
            let is_more = removal
                .without
                .iter()
                .all(|part| more.without.contains(part));
            assert!(
                !is_more || more.left_ns <= removal.left_ns,
                "{says}: {removal:?} {more:?}"
            );
        }
    }
}

#[test]
fn predictions_come_true_in_programs_of_several_threads() {
    let (mut asked, mut answered, mut right, mut wrong) = (0, 0, 0, Vec::new());
    let (mut verdicts, mut refuted) = (0, Vec::new());
    for seed in 0..48 {
        let machine = Machine::new(seed);
        let run = machine.run();
        let folder = metalens_testing::scratch();
        run.tables.write(folder.path());
        let request = Request {
            processes: vec!["bench".to_owned()],
            ..Request::default()
        };
        let found = report(folder.path(), None, &request).unwrap();
        check_laws(&found, &format!("{seed}"));
        if let Some(bound) = found.verdict.bound {
            verdicts += 1;
            if !is_true(&machine, run.wall_ns, bound) {
                refuted.push((seed, bound));
            }
        }
        for (name, change, true_ns) in machine.changes() {
            asked += 1;
            let input = Input::open(folder.path()).unwrap();
            let trace = input.load(&selection(), LoadOptions::default()).unwrap();
            let Ok(predicted) = what_if(trace, &request, &change) else {
                continue;
            };
            assert_eq!(predicted.before_ns, Ns(run.wall_ns), "{seed}");
            let Some(after_ns) = predicted.after_ns else {
                continue;
            };
            answered += 1;
            let off = after_ns.number() / true_ns as f64 - 1.0;
            let is_within = (predicted.least_ns..=predicted.most_ns).contains(&Ns(true_ns));
            if off.abs() <= 0.05 || is_within {
                right += 1;
            } else {
                wrong.push((seed, name, format!("{off:+.2}")));
            }
        }
    }
    // Today's figures: who makes them worse says why.
    let says = format!("{right} of {answered} of {asked}: {wrong:?}; of {verdicts}: {refuted:?}");
    assert!(100 * answered >= 80 * asked, "{says}");
    assert!(100 * right >= 95 * answered, "{says}");
    assert!(verdicts >= 40 && refuted.len() <= 2, "{says}");
}
