//! Tests Ctrl-C and similar signals during a recording.

use std::fs;

use super::{Bench, PATIENCE, pid_in, recording};
use crate::{signal, until};

const GOES_ON: &str = "recording bench; Ctrl-C stops and saves";

#[test]
fn one_signal_stops_and_saves() {
    for name in ["INT", "TERM", "HUP"] {
        let bench = Bench::new();
        let started = bench.start(&[], &recording(&[], "exec sleep 600"));
        started.says(GOES_ON);
        started.signal(name);
        let output = started.end();
        let seen = bench.seen(&output);
        assert_eq!(output.status.code(), Some(0), "{name}: {seen}");
        assert!(seen.contains("recorded: stopped; saved x.trace"), "{seen}");
        assert!(
            seen.contains("note: the program was still running when you stopped it"),
            "{seen}"
        );
        assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");
        assert_eq!(bench.json("x.recording.json")["ended_by"], "interrupt");
    }
}

/// metalens ends at once, and xctrace goes on saving.
#[test]
fn a_second_interrupt_leaves_xctrace_saving() {
    let bench = Bench::new();
    let arguments = recording(&[], "exec sleep 600");
    let started = bench.start(&["MISBEHAVE=saving-hangs"], &arguments);
    started.says(GOES_ON);
    started.signal("INT");
    started.says("xctrace saves the recording");
    started.signal("INT");
    let output = started.end();
    assert_eq!(output.status.code(), Some(130));
    insta::assert_snapshot!(
        "interrupted-twice",
        format!("{}----- disk\n{}", bench.seen(&output), bench.disk())
    );
    signal(pid_in(&output), "KILL");
}

/// The closed output of xctrace must not end it.
#[test]
fn an_xctrace_that_is_left_can_still_save() {
    let bench = Bench::new();
    bench.behave(
        r#"[ $1 = version ] && echo 'xctrace version 26.0 (17C529)' && exit
while [ $# -gt 0 ]; do [ "$1" = --output ] && out=$2; shift; done
saves() {
  echo 'Stopping recording...'
  until [ -e "$top/go" ]; do sleep 0.05; done
  echo 'Recording completed. Saving output file...'
  echo 'a word' >&2
  mkdir "$out"; echo done > "$out/form.template"
  echo 'Output file saved as: x.trace'
  exit 0
}
trap saves INT
echo 'Ctrl-C to stop the recording'
while :; do sleep 0.05; done"#,
    );
    let started = bench.start(&[], &recording(&[], "exec sleep 600"));
    started.says(GOES_ON);
    started.signal("INT");
    started.says("stopping");
    started.signal("INT");
    let output = started.end();
    assert_eq!(output.status.code(), Some(130), "{}", bench.seen(&output));
    fs::write(bench.path("go"), "").unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let (_, bundle) = said.trim().rsplit_once(" at ").unwrap();
    let bundle = std::path::PathBuf::from(bundle);
    until(PATIENCE, "it is saved", || {
        bundle.join("form.template").is_file()
    });
}

#[test]
fn an_interrupt_before_the_start_leaves_nothing() {
    let arguments = recording(&["--start-patience", "5s"], "exit 0");
    for (before, signals) in [("", 1), ("trap '' INT TERM", 2)] {
        let bench = Bench::of(before);
        let started = bench.start(&["MISBEHAVE=hangs-before"], &arguments);
        started.says("xctrace prepares to record");
        started.signal("INT");
        if signals == 2 {
            started.says("stopping");
            started.signal("INT");
        }
        let output = started.end();
        let seen = bench.seen(&output);
        assert_eq!(output.status.code(), Some(130), "{seen}");
        assert!(
            seen.ends_with("error: interrupted before the recording began; nothing was recorded\n"),
            "{seen}"
        );
        assert_eq!(bench.disk(), "");
    }
}

#[test]
fn an_interrupt_before_the_start_leaves_no_work_file() {
    let bench = Bench::new();
    let arguments = [
        "record",
        "--simulate",
        "-o",
        "x.trace",
        "--start-patience",
        "5s",
    ];
    let started = bench.start(&["MISBEHAVE=hangs-before"], &arguments);
    started.says("xctrace prepares to record");
    started.signal("INT");
    started.says("stopping");
    started.signal("INT");
    assert_eq!(started.end().status.code(), Some(130));
    assert_eq!(bench.disk(), "");
}

/// A killed process cannot clean up, so xctrace saves into a temporary folder.
#[test]
fn a_killed_metalens_leaves_no_incomplete_bundle_under_the_requested_name() {
    let bench = Bench::new();
    let started = bench.start(
        &[],
        &recording(&[], "echo $PPID > recorder; exec sleep 600"),
    );
    started.says(GOES_ON);
    let file = bench.here().join("recorder");
    let recorder = || fs::read_to_string(&file).unwrap_or_default();
    until(PATIENCE, "the program runs", || recorder().ends_with('\n'));
    started.signal("KILL");
    let output = started.end();
    assert_eq!(output.status.code(), None);
    let recorder: u32 = recorder().trim().parse().unwrap();
    assert!(!bench.here().join("x.trace").exists());
    signal(recorder, "INT");
    let is_staging = |name: &std::ffi::OsString| name.to_string_lossy().starts_with(".metalens-");
    let staging = bench.names().into_iter().find(is_staging).unwrap();
    let staging = bench.here().join(staging);
    let saved = || {
        let entries = fs::read_dir(&staging).unwrap();
        let mut bundles = entries.map(|entry| entry.unwrap().path().join("open.creq"));
        bundles.any(|file| file.is_file())
    };

    until(PATIENCE, "the recorder saves", saved);
    assert!(!bench.here().join("x.trace").exists());
}
