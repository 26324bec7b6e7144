//! Tests `metalens calibrate --simulate`: with real child processes, it compares the counts of
//! issued and found work, and measures no time.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{command, left_in_tmp, metalens, output_with_tmp, stderr, stdout};

fn calibrate(folder: &Path, more: &[&str], misbehavior: &str) -> Output {
    let few = ["calibrate", "--simulate", "--count", "6", "--warm-up", "2"];
    let mut command = command(folder, &[&few, more].concat());
    command.env("METALENS_FAKE_XCTRACE_MISBEHAVE", misbehavior);
    command.env("METALENS_FAKE_XCTRACE_SLOW_MS", "3");
    output_with_tmp(command, folder)
}

#[test]
fn all_issued_work_of_each_workload_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let schema = stdout(&metalens(folder, &["schema", "calibration"]));
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let list = stdout(&metalens(folder, &["workload", "list"]));
    let workloads: Vec<&str> = metalens_workload::workloads()
        .map(metalens_workload::Workload::name)
        .collect();
    assert!(workloads.iter().all(|name| list.contains(name)), "{list}");
    for name in workloads {
        let arguments = ["--workload", name, "--pairs", "1", "--json"];
        let output = calibrate(folder, &arguments, "");
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert!(validator.is_valid(&found), "{found}");
        let counts = &found["counts"];
        assert_eq!(counts["verdict"], "equal", "{counts}");

        // Another process reports what the workload issued.
        let run = [
            "workload",
            "run",
            name,
            "--simulated",
            "--json",
            "--count",
            "6",
            "--warm-up",
            "2",
        ];
        let told: Value = serde_json::from_str(&stdout(&metalens(folder, &run))).unwrap();
        for what in ["command_buffers", "encoders", "dispatches"] {
            let issued = &told["whole"][what];
            assert!(issued.as_u64() > Some(0));
            assert_eq!(
                (&counts[what]["issued"], &counts[what]["found"][0]),
                (issued, issued)
            );
        }
        assert_eq!(found["simulated"], true);
        assert!(found["wall"]["relative"].is_null() && found["gpu"]["relative"].is_null());
        assert_eq!(left_in_tmp(folder), 0);
    }
}

/// The files can be read again, and are not overwritten without --force.
#[test]
fn the_output_folder_has_the_files_of_each_pair() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let output = calibrate(folder, &["--pairs", "2", "-o", "kept"], "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let screen = stdout(&output);
    assert!(screen.starts_with("SIMULATED"), "{screen}");
    assert!(
        screen.contains("each of 2 recordings contains exactly what was issued"),
        "{screen}"
    );
    let said = stderr(&output);
    let order: Vec<&str> = said.lines().collect();
    let expected = [
        "pair 1 of 2: without the recorder",
        "pair 1 of 2: with the recorder",
        "pair 2 of 2: with the recorder",
        "pair 2 of 2: without the recorder",
    ];
    assert_eq!(order, expected);
    let mut files: Vec<_> = fs::read_dir(folder.join("kept"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let of = |pair: u32| {
        [
            "recording.json",
            "report.json",
            "trace",
            "without.work.json",
            "work.json",
        ]
        .map(|ending| format!("pair-{pair}.{ending}"))
    };

    let expected = [
        vec!["calibration.json".to_owned()],
        of(1).into(),
        of(2).into(),
    ]
    .concat();
    assert_eq!(files, expected);
    let written = fs::read_to_string(folder.join("kept/calibration.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["pairs"][1]["bundle"], "pair-2.trace");
    assert_eq!(written["pairs"][1]["first"], "with");
    let again = metalens(folder, &["analyze", "kept/pair-2.trace", "--json"]);
    let report: Value = serde_json::from_str(&stdout(&again)).unwrap();
    let encoders = &written["counts"]["encoders"]["found"][1];
    assert_eq!(&report["counts"]["encoders"], encoders);

    let refused = calibrate(folder, &["--pairs", "1", "-o", "kept"], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains("--force replaces it"),
        "{}",
        stderr(&refused)
    );
    let forced = calibrate(folder, &["--pairs", "1", "-o", "kept", "--force"], "");
    assert_eq!(forced.status.code(), Some(0), "{}", stderr(&forced));
}

/// The error names the pair and the bundle.
#[test]
fn a_recording_without_work_of_the_workload_fails_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let output = calibrate(folder.path(), &["--pairs", "2"], "no-target-rows");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    let said = stderr(&output);
    assert!(
        said.contains("error: pair 1 of 2, with the recorder: "),
        "{said}"
    );
    assert!(said.contains("The recording is kept as"), "{said}");

    // The bundle is in the folder that the message names.
    assert_eq!(left_in_tmp(folder.path()), 1);
}

/// Presses Ctrl-C during a run without and during a run with the recorder.
#[test]
fn an_interrupt_ends_the_calibration_without_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let kept = folder.join("kept");
    for (awaited, saving_ms) in [("pair-1.without.work.json", "500"), ("pair-1.trace", "3")] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_metalens"));
        let child = command
            .args([
                "calibrate",
                "--simulate",
                "--pairs",
                "99",
                "--force",
                "-o",
                "kept",
            ])
            .current_dir(folder)
            .env_clear()
            .env("METALENS_FAKE_XCTRACE_SLOW_MS", saving_ms)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while !kept.join(awaited).exists() {
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "never: {awaited}"
            );
            thread::sleep(Duration::from_millis(2));
        }
        let kill = format!("kill -INT {}", child.id());
        let kill = std::process::Command::new("/bin/sh")
            .args(["-c", &kill])
            .status();
        assert!(kill.unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("interrupted"),
            "{}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
        assert!(!kept.join("calibration.json").exists());
        fs::remove_dir_all(&kept).unwrap();
    }
}

#[test]
fn machines_and_arguments_that_cannot_work_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let output = metalens(folder.path(), &[&["calibrate"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    };

    if !cfg!(target_os = "macos") {
        check(&["-o", "kept"], 3, "a calibration needs a Mac");
        assert!(!folder.path().join("kept").exists());
    }
    check(&["--simulate", "--pairs", "0"], 2, "0 is not from 1 to 99");
    check(&["--simulate", "--workload", "sine"], 1, "sine");
    check(&["--force"], 2, "--output");
}
