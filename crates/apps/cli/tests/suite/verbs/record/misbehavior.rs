//! Tests every misbehavior of `xctrace` that was seen while it records.

use insta::assert_snapshot;
use metalens_simulator::fake_xctrace::Misbehavior;

use super::{Bench, SMALL, each, pid_in, recording};
use crate::{signal, stderr};

/// A misbehavior of the fake `xctrace`, and the arguments of the recording.
#[derive(Clone, Copy)]
struct Case {
    /// Names of misbehaviors, and words that distinguish this case, separated by commas.
    name: &'static str,
    /// Shell commands to run before the fake `xctrace` starts.
    before: &'static str,
    settings: &'static [&'static str],
    options: &'static [&'static str],
    script: &'static str,
}

const PLAIN: Case = Case {
    name: "",
    before: "",
    settings: &[],
    options: &[],
    script: "exit 0",
};

const fn plain(name: &'static str) -> Case {
    Case { name, ..PLAIN }
}

const fn options(name: &'static str, options: &'static [&'static str]) -> Case {
    Case {
        name,
        options,
        ..PLAIN
    }
}

/// Cases of machines that cannot record.
const WITHOUT: &[Case] = &[
    plain("no-xcode"),
    plain("xcrun-72"),
    plain("no-license"),
    plain("no-metal-template"),
];

/// Cases of an xctrace that ends before it records.
const NOT_STARTED: &[Case] = &[
    plain("silent"),
    plain("attach-refused"),
    plain("not-debuggable"),
    plain("restricted"),
    plain("asks-password"),
    plain("sandboxed"),
    plain("template-collision"),
    plain("output-exists"),
    Case {
        name: "kperf-locked, for ever",
        before: "rm -rf \"$top/state\"",
        ..PLAIN
    },
    Case {
        name: "basename-in-cwd, attach-refused",
        ..PLAIN
    },
];

/// Cases of an xctrace that never starts, and may ignore signals.
const HANGING: &[Case] = &[
    options("hangs-before", &["--start-patience", "1s"]),
    Case {
        name: "hangs-before, deaf",
        before: "[ $1 = record ] && trap '' INT TERM",
        options: &["--start-patience", "1s"],
        ..PLAIN
    },
];

/// Cases that still give a complete recording.
const GOOD: &[Case] = &[
    plain("exit-54"),
    plain("kperf-locked"),
    plain("no-instrument"),
    plain("never-says"),
    plain("asks-enter"),
    plain("stderr-only"),
    plain("templates-empty-twice"),
    plain("run-issues"),
    plain("lost-events"),
    plain("counters-unsupported"),
    plain("basename-in-cwd"),
    plain("shader-timeline-refused"),
    plain("other-copy"),
    plain("leaves-scratch"),
    plain("holds-scratch"),
    Case {
        name: "none, killed at the limit",
        options: &["--time-limit", "200ms"],
        script: "exec sleep 600",
        ..PLAIN
    },
];

/// Cases of a complete recording of a program that failed.
const FAILED: &[Case] = &[
    Case {
        name: "propagates-status",
        script: "exit 4",
        ..PLAIN
    },
    Case {
        name: "none, crashed",
        script: "kill -SEGV $$",
        ..PLAIN
    },
];

/// Cases in which another process than the recorded one has the GPU work.
const OF_CHILD: &[Case] = &[plain("child-works")];

/// Cases of a complete bundle without GPU work of the program.
const EMPTY: &[Case] = &[
    plain("no-target-rows"),
    plain("malformed"),
    Case {
        name: "aborts-34ms",
        script: "exec sleep 600",
        ..PLAIN
    },
];

/// Cases of an xctrace that ends while it records or saves.
const CUT_OFF: &[Case] = &[
    Case {
        name: "killed-recording",
        script: "exec sleep 600",
        ..PLAIN
    },
    plain("exit-54-stub"),
    plain("saves-stub"),
    options("saves-stub, of the CPU", &["--template", "Time Profiler"]),
    plain("saving-crashes"),
    plain("saving-139"),
    plain("disk-full"),
    plain("leaves-raw"),
    plain("basename-in-cwd, disk-full"),
];

/// Cases of an xctrace that saves slowly.
const SLOW: &[Case] = &[Case {
    name: "saving-grows",
    settings: &["SLOW_MS=40"],
    options: &["--save-patience", "3s"],
    ..PLAIN
}];

const LEFT_SAVING: &[Case] = &[
    options("saving-hangs", &["--save-patience", "1s"]),
    options("basename-in-cwd, saving-hangs", &["--save-patience", "1s"]),
];

/// Compares the transcript and the files that are left with a snapshot.
fn check(case: &Case) -> (Bench, std::process::Output, String) {
    let bench = Bench::of(case.before);
    let known = |name: &&str| {
        Misbehavior::ALL
            .iter()
            .any(|misbehavior| misbehavior.name() == *name)
    };
    let names: Vec<&str> = case.name.split(", ").filter(known).collect();
    let misbehave = format!("MISBEHAVE={}", names.join(","));
    let settings = [&[misbehave.as_str()], case.settings].concat();
    let output = bench.run(&settings, &recording(case.options, case.script));
    let disk = bench.disk();
    let left = if disk.is_empty() { "nothing\n" } else { &disk };
    let seen = bench.seen(&output);
    // Its place among the lines that are printed about the other stream is open.
    let seen = seen.replacen("\nUnexpected internal error\n", "\n", 1);
    let seen = format!("{seen}----- disk\n{left}");
    let name = case.name.replace(", ", "-").replace(' ', "-");
    assert_snapshot!(format!("record-{name}"), seen, case.name);
    (bench, output, disk)
}

/// Checks that the requested bundle is complete or absent, and that no temporary files are left.
fn check_all(cases: &[Case], code: i32) {
    each(cases, |case| {
        let (_, output, disk) = check(case);
        assert_eq!(output.status.code(), Some(code), "{}", case.name);
        assert!(!disk.contains(".metalens-"), "{}: {disk}", case.name);
        assert!(!disk.contains("work.json"), "{}: {disk}", case.name);
        let expected = if code == 0 {
            "x.recording.json\nx.trace: whole\n"
        } else {
            ""
        };
        let asked: String = disk
            .split_inclusive('\n')
            .filter(|line| !line.contains(".incomplete") && !line.contains(".empty"))
            .collect();
        assert_eq!(asked, expected, "{}", case.name);
    });
}

#[test]
fn without_xcode_or_template_nothing_is_recorded() {
    let (machine, template) = WITHOUT.split_at(3);
    check_all(machine, 3);
    check_all(template, 1);
}

#[test]
fn an_xctrace_that_ends_before_recording_is_an_error() {
    check_all(NOT_STARTED, 1);
}

#[test]
fn an_xctrace_that_never_starts_is_stopped() {
    check_all(HANGING, 1);
}

#[test]
fn harmless_misbehavior_still_gives_a_recording() {
    check_all(GOOD, 0);
}

#[test]
fn a_program_that_fails_is_an_error_with_a_recording() {
    each(FAILED, |case| {
        let (_, output, disk) = check(case);
        assert_eq!(output.status.code(), Some(1), "{}", case.name);
        assert_eq!(disk, "x.recording.json\nx.trace: whole\n", "{}", case.name);
    });
}

#[test]
fn a_recording_without_work_is_kept_as_empty() {
    check_all(EMPTY, 4);
}

#[test]
fn a_recording_that_is_cut_off_is_kept_as_incomplete() {
    check_all(CUT_OFF, 4);
}

#[test]
fn a_slow_save_is_awaited() {
    check_all(SLOW, 0);
}

#[test]
fn an_xctrace_that_saves_is_never_killed() {
    each(LEFT_SAVING, |case| {
        let (bench, output, _) = check(case);
        assert_eq!(output.status.code(), Some(1));

        // This fails if xctrace no longer runs.
        signal(pid_in(&output), "KILL");
        assert!(!bench.here().join("x.trace").exists());
    });
}

/// The recording is complete, and says whose work it has.
#[test]
fn work_of_a_child_is_a_good_recording() {
    each(OF_CHILD, |case| {
        let (_, output, disk) = check(case);
        assert_eq!(output.status.code(), Some(0), "{}", case.name);
        let expected = "x.recording.json\nx.trace: saved, without GPU work of the process\n";
        assert_eq!(disk, expected, "{}", case.name);
    });
}

/// A program that was left is named. The system continues a suspended one whose parent ends, and hangs
/// up on it.
#[test]
fn a_program_that_is_left_is_named() {
    let case = Case {
        name: "leaves-target",
        options: &["--time-limit", "200ms"],
        script: "trap '' HUP; exec sleep 600",
        ..PLAIN
    };
    let (_, output, disk) = check(&case);
    let said = stderr(&output);
    let (_, rest) = said.split_once("kill -9 ").unwrap();
    let pid = rest.split_whitespace().next().unwrap().parse().unwrap();
    // This fails if it no longer exists.
    signal(pid, "KILL");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(disk, "x.recording.json\nx.trace: whole\n");
}

/// A program that hangs in a folder that macOS guards is recorded without work. The warning about the
/// folder comes before, also if all goes well.
#[test]
fn a_program_in_a_guarded_folder_is_warned_of() {
    let record = |misbehavior: &str, script: &str| {
        let bench = Bench::new();
        let guarded = bench.path("home/Documents");
        std::fs::create_dir_all(&guarded).unwrap();
        std::fs::rename(bench.here().join("bench"), guarded.join("bench")).unwrap();
        let start = ["record", "-o", "x.trace", "--time-limit", "300ms"];
        let program = ["--", "../home/Documents/bench", "-c", script];
        let misbehave = format!("MISBEHAVE={misbehavior}");
        let mut command = bench.command(&[&misbehave], &[&start[..], &program].concat());
        let output = command.env("HOME", bench.path("home")).output().unwrap();
        (bench, output)
    };

    let (bench, output) = record("hangs-guarded", "exec sleep 600");
    assert_eq!(output.status.code(), Some(4));
    let seen = format!("{}----- disk\n{}", bench.seen(&output), bench.disk());
    assert_snapshot!("record-hangs-guarded", seen);

    let (bench, output) = record("", "exit 0");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    let warning = "warning: the program is in ~/Documents: macOS may block";
    assert!(said.contains(warning), "{said}");
    assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");

    // A bundled workload can be blocked, too.
    let arguments = [
        "record",
        "-o",
        "../home/Documents/x.trace",
        "--workload",
        "eager",
    ];
    let mut command = bench.command(&[], &arguments);
    let output = command.env("HOME", bench.path("home")).output().unwrap();
    let said = stderr(&output);
    assert!(said.contains("the recording is in ~/Documents"), "{said}");
}

/// Signposts that were not recorded cost nothing but the phases, and `analyze --step` says what to do.
#[test]
fn missing_signposts_are_explained_by_the_analysis() {
    let check = |misbehavior: &str, code: i32, expected: &str| {
        let bench = Bench::new();
        let signpost = "[[process.signpost]]\nname = \"measured\"\nevery = 1\n";
        let (target, others) = SMALL.rsplit_once("\n[[process]]").unwrap();
        let scenario = format!("{target}\n{signpost}\n[[process]]{others}");
        std::fs::write(bench.path("small.toml"), scenario).unwrap();
        let misbehave = format!("MISBEHAVE={misbehavior}");
        bench.fine(&[&misbehave], &recording(&[], "exit 0"));
        assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");

        let output = bench.run(&[], &["analyze", "x.trace", "--step", "measured"]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    };

    check("", 0, "");
    let hint = "record the instrument Points of Interest, which `metalens record` adds";
    check("no-signposts", 4, hint);
}

/// The command that a failed recording names makes a bundle of the raw recording, which stays.
#[test]
fn a_raw_recording_can_be_imported() {
    let bench = Bench::new();
    metalens_testing::write_program(
        bench.here().join("xcrun"),
        "#!/bin/sh\nshift; exec ../xctrace \"$@\"\n",
    );
    let output = bench.run(&["MISBEHAVE=leaves-raw"], &recording(&[], "exit 0"));
    let said = stderr(&output);
    let (_, rest) = said.split_once("xcrun xctrace import ").unwrap();
    let (arguments, _) = rest.split_once("; then").unwrap();
    let mut import = std::process::Command::new("/bin/sh");
    import.args(["-c", &format!("./xcrun xctrace import {arguments}")]);
    let imported = import.current_dir(bench.here()).output().unwrap();
    assert!(imported.status.success(), "{said}{}", stderr(&imported));
    let raw = bench
        .here()
        .join("x.incomplete.trace/Trace1.run/recording.atrc");
    assert!(raw.is_file(), "{said}");
    let report = bench.report("x.incomplete.imported.trace");
    assert_eq!(report["process"]["name"], "bench");
}

/// The report is about the process that did the work.
#[test]
fn work_of_a_child_is_analyzed() {
    let bench = Bench::new();
    let arguments = [
        "record-and-analyze",
        "-o",
        "out",
        "--json",
        "--",
        "./bench",
        "-c",
        "exit 0",
    ];
    let output = bench.fine(&["MISBEHAVE=child-works"], &arguments);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["process"]["name"], "worker");
    let recording = bench.json("out/bench.recording.json");
    assert_eq!(recording["other_work"]["name"], "worker");
    assert_eq!(recording["other_work"]["pid"], report["process"]["pid"]);
}

#[test]
fn another_copy_is_stored() {
    let bench = Bench::new();
    bench.fine(&["MISBEHAVE=other-copy"], &recording(&[], "exit 0"));
    let program = &bench.json("x.recording.json")["program"];
    assert_eq!(program["same"], false);
    assert!(program["asked"].as_str().unwrap().ends_with("/here/bench"));
    assert!(
        program["recorded"]
            .as_str()
            .unwrap()
            .ends_with("/state/bench")
    );

    let bench = Bench::new();
    bench.fine(&[], &recording(&[], "exit 0"));
    assert_eq!(bench.json("x.recording.json")["program"]["same"], true);
}

#[test]
fn a_flood_on_stderr_is_passed_on_completely() {
    let bench = Bench::new();
    let output = bench.fine(&["MISBEHAVE=floods-stderr"], &recording(&[], "exit 0"));
    let flood = output.stderr.iter().filter(|&&byte| byte == b'x').count();
    assert!((9_900_000..9_901_000).contains(&flood), "{flood}");
    assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");
}

#[test]
fn attach_failures_are_explained() {
    let check = |name: &str, whom: &str, code: i32| {
        let bench = Bench::new();
        let own = std::process::id().to_string();
        let whom = if whom == "PID" { own.as_str() } else { whom };
        let settings = format!("MISBEHAVE={name}");
        let start = [
            "record",
            "-o",
            "x.trace",
            "--time-limit",
            "100ms",
            "--attach",
        ];
        let output = bench.run(&[&settings], &[&start[..], &[whom]].concat());
        assert_eq!(output.status.code(), Some(code), "{name}");
        let seen = bench.seen(&output).replace(&own, "<pid>");

        // A message may have the name of the process, which is this test.
        let seen = own_name_masked(&seen);
        assert_snapshot!(
            format!("record-{name}"),
            format!("{seen}----- disk\n{}", bench.disk())
        );
    };

    check("exit-19", "no-such-program", 1);
    check("exit-21", "PID", 1);
    check("no-configuration", "PID", 4);
}

/// Replaces the name of this test's program, which cargo makes up.
fn own_name_masked(text: &str) -> String {
    let own = std::env::current_exe().unwrap();
    let own = own.file_name().unwrap().to_str().unwrap();
    text.replace(own, "<this test>")
}

/// Misbehaviors of `xctrace export`, which `record` never calls.
const EXPORTS: [&str; 8] = [
    "export-crashes",
    "refuses-changed",
    "export-10",
    "export-43",
    "export-flaky",
    "toc-fails",
    "export-trap",
    "export-133",
];

#[test]
fn every_misbehavior_has_a_case() {
    let tables = [
        WITHOUT,
        NOT_STARTED,
        HANGING,
        GOOD,
        FAILED,
        OF_CHILD,
        EMPTY,
        CUT_OFF,
        SLOW,
        LEFT_SAVING,
    ];
    let cases = tables.into_iter().flatten();
    let mut tried: Vec<&str> = cases.flat_map(|case| case.name.split(", ")).collect();
    tried.extend(EXPORTS);
    tried.extend([
        "leaves-target",
        "hangs-guarded",
        "floods-stderr",
        "exit-19",
        "exit-21",
        "no-configuration",
    ]);
    tried.extend(super::super::verify::TRIED);
    for misbehavior in Misbehavior::ALL {
        assert!(
            tried.contains(&misbehavior.name()),
            "{misbehavior} is not tried"
        );
    }
}
