//! Kills commands with SIGKILL at every stage. A file with an output's name must have the bytes of
//! an undisturbed run, and the next run must succeed.
//!
//! Each command runs once to measure how long it takes, then it is killed after one Nth of that,
//! two Nths, and so on. `METALENS_KILLS=N` sets N, as `scripts/torture` does.

#![expect(
    clippy::print_stdout,
    reason = "where the runs were broken off; seen with --nocapture"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::verbs::analyze::folder::files_of;
use crate::verbs::{export, record};
use crate::{add_two_runs, with_scenario};

/// Bytes of files by their path.
type Files = BTreeMap<String, Vec<u8>>;

/// A command to kill, and the folder that it runs in.
struct Case<'a> {
    name: &'a str,
    folder: &'a Path,
    /// The output file or folder.
    out: &'a str,
    command: &'a dyn Fn(&[&str]) -> Command,
    /// Further arguments of the run after a kill.
    again: &'a [&'a str],
    /// Returns whether a file grows with the work: it is complete at any time, but not final.
    grows: fn(&str) -> bool,
    /// A check of the result after the next run.
    then: &'a dyn Fn(),
}

/// Numbers of runs by what the kill did.
#[derive(Debug, Default)]
struct Outcomes {
    killed: usize,
    /// Killed runs that had written some of the output.
    some_output: usize,
    /// Runs after a kill that left temporary files of the killed one.
    litter_left: usize,
}

fn kills() -> u32 {
    let kills = std::env::var("METALENS_KILLS").ok();
    kills.map_or(5, |kills| kills.parse().unwrap())
}

/// Returns whether a path is of a temporary file, by its name.
fn is_temporary(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with(".metalens-"))
}

impl Case<'_> {
    /// Returns the files with an output's name, and the number of temporary files.
    fn found(&self) -> (Files, usize) {
        let out = self.folder.join(self.out);
        let files = match (out.is_dir(), fs::read(&out)) {
            (true, _) => files_of(&out),
            (false, Ok(bytes)) => Files::from([(self.out.to_owned(), bytes)]),
            (false, Err(_)) => Files::new(),
        };
        let (litter, files): (Files, Files) =
            files.into_iter().partition(|(path, _)| is_temporary(path));
        (files, litter.len())
    }

    fn clear(&self) {
        let out = self.folder.join(self.out);
        if out.is_dir() {
            fs::remove_dir_all(out).unwrap();
        } else {
            drop(fs::remove_file(out));
        }
    }

    /// Runs the command to its end, and returns how long that took.
    fn undisturbed(&self, more: &[&str]) -> Duration {
        let start = Instant::now();
        let output = (self.command)(more).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {message}", self.name);
        start.elapsed()
    }

    /// Kills the command after `delay`. Returns whether it had not ended before.
    fn killed_after(&self, delay: Duration) -> bool {
        let mut command = (self.command)(&[]);
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::sleep(delay);
        drop(child.kill());
        !child.wait().unwrap().success()
    }

    /// Kills the command at each stage, and checks what is left and what the next run makes of it.
    fn sweep(&self) -> Outcomes {
        self.undisturbed(&[]);
        let (expected, _) = self.found();
        assert!(!expected.is_empty(), "{}", self.name);

        self.clear();
        let life = self.undisturbed(&[]);
        let mut outcomes = Outcomes::default();
        for part in 0..kills() {
            self.clear();
            let delay = life * part / kills();
            let is_killed = self.killed_after(delay);
            outcomes.killed += usize::from(is_killed);
            let at = format!("{} killed after {delay:?} of {life:?}", self.name);

            let (found, _) = self.found();
            for (path, bytes) in &found {
                let is_same = expected.get(path) == Some(bytes);
                let is_json = || serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
                let grows = (self.grows)(path) && (!path.ends_with("json") || is_json());
                assert!(is_same || grows, "{at}: {path} is incomplete");
            }
            if !is_killed {
                assert_eq!(found.len(), expected.len(), "{at}");
            }
            outcomes.some_output += usize::from(!found.is_empty());

            self.undisturbed(self.again);
            let (after, litter) = self.found();
            let names = |files: &Files| files.keys().cloned().collect::<Vec<String>>();
            assert_eq!(names(&after), names(&expected), "{at}, and run again");
            for (path, bytes) in &after {
                assert!(
                    expected[path] == *bytes,
                    "{at}, and run again: {path} differs"
                );
            }
            outcomes.litter_left += usize::from(litter > 0);
            (self.then)();
        }
        self.clear();
        println!("{}: {life:?}, {outcomes:?}", self.name);
        assert!(outcomes.killed > 0, "{}: {outcomes:?}", self.name);
        outcomes
    }
}

#[test]
fn killed_analyze_chart_and_baseline_leave_complete_files() {
    let folder = with_scenario("eager");
    add_two_runs(folder.path(), "eager");
    let cases: [(&[&str], &str); 4] = [
        (&["analyze", "-q", "eager", "-o", "out"], "out"),
        (
            &["analyze", "-q", "eager", "--html", "out.html"],
            "out.html",
        ),
        (&["chart", "-q", "eager", "-o", "out.png"], "out.png"),
        (
            &[
                "baseline", "save", "-q", "eager", "eager2", "eager3", "-o", "out.json",
            ],
            "out.json",
        ),
    ];
    for (arguments, out) in cases {
        let command = |more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_metalens"));
            command.current_dir(folder.path()).env_clear();
            command.args(arguments).args(more);
            command
        };
        let case = Case {
            name: arguments[0],
            folder: folder.path(),
            out,
            command: &command,
            again: &["--force"],
            grows: |_| false,
            then: &|| {},
        };
        let outcomes = case.sweep();
        assert_eq!(outcomes.litter_left, 0, "{outcomes:?}");

        // The next run also removed the temporary files beside an output file.
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        let is_input = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("eager");
        assert!(left.iter().all(is_input), "{left:?}");
    }
}

#[test]
fn a_killed_batch_leaves_complete_reports() {
    let folder = crate::verbs::batch::traces(2);
    let command = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metalens"));
        command.current_dir(folder.path()).env_clear();
        command
            .args(["batch", "-q", "runs", "-o", "out"])
            .args(more);
        command
    };

    let case = Case {
        name: "batch",
        folder: folder.path(),
        out: "out",
        command: &command,
        again: &[],
        // A batch writes its state of a report, and the index, more than once.
        grows: |path| path.ends_with("batch.json") || path.starts_with("index."),
        then: &|| {},
    };

    let outcomes = case.sweep();
    assert_eq!(outcomes.litter_left, 0, "{outcomes:?}");
}

/// xctrace goes on writing after metalens is killed, but never under the name of an output.
#[test]
fn a_killed_export_leaves_complete_tables() {
    let bench = export::Bench::new("sleep 0.02");
    let command = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metalens"));
        command.current_dir(bench.folder.path()).env_clear();
        command.env("METALENS_XCTRACE", bench.path("xctrace"));
        command.args(["export", "-q", "run.trace"]).args(more);
        command
    };

    let case = Case {
        name: "export",
        folder: bench.folder.path(),
        out: "run.export",
        command: &command,
        again: &[],
        // The manifest is written after each table.
        grows: |path| path == "export.json",
        // Files that the killed run left are not read.
        then: &|| {
            let report = bench.report(&["analyze", "run.export", "--json"]);
            assert_eq!(report["counts"]["intervals"], 48);
        },
    };

    let _ = case.sweep();
}

/// A recording has a date, so two runs never have the same bytes: a bundle is complete or absent.
#[test]
fn a_killed_recording_is_complete_or_absent() {
    let bench = record::Bench::new();
    let arguments = record::recording(&[], "exit 0");
    let run = |delay: Option<Duration>| {
        let mut command = bench.command(&[], &arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        if let Some(delay) = delay {
            thread::sleep(delay);
            drop(child.kill());
        }
        child.wait().unwrap().success()
    };

    let clear = || {
        for name in ["x.trace", "x.recording.json", "x.work.json"] {
            let path = bench.here().join(name);
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                drop(fs::remove_file(path));
            }
        }
    };

    let began = Instant::now();
    assert!(run(None));
    let life = began.elapsed();
    let names = |trace: &Path| {
        let mut names: Vec<String> = files_of(trace).into_keys().collect();
        names.sort();
        names
    };

    let trace = bench.here().join("x.trace");
    let whole = names(&trace);
    let (mut broken_off, mut there) = (0, 0);
    for part in 0..kills() {
        clear();
        let delay = life * part / kills();
        broken_off += u32::from(!run(Some(delay)));
        let at = format!("killed after {delay:?} of {life:?}");
        if trace.exists() {
            assert_eq!(names(&trace), whole, "{at}");
            there += 1;
            clear();
        }
        let provenance = fs::read(bench.here().join("x.recording.json"));
        let is_whole = |text: Vec<u8>| serde_json::from_slice::<serde_json::Value>(&text).is_ok();
        assert!(provenance.map_or(true, is_whole), "{at}");
        clear();
        assert!(run(None), "{at}, and run again");
        assert_eq!(names(&trace), whole, "{at}, and run again");
        let known = ["bench", "x.trace", "x.recording.json", "x.work.json"];
        for entry in fs::read_dir(bench.here()).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_known = known.contains(&name.as_str()) || name.starts_with(".metalens-");
            assert!(is_known, "{at}: {name}");
        }
    }
    println!("record: {life:?}, {broken_off} broken off, {there} whole");
    assert!(broken_off > 0);
}
