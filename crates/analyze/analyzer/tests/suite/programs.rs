//! Tests what reports say of programs whose truth is known: who waits, what limits, what a change
//! leaves. The programs run in a model of their own, which is not that of the simulator. Its times are
//! those measured on an M1 and an M2 Ultra.

use std::path::Path;

use metalens_analyzer::{Bound, Report, Request, WaitVerdict};
use metalens_message::{Factor, Ns, Quantity};

use crate::report;
use crate::windows::tables::{ANALYZED, Interval, Tables};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// Waits of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Waits {
    Never,
    /// For the command buffer this many before, before each one.
    Depth(usize),
    /// For the last command buffer, before every n-th one.
    Every(usize),
}

/// Program of one dispatch per command buffer.
#[derive(Debug, Clone)]
struct Program {
    seed: u64,
    count: usize,
    host_ns: u64,
    encode_ns: u64,
    gpu_ns: u64,
    driver_ns: u64,
    waits: Waits,
    /// Number of command buffers per period, and the period.
    pace: Option<(usize, u64)>,
    /// Number of dispatches per command buffer.
    per_buffer: usize,
    /// Pause before the second command buffer.
    load_ns: u64,
    /// Share by which all times vary.
    noise: f64,
    /// True if the tables of the driver are recorded.
    has_driver: bool,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            seed: 1,
            count: 300,
            host_ns: 20 * US,
            encode_ns: 8 * US,
            gpu_ns: 15 * US,
            driver_ns: 7 * US,
            waits: Waits::Depth(1),
            pace: None,
            per_buffer: 1,
            load_ns: 0,
            noise: 0.15,
            has_driver: true,
        }
    }
}

/// Run of a program.
struct Run {
    tables: Tables,
    /// Time from the first commit to the end of the last GPU work.
    wall_ns: u64,
    busy_ns: u64,
}

/// Random numbers in which a number of a run does not depend on how many were drawn before.
pub(crate) fn random(seed: u64, place: u64, kind: u64) -> f64 {
    let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ place.wrapping_mul(0xbf58_476d_1ce4_e5b9)
        ^ kind.wrapping_mul(0x94d0_49bb_1331_11eb);
    for _ in 0..3 {
        bits ^= bits >> 31;
        bits = bits.wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

impl Program {
    /// Returns a time that varies, of the dispatch or command buffer at this place.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are positive and short"
    )]
    fn time(&self, usual_ns: u64, place: usize, kind: u64) -> u64 {
        let factor = 1.0 + self.noise * (2.0 * random(self.seed, place as u64, kind) - 1.0);
        (usual_ns as f64 * factor) as u64
    }

    fn run(&self) -> Run {
        let mut tables = Tables::default();
        let (mut host, mut driver_free, mut gpu_free) = (100 * MS, 0, 0);
        let (mut completed, mut first_commit, mut busy_ns) = (Vec::new(), None, 0);
        let mut dispatch = 0;
        for buffer in 0..self.count / self.per_buffer {
            if let Some((per_period, period_ns)) = self.pace
                && buffer % per_period == 0
            {
                let tick = 100 * MS + (buffer / per_period) as u64 * period_ns;
                host = host.max(tick + self.time(20 * US, buffer, 9));
            }
            if buffer == 1 {
                host += self.load_ns;
            }
            let awaited = match self.waits {
                Waits::Never => None,
                Waits::Depth(depth) => buffer.checked_sub(depth),
                Waits::Every(n) => buffer.checked_sub(1).filter(|_| buffer % n == 0),
            };
            if let Some(&done_ns) = awaited.and_then(|at| completed.get(at)) {
                host = host.max(done_ns);
            }

            let mut own_gpu = Vec::new();
            let mut encoding = None;
            for _ in 0..self.per_buffer {
                host += self.time(self.host_ns, dispatch, 1);
                encoding.get_or_insert(host);
                host += self.time(self.encode_ns, dispatch, 2);
                own_gpu.push(self.time(self.gpu_ns, dispatch, 3));
                dispatch += 1;
            }
            let encoding = encoding.unwrap();
            let committed = host;
            first_commit.get_or_insert(committed);
            let begins = (committed + self.time(9 * US, buffer, 4)).max(driver_free + 11 * US);
            let submitted = begins + self.time(self.driver_ns, buffer, 5);
            driver_free = submitted + 4 * US;
            let mut at = (submitted + self.time(66 * US, buffer, 6)).max(gpu_free + 700);

            let id = buffer as u64 + 1;
            tables
                .encodings
                .push((1_000_000 + id, encoding, committed - encoding));
            tables.driver.push((id, begins, submitted, driver_free));
            let start = at;
            let work: u64 = own_gpu.iter().sum();
            at += work;
            busy_ns += work;
            tables.intervals.push(Interval {
                start,
                duration: work,
                process: ANALYZED,
                buffer: id,
                encoder: 1_000_000 + id,
                latency: Some(start - committed),
            });
            gpu_free = at;
            let done = at + self.time(63 * US, buffer, 7);
            tables.completions.push((id, done));
            completed.push(done);
        }
        if !self.has_driver {
            tables.driver.clear();
        }
        Run {
            tables,
            wall_ns: gpu_free - first_commit.unwrap(),
            busy_ns,
        }
    }

    fn report(&self) -> Report {
        report_of(&self.run().tables)
    }
}

fn report_of(tables: &Tables) -> Report {
    let folder = metalens_testing::scratch();
    tables.write(folder.path());
    analyzed(folder.path())
}

fn analyzed(folder: &Path) -> Report {
    let request = Request {
        processes: vec!["bench".to_owned()],
        ..Request::default()
    };
    report(folder, None, &request).unwrap()
}

fn ids(report: &Report) -> Vec<&str> {
    report
        .findings
        .iter()
        .map(|finding| finding.id.as_str())
        .collect()
}

fn waits(report: &Report) -> WaitVerdict {
    report.replay.as_ref().unwrap().waiting.verdict
}

/// A program that keeps its buffers in flight and never waits looks as if it waited, if its CPU is
/// slower than the GPU and the latencies together.
#[test]
fn a_program_that_never_waits_is_never_said_to_wait() {
    let (mut after_completion, mut unknown, mut all) = (0, 0, 0);
    let hosts: [u64; 7] = [66, 80, 150, 250, 350, 500, 900];
    for (place, host) in hosts.into_iter().enumerate() {
        for gpu in [6_u64, 8, 40, 60, 100] {
            for has_driver in [true, false] {
                let program = Program {
                    seed: place as u64 * 100 + gpu,
                    host_ns: host * US,
                    gpu_ns: gpu * US,
                    waits: Waits::Never,
                    has_driver,
                    ..Program::default()
                };
                let report = program.report();
                let replay = report.replay.as_ref().unwrap();
                let says = format!(
                    "host {host} gpu {gpu} {has_driver}: {:?} {:?} {:?} {:?}",
                    report.verdict.why,
                    replay.waiting,
                    replay.removals,
                    ids(&report)
                );
                assert_ne!(waits(&report), WaitVerdict::Waits, "{says}");
                assert!(!ids(&report).contains(&"serialized"), "{says}");
                all += 1;
                if waits(&report) == WaitVerdict::Unknown {
                    unknown += 1;
                    continue;
                }
                assert_eq!(report.idle.serialized, 0, "{says}");
                let busy = report.busy.ratio.unwrap().0;
                let is_gpu = report.verdict.bound == Some(Bound::Gpu);
                assert!(!is_gpu || busy > 0.5, "{says}");
                // The CPU sets the speed of all of them that leave the GPU idle.
                let is_cpu = matches!(
                    report.verdict.bound,
                    Some(Bound::CpuHost | Bound::CpuEncoding)
                );
                assert!(busy > 0.85 || is_cpu, "{busy} {says}");
                after_completion += report.replay.unwrap().waiting.pairs;
            }
        }
    }
    assert!(after_completion > 5_000, "{after_completion}");
    assert!(unknown * 2 < all, "{unknown} of {all} are unknown");
}

#[test]
fn a_program_that_waits_is_said_to_wait() {
    for seed in 0..12 {
        for (waits_for, in_flight) in [(Waits::Depth(1), 1), (Waits::Depth(3), 3)] {
            let program = Program {
                seed,
                // Three in flight only hold a fast host up.
                host_ns: (2 + seed % 5) * US,
                waits: waits_for,
                ..Program::default()
            };
            let report = program.report();
            let waiting = report.replay.as_ref().unwrap().waiting.clone();
            assert_eq!(waiting.verdict, WaitVerdict::Waits, "{seed} {waiting:?}");
            assert_eq!(waiting.in_flight, in_flight, "{seed} {waiting:?}");
            let is_serialized = ids(&report).contains(&"serialized");
            assert_eq!(is_serialized, in_flight == 1, "{seed} {:?}", ids(&report));
        }
        let every = Program {
            seed,
            waits: Waits::Every(8),
            ..Program::default()
        };
        assert_eq!(waits(&every.report()), WaitVerdict::Waits, "{seed}");
    }
}

#[test]
fn predictions_come_true_in_the_changed_program() {
    let check =
        |name: &str, before: &Program, after: &Program, predicted: &dyn Fn(&Report) -> u64| {
            let report = before.report();
            let left_ns = predicted(&report);
            let wall_ns = after.run().wall_ns;
            let off = left_ns as f64 / wall_ns as f64 - 1.0;
            assert!(
                off.abs() < 0.1,
                "{name}: {left_ns} ns predicted, {wall_ns} ns true: {off:+.3}"
            );
        };
    use metalens_analyzer::ReplayAction::{NeverWait, TenPerBuffer, TwiceInFlight};
    let left = |action| {
        move |report: &Report| {
            let replay = report.replay.as_ref().unwrap();
            replay.prediction(action).unwrap().left_ns.0
        }
    };
    for seed in 0..4 {
        for (host_ns, gpu_ns) in [
            (5 * US, 6 * US),
            (20 * US, 15 * US),
            (3 * US, 80 * US),
            (120 * US, 30 * US),
        ] {
            let waiting = Program {
                seed,
                host_ns,
                gpu_ns,
                ..Program::default()
            };
            let with = |waits, per_buffer| Program {
                waits,
                per_buffer,
                ..waiting.clone()
            };
            let name = format!("{seed}, host {host_ns} ns, GPU {gpu_ns} ns");
            let two = with(Waits::Depth(2), 1);
            check(
                &format!("two in flight, {name}"),
                &waiting,
                &two,
                &left(TwiceInFlight),
            );
            let never = with(Waits::Never, 1);
            check(
                &format!("never wait, {name}"),
                &waiting,
                &never,
                &left(NeverWait),
            );
            let ten = with(Waits::Depth(1), 10);
            check(
                &format!("ten per buffer, {name}"),
                &waiting,
                &ten,
                &left(TenPerBuffer),
            );
        }
    }
}

#[test]
fn gains_keep_their_word() {
    // The gain of the finding is that of its own action, not of another.
    let waiting = Program {
        host_ns: 2 * MS,
        gpu_ns: 200 * US,
        count: 60,
        ..Program::default()
    };
    let report = waiting.report();
    let finding = report
        .findings
        .iter()
        .find(|each| each.id == "host-bound")
        .unwrap();
    let speedup = finding.gain.unwrap().speedup.0;
    assert!(
        speedup < 1.2,
        "{speedup}: overlap hides no more than the GPU's own time"
    );

    let slow = Program {
        host_ns: 350 * US,
        waits: Waits::Never,
        ..Program::default()
    };
    let fast = Program {
        host_ns: 0,
        encode_ns: 0,
        ..slow.clone()
    };
    let report = slow.report();
    let finding = report
        .findings
        .iter()
        .find(|each| each.id == "slow-host")
        .unwrap();
    let saved = slow.run().wall_ns - fast.run().wall_ns;
    let gain = finding.gain.unwrap();
    assert!(
        gain.saves_ns.number() >= 0.98 * saved as f64,
        "{gain:?} {saved}"
    );
    assert!(
        gain.saves_ns.number() <= 1.1 * saved as f64,
        "{gain:?} {saved}"
    );
}

#[test]
fn a_paced_program_has_headroom_and_no_gain() {
    for (per_period, period_ns) in [
        (1, 16_666_667),
        (1, 8_333_333),
        (4, 16_666_667),
        (2, 20 * MS),
    ] {
        let program = Program {
            count: 240,
            gpu_ns: period_ns / 5 / per_period as u64,
            host_ns: 300 * US,
            pace: Some((per_period, period_ns)),
            ..Program::default()
        };
        let report = program.report();
        let says = format!(
            "{per_period} {period_ns} {:?} {:?}",
            report.verdict,
            ids(&report)
        );
        assert_eq!(report.verdict.bound, Some(Bound::Paced), "{says}");
        let main = &report.steps[0];
        let found_ns = main.period_ns.unwrap();
        assert!(
            found_ns.abs_diff(Ns(period_ns)) < Ns(10 * US),
            "{main:?} {says}"
        );
        assert_eq!(
            (main.count, main.missed),
            (240 / per_period as u64, Some(0)),
            "{says}"
        );
        for id in ["serialized", "host-bound", "slow-host", "encoding-bound"] {
            let gain = report.findings.iter().find(|each| each.id == id);
            let gain = gain.and_then(|finding| finding.gain);
            assert!(
                gain.is_none_or(|gain| gain.speedup < Factor(1.05)),
                "{id} {says}"
            );
        }
    }
}

#[test]
fn a_loop_without_a_pace_is_not_paced() {
    for seed in 0..20 {
        for waits in [Waits::Never, Waits::Depth(1)] {
            let program = Program {
                seed,
                host_ns: 16_550 * US,
                count: 120,
                noise: 0.01,
                waits,
                ..Program::default()
            };
            let report = program.report();
            assert!(!report.is_paced(), "{seed} {waits:?}");
            assert_eq!(report.steps[0].count, 120, "{seed} {waits:?}");
        }
    }
}

#[test]
fn one_pause_does_not_decide_the_verdict() {
    let steady = Program::default();
    let loading = Program {
        load_ns: 2_000 * MS,
        ..Program::default()
    };
    let (steady, loading) = (steady.report(), loading.report());
    assert_eq!(steady.judged, None);
    let part = loading.judged.as_ref().unwrap();
    assert!(part.intervals >= 297, "{part:?}");
    assert_eq!(loading.verdict.bound, steady.verdict.bound);
    assert_eq!(ids(&loading), ids(&steady));
    let gain = |report: &Report| {
        let gains = report.findings.iter().filter_map(|finding| finding.gain);
        gains.map(|gain| gain.speedup.0).next().unwrap()
    };
    assert!((gain(&loading) / gain(&steady) - 1.0).abs() < 0.02);
}

/// Sixty random programs: no sentence contradicts the truth.
#[test]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive and short"
)]
fn random_programs_are_told_the_truth() {
    for seed in 0..60_u64 {
        let pick = |kind: u64, low: f64, high: f64| {
            let share = random(seed, 0, 100 + kind);
            (low * (high / low).powf(share)) as u64
        };
        let waits_for = match seed % 4 {
            0 => Waits::Never,
            1 => Waits::Depth(1),
            2 => Waits::Every(4),
            _ => Waits::Depth(1),
        };
        let program = Program {
            seed,
            host_ns: pick(1, 2e3, 4e5),
            encode_ns: pick(2, 2e3, 5e4),
            gpu_ns: pick(3, 3e3, 3e5),
            driver_ns: pick(4, 4e3, 4e4),
            waits: waits_for,
            pace: (seed % 4 == 3).then_some((1, 8_333_333)),
            count: 200,
            has_driver: seed % 3 > 0,
            ..Program::default()
        };
        let run = program.run();
        let report = report_of(&run.tables);
        let says = format!("{program:?}\n{:?}\n{:?}", report.verdict, ids(&report));
        let waits = waits(&report);
        assert!(
            waits_for != Waits::Never || waits != WaitVerdict::Waits,
            "{says}"
        );
        // A program that keeps a pace waits for the next period.
        let waits_each = waits_for == Waits::Depth(1) && program.pace.is_none();
        assert!(!waits_each || waits != WaitVerdict::DoesNotWait, "{says}");
        assert!(
            waits_each || !ids(&report).contains(&"serialized"),
            "{says}"
        );
        assert_eq!(
            report.verdict.bound == Some(Bound::Paced),
            program.pace.is_some(),
            "{says}"
        );

        // What limits, by the truth: the program runs again without that part.
        let wall = |change: &dyn Fn(&mut Program)| {
            let mut changed = program.clone();
            change(&mut changed);
            changed.run().wall_ns as f64 / run.wall_ns as f64
        };
        match report.verdict.bound {
            Some(Bound::Gpu) => assert!(run.busy_ns * 2 > run.wall_ns, "{says}"),
            Some(Bound::CpuHost | Bound::CpuEncoding) => {
                let left = wall(&|program| (program.host_ns, program.encode_ns) = (0, 0));
                assert!(left < 0.9, "{left} {says}");
            }
            Some(Bound::Driver) => {
                let left = wall(&|program| program.driver_ns = 0);
                assert!(left < 0.9, "{left} {says}");
            }
            _ => {}
        }
        // A promise is kept.
        for finding in &report.findings {
            let Some(gain) = finding.gain else { continue };
            let left = match finding.id.as_str() {
                "serialized" => wall(&|program| program.waits = Waits::Depth(2)),
                "slow-host" => wall(&|program| (program.host_ns, program.encode_ns) = (0, 0)),
                _ => continue,
            };
            let off = gain.speedup.0 * left - 1.0;
            assert!(
                off.abs() < 0.1,
                "{}: {gain:?}, true {left}: {off:+.3} {says}",
                finding.id
            );
        }
    }
}

/// A program's own log, of a clock that began long before, gives the figures of a recording: its times
/// are the same.
#[test]
fn a_log_gives_the_figures_of_a_recording() {
    for seed in 1..=24 {
        let program = Program {
            seed,
            waits: match seed % 4 {
                0 => Waits::Depth(1),
                1 => Waits::Never,
                2 => Waits::Every(4),
                _ => Waits::Depth(2),
            },
            per_buffer: if seed % 3 == 0 { 5 } else { 1 },
            has_driver: false,
            ..Program::default()
        };
        let run = program.run();
        let recorded = report_of(&run.tables);
        let logged = report_of_log(&log(&run.tables, &[]));

        assert_eq!(logged.busy.busy_ns, Ns(run.busy_ns), "{program:?}");
        assert_eq!(logged.busy.others_busy_ns, None);
        assert_eq!(logged.machine.others, None);
        assert_eq!(logged.window.span_ns, recorded.window.span_ns);
        assert_eq!(logged.idle.parts, recorded.idle.parts, "{program:?}");
        let lengths = |report: &Report| {
            let latency = &report.latency;
            let lengths = (
                &latency.submission,
                &latency.completion,
                &latency.commit_interval,
            );
            format!(
                "{lengths:?} {:?} {:?}",
                latency.encoding, latency.encoding_busy_ns
            )
        };
        assert_eq!(lengths(&logged), lengths(&recorded));
        assert_eq!(logged.replay, recorded.replay);
        assert_eq!(logged.verdict, recorded.verdict);
        // The tables have no labels, and the log has functions.
        let mut expected = ids(&recorded);
        expected.retain(|id| *id != "unlabeled");
        assert_eq!(ids(&logged), expected);
        assert_eq!(logged.kernels[0].name, "gemm");
        assert_eq!(logged.kernels[0].total_ns, Ns(run.busy_ns));
        let dispatches = program.count as u64;
        assert_eq!(
            logged.kernels[0].dispatches,
            Some(dispatches / program.per_buffer as u64 * 2)
        );
    }
}

/// Recorded waits tell who waits, where the times tell nothing: nothing varies in these programs.
#[test]
fn recorded_waits_tell_who_waits() {
    let check = |waits: Waits, verdict: WaitVerdict, in_flight: u64| {
        let program = Program {
            waits,
            noise: 0.0,
            has_driver: false,
            ..Program::default()
        };
        let tables = program.run().tables;
        // A wait begins at the commit before the next encoding, and blocks until the completion.
        let wait = |buffer: usize, next: usize| {
            let (_, encode, encoding_ns) = tables.encodings[next - 1];
            let start = encode + encoding_ns;
            (
                buffer as u64 + 1,
                start,
                start.max(tables.completions[buffer].1),
            )
        };
        let count = tables.completions.len();
        let mut waited: Vec<(u64, u64, u64)> = match waits {
            Waits::Never => vec![],
            Waits::Depth(depth) => (0..count - depth)
                .map(|buffer| wait(buffer, buffer + depth))
                .collect(),
            Waits::Every(n) => (1..count)
                .filter(|next| next % n == 0)
                .map(|next| wait(next - 1, next))
                .collect(),
        };
        waited.push(wait(count - 1, count));
        let report = report_of_log(&log(&tables, &waited));
        let found = report.replay.unwrap().waiting;
        assert!(found.is_recorded);
        assert_eq!(
            (found.verdict, found.in_flight),
            (verdict, in_flight),
            "{waits:?}"
        );
    };
    check(Waits::Never, WaitVerdict::DoesNotWait, 0);
    check(Waits::Depth(1), WaitVerdict::Waits, 1);
    check(Waits::Depth(2), WaitVerdict::Waits, 2);
    check(Waits::Every(4), WaitVerdict::Waits, 1);
}

/// Returns the command-buffer log of a program, with its waits as (command buffer, start, end).
fn log(tables: &Tables, waits: &[(u64, u64, u64)]) -> String {
    use std::fmt::Write as _;
    const CLOCK: u64 = 987_654_321_000;
    let mut text = r#"{"format":"command-buffer-log/1","program":"bench","pid":1}"#.to_owned();
    for (interval, &(_, encode, encoding_ns)) in tables.intervals.iter().zip(&tables.encodings) {
        let Interval { buffer, start, .. } = *interval;
        let mut completions = tables.completions.iter();
        let (_, completed) = completions.find(|(id, _)| *id == buffer).unwrap();
        write!(
            text,
            "\n{{\"command_buffer\":{buffer},\"encode\":{},\"commit\":{},\"gpu_start\":{},\"gpu_end\":{},\
             \"completed\":{},\"encoders\":[{{\"kind\":\"compute\",\"kernels\":{{\"gemm\":2}}}}]}}",
            CLOCK + encode,
            CLOCK + encode + encoding_ns,
            CLOCK + start,
            CLOCK + interval.end(),
            CLOCK + completed,
        )
        .unwrap();
    }
    for &(buffer, start, end) in waits {
        let (start, end) = (CLOCK + start, CLOCK + end);
        write!(
            text,
            "\n{{\"wait\":{buffer},\"start\":{start},\"end\":{end}}}"
        )
        .unwrap();
    }
    let completed = tables.completions.iter().map(|&(_, at)| at);
    let waited = waits.iter().map(|&(.., end)| end);
    let end = CLOCK + completed.chain(waited).max().unwrap();
    let count = tables.intervals.len();
    text + &format!("\n{{\"end\":{end},\"command_buffers\":{count}}}\n")
}

fn report_of_log(log: &str) -> Report {
    let folder = metalens_testing::scratch();
    let file = folder.path().join("run.jsonl");
    std::fs::write(&file, log).unwrap();
    report(&file, None, &Request::default()).unwrap()
}

/// A log with commits and GPU times alone tells what was not committed, and what was not started.
///
/// ```text
/// commit          0      650      1300
/// GPU               150├──┤400  800├──┤1050
/// idle                      250 ?├150
/// ```
#[test]
fn a_log_of_commits_has_two_halves_of_idle_time() {
    const CLOCK: u64 = 5_000_000_000;
    let header = r#"{"format":"command-buffer-log/1","program":"engine","pid":7}"#;
    let buffers = (1..=100).map(|number: u64| {
        let at = CLOCK + number * 650 * US;
        let (start, end) = (at + 150 * US, at + 400 * US);
        format!(
            r#"{{"command_buffer":{number},"commit":{at},"gpu_start":{start},"gpu_end":{end}}}"#
        )
    });
    let buffers: Vec<String> = buffers.collect();
    let end = CLOCK + 101 * 650 * US;
    let end = format!(r#"{{"end":{end},"command_buffers":100}}"#);
    let report = report_of_log(&format!("{header}\n{}\n{end}\n", buffers.join("\n")));
    let parts = report.idle.parts;
    let expected = (Ns(99 * 250 * US), Ns(99 * 150 * US));
    assert_eq!((parts.unknown_ns, parts.submission_ns), expected);
    assert_eq!(report.idle.total_ns, Ns(99 * 400 * US));

    assert!(report.findings.iter().all(|finding| finding.gain.is_none()));

    // What to do names keys of the log, and no table.
    let texts = serde_json::to_string(&(&report.findings, &report.summary)).unwrap();
    assert!(texts.contains("`encode` and `completed`"), "{texts}");
    for word in ["metal-application", "xctrace", "Record next", "setLabel"] {
        assert!(!texts.contains(word), "{word}: {texts}");
    }
}

/// A game at 60 Hz keeps its pace, also where it names its frames, or numbers them: one frame misses a period.
///
/// ```text
/// phase   ├─frame──┤      ├─frame──┤                  ├─frame──┤
/// GPU      ├──┤├───┤       ├──┤├───┤                   ├──┤├───┤
///         0              16.7           33.3 (missed)  50 ms
/// ```
#[test]
fn frames_with_names_keep_their_pace() {
    const CLOCK: u64 = 5_000_000_000;
    let log = |frame_label: fn(u64) -> String, has_phases: bool| {
        let header = r#"{"format":"command-buffer-log/1","program":"game","pid":7}"#;
        let mut lines = vec![header.to_owned()];
        let mut last = 0;
        for frame in 0..100 {
            let at = CLOCK + (frame + u64::from(frame > 40)) * 1_000_000_000 / 60;
            for (pass, kind) in [(0, "render"), (1, "compute")] {
                let number = 2 * frame + pass + 1;
                let encode = at + pass * 400 * US;
                let (commit, start) = (encode + 300 * US, at + 800 * US + pass * 3_000 * US);
                let (end, label) = (start + 2_900 * US, frame_label(frame));
                lines.push(format!(
                    r#"{{"command_buffer":{number},"encode":{encode},"commit":{commit},"gpu_start":{start},"gpu_end":{end},"completed":{end},"encoders":[{{"kind":"{kind}","label":"{label}"}}]}}"#
                ));
                last = end;
            }
            if has_phases {
                lines.push(format!(r#"{{"phase":"frame","start":{at},"end":{last}}}"#));
            }
        }
        lines.push(format!(r#"{{"end":{last},"command_buffers":200}}"#));
        report_of_log(&lines.join("\n"))
    };
    let one = |_| "Scene".to_owned();
    let numbered = |frame: u64| format!("Frame {frame}");
    for report in [log(one, false), log(one, true), log(numbered, false)] {
        let main = &report.steps[0];
        let is_60_hz = main.period_ns.unwrap().0.abs_diff(16_666_666) < 2_000;
        assert!(is_60_hz, "{:?}", main.period_ns);
        assert_eq!((main.count, main.missed), (100, Some(1)));
        let why = &report.verdict.why.text;
        assert!(why.starts_with("Paced at 60.0 a second"), "{why}");
    }
}
