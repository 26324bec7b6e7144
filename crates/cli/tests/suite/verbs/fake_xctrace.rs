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

/// Nothing here takes longer, or it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// What every recording shows; whoever is recorded takes the target's place.
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

/// The template, and what everybody passes.
const RECORD: &[&str] = &["record", "--template", "Metal System Trace", "--no-prompt"];

/// A folder with a small scenario, in which the fake `xctrace` works.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    folder
}

/// `xctrace`, in that folder, with settings such as `MISBEHAVE=silent`.
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

/// A recording of a command to `out.trace`.
fn recording<'a>(options: &[&'a str], command: &[&'a str]) -> Vec<&'a str> {
    let launch = ["--output", "out.trace", "--launch", "--"];
    [RECORD, options, &launch, command].concat()
}

/// The exit code, or the signal as a negative number.
fn code(output: &Output) -> i32 {
    code_of(output.status)
}

fn code_of(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal();
    signal.map_or_else(|| status.code().unwrap(), |signal| -signal)
}

/// Whether these occur in the text, in this order.
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

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    Nothing,
    /// A bundle that cannot be exported.
    Stub,
    /// A bundle without a row of its target.
    NoTargetRows,
    /// A bundle with rows.
    Whole,
}

/// Returns the bundle as the fake's own export and the native reader see it.
fn disk(folder: &Path, bundle: &str) -> Disk {
    if !folder.join(bundle).exists() {
        return Disk::Nothing;
    }
    let toc = xctrace(folder, &[], &["export", "--input", bundle, "--toc"]);
    let toc = output(toc);
    let analyzed = metalens(folder, &["analyze", bundle, "--json"]);
    let codes = (code(&toc), code(&analyzed));
    let known = [
        ((10, 4), Disk::Stub),
        ((0, 4), Disk::NoTargetRows),
        ((0, 0), Disk::Whole),
    ];
    let found = known.into_iter().find(|(known, _)| *known == codes);
    let shown = || format!("{codes:?}: {}{}", stderr(&toc), stderr(&analyzed));
    found.ok_or_else(shown).unwrap().1
}

/// What a whole bundle says in its report.
fn report(folder: &Path, bundle: &str) -> serde_json::Value {
    let analyzed = metalens(folder, &["analyze", bundle, "--json"]);
    assert_eq!(code(&analyzed), 0, "{}", stderr(&analyzed));
    serde_json::from_str(&stdout(&analyzed)).unwrap()
}

fn output(mut command: Command) -> Output {
    command.output().unwrap()
}

/// The bytes of everything in a folder.
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
