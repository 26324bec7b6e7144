//! Tests the fake `xctrace` as a real child process: arguments and settings in; lines, files,
//! exit codes and signals out.

mod export;
mod misbehavior;
mod record;
mod refusals;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::{metalens, stderr, stdout};

/// Time after which a test regards a command as hanging.
const PATIENCE: Duration = Duration::from_secs(20);

/// Scenario of every recording. The recorded program replaces the process with the role `target`.
pub(crate) const SMALL: &str = r#"
[[process]]
name = "bench"
pid = 4321
role = "target"

[[process.stream]]
count = 3
duration = "10us"

[[process]]
name = "Compositor"
pid = 301

[[process.stream]]
count = 2
duration = "20us"
"#;

/// Arguments that most recordings have in common.
const RECORD: &[&str] = &["record", "--template", "Metal System Trace", "--no-prompt"];

/// Makes a working folder for the fake `xctrace`, with a small scenario.
fn folder() -> TempDir {
    let folder = metalens_testing::scratch();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    folder
}

/// Returns the command of the fake `xctrace` in a folder, with settings such as `MISBEHAVE=silent`.
fn xctrace(folder: &Path, settings: &[&str], arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metalens"));
    command.current_dir(folder).env_clear();
    command.args(["fake-xctrace", "--"]).args(arguments);
    for (name, value) in [
        ("TMPDIR", "."),
        ("METALENS_FAKE_XCTRACE_SCENARIO", "small.toml"),
        ("METALENS_FAKE_XCTRACE_SLOW_MS", "3"),
        ("METALENS_FAKE_XCTRACE_STATE", "state"),
    ] {
        command.env(name, value);
    }
    with_settings(&mut command, settings);
    command
}

/// Gives a command settings of the fake `xctrace`, an empty input, and pipes for its output.
pub(crate) fn with_settings(command: &mut Command, settings: &[&str]) {
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap();
        command.env(format!("METALENS_FAKE_XCTRACE_{name}"), value);
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
}

/// Returns the arguments for recording a command to `out.trace`.
fn recording<'a>(options: &[&'a str], command: &[&'a str]) -> Vec<&'a str> {
    let launch = ["--output", "out.trace", "--launch", "--"];
    [RECORD, options, &launch, command].concat()
}

/// Returns the exit code, or the signal as a negative number.
fn code(output: &Output) -> i32 {
    code_of(output.status)
}

fn code_of(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal();
    signal.map_or_else(|| status.code().unwrap(), |signal| -signal)
}

/// Returns whether the text contains the parts in this order.
fn in_order(text: &str, expected: &[&str]) -> bool {
    let mut rest = text;
    expected.iter().all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// State of the bundle at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BundleState {
    Absent,
    /// The bundle cannot be exported.
    Stub,
    /// The bundle has no rows of the recorded process.
    NoTargetRows,
    /// The bundle has rows of the recorded process.
    Complete,
}

/// Returns the state of a bundle, by the fake's own export and by the native reader.
fn bundle_state(folder: &Path, bundle: &str) -> BundleState {
    if !folder.join(bundle).exists() {
        return BundleState::Absent;
    }
    let toc = xctrace(folder, &[], &["export", "--input", bundle, "--toc"]);
    let toc = output(toc);
    let analyzed = metalens(folder, &["analyze", bundle, "--json"]);
    let codes = (code(&toc), code(&analyzed));
    let known = [
        ((10, 4), BundleState::Stub),
        ((0, 4), BundleState::NoTargetRows),
        ((0, 0), BundleState::Complete),
    ];
    let found = known.into_iter().find(|(known, _)| *known == codes);
    let shown = || format!("{codes:?}: {}{}", stderr(&toc), stderr(&analyzed));
    found.ok_or_else(shown).unwrap().1
}

/// Returns the report of a complete bundle.
fn report(folder: &Path, bundle: &str) -> serde_json::Value {
    let analyzed = metalens(folder, &["analyze", bundle, "--json"]);
    assert_eq!(code(&analyzed), 0, "{}", stderr(&analyzed));
    serde_json::from_str(&stdout(&analyzed)).unwrap()
}

fn output(mut command: Command) -> Output {
    command.output().unwrap()
}

/// Returns the size of all files in a folder, in bytes.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let size_of = |entry: fs::DirEntry| {
        if entry.path().is_dir() {
            size(&entry.path())
        } else {
            entry.metadata().map_or(0, |data| data.len())
        }
    };
    entries.map_while(Result::ok).map(size_of).sum()
}
