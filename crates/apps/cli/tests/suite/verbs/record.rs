//! Tests `metalens record` with the fake `xctrace`, a real process: the messages, the files that
//! are left, and the exit code.

mod cargo;
mod disks;
mod interrupts;
mod misbehavior;
mod names;
mod options;
mod outputs;
mod ownership;
mod probe;
mod program;
mod shader_timeline;
mod transcripts;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::fake_xctrace::{SMALL, with_settings};
use crate::{add_two_runs, signal, stderr, stdout, transcript, until};

/// Time after which a test gives up, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

const METALENS: &str = env!("CARGO_BIN_EXE_metalens");

/// A working folder `here` with a program to record, `./bench`, which is a shell. An `xctrace` is
/// beside that folder.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::of("")
    }

    /// Creates a bench whose `xctrace` runs these shell commands first.
    pub(crate) fn of(before: &str) -> Self {
        let folder = metalens_testing::scratch();
        let bench = Self { folder };
        for name in ["here", "tmp"] {
            fs::create_dir(bench.path(name)).unwrap();
        }
        fs::write(bench.path("small.toml"), SMALL).unwrap();
        metalens_testing::copy_program("/bin/sh", bench.path("here/bench"));
        bench.behave(&format!(
            "{before}\nexec {METALENS} fake-xctrace -- \"$@\"\n"
        ));
        bench
    }

    /// Replaces `xctrace` with a shell script.
    pub(crate) fn behave(&self, script: &str) {
        let top = self.folder.path().display();
        let log = "for word; do printf '%s|' \"$word\"; done >> \"$top/log\"; echo >> \"$top/log\"";
        let script = format!("#!/bin/sh\ntop='{top}'\n{log}\n{script}\n");
        metalens_testing::write_program(self.path("xctrace"), &script);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn here(&self) -> PathBuf {
        self.path("here")
    }

    /// Returns a command of `metalens`, with settings of the fake `xctrace` such as
    /// `MISBEHAVE=silent`.
    pub(crate) fn command<W: AsRef<OsStr>>(&self, settings: &[&str], arguments: &[W]) -> Command {
        let mut command = Command::new(METALENS);
        command.current_dir(self.here()).env_clear().args(arguments);
        command
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", self.path("tmp"))
            .env("METALENS_XCTRACE", self.path("xctrace"))
            .env("METALENS_FAKE_XCTRACE_SCENARIO", self.path("small.toml"))
            .env("METALENS_FAKE_XCTRACE_STATE", self.path("state"))
            .env("METALENS_FAKE_XCTRACE_SLOW_MS", "3");
        with_settings(&mut command, settings);
        command
    }

    pub(crate) fn run<W: AsRef<OsStr>>(&self, settings: &[&str], arguments: &[W]) -> Output {
        self.command(settings, arguments).output().unwrap()
    }

    /// Runs a command that must succeed.
    pub(crate) fn fine<W: AsRef<OsStr>>(&self, settings: &[&str], arguments: &[W]) -> Output {
        let output = self.run(settings, arguments);
        assert!(output.status.success(), "{}", self.seen(&output));
        output
    }

    /// Starts a command, whose output goes to files.
    fn start<W: AsRef<OsStr>>(&self, settings: &[&str], arguments: &[W]) -> Started {
        let file = |name: &str| fs::File::create(self.path(name)).unwrap();
        let mut command = self.command(settings, arguments);
        command.stdout(file("stdout")).stderr(file("stderr"));
        Started {
            child: command.spawn().unwrap(),
            stdout: self.path("stdout"),
            stderr: self.path("stderr"),
        }
    }

    /// Returns the transcript of a run, with placeholders for what differs from run to run.
    pub(crate) fn seen(&self, output: &Output) -> String {
        self.plain(&transcript(output))
    }

    fn plain(&self, text: &str) -> String {
        // On macOS the temporary folder is reached through a link, which the current folder resolves.
        let real = self.folder.path().canonicalize().unwrap();
        let real = real.display().to_string();
        let top = self.folder.path().display().to_string();
        let text = text
            .replace(&real, "<top>")
            .replace(&top, "<top>")
            .replace(METALENS, "<metalens>");
        let lines = text.lines().map(|line| plain_line(line) + "\n");
        lines.collect()
    }

    /// Lists the files in the working folder without the program, and the state of each bundle.
    pub(crate) fn disk(&self) -> String {
        let names = self.names();
        let names = names.iter().filter(|name| *name != "bench");
        let lines = names.map(|name| {
            let what = match Path::new(name).extension() {
                Some(ending) if ending == "trace" => self.what(name),
                _ => "",
            };
            plain_line(&format!("{}{what}", name.display())) + "\n"
        });
        lines.collect()
    }

    fn names(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.here()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    fn what(&self, bundle: &OsStr) -> &'static str {
        let is_saved = self.here().join(bundle).join("form.template").is_file();
        let arguments = [OsStr::new("analyze"), bundle, OsStr::new("--json")];
        let code = self.run(&[], &arguments).status.code();
        match (code, is_saved) {
            (Some(0), true) => ": whole",
            (Some(4), true) => ": saved, without GPU work of the process",
            (Some(4), false) => ": a part of a bundle",
            _ => ": neither whole nor a part",
        }
    }

    /// Returns the report of a complete bundle.
    pub(crate) fn report(&self, bundle: &str) -> Value {
        let output = self.fine(&[], &["analyze", bundle, "--json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(crate) fn json(&self, file: &str) -> Value {
        let text = fs::read_to_string(self.here().join(file)).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Returns the arguments of each call of `xctrace record`, with `|` after each.
    fn asked(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("log")).unwrap();
        let calls = log.lines().filter(|line| line.starts_with("record|"));
        calls
            .map(|line| self.plain(line).trim().to_owned())
            .collect()
    }
}

/// Returns the arguments to record `./bench -c SCRIPT` as `x.trace`.
pub(crate) fn recording<'a>(options: &[&'a str], script: &'a str) -> Vec<&'a str> {
    let start = ["record", "-o", "x.trace"];
    [&start, options, &["--", "./bench", "-c", script]].concat()
}

/// A running command.
struct Started {
    child: std::process::Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Started {
    fn says(&self, text: &str) {
        let said = || fs::read_to_string(&self.stderr).unwrap();
        until(PATIENCE, text, || said().contains(text));
    }

    fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Waits for the end, and returns the output.
    fn end(mut self) -> Output {
        let status = self.child.wait().unwrap();
        let read = |file: &Path| fs::read(file).unwrap();
        Output {
            status,
            stdout: read(&self.stdout),
            stderr: read(&self.stderr),
        }
    }
}

/// Checks all cases, six at a time, because most of the time is spent waiting.
pub(crate) fn each<T: Sync>(all: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some(case) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(case);
                }
            });
        }
    });
}

/// Returns the id of the process that a message names.
fn pid_in(output: &Output) -> u32 {
    let said = stderr(output);
    let (_, rest) = said.split_once("(pid ").unwrap();
    rest.split_once(')').unwrap().0.parse().unwrap()
}

/// Replaces sizes, process ids and random names with placeholders.
fn plain_line(line: &str) -> String {
    let size = "xctrace saves the recording: ";
    if line.starts_with(size) {
        return format!("{size}<size>");
    }
    let line = match line.split_once(" of scratch files") {
        Some((_, rest)) if line.starts_with("note: xctrace left ") => {
            &format!("note: xctrace left <size> of scratch files{rest}")
        }
        _ => line,
    };
    let line = match line
        .strip_prefix("recorded: ")
        .and_then(|_| line.rsplit_once(" ("))
    {
        Some((text, _)) => format!("{text} (<size>)"),
        None => line.to_owned(),
    };

    let line = masked(&line, "pid ", char::is_ascii_digit, "<pid>");
    let line = masked(&line, "(process ", char::is_ascii_digit, "<pid>");
    let line = masked(&line, "--process ", char::is_ascii_digit, "<pid>");
    let line = masked(&line, "kill -9 ", char::is_ascii_digit, "<pid>");
    let line = masked(&line, ".metalens-", char::is_ascii_alphanumeric, "<random>");
    let line = masked(&line, "instruments", char::is_ascii_digit, "<pid>");
    let line = masked(&line, "xrgpu_aps_", char::is_ascii_digit, "<pid>");
    masked(&line, "x-", char::is_ascii_alphanumeric, "<random>")
}

/// Replaces the characters after each mark with a placeholder.
fn masked(text: &str, mark: &str, is_part: fn(&char) -> bool, other: &str) -> String {
    let mut parts = text.split(mark);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| is_part(&letter));
        all.push_str(mark);
        all.push_str(if rest == part { "" } else { other });
        all.push_str(rest);
    }
    all
}
