//! Records with the probe: a program on a stand-in for Metal, whose truth is known.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::metalens;

/// A client of the stand-in, in a folder of its own; `None` if this machine compiles no Objective-C.
struct StandIn {
    folder: TempDir,
}

impl StandIn {
    #[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
    fn build() -> Option<Self> {
        let folder = metalens_testing::scratch();
        let sources =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../record/probe/tests/standin");
        let gcc = |arguments: &[&str]| {
            let mut gcc = Command::new("gcc");
            gcc.args(["-std=gnu11", "-O1", "-w", "-fobjc-exceptions"]);
            gcc.args(arguments).args(["-lobjc", "-lpthread", "-ldl"]);
            let output = gcc.current_dir(folder.path()).output();
            output.is_ok_and(|output| output.status.success())
        };
        let (metal, client) = (sources.join("metal.m"), sources.join("client.m"));
        let built = cfg!(target_os = "linux")
            && gcc(&[
                "-shared",
                "-fPIC",
                "-o",
                "libMetal.so",
                metal.to_str().unwrap(),
            ]);
        if !built {
            eprintln!("skipped: gcc compiles no Objective-C here (Debian: gobjc)");
            return None;
        }
        let client = gcc(&[
            "-o",
            "client",
            client.to_str().unwrap(),
            "-L.",
            "-lMetal",
            "-Wl,-rpath,$ORIGIN",
        ]);
        assert!(client, "client.m does not compile");
        Some(Self { folder })
    }

    /// Runs metalens, which is to start the client.
    fn metalens(&self, arguments: &[&str]) -> Output {
        let mut command = crate::command(self.folder.path(), arguments);
        command
            .env("HOME", self.folder.path())
            .env("STANDIN_TRUTH", self.path("truth"))
            .env("STANDIN_CALLS", self.path("calls"));
        command.output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the GPU times of the stand-in, in order.
    fn truth(&self) -> Vec<(u64, u64)> {
        let truth = std::fs::read_to_string(self.path("truth")).unwrap();
        let times = truth.lines().map(|line| {
            let mut words = line.split(' ').skip(2).map(|word| word.parse().unwrap());
            (words.next().unwrap(), words.next().unwrap())
        });
        let mut times: Vec<(u64, u64)> = times.collect();
        times.sort_unstable();
        times
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The report of a program that nobody changed has its kernels by name and by number of dispatches, and
/// the times of the stand-in to the nanosecond.
#[test]
fn a_report_of_the_probe_is_the_truth() {
    let Some(standin) = StandIn::build() else {
        return;
    };
    let arguments = [
        "record-and-analyze",
        "--recorder",
        "probe",
        "--json",
        "-o",
        "out",
        "--",
    ];
    let output = standin.metalens(&[&arguments[..], &["./client", "pipelined"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();

    let truth = standin.truth();
    assert_eq!(truth.len(), 30);
    // One GPU, one command buffer after another.
    let busy: u64 = truth.iter().map(|(start, end)| end - start).sum();
    assert_eq!(report["busy"]["busy_ns"], busy);
    assert_eq!(report["busy"]["others_busy_ns"], Value::Null);
    let span = truth.last().unwrap().1 - truth[0].0;
    assert_eq!(report["window"]["span_ns"], span);
    assert_eq!(report["gaps"]["total_ns"], span - busy);
    assert_eq!(report["run"]["device"]["gpu"], "Stand-in GPU");
    assert_eq!(report["process"]["name"], "client");

    let kernels = report["kernels"].as_array().unwrap();
    let mut found: Vec<(&str, u64, u64)> = kernels
        .iter()
        .map(|kernel| {
            let number = |key: &str| kernel[key].as_u64().unwrap();
            (
                kernel["name"].as_str().unwrap(),
                number("instances"),
                number("dispatches"),
            )
        })
        .collect();
    found.sort_unstable();
    assert_eq!(found, [("gemm", 20, 60), ("softmax", 10, 30)]);
    // It waits for all at the end, and before no encoding.
    let waiting = &report["replay"]["waiting"];
    assert_eq!(
        (&waiting["is_recorded"], &waiting["verdict"]),
        (&true.into(), &"does-not-wait".into())
    );
    assert!(standin.path("out/client.jsonl").is_file());
    assert!(standin.path("out/report.html").is_file());
}

#[test]
fn a_program_that_waits_is_said_to_wait() {
    let Some(standin) = StandIn::build() else {
        return;
    };
    let arguments = [
        "record",
        "--recorder",
        "probe",
        "-o",
        "run.jsonl",
        "--",
        "./client",
        "eager",
    ];
    let output = standin.metalens(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(
        said.contains("recorded: the program ended; saved run.jsonl"),
        "{said}"
    );
    assert!(said.contains("next: metalens analyze run.jsonl"), "{said}");

    let report = standin.metalens(&["analyze", "run.jsonl", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let waiting = &report["replay"]["waiting"];
    assert_eq!(waiting["verdict"], "waits");
    assert_eq!(waiting["pairs"], 19);

    // A log that exists stays.
    let again = standin.metalens(&arguments);
    assert!(
        text(&again.stderr).contains("run.jsonl"),
        "{}",
        text(&again.stderr)
    );
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(standin.truth().len(), 20);
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let Some(standin) = StandIn::build() else {
        return;
    };
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let output = standin.metalens(&[&["record", "--recorder"], arguments].concat());
        let said = text(&output.stderr);
        assert!(said.contains(expected), "{said}");
        assert_eq!(output.status.code(), Some(code), "{said}");
        let left = std::fs::read_dir(standin.folder.path()).unwrap();
        let left = left.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            let name = name.to_string_lossy().into_owned();
            name.ends_with(".jsonl") || name.starts_with(".metalens")
        });
        assert_eq!(left.count(), 0, "{said}");
    };
    check(
        &["probe", "--", "/bin/true"],
        4,
        "the probe was loaded into true, and no Metal command buffer was committed there",
    );
    check(
        &["probe", "-o", "a.trace", "--", "./client", "eager"],
        2,
        "a.trace does not end in .jsonl",
    );
    check(
        &["probe", "--attach", "7"],
        1,
        "--attach and --all-processes need --recorder xctrace",
    );
    check(
        &["probe", "--simulate"],
        2,
        "--simulate needs --recorder xctrace",
    );
}

#[test]
fn a_program_that_fails_or_never_ends_leaves_its_log() {
    let Some(standin) = StandIn::build() else {
        return;
    };
    let failed = standin.metalens(&[
        "record",
        "--recorder",
        "probe",
        "-o",
        "a.jsonl",
        "--",
        "./client",
        "abort",
    ]);
    let said = text(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the program ended abnormally: signal 6"),
        "{said}"
    );
    let refused = standin.metalens(&["analyze", "a.jsonl"]);
    assert_eq!(refused.status.code(), Some(4), "{}", text(&refused.stderr));
    let report = standin.metalens(&["analyze", "a.jsonl", "--full", "--allow-truncated"]);
    assert!(
        text(&report.stdout).contains("TRUNCATED: a.jsonl is cut off"),
        "{}",
        text(&report.stdout)
    );
}

#[test]
fn programs_are_compared_by_their_logs() {
    let Some(standin) = StandIn::build() else {
        return;
    };
    let arguments = [
        "bench",
        "--recorder",
        "probe",
        "--runs",
        "3",
        "--json",
        "-o",
        "bench",
    ];
    let commands = ["./client eager", "./client pipelined"];
    let output = standin.metalens(&[&arguments[..], &commands].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let bench: Value = serde_json::from_slice(&output.stdout).unwrap();
    let variants = bench["variants"].as_array().unwrap();
    let runs = |variant: &Value| variant["runs"].as_array().map_or(0, Vec::len);
    assert_eq!(
        variants.iter().map(runs).collect::<Vec<_>>(),
        [3, 3],
        "{bench}"
    );
    let refused = standin.metalens(&["bench", "--recorder", "both", "./client eager"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

/// The command that runs is shown, and xctrace passes the variables on.
#[test]
fn the_command_is_shown() {
    let Some(standin) = StandIn::build() else {
        return;
    };
    let shown = standin.metalens(&[
        "record",
        "--recorder",
        "probe",
        "--dry-run",
        "--",
        "./client",
        "eager",
    ]);
    let shown = text(&shown.stdout);
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(
        words[0].starts_with("LD_PRELOAD=") && words[0].contains("/metalens/probe-"),
        "{shown}"
    );
    assert_eq!(words[1], "METALENS_PROBE_LOG=client.jsonl");
    assert_eq!(words[3], "eager");
    let nothing = metalens(
        standin.folder.path(),
        &["record", "--recorder", "none", "--", "true"],
    );
    assert_eq!(nothing.status.code(), Some(2));
}
