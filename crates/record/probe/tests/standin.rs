//! Loads the probe into programs that use a stand-in for Metal, and compares its log with what the
//! stand-in did. Needs GCC with Objective-C (Debian: `gobjc`); without it the tests are skipped.
//!
//! What Apple's runtime does in another way than GCC's is not tested here.
#![cfg(target_os = "linux")]
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a panic is the failure report, and a test that cannot run says so"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A stand-in and its client, built in one way.
struct Built {
    folder: TempDir,
    /// Library that must be loaded before all others.
    first: Option<PathBuf>,
}

/// Builds them with more options, or says why that is not possible.
fn build(options: &[&str], first: Option<&str>) -> Option<Built> {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standin");
    let compile = |arguments: &[&str]| {
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=gnu11", "-g", "-O1", "-w", "-fobjc-exceptions"])
            .args(options);
        gcc.args(arguments).current_dir(folder.path());
        gcc.output().ok().filter(|output| output.status.success())
    };
    let (metal, client) = (sources.join("metal.m"), sources.join("client.m"));
    let libraries = ["-lobjc", "-lpthread", "-ldl"];
    let of_metal = [
        "-shared",
        "-fPIC",
        "-o",
        "libMetal.so",
        metal.to_str().unwrap(),
    ];
    let of_client = [
        "-o",
        "client",
        client.to_str().unwrap(),
        "-L.",
        "-lMetal",
        "-Wl,-rpath,$ORIGIN",
    ];
    let launcher = sources.join("launcher.c");
    let of_launcher = ["-o", "launcher", launcher.to_str().unwrap()];
    if compile(&[&of_metal[..], &libraries].concat()).is_none() {
        skip("gcc compiles no Objective-C here; Debian has it in the package gobjc");
        return None;
    }
    // A mistake in them must not skip all tests.
    assert!(
        compile(&of_launcher).is_some(),
        "launcher.c does not compile"
    );
    let client = compile(&[&of_client[..], &libraries].concat());
    assert!(client.is_some(), "client.m does not compile");

    let first = first.map(|name| {
        let gcc = Command::new("gcc")
            .arg(format!("-print-file-name={name}"))
            .output()
            .unwrap();
        PathBuf::from(String::from_utf8(gcc.stdout).unwrap().trim())
    });
    Some(Built { folder, first })
}

/// Says that a test is skipped.
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

fn plain() -> Option<&'static Built> {
    static BUILT: OnceLock<Option<Built>> = OnceLock::new();
    BUILT.get_or_init(|| build(&[], None)).as_ref()
}

/// What a run left behind.
struct Run {
    status: ExitStatus,
    stderr: String,
    /// Calls that the stand-in got from each thread of the client.
    calls: BTreeMap<String, Vec<String>>,
    /// What the stand-in's GPU did, in order.
    truth: Vec<Truth>,
    /// Kinds of the marks that the probe left in the programs that it was loaded into.
    marks: Vec<String>,
    /// Objects of the log, if there is one.
    log: Vec<Value>,
}

#[derive(Debug, PartialEq)]
struct Truth {
    before: u64,
    inside: u64,
    gpu: (u64, u64),
    is_error: bool,
    encoders: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq)]
enum Probe {
    Absent,
    Logs,
    Labels,
    Idle,
}

impl Built {
    fn run(&self, way: &str, probe: Probe, environment: &[(&str, &str)]) -> Run {
        self.launch(&[], way, probe, environment)
    }

    /// Runs the client through a launcher, whose arguments come before those of the client.
    fn launch(
        &self,
        launcher: &[&str],
        way: &str,
        probe: Probe,
        environment: &[(&str, &str)],
    ) -> Run {
        let files = tempfile::tempdir().unwrap();
        let (truth, calls, log) = (
            files.path().join("truth"),
            files.path().join("calls"),
            files.path().join("log.jsonl"),
        );
        let client = self.folder.path().join("client");
        let words = launcher.iter().map(PathBuf::from).chain([client]);
        let words: Vec<PathBuf> = words.collect();
        let mut client = Command::new(&words[0]);
        client
            .args(&words[1..])
            .arg(way)
            .env("METALENS_PROBE_MARKS", files.path())
            .env("STANDIN_TRUTH", &truth)
            .env("STANDIN_CALLS", &calls);
        client
            .env("STANDIN_LOG", &log)
            .envs(environment.iter().copied());
        if probe != Probe::Absent {
            let libraries: Vec<_> = self.first.iter().cloned().chain([library()]).collect();
            client.env("LD_PRELOAD", std::env::join_paths(libraries).unwrap());
        }
        match probe {
            Probe::Logs => drop(client.env("METALENS_PROBE_LOG", &log)),
            Probe::Labels => drop(client.env("METALENS_PROBE_LABELS", "1")),
            Probe::Absent | Probe::Idle => {}
        }
        let output = client.output().unwrap();
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        let mut truth: Vec<Truth> = read(&truth).lines().map(parse_truth).collect();
        truth.sort_by_key(|truth| truth.gpu);
        let mut of_threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in read(&calls).lines() {
            let (thread, call) = line.split_once(' ').unwrap();
            of_threads
                .entry(thread.to_owned())
                .or_default()
                .push(call.to_owned());
        }
        let mut marks: Vec<String> = std::fs::read_dir(files.path())
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter_map(|name| Some(name.split_once('-')?.0.to_owned()))
            .collect();
        marks.sort();
        let log = read(&log);
        assert!(log.is_empty() || log.ends_with('\n'), "a cut line: {log}");
        Run {
            status: output.status,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            calls: of_threads,
            truth,
            marks,
            log: log
                .lines()
                .map(|line| serde_json::from_str(line).expect(line))
                .collect(),
        }
    }
}

/// Returns the path of the library, which Cargo builds beside the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libmetalens_probe.so")
}

/// Reads a line: `before inside gpu_start gpu_end error encoder…`, an encoder as
/// `kind:kernel=count,…#label@gpu_start-gpu_end`.
fn parse_truth(line: &str) -> Truth {
    let mut words = line.splitn(6, ' ');
    let mut word = || words.next().unwrap_or_default();
    let mut number = || word().parse().expect(line);
    let (before, inside, gpu) = (number(), number(), (number(), number()));
    let is_error = word() != "-";
    // Names have spaces: an encoder begins with a kind.
    let kinds = ["compute:", "blit:", "render:"];
    let mut encoders: Vec<String> = Vec::new();
    // A command buffer of Metal 4 may have none.
    for part in word().split(' ').filter(|part| !part.is_empty()) {
        match encoders.last_mut() {
            Some(last) if !kinds.iter().any(|kind| part.starts_with(kind)) => {
                last.push(' ');
                last.push_str(part);
            }
            _ => encoders.push(part.to_owned()),
        }
    }
    let encoders = encoders.iter().map(|encoder| {
        let (kind, rest) = encoder.split_once(':').expect(line);
        let (kernels, label) = rest.split_once('#').unwrap_or((rest, ""));
        let kernels = kernels
            .split(',')
            .filter_map(|kernel| kernel.rsplit_once('='));
        let kernels: BTreeMap<&str, u64> = kernels
            .map(|(name, count)| (name, count.parse().expect(line)))
            .collect();
        json!({"kind": kind, "label": label, "kernels": kernels})
    });
    Truth {
        before,
        inside,
        gpu,
        is_error,
        encoders: encoders.collect(),
    }
}

impl Run {
    fn of_kind(&self, key: &str) -> Vec<&Value> {
        self.log
            .iter()
            .filter(|line| line.get(key).is_some())
            .collect()
    }

    fn notes(&self) -> Vec<&str> {
        self.of_kind("note")
            .iter()
            .map(|line| line["note"].as_str().unwrap())
            .collect()
    }

    fn assert_success(&self) {
        assert!(self.status.success(), "{}: {}", self.status, self.stderr);
        assert_eq!(self.stderr, "");
    }

    /// Compares command buffers of the log with the truth. Returns how many there are.
    fn compare(&self, truth: &[&Truth]) -> usize {
        let mut buffers = self.of_kind("command_buffer");
        buffers.sort_by_key(|buffer| buffer["gpu_start"].as_u64());
        assert_eq!(buffers.len(), truth.len());
        for (buffer, truth) in buffers.iter().zip(truth) {
            let time = |key: &str| buffer[key].as_u64();
            let commit = time("commit").unwrap();
            assert!(
                (truth.before..=truth.inside).contains(&commit),
                "{buffer} {truth:?}"
            );
            assert_eq!(buffer.get("error").is_some(), truth.is_error);
            let gpu = (!truth.is_error).then_some(truth.gpu);
            assert_eq!(time("gpu_start").zip(time("gpu_end")), gpu, "{buffer}");
            assert!(time("encode").unwrap() <= commit);
            assert!(time("scheduled").is_none_or(|scheduled| commit <= scheduled));
            assert!(gpu.is_none_or(|(_, end)| end <= time("completed").unwrap()));
            let encoders = buffer["encoders"]
                .as_array()
                .unwrap()
                .iter()
                .map(|encoder| {
                    assert!(encoder["start"].as_u64() <= encoder["end"].as_u64());
                    let or = |key: &str, value: Value| encoder.get(key).cloned().unwrap_or(value);
                    json!({"kind": encoder["kind"], "label": or("label", json!("")),
                    "kernels": or("kernels", json!({}))})
                });
            assert_eq!(encoders.collect::<Vec<_>>(), truth.encoders);
        }
        buffers.len()
    }

    /// Compares the whole log with the truth, and its end with what is in it.
    fn check_whole_log(&self) -> usize {
        let count = self.compare(&self.truth.iter().collect::<Vec<_>>());
        let header = self.log.first().unwrap();
        assert_eq!(header["format"], "command-buffer-log/1");
        assert_eq!(header["device"], "Stand-in GPU");
        let end = self.log.last().unwrap();
        assert_eq!(end["command_buffers"], count);
        assert_eq!(end.get("lost"), None, "{end}");
        let numbers = self.of_kind("command_buffer").into_iter();
        let mut numbers: Vec<u64> = numbers
            .map(|buffer| buffer["command_buffer"].as_u64().unwrap())
            .collect();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(1..=count as u64), "{numbers:?}");
        for wait in self.of_kind("wait") {
            assert!(numbers.contains(&wait["wait"].as_u64().unwrap()));
            assert!(wait["start"].as_u64() <= wait["end"].as_u64());
        }
        count
    }
}

/// Runs a program with and without the probe: it must make the same calls, and the log must tell
/// the truth.
fn check(built: &Built, way: &str, environment: &[(&str, &str)], expected: usize) -> Run {
    let without = built.run(way, Probe::Absent, environment);
    without.assert_success();
    let with = built.run(way, Probe::Logs, environment);
    with.assert_success();
    assert_eq!(with.calls, without.calls, "{way}");
    eprintln!(
        "{way} {environment:?} {:?} {:?}",
        with.log.last(),
        with.stderr
    );
    assert_eq!(with.check_whole_log(), expected, "{way}");
    with
}

/// Programs that end by themselves, with the number of their command buffers.
const WAYS: [(&str, usize); 8] = [
    ("eager", 20),
    ("batched", 5),
    ("pipelined", 30),
    ("threads", 400),
    ("exception", 40),
    ("metal4", 12),
    ("mixed", 1),
    ("passes", 10),
];

#[test]
fn the_log_is_the_truth_and_the_program_does_the_same() {
    let Some(built) = plain() else { return };
    for (way, expected) in WAYS {
        let run = check(built, way, &[], expected);
        assert_eq!(run.notes(), [""; 0]);
    }
}

#[test]
fn exceptions_of_every_call_reach_the_program() {
    let Some(built) = plain() else { return };
    let without = built.run("throwing", Probe::Absent, &[]);
    without.assert_success();
    let with = built.run("throwing", Probe::Logs, &[]);
    with.assert_success();
    assert_eq!(with.calls, without.calls);
    // What was committed once more after the exception is in the log.
    let end = with.log.last().unwrap();
    assert_eq!(
        (&end["command_buffers"], &end["lost"]),
        (&json!(2), &json!(3)),
        "{end}"
    );
}

#[test]
fn a_layer_of_validation_around_metal_is_counted_once() {
    let Some(built) = plain() else { return };
    for (way, expected) in [
        ("eager", 20),
        ("batched", 5),
        ("pipelined", 30),
        ("threads", 400),
    ] {
        check(built, way, &[("STANDIN_WRAP", "1")], expected);
    }
}

#[test]
fn waits_for_a_shared_event_name_the_command_buffer_that_signals_it() {
    let Some(built) = plain() else { return };
    for environment in [&[][..], &[("STANDIN_WRAP", "1")]] {
        let run = check(built, "events", environment, 100);
        assert_eq!(run.notes(), [""; 0]);
        let waits = run.of_kind("wait");
        let numbers: Vec<u64> = waits
            .iter()
            .map(|wait| wait["wait"].as_u64().unwrap())
            .collect();
        assert!(
            numbers.iter().copied().eq((2..=100).step_by(2)),
            "{numbers:?}"
        );
    }
}

#[test]
fn waits_name_their_command_buffer_and_thread() {
    let Some(built) = plain() else { return };
    let run = built.run("eager", Probe::Logs, &[]);
    let waits = run.of_kind("wait");
    let numbers: Vec<u64> = waits
        .iter()
        .map(|wait| wait["wait"].as_u64().unwrap())
        .collect();
    assert!(numbers.iter().copied().eq(1..=20), "{numbers:?}");
    for buffer in run.of_kind("command_buffer") {
        let wait = waits
            .iter()
            .find(|wait| wait["wait"] == buffer["command_buffer"])
            .unwrap();
        assert_eq!(wait["thread"], buffer["thread"]);
        assert!(wait["end"].as_u64() >= buffer["gpu_end"].as_u64());
    }
}

#[test]
fn an_error_is_written_with_its_text() {
    let Some(built) = plain() else { return };
    let run = check(built, "failing", &[], 2);
    let errors: Vec<&Value> = run
        .log
        .iter()
        .filter_map(|line| line.get("error"))
        .collect();
    assert_eq!(errors, [&json!("out-of-\"memory\"")]);
}

#[test]
fn a_class_with_other_types_is_left_alone_and_named() {
    let Some(built) = plain() else { return };
    let run = check(built, "odd", &[], 20);
    assert_eq!(
        run.notes(),
        [
            "left alone: method commandBuffer of class OddQueue, with types d16@0:8",
            "left alone: class OddQueue has no known method for the role Queue",
        ]
    );
}

#[test]
fn a_forked_child_is_silent_and_inherits_nothing() {
    let Some(built) = plain() else { return };
    // The child fails if it finds a variable of the probe.
    check(built, "fork", &[], 6);
}

#[test]
fn the_log_belongs_to_the_first_program_that_meets_a_device() {
    let Some(built) = plain() else { return };
    let launcher = built.folder.path().join("launcher");
    let launcher = launcher.to_str().unwrap();
    let check = |words: &[&str], marks: &[&str]| {
        let run = built.launch(words, "eager", Probe::Logs, &[]);
        run.assert_success();
        assert_eq!(run.marks, marks, "{words:?}");
        run
    };
    // A program that replaces itself is one process: its second image finds the first one's mark.
    for words in [
        &[launcher, "0"][..],
        &[launcher, "0", launcher, "0"],
        &["/usr/bin/env"],
        &["/bin/sh", "-c", "exec \"$0\" \"$@\""],
    ] {
        assert_eq!(check(words, &["loaded"]).check_whole_log(), 20);
    }
    for words in [&[launcher, "1"][..], &["/usr/bin/timeout", "60"]] {
        assert_eq!(check(words, &["loaded", "loaded"]).check_whole_log(), 20);
    }
    // Of two at once, one has the log, and the other says that it wanted to.
    let run = check(&[launcher, "2"], &["also", "loaded", "loaded", "loaded"]);
    assert_eq!(run.of_kind("command_buffer").len(), 20);
    assert_eq!(run.log.last().unwrap()["command_buffers"], 20);
}

#[test]
fn nothing_that_the_owner_of_the_log_starts_has_the_probe() {
    let Some(built) = plain() else { return };
    // Two of the five command buffers come after an exec that failed.
    assert_eq!(check(built, "replaced", &[], 5).marks, ["loaded"]);
}

#[test]
fn a_program_that_exits_without_waiting_has_an_end() {
    let Some(built) = plain() else { return };
    let run = built.run("exit", Probe::Logs, &[("STANDIN_SLOW", "1")]);
    run.assert_success();
    let end = run.log.last().unwrap();
    let number = |key: &str| end.get(key).map_or(0, |value| value.as_u64().unwrap());
    assert_eq!(number("command_buffers") + number("lost"), 200);
    assert!(number("command_buffers") > 0 && number("lost") > 0, "{end}");
    let written = run.of_kind("command_buffer").len();
    assert_eq!(number("command_buffers"), written as u64);
    run.compare(&run.truth.iter().take(written).collect::<Vec<_>>());
}

#[test]
fn a_program_that_crashes_leaves_whole_lines() {
    let Some(built) = plain() else { return };
    let run = built.run("abort", Probe::Logs, &[]);
    assert!(!run.status.success());
    assert_eq!(run.of_kind("command_buffers").len(), 0, "it has no end");
    let written = run.of_kind("command_buffer").len();
    assert!(written >= 50, "{written}");
    run.compare(&run.truth.iter().take(written).collect::<Vec<_>>());
}

#[test]
fn encoders_without_a_label_get_one_if_asked_for() {
    let Some(built) = plain() else { return };
    let labels = |probe| {
        let run = built.run("labels", probe, &[]);
        run.assert_success();
        assert_eq!(run.log.is_empty(), probe != Probe::Logs);
        let calls = run.calls.into_values().flatten();
        calls
            .filter(|call| call.starts_with("setLabel"))
            .collect::<Vec<_>>()
    };
    assert_eq!(labels(Probe::Absent), ["setLabel mine"]);
    assert_eq!(labels(Probe::Logs), ["setLabel mine"]);
    assert_eq!(labels(Probe::Idle), ["setLabel mine"]);
    assert_eq!(
        labels(Probe::Labels),
        ["setLabel a + b + c + d + 2 more", "setLabel mine"]
    );
}

#[test]
fn a_program_that_starts_the_probe_itself_gets_phases() {
    let Some(built) = plain() else { return };
    let run = built.run("inside", Probe::Idle, &[]);
    run.assert_success();
    // Its pipelines were made before.
    assert_eq!(run.of_kind("command_buffer").len(), 20);
    for buffer in run.of_kind("command_buffer") {
        assert_eq!(
            buffer["encoders"][0]["kernels"],
            json!({"(unknown function)": 1})
        );
    }
    let phases: Vec<&Value> = run
        .of_kind("phase")
        .iter()
        .map(|phase| &phase["phase"])
        .collect();
    assert_eq!(phases, ["inner", "outer"]);
    assert_eq!(
        run.notes(),
        [
            "phase outer ended and had not begun",
            "phase open began and did not end"
        ]
    );
    assert_eq!(run.log.last().unwrap()["command_buffers"], 20);
}

/// The client and the stand-in are instrumented; the probe is not, and its own memory is not
/// looked at. What is: that handlers, blocks and objects of the program are used in order.
fn check_sanitized(option: &str, library: &str, environment: &[(&str, &str)]) {
    let Some(_) = plain() else { return };
    let Some(built) = build(&[option], Some(library)) else {
        return;
    };
    let trial = built.run("eager", Probe::Absent, environment);
    if !trial.status.success() {
        skip(&format!("{option} does not run here: {}", trial.stderr));
        return;
    }
    for (way, expected) in WAYS.into_iter().filter(|(way, _)| *way != "exception") {
        check(&built, way, environment, expected);
    }
    check(
        &built,
        "threads",
        &[environment, &[("STANDIN_WRAP", "1")]].concat(),
        400,
    );
}

#[test]
fn no_address_is_used_wrongly() {
    check_sanitized(
        "-fsanitize=address",
        "libasan.so",
        &[("ASAN_OPTIONS", "detect_leaks=0")],
    );
}

#[test]
fn no_thread_races() {
    // Rust's locks are not seen, so that the probe's own use of memory looks like a race.
    let suppressions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standin/threads.txt");
    // A second, as it waits by default, for threads that run on when a program has ended: no thread does.
    let options = format!("atexit_sleep_ms=50:suppressions={}", suppressions.display());
    check_sanitized(
        "-fsanitize=thread",
        "libtsan.so",
        &[("TSAN_OPTIONS", &options)],
    );
}
