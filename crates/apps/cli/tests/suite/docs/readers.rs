//! Runs the scripts of three readers from nothing to their answers, on a fake `xctrace`: only the
//! programs that they record are stand-ins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::{stdout, transcript};

/// A program that does nothing on a GPU; the fake `xctrace` says what it did.
const PROGRAM: &str = "#!/bin/sh\necho \"asked: $@\"\n";
/// The fake `xctrace`: each recording has a seed of its own, and the arguments of the program choose
/// what it did.
const XCTRACE: &str = r#"#!/bin/sh
calls=$(($(cat "$TOP/calls" 2>/dev/null || echo 0) + 1))
echo "$calls" >"$TOP/calls"
case "$*" in
*--compile*) scenario=fused ;;
*--read-each-step*) scenario=eager ;;
*candle-chain*) scenario=batched ;;
*) scenario=eager ;;
esac
METALENS_FAKE_XCTRACE_SEED=$calls METALENS_FAKE_XCTRACE_SCENARIO=$scenario exec metalens fake-xctrace -- "$@"
"#;

fn script(reader: &str) -> PathBuf {
    let readers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/docs/readers");
    readers.join(reader)
}

/// Runs a reader's script in a new folder, as the reader would. Returns the folder, too.
fn run(reader: &str, programs: &[&str], arguments: &[&str]) -> (tempfile::TempDir, Output) {
    let folder = metalens_testing::scratch();
    let top = folder.path();
    for program in programs {
        let path = top.join("here").join(program);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        metalens_testing::write_program(&path, PROGRAM);
    }
    fs::create_dir(top.join("tmp")).unwrap();
    metalens_testing::write_program(top.join("xctrace"), XCTRACE);
    metalens_testing::write_program(
        top.join("browser"),
        "#!/bin/sh\ncp \"$1\" \"$TOP/opened\"\n",
    );

    let metalens = assert_cmd::cargo::cargo_bin("metalens");
    let path = format!("{}:/usr/bin:/bin", metalens.parent().unwrap().display());
    let output = Command::new(script(reader))
        .args(arguments)
        .current_dir(top.join("here"))
        .env_clear()
        .env("PATH", path)
        .env("TOP", top)
        .env("TMPDIR", top.join("tmp"))
        .env("BROWSER", top.join("browser"))
        .env("METALENS_XCTRACE", top.join("xctrace"))
        .env("METALENS_FAKE_XCTRACE_SLOW_MS", "3")
        .output()
        .unwrap();
    (folder, output)
}

/// Returns the position of a text that must be there.
fn at(text: &str, wanted: &str) -> usize {
    let found = text.find(wanted);
    assert!(found.is_some(), "no {wanted:?} in:\n{text}");
    found.unwrap()
}

#[test]
fn a_newcomer_learns_why_the_program_is_slow() {
    let (folder, output) = run("newcomer", &["venv/bin/python"], &[]);
    assert!(output.status.success(), "{}", transcript(&output));
    let screen = stdout(&output);
    assert!(at(&screen, "Latency-bound: ") < at(&screen, "Idle time by cause"));
    at(
        &screen,
        "Biggest win: compile or fuse the chain of kernels; at most ",
    );
    // The page is in the browser.
    let page = fs::read_to_string(folder.path().join("opened")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("Biggest win"));
}

#[test]
fn a_kernel_engineer_learns_what_is_faster_and_why() {
    let (folder, output) = run("kernel-engineer", &["venv/bin/python"], &[]);
    assert!(output.status.success(), "{}", transcript(&output));
    let screen = stdout(&output);
    // With what: kernels by their whole names. Why: the causes.
    for wanted in ["rms_norm  Compute", "GPU start latency"] {
        at(&screen, wanted);
    }
    at(&screen, " times as fast as eager ");
    at(&screen, "compiled vs. eager: GPU busy ");
    let result = fs::read(folder.path().join("here/eager-or-compiled/bench.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    assert_eq!(result["standing"]["wins"], true);
    // The truth of the scenarios: the same GPU time, in a quarter of the command buffers.
    let change = |id: &str| {
        let changes = result["pairs"][0]["comparison"]["metrics"].as_array();
        let mut changes = changes.unwrap().iter();
        let found = changes.find(|change| change["id"] == id).unwrap();
        found["relative"].as_f64().unwrap()
    };
    assert!(change("busy.busy_ns").abs() < 0.02);
    assert!((-0.76..-0.74).contains(&change("counts.command_buffers")));
}

#[test]
fn a_ci_engineer_gets_a_failed_job_and_a_comment_that_says_why() {
    let programs = ["target/release/candle-chain"];
    let (folder, output) = run("ci-engineer", &programs, &["--dry-run"]);
    assert_eq!(output.status.code(), Some(5), "{}", transcript(&output));
    let screen = stdout(&output);
    let comment = &screen[at(&screen, "<!-- metalens:benchmark-chain -->")..];
    assert!(at(comment, "Gate failed: ") < at(comment, " times as long as baseline "));
    at(comment, r"window.span\_ns grows by at most 5.0 %");
    assert!(folder.path().join("here/bench/bench.html").is_file());
}
