//! Tests `record` of the fake `xctrace` without misbehavior.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{
    BundleState, RECORD, bundle_state, code, code_of, folder, in_order, output, recording, report,
};
use super::{PATIENCE, size, stderr, stdout, xctrace};
use crate::{signal, until};

/// Stdout has exactly the lines of the real `xctrace`, and stderr is empty.
#[test]
fn a_recording_prints_its_steps() {
    let folder = folder();
    let arguments = recording(&["--time-limit", "5s"], &["/bin/sh", "-c", "exit 0"]);
    let done = output(xctrace(folder.path(), &[], &arguments));
    let expected = "\
Starting recording with the Metal System Trace template. Launching process: sh. Time limit: 5.0 s
Ctrl-C to stop the recording
Target app exited, ending recording...
Recording completed. Saving output file...
Output file saved as: out.trace
";
    assert_eq!((code(&done), stdout(&done)), (0, expected.to_owned()));
    assert_eq!(stderr(&done), "");
    assert_eq!(
        bundle_state(folder.path(), "out.trace"),
        BundleState::Complete
    );
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "only the scenario and the bundle: {left:?}");
}

/// Options and a command; the expected exit code, end reason and recording mode.
type RunCase<'a> = (&'a [&'a str], &'a [&'a str], i32, &'a str, &'a str);

/// The end of the program decides the exit code, and the bundle describes the run.
#[test]
fn the_bundle_describes_the_run() {
    let cases: [RunCase; 4] = [
        (
            &[],
            &["/bin/sh", "-c", "exit 0"],
            0,
            "Target app exited",
            "Deferred",
        ),
        (
            &[],
            &["/bin/sh", "-c", "exit 4"],
            54,
            "Target app exited",
            "Deferred",
        ),
        (
            &["--time-limit", "100ms"],
            &["/bin/sleep", "60"],
            54,
            "Time limit reached",
            "Deferred",
        ),
        (
            &["--window", "7s"],
            &["/bin/sh", "-c", "kill -SEGV $$"],
            54,
            "Target app exited",
            "Windowed (7 seconds)",
        ),
    ];
    for (options, command, exit, reason, mode) in cases {
        let folder = folder();
        let start = Instant::now();
        let done = output(xctrace(folder.path(), &[], &recording(options, command)));
        assert!(start.elapsed().as_secs() < 10, "{command:?}");
        assert_eq!(code(&done), exit, "{command:?}: {}", stderr(&done));
        let report = report(folder.path(), "out.trace");
        assert_eq!(report["run"]["end_reason"], reason);
        assert_eq!(report["run"]["recording_mode"], mode);
        assert_eq!(report["run"]["synthetic"], true);
        assert_eq!(report["process"]["chosen_by"], "launched");
        let name = Path::new(command[0]).file_name().unwrap().to_str().unwrap();
        assert_eq!(report["process"]["name"], name);
        assert_ne!(report["process"]["pid"], 4321);
    }
}

/// The program is killed at the time limit, and the table of contents says so.
#[test]
fn a_launched_program_is_killed_at_the_limit() {
    let folder = folder();
    let command = ["/bin/sh", "-c", "echo $$ > pid; exec sleep 60"];
    let arguments = recording(&["--time-limit", "200ms"], &command);
    assert_eq!(code(&output(xctrace(folder.path(), &[], &arguments))), 54);
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    let alive = Command::new("/bin/sh")
        .args(["-c", &format!("kill -0 {pid}")])
        .stderr(Stdio::null())
        .status();
    assert!(!alive.unwrap().success());
    let toc = ["export", "--input", "out.trace", "--toc"];
    let toc = stdout(&output(xctrace(folder.path(), &[], &toc)));
    let killed = r#"return-exit-status="9""#;
    assert!(
        in_order(
            &toc,
            &[killed, &format!("pid=\"{}\"", pid.trim()), "SIGKILL"]
        ),
        "{toc}"
    );
    assert!(
        toc.contains("<time-limit>200 milliseconds</time-limit>"),
        "{toc}"
    );
}

/// The program gets the environment and stdin, and its stdout is passed on.
#[test]
fn environment_and_standard_streams_are_passed_on() {
    let folder = folder();
    let script = "read line; echo \"$GREETING $line\"";
    let options = [
        "--env",
        "GREETING=hello, a=b",
        "--target-stdin",
        "-",
        "--target-stdout",
        "-",
    ];
    let arguments = recording(&options, &["/bin/sh", "-c", script]);
    let mut command = xctrace(folder.path(), &[], &arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"world\n").unwrap();
    let done = child.wait_with_output().unwrap();
    // The order is open, because the program and the fake write to one stdout.
    let said = stdout(&done);
    assert!(said.contains("hello, a=b world\n"), "{said}");
    assert!(in_order(&said, &["Ctrl-C", "Output file saved"]), "{said}");

    let options = ["--target-stdin", "small.toml", "--target-stdout", "said"];
    let command = ["--launch", "/bin/cat", "--"];
    let arguments = [RECORD, &options, &["--output", "two.trace"], &command].concat();
    assert_eq!(code(&output(xctrace(folder.path(), &[], &arguments))), 0);
    let said = fs::read_to_string(folder.path().join("said")).unwrap();
    assert_eq!(said, super::SMALL);
}

#[test]
fn sigint_saves_and_other_signals_leave_a_stub() {
    for (name, exit, left) in [
        ("INT", 54, BundleState::Complete),
        ("TERM", -15, BundleState::Stub),
        ("KILL", -9, BundleState::Stub),
    ] {
        let folder = folder();
        let said = folder.path().join("said");
        let arguments = recording(&["--time-limit", "1m"], &["/bin/sleep", "3"]);
        let mut command = xctrace(folder.path(), &[], &arguments);
        let mut child = command
            .stdout(File::create(&said).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until(PATIENCE, "it records", || {
            fs::read_to_string(&said).unwrap().contains("Ctrl-C")
        });
        let stub = size(&folder.path().join("out.trace"));
        assert!((50_000..58_000).contains(&stub), "a stub of {stub} bytes");
        signal(child.id(), name);
        let ended = child.wait().unwrap();
        assert_eq!(code_of(ended), exit, "{name}");
        assert_eq!(bundle_state(folder.path(), "out.trace"), left, "{name}");
        let saved = fs::read_to_string(&said)
            .unwrap()
            .contains("Output file saved as: out.trace");
        assert_eq!(saved, left == BundleState::Complete);
    }
}

/// The fake attaches to a process by its pid or its name, and the process goes on.
#[test]
fn a_running_process_can_be_recorded() {
    let folder = folder();
    let program = folder.path().join("a-name-of-its-own");
    std::os::unix::fs::symlink("/bin/sleep", &program).unwrap();
    let mut running = Command::new(&program).arg("20").spawn().unwrap();
    let pid = running.id().to_string();
    for target in [pid.as_str(), "a-name-of-its-own"] {
        let output_to = format!("{target}.trace");
        let options = [
            "--output",
            &output_to,
            "--time-limit",
            "50ms",
            "--attach",
            "1",
            "--attach",
        ];
        let arguments = [RECORD, &options, &[target]].concat();
        let done = output(xctrace(folder.path(), &[], &arguments));
        assert_eq!(code(&done), 0, "{}", stderr(&done));
        let first = format!("Attaching to: a-name-of-its-own ({pid}). Time limit: 50.0 ms\n");
        assert!(in_order(
            &stdout(&done),
            &[&first, "Reached specified time limit"]
        ));
        let report = report(folder.path(), &output_to);
        assert_eq!(report["process"]["chosen_by"], "attached");
        assert_eq!(report["process"]["pid"].to_string(), pid);
    }
    assert!(running.try_wait().unwrap().is_none());
    running.kill().unwrap();
    running.wait().unwrap();
    for (target, exit, text) in [
        (
            pid.as_str(),
            21,
            format!("Cannot find process for provided pid: {pid}\n"),
        ),
        (
            "no-such",
            19,
            "Cannot find process matching name: no-such\n".to_owned(),
        ),
    ] {
        let arguments = [RECORD, &["--output", "no.trace", "--attach", target]].concat();
        let done = output(xctrace(folder.path(), &[], &arguments));
        assert_eq!((code(&done), stderr(&done)), (exit, text));
        assert_eq!(bundle_state(folder.path(), "no.trace"), BundleState::Absent);
    }
}

/// The bundle is saved at the requested path, and no file is overwritten.
#[test]
fn the_bundle_is_saved_at_the_requested_path() {
    let folder = folder();
    let place = folder.path();
    let launch = ["--launch", "--", "/bin/sh", "-c", "exit 0"];
    let into =
        |output_to: &[&str]| output(xctrace(place, &[], &[RECORD, output_to, &launch].concat()));
    for no_bundle in [&["--output", "many"][..], &[]] {
        assert_eq!(code(&into(no_bundle)), 64);
    }
    assert_eq!(code(&into(&["--output", "one.trace"])), 0);
    assert!(place.join("one.trace/form.template").is_file());
    let again = into(&["--output", "one.trace"]);
    assert_eq!(code(&again), 1);
    assert!(stderr(&again).starts_with("Trace file already exists"));
}

/// A template is named by its path, and its switch for the Shader Timeline has an effect.
#[test]
fn a_template_can_be_a_file() {
    let folder = folder();
    let template = folder.path().join("Shaders.tracetemplate");
    let plist = |value| {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\
             <key>shaderprofiler</key><{value}/></dict></plist>\n"
        )
    };
    let refused: &[&str] = &["MISBEHAVE=shader-timeline-refused"];
    for (value, settings, expected) in [
        ("true", [].as_slice(), "Shader Timeline: Enabled"),
        ("false", &[], "Shader Timeline: Disabled"),
        ("true", refused, "Shader Timeline: Disabled"),
    ] {
        fs::write(&template, plist(value)).unwrap();
        let _ = fs::remove_dir_all(folder.path().join("out.trace"));
        let path = [
            "record",
            "--template",
            "Shaders.tracetemplate",
            "--output",
            "out.trace",
        ];
        let arguments = [path.as_slice(), &["--launch", "--", "/bin/sleep", "0"]].concat();
        let done = output(xctrace(folder.path(), settings, &arguments));
        assert_eq!(code(&done), 0, "{}", stderr(&done));
        let toc = ["export", "--input", "out.trace", "--toc"];
        let toc = stdout(&output(xctrace(folder.path(), &[], &toc)));
        assert!(
            in_order(&toc, &["<template-name>Shaders<", expected]),
            "{toc}"
        );
    }
}
