//! Tests the program from outside: arguments in; screens, files and exit codes out.
#![expect(
    clippy::unwrap_used,
    reason = "a panic is the failure report, in the helpers too"
)]

mod docs;
mod robustness;
mod verbs;

use std::path::Path;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use tempfile::TempDir;

/// Runs `metalens` with these arguments in a folder.
fn metalens(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("metalens").unwrap();
    command.current_dir(folder).env_clear().args(arguments);
    command
}

/// A scenario with three intervals.
const SMALL: &str = r#"
[[process]]
name = "bench"
pid = 4321
role = "target"

[[process.stream]]
count = 3
duration = "10us"
"#;

/// Runs a command whose folder for temporary files is `tmp` in a folder.
#[cfg(unix)]
fn output_with_tmp(mut command: Command, folder: &Path) -> Output {
    std::fs::create_dir_all(folder.join("tmp")).unwrap();
    command.env("TMPDIR", folder.join("tmp")).output().unwrap()
}

/// Returns the number of files that commands left in `tmp`.
#[cfg(unix)]
fn left_in_tmp(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("tmp")).unwrap().count()
}

/// Returns the name of a scenario's export: that of the scenario, or of its file.
fn export_of(scenario: &str) -> String {
    let stem = Path::new(scenario).file_stem().unwrap();
    stem.to_str().unwrap().to_owned()
}

/// Creates a folder with the export of a scenario: a built-in one, or a file.
fn with_scenario(name: &str) -> TempDir {
    let folder = metalens_testing::scratch();
    let export = export_of(name);
    let written = metalens(folder.path(), &["synth", name, "-o", &export]);
    assert!(written.status.success(), "{}", stderr(&written));
    folder
}

/// Sends a signal with `kill`.
#[cfg(unix)]
fn signal(pid: u32, name: &str) {
    let kill = std::process::Command::new("kill")
        .args(["-s", name, &pid.to_string()])
        .status();
    assert!(kill.unwrap().success());
}

/// Waits until a condition is true, and fails if that takes longer than `patience`.
fn until(patience: Duration, what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < patience, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Writes two more runs of a built-in scenario, with other seeds: `eager2` and `eager3`.
fn add_two_runs(folder: &Path, name: &str) {
    let mut scenario = metalens_simulator::Scenario::preset(name).unwrap();
    for run in [2, 3] {
        scenario.seed += 1;
        let run = folder.join(format!("{name}{run}"));
        metalens_simulator::write_export(&scenario, &run, false).unwrap();
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns the exit code, standard output and standard error of a run.
fn transcript(output: &Output) -> String {
    let code = output
        .status
        .code()
        .map_or("killed".to_owned(), |code| code.to_string());
    let section = |name: &str, text: String| {
        if text.is_empty() {
            String::new()
        } else {
            format!("----- {name}\n{text}")
        }
    };

    let out = section("stdout", stdout(output));
    format!("exit {code}\n{out}{}", section("stderr", stderr(output)))
}
