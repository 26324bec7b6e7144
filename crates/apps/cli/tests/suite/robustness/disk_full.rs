//! Tests a full disk, and a process that a signal kills while it writes: a file with an output's
//! name must have the bytes of an undisturbed run.
//!
//! `ulimit -f` simulates the full disk: a write beyond the limit fails if SIGXFSZ is ignored, else
//! that signal kills the process. Each limit stops the run at the same place every time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::verbs::analyze::folder::files_of;
use crate::{add_two_runs, metalens, stderr, with_scenario};

/// A command to run.
struct Case {
    arguments: &'static [&'static str],
    /// True if outputs differ from run to run, because a recording has a date.
    is_dated: bool,
}

const fn case(arguments: &'static [&'static str]) -> Case {
    Case {
        arguments,
        is_dated: false,
    }
}

const CASES: &[Case] = &[
    case(&["analyze", "eager", "-o", "out"]),
    case(&["analyze", "eager", "--html", "out.html"]),
    case(&["analyze", "eager", "--gaps", "out.csv"]),
    case(&["analyze", "eager", "--perfetto", "out.json"]),
    case(&["chart", "eager", "-o", "out.png"]),
    case(&["compare", "eager", "eager", "-o", "out"]),
    case(&[
        "baseline", "save", "eager", "eager2", "eager3", "-o", "out.json",
    ]),
    Case {
        arguments: &["record-and-analyze", "--simulate", "-o", "out"],
        is_dated: true,
    },
];

/// Limits in KiB: no file fits, some small ones fit, some large ones fit.
const LIMITS: [u32; 5] = [0, 2, 24, 60, 250];
/// The limits at which the kernel kills a program that is not told of them. Other kills have a test
/// of their own.
const KILLING_LIMITS: [u32; 2] = [2, 60];

fn limited(folder: &Path, kilobytes: u32, is_told: bool, arguments: &[&str]) -> Output {
    let told = if is_told { "trap '' XFSZ; " } else { "" };
    let script = format!("ulimit -f {kilobytes}; {told}exec \"$0\" -q \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &script]);
    command.arg(assert_cmd::cargo::cargo_bin("metalens"));

    // The fake `xctrace` must find its files where it left them.
    let scratch = folder.join("scratch");
    fs::create_dir_all(&scratch).unwrap();
    let command = command.args(arguments).current_dir(folder).env_clear();
    command.env("TMPDIR", scratch).output().unwrap()
}

/// Returns the files of a folder without inputs and temporary files.
fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = files_of(folder);
    found.retain(|path, _| {
        let is_temporary = path.split('/').any(|part| part.starts_with(".metalens-"));
        let is_input = path.starts_with("eager") || path.starts_with("scratch/");
        !is_temporary && !is_input && !path.contains(".incomplete.trace/")
    });
    found
}

/// Returns whether a file has the end that its format needs.
fn is_complete(path: &str, bytes: &[u8]) -> bool {
    match path.rsplit_once('.') {
        _ if path.contains(".trace/") => true,
        Some((_, "json")) => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
        Some((_, "html")) => bytes.trim_ascii_end().ends_with(b"</html>"),
        Some((_, "png")) => bytes.ends_with(b"IEND\xAE\x42\x60\x82"),
        _ => bytes.ends_with(b"\n"),
    }
}

fn check(case: &Case, whole: &BTreeMap<String, Vec<u8>>, folder: &TempDir, output: &Output) {
    let found = outputs(folder.path());
    let seen = format!(
        "{:?}: {:?} {}",
        case.arguments,
        output.status,
        stderr(output)
    );
    for (path, bytes) in &found {
        let expected = whole.get(path);
        let is_same = expected.is_some_and(|expected| {
            if case.is_dated {
                is_complete(path, bytes)
            } else {
                expected == bytes
            }
        });
        assert!(is_same, "{path} of {seen}");
    }
    let is_bundle_part = |path: &&String| path.contains(".trace/");
    let parts = |all: &BTreeMap<String, Vec<u8>>| all.keys().filter(is_bundle_part).count();
    assert!([0, parts(whole)].contains(&parts(&found)), "{seen}");
    if output.status.success() || found.contains_key("out/manifest.json") {
        let names: Vec<&String> = found.keys().collect();
        assert_eq!(names, whole.keys().collect::<Vec<_>>(), "{seen}");
    }
}

/// Creates a folder with the inputs of a case.
fn inputs(case: &Case) -> TempDir {
    let folder = with_scenario("eager");
    if case.arguments.contains(&"eager2") {
        add_two_runs(folder.path(), "eager");
    }
    folder
}

#[test]
fn outputs_are_complete_or_absent_when_the_disk_is_full() {
    let mut broken_off = 0;
    for case in CASES {
        let folder = inputs(case);
        let written = metalens(folder.path(), case.arguments);
        assert!(written.status.success(), "{}", stderr(&written));
        let whole = outputs(folder.path());
        let told = LIMITS.map(|limit| (limit, true));
        let killed = KILLING_LIMITS.map(|limit| (limit, false));
        for (limit, is_told) in told.into_iter().chain(killed) {
            let folder = inputs(case);
            let output = limited(folder.path(), limit, is_told, case.arguments);
            check(case, &whole, &folder, &output);
            broken_off += usize::from(!output.status.success());
            if is_told && !output.status.success() {
                let said = stderr(&output);
                assert!(
                    said.contains("File too large"),
                    "{:?}: {said}",
                    case.arguments
                );
                assert!(
                    said.contains("cannot write"),
                    "{:?}: {said}",
                    case.arguments
                );
            }
        }
    }
    assert!(broken_off > CASES.len() * 3, "{broken_off}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error() {
    let folder = with_scenario("eager");
    let cases: &[&[&str]] = &[
        &["analyze", "eager"],
        &["analyze", "eager", "--json"],
        &["tables", "eager", "--schema", "metal-gpu-intervals"],
        &["compare", "eager", "eager"],
        &["chart", "eager", "-o", "-"],
        &["schema"],
        &["completions", "bash"],
        &["record", "--workload", "list"],
    ];
    for arguments in cases {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("metalens"));
        let command = command.args(*arguments).current_dir(folder.path());
        let output = command.stdout(full.unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = stderr(&output);
        let expected = "error: cannot write to standard output: No space left on device";
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// A small disk that is removed when this is dropped.
#[cfg(target_os = "linux")]
struct SmallDisk(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A program that prints without end costs neither the disk of the temporary files nor the recording.
#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
fn output_without_end_does_not_fill_the_disk() {
    let bench = crate::verbs::record::Bench::new();
    let disk = SmallDisk(bench.path("tmp"));
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=60m", "metalens"]);
    let mounted = mount.arg(&disk.0).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("skipped: this user cannot mount a small disk");
        return;
    }

    let prints = "while :; do head -c 1000000 /dev/zero; sleep 0.01; done";
    let record = [
        "record",
        "--simulate",
        "--time-limit",
        "3s",
        "-o",
        "x.trace",
    ];
    let program = ["--", "./bench", "-c", prints];
    let output = bench.run(&[], &[&record[..], &program].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stderr(&output);
    let error =
        "error: the program printed more than 1.0 GiB, or than the disk has room for: the rest";
    assert!(said.contains(error), "{said}");
    // What was passed on before that is whole, and the recording is complete.
    let count = output.stdout.len();
    assert!((10_000_000..60_000_000).contains(&count), "{count}");
    assert!(output.stdout.iter().all(|byte| *byte == 0));
    bench.fine(&[], &["analyze", "x.trace"]);
    assert!(!bench.here().join("x.incomplete.trace").exists());
}
