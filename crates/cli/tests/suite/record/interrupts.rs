//! Ctrl-C and its like: stop and save, and what a second one does.

use std::fs;

use super::{Bench, pid_in, recording, signal, until};

const GOES_ON: &str = "recording bench; Ctrl-C stops and saves";

/// However it is asked, it saves.
#[test]
fn once() {
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

/// Nobody waits who does not want to, and what is saved is saved all the same.
#[test]
fn twice() {
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

/// A recorder that is left has nobody to talk to, and must not die of that.
#[test]
fn one_that_is_left_ends_in_peace() {
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
    until("it is saved", || bundle.join("form.template").is_file());
}

#[test]
fn before_it_begins() {
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

/// A bundled workload's own file neither.
#[test]
fn nothing_of_a_workload_is_left() {
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

/// Who is killed cannot clean up. What is half is not where a whole is looked for.
#[test]
fn killed() {
    let bench = Bench::new();
    let started = bench.start(
        &[],
        &recording(&[], "echo $PPID > recorder; exec sleep 600"),
    );
    started.says(GOES_ON);
    let file = bench.here().join("recorder");
    let recorder = || fs::read_to_string(&file).unwrap_or_default();
    until("the program runs", || recorder().ends_with('\n'));
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

    until("the recorder saves", saved);
    assert!(!bench.here().join("x.trace").exists());
}
