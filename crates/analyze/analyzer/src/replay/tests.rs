//! Tests that a replay without a change gives the recorded times, and that changes do what they say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use metalens_simulator::{Scenario, presets, random_scenario, write_export};
use metalens_trace::{Input, LoadOptions};

use super::program::{Change, Command, Delays, DriverWork, Kick, OtherKick, Program};
use super::*;
use crate::questions::measure::Measured;
use crate::subject::submissions::Submissions;
use crate::{Request, selection_with_recovery};

/// Reads and measures a recording; `None` if there is nothing to measure.
fn measured(input: &Path) -> Option<Measured> {
    let trace = Input::open(input)
        .and_then(|input| input.load(&selection_with_recovery(), LoadOptions::default()));
    Measured::new(trace.ok()?, &Request::default(), None).ok()
}

fn recorded<'a>(measured: &'a Measured, submissions: &'a Submissions) -> Recorded<'a> {
    let subject = &measured.subject;
    Recorded {
        submissions,
        part: None,
        part_ns: subject.window().length_ns(),
        kernels: &measured.kernels.named,
        waits: &subject.waits,
        driver: subject.chain.source,
        held: &[],
        steps: Vec::new(),
    }
}

/// Number of stations that were compared.
#[derive(Debug, Default)]
struct Compared {
    recordings: usize,
    commands: usize,
    drivers: usize,
    completions: usize,
    waits: usize,
}

impl Compared {
    /// Checks that each station of each command buffer comes out at its recorded time.
    fn check(&mut self, input: &Path) {
        let Some(measured) = measured(input) else {
            return;
        };
        let submissions = &measured.subject.submissions;
        let recorded = recorded(&measured, submissions);
        let program = recorded.program(&measured.subject.waits.likely);
        self.recordings += 1;
        program.run(&Change::NONE, |place, found| {
            let submission = &submissions.list[place];
            let own = submissions.work_of(submission).iter();
            let starts = own.clone().map(|work| work.start_ns).min().unwrap();
            let ends = own.map(|work| work.end_ns).max().unwrap();
            let at = format!("{}, command buffer {place}", input.display());
            assert_eq!(found.committed_ns, submission.committed_ns, "{at}");
            assert_eq!((found.started_ns, found.ended_ns), (starts, ends), "{at}");
            if let Some(driver) = submission.driver {
                assert_eq!(found.driver_ns, driver.begins_ns as i64, "{at}");
                self.drivers += 1;
            }
            if let Some(completed_ns) = submission.completed_ns {
                assert_eq!(found.completed_ns, completed_ns, "{at}");
                self.completions += 1;
            }
            self.commands += 1;
        });
        self.waits += usize::from(program.commands.iter().any(|each| each.waits_for.is_some()));
    }
}

#[test]
fn a_replay_without_a_change_is_the_recording() {
    let mut compared = Compared::default();
    let small = presets().iter().filter(|preset| preset.name != "million");
    let scenarios = small.map(|preset| preset.scenario().unwrap());
    let random = std::env::var("METALENS_REPLAYS").ok();
    let random = random.map_or(100, |count| count.parse().unwrap());
    for scenario in scenarios.chain((0..random).map(random_scenario)) {
        let folder = metalens_testing::scratch();
        write_export(&scenario, folder.path(), false).unwrap();
        compared.check(folder.path());
    }
    assert!(
        compared.recordings > 80 && compared.completions > 1_000,
        "{compared:?}"
    );
    assert!(compared.waits > 5, "{compared:?}");
}

#[test]
fn a_replay_of_a_real_recording_is_the_recording() {
    let Some(real) = metalens_testing::real_recordings() else {
        return;
    };
    let mut compared = Compared::default();
    for name in [
        "m1-launched-1000",
        "m1-bundle-and-export/export",
        "m1-metal-with-cpu-samples",
    ] {
        compared.check(&real.join(name));
    }
    for folder in ["m1-bundle-and-export", "m2-counters-bundle"] {
        let bundles = std::fs::read_dir(real.join(folder)).unwrap();
        let bundles = bundles.map(|entry| entry.unwrap().path());
        let is_bundle = |path: &PathBuf| path.extension().is_some_and(|ends| ends == "trace");
        bundles
            .filter(is_bundle)
            .for_each(|bundle| compared.check(&bundle));
    }
    assert!(
        compared.commands > 3_000 && compared.drivers > 1_000,
        "{compared:?}"
    );
    assert!(compared.waits >= 3, "{compared:?}");
}

/// Makes a program of command buffers with one GPU interval each, in microseconds: 10 of host work,
/// 5 of encoding, 3 of the driver, 20 on the GPU; 7, 60 and 50 of latency on the way.
fn program(count: usize, waits: bool) -> Program {
    let command = |place: usize| Command {
        waits_for: place.checked_sub(1).filter(|_| waits),
        not_before_ns: (place == 0).then_some(10),
        host_ns: if place == 0 { 0 } else { 10 },
        encode_ns: 5,
        driver: Some(DriverWork {
            start: Delays {
                after_step_ns: 7,
                after_work_ns: 1,
                unexplained_ns: 0,
                barrier_ns: 0,
            },
            work_ns: 3,
        }),
        kicks: place..place + 1,
        completion_ns: 50,
        is_measured: true,
        ..Command::default()
    };
    let kick = Kick {
        submit_ns: 2,
        start: Delays {
            after_step_ns: 60,
            after_work_ns: 1,
            unexplained_ns: 0,
            barrier_ns: 0,
        },
        length_ns: 20,
        alone_ns: 20,
        channel: 0,
        kernel: 0,
    };
    Program {
        commands: (0..count).map(command).collect(),
        kicks: Arc::new(vec![kick; count]),
        channels: 1,
        scale: 1.0,
        ..Program::default()
    }
}

#[test]
fn a_sample_stands_for_all() {
    let scenario = Scenario::preset("eager").unwrap();
    let folder = metalens_testing::scratch();
    write_export(&scenario, folder.path(), false).unwrap();
    let measured = measured(folder.path()).unwrap();
    let whole = &measured.subject.submissions;
    let mut half = whole.clone();
    let count = whole.list.len();
    half.list = whole.list[count / 4..count * 3 / 4].to_vec();
    half.is_sample = true;

    let whole = replay(&recorded(&measured, whole)).unwrap();
    let half = replay(&recorded(&measured, &half)).unwrap();
    assert_eq!(half.span_ns, Ns(measured.subject.window().length_ns()));
    let pairs = whole.predictions.iter().zip(&half.predictions);
    let pairs = pairs.map(|(whole, half)| (whole.left_ns, half.left_ns));
    let removals = whole.removals.iter().zip(&half.removals);
    let removals = removals.map(|(whole, half)| (whole.left_ns, half.left_ns));
    for (whole_ns, half_ns) in pairs.chain(removals) {
        let apart_ns = whole_ns.abs_diff(half_ns);
        let is_near = apart_ns * 20 <= whole.span_ns;
        assert!(is_near, "{} for {}", half_ns.0, whole_ns.0);
    }
}

#[test]
fn changes_take_away_what_they_name() {
    use ReplayPart::{Driver, Gpu, Host, Latency};
    let time = |program: &Program, change: Change| program.time(&change);
    let waiting = program(100, true);
    // A round trip: 10 + 5 + 7 + 2 + 60 + 20 + 50 = 154; the last one has no way back, and the first
    // no host work.
    assert_eq!(time(&waiting, Change::NONE), 99 * 154 + 89);
    assert_eq!(time(&waiting, Change::without(&[Host])), 99 * 139 + 89);
    assert_eq!(time(&waiting, Change::without(&[Latency])), 99 * 37 + 22);
    assert_eq!(time(&waiting, Change::without(&[Gpu])), 99 * 134 + 69);

    // Without waits, the GPU limits: 20 + 1 for each; then the host; then the driver.
    let in_flight = |times| {
        let mut changed = waiting.clone();
        changed.keep_in_flight(times);
        changed
    };
    let never = in_flight(0);
    assert_eq!(time(&never, Change::NONE), 69 + 99 * 21 + 20);
    assert_eq!(time(&never, Change::without(&[Gpu])), 99 * 15 + 69);
    assert_eq!(time(&never, Change::without(&[Gpu, Host])), 99 * 4 + 69);
    assert_eq!(time(&never, Change::without(&[Driver])), 67 + 99 * 21 + 20);

    // With two in flight, the program waits for the last but one.
    let two = in_flight(2);
    assert_eq!(two.commands[0].waits_for, None);
    assert_eq!(two.commands[5].waits_for, Some(3));
    let left = time(&two, Change::NONE);
    assert!((7_600..8_000).contains(&left), "{left}");

    // Ten times as many dispatches share a command buffer: a tenth of the round trips.
    let merged = waiting.merged(10, true);
    assert_eq!(merged.commands.len(), 10);
    assert_eq!(merged.commands[3].waits_for, Some(2));
    // 10 + 9 · 15 + 5 of the host, 7 + 2 + 60 on the way, 10 · 20 + 9 on the GPU, 50 back.
    assert_eq!(
        time(&merged, Change::NONE),
        9 * (150 + 69 + 209 + 50) + 69 + 209
    );
}

#[test]
fn an_ahead_encoded_buffer_overlaps_only_the_wait() {
    let waiting = program(100, true);
    let ahead = Change {
        encode_ahead: true,
        ..Change::NONE
    };
    // 15 of host work and encoding pass during the wait.
    assert_eq!(waiting.time(&ahead), 99 * 139 + 89);
}

#[test]
fn a_paced_program_gains_nothing() {
    let mut paced = program(20, true);
    for (place, command) in paced.commands.iter_mut().enumerate() {
        command.not_before_ns = Some(1_000 * place as i64);
    }
    let whole = paced.time(&Change::NONE);
    let left = paced.time(&Change::without(&[ReplayPart::Host]));
    assert!(whole.abs_diff(left) < 20, "{whole} {left}");
}

#[test]
fn other_processes_are_customers_of_the_same_channel() {
    let alone = program(10, false).time(&Change::NONE);
    let mut beside = program(10, false);
    let other = |number: i64| OtherKick {
        arrives_ns: 50 * number,
        start: Delays {
            after_step_ns: 60,
            after_work_ns: 1,
            unexplained_ns: 0,
            barrier_ns: 0,
        },
        length_ns: 30,
        channel: 0,
    };
    beside.others = Arc::new((0..3).map(other).collect());
    // The first one ends 6 after the program's first work could begin; two more run in between.
    assert_eq!(beside.time(&Change::NONE), alone + 6 + 1 + 2 * 31);
    let without = Change::without(&[ReplayPart::Others]);
    assert_eq!(beside.time(&without), alone);
}
