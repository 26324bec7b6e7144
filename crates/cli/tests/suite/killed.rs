//! kill -9 at every stage: whenever a run is killed, what has an output's name is what an
//! undisturbed run writes there, and the next run ends as if nothing had been.
//!
//! Each command is run once to see how long it lives, then killed after one part of that
//! after another. `METALENS_KILLS=N` takes N parts, as `scripts/torture` does.

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

use crate::folder::files_of;
use crate::{add_two_runs, export, record, with_scenario};

/// Held while a batch runs; it stays.
const LOCK: &str = ".metalens.lock";

/// Files by their path.
type Files = BTreeMap<String, Vec<u8>>;

/// A command in a folder.
struct Case<'a> {
    name: &'a str,
    folder: &'a Path,
    /// What it writes, in that folder.
    out: &'a str,
    command: &'a dyn Fn(&[&str]) -> Command,
    /// What it is told when it goes on where another was killed.
    again: &'a [&'a str],
    /// Whether a file grows with the work: it is whole, and not yet what it will be.
    grows: fn(&str) -> bool,
    /// What must be so when another run has ended what one began.
    then: &'a dyn Fn(),
}

/// What came of the kills.
#[derive(Debug, Default)]
struct Outcomes {
    broken_off: usize,
    /// The next run found something there already.
    some_was_there: usize,
    /// Beginnings that the next run left lying there.
    litter_left: usize,
}

fn kills() -> u32 {
    let kills = std::env::var("METALENS_KILLS").ok();
    kills.map_or(5, |kills| kills.parse().unwrap())
}

/// Beginnings have names that say so.
fn is_beginning(path: &str) -> bool {
    let is_one = |part: &str| part.starts_with(".metalens-") || part == LOCK;
    path.split('/').any(is_one)
}

impl Case<'_> {
    /// What has an output's name, and how many beginnings there are besides.
    fn found(&self) -> (Files, usize) {
        let out = self.folder.join(self.out);
        let files = match (out.is_dir(), fs::read(&out)) {
            (true, _) => files_of(&out),
            (false, Ok(bytes)) => Files::from([(self.out.to_owned(), bytes)]),
            (false, Err(_)) => Files::new(),
        };
        let (litter, files): (Files, Files) =
            files.into_iter().partition(|(path, _)| is_beginning(path));
        let litter = litter.keys().filter(|path| !path.ends_with(LOCK)).count();
        (files, litter)
    }

    fn clear(&self) {
        let out = self.folder.join(self.out);
        match out.is_dir() {
            true => fs::remove_dir_all(out).unwrap(),
            false => drop(fs::remove_file(out)),
        }
    }

    /// Runs it to its end; how long that took.
    fn undisturbed(&self, more: &[&str]) -> Duration {
        let began = Instant::now();
        let output = (self.command)(more).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", self.name);
        began.elapsed()
    }

    /// Whether it was killed before it ended.
    fn killed_after(&self, delay: Duration) -> bool {
        let mut command = (self.command)(&[]);
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::sleep(delay);
        drop(child.kill());
        !child.wait().unwrap().success()
    }

    /// Kills it again and again, each time a little later.
    fn sweep(&self) -> Outcomes {
        self.undisturbed(&[]);
        let (whole, _) = self.found();
        assert!(!whole.is_empty(), "{}", self.name);
        self.clear();
        let life = self.undisturbed(&[]);
        let mut outcomes = Outcomes::default();
        for part in 0..kills() {
            self.clear();
            let delay = life * part / kills();
            let is_broken_off = self.killed_after(delay);
            outcomes.broken_off += usize::from(is_broken_off);
            let at = format!("{} killed after {delay:?} of {life:?}", self.name);
            let (found, _) = self.found();
            for (path, bytes) in &found {
                let is_same = whole.get(path) == Some(bytes);
                let is_json = || serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
                let grows = (self.grows)(path) && (!path.ends_with("json") || is_json());
                assert!(is_same || grows, "{at}: {path} is there and is not whole");
            }
            if !is_broken_off {
                assert_eq!(found.len(), whole.len(), "{at}");
            }
            outcomes.some_was_there += usize::from(!found.is_empty());
            self.undisturbed(self.again);
            let (after, litter) = self.found();
            let names = |files: &Files| files.keys().cloned().collect::<Vec<String>>();
            assert_eq!(names(&after), names(&whole), "{at}, and run again");
            for (path, bytes) in &after {
                assert!(whole[path] == *bytes, "{at}, and run again: {path} differs");
            }
            outcomes.litter_left += usize::from(litter > 0);
            (self.then)();
        }
        self.clear();
        println!("{}: {life:?}, {outcomes:?}", self.name);
        assert!(outcomes.broken_off > 0, "{}: {outcomes:?}", self.name);
        outcomes
    }
}

#[test]
fn analyze_and_other_single_writers() {
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

        // Beside a file its beginning is gone, too, with the run that came after.
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        let is_input = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("eager");
        assert!(left.iter().all(is_input), "{left:?}");
    }
}

#[test]
fn a_batch() {
    let folder = crate::batch::traces(2);
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
        // What a batch remembers of a report while it is made says so.
        grows: |path| path.ends_with("batch.json") || path.starts_with("index."),
        then: &|| {},
    };

    let outcomes = case.sweep();
    assert_eq!(outcomes.litter_left, 0, "{outcomes:?}");
}

/// The tool that exports lives on when its caller is killed, and writes on: never under
/// a name that is looked for.
#[test]
fn an_export() {
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
        // The list of what is there.
        grows: |path| path == "export.json",
        // What another left behind is not read.
        then: &|| {
            let report = bench.report(&["analyze", "run.export", "--json"]);
            assert_eq!(report["counts"]["intervals"], 48);
        },
    };

    let _ = case.sweep();
}

/// A recording has a date, so that no two are the same: it is whole, or not there.
#[test]
fn a_recording() {
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
            match path.is_dir() {
                true => fs::remove_dir_all(path).unwrap(),
                false => drop(fs::remove_file(path)),
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
