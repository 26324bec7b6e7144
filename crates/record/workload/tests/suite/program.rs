//! Tests `metalens-workload` end to end: arguments in; screens, files and exit codes out.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::Value;

fn workload(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("metalens-workload").unwrap();
    command.current_dir(folder).env_clear().args(arguments);
    command.output().unwrap()
}

/// Returns all that a user sees of a run, the exit code first.
fn transcript(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let code = output.status.code().unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    format!("exit {code}\n--- stdout\n{out}--- stderr\n{err}")
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn the_list() {
    assert_snapshot!(transcript(&workload(Path::new("."), &["list"])));
}

/// Checks that other systems than macOS get the plan and the reason why it cannot run.
#[cfg(not(target_os = "macos"))]
#[test]
fn the_plan_where_it_cannot_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = workload(folder.path(), &["run", "eager", "-o", "work.json"]);
    let system = match std::env::consts::OS {
        "linux" => "Linux",
        other => other,
    };
    let stderr = String::from_utf8(output.stderr).unwrap();
    output.stderr = stderr
        .replace(&format!("this is {system}"), "this is not macOS")
        .into();
    assert_snapshot!(transcript(&output));
    // No run, so no file about one.
    assert_eq!(files(folder.path()), 0);
    let output = workload(folder.path(), &["run", "matmul", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&document["ran"], &document["simulated"]),
        (&false.into(), &false.into())
    );
}

/// Checks that the program runs on a Mac, or says that the Mac has no GPU.
#[cfg(target_os = "macos")]
#[test]
fn a_mac_runs_the_workload() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--size", "1000", "--count", "5", "--warm-up", "2"];
    let arguments = [&["run", "eager", "-o", "work.json", "--json"], &small[..]].concat();
    let output = workload(folder.path(), &arguments);
    if output.status.code() == Some(3) {
        eprintln!("SKIPPED: {}", transcript(&output));
        return;
    }
    assert!(output.status.success(), "{}", transcript(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["run"]["timings"].as_array().unwrap().len(), 4 * 7);
    let file: Value =
        serde_json::from_slice(&fs::read(folder.path().join("work.json")).unwrap()).unwrap();
    assert_eq!(file["timings"].as_array().unwrap().len(), 4 * 7);
}

#[test]
fn simulated() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run",
        "batched",
        "--simulated",
        "--count",
        "10",
        "-o",
        "work.json",
    ];
    assert_snapshot!(transcript(&workload(folder.path(), &arguments)));
    let text = fs::read_to_string(folder.path().join("work.json")).unwrap();
    assert_snapshot!("simulated_work_json", text);
    assert_eq!(files(folder.path()), 1, "only the requested file");
    let again = workload(folder.path(), &arguments);

    assert_snapshot!("simulated_again", transcript(&again));
    let forced = workload(folder.path(), &[&arguments[..], &["--force"]].concat());

    assert!(forced.status.success());
    let same = workload(
        folder.path(),
        &["run", "batched", "--simulated", "--count", "10", "--json"],
    );
    let document: Value = serde_json::from_slice(&same.stdout).unwrap();
    assert_eq!(document["simulated"], true);
    assert_eq!(document["measured"]["dispatches"], 640);
}

#[test]
fn errors_name_their_cause() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, part) in [
        (&["run", "eeger"][..], 2, "possible values: eager, fused"),
        (
            &["run", "eager", "--size", "0"],
            2,
            "--size must be between 1 and",
        ),
        (&["run", "eager", "--size", "x"], 2, "invalid digit"),
        (&["run", "eager", "--force"], 2, "--output"),
        (
            &["run", "eager", "--capture", "a.gputrace"],
            1,
            "MTL_CAPTURE_ENABLED",
        ),
        (
            &["run", "eager", "--simulated", "-o", "no/work.json"],
            1,
            "cannot write no/work.json",
        ),
        (&[], 2, "Usage"),
    ] {
        let output = workload(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
    }

    assert_eq!(files(folder.path()), 0);
}
