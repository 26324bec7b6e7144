//! A disk that fills up, and a process that is killed while it writes: whatever has
//! an output's name afterwards is what a run with room would have written.
//!
//! `ulimit -f` stands in for the disk. A write beyond it fails, or, where nobody
//! ignores the signal that announces it, kills: so each limit is one place to be
//! broken off at, the same on every run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::folder::files_of;
use crate::{add_two_runs, metalens, stderr, with_scenario};

/// What is run, and whether its outputs differ from run to run: a recording has a date.
struct Case {
    arguments: &'static [&'static str],
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
    case(&["manual", "-o", "out"]),
    Case {
        arguments: &["record-and-analyze", "--simulate", "-o", "out"],
        is_dated: true,
    },
];

/// KiB of the largest file: before the first, amid the small ones, amid the large ones.
const LIMITS: [u32; 5] = [0, 2, 24, 60, 250];

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

/// What a user finds under the names that were asked for. Beginnings have names that say so.
fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = files_of(folder);
    found.retain(|path, _| {
        let is_beginning = path.split('/').any(|part| part.starts_with(".metalens-"));
        let is_input = path.starts_with("eager") || path.starts_with("scratch/");
        !is_beginning && !is_input && !path.contains(".incomplete.trace/")
    });
    found
}

/// Whether a file has its end.
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
        let is_same = expected.is_some_and(|expected| match case.is_dated {
            true => is_complete(path, bytes),
            false => expected == bytes,
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

/// A folder with what a case reads.
fn inputs(case: &Case) -> TempDir {
    let folder = with_scenario("eager");
    if case.arguments.contains(&"eager2") {
        add_two_runs(folder.path(), "eager");
    }
    folder
}

#[test]
fn whole_or_not_there() {
    let mut broken_off = 0;
    for case in CASES {
        let folder = inputs(case);
        let written = metalens(folder.path(), case.arguments);
        assert!(written.status.success(), "{}", stderr(&written));
        let whole = outputs(folder.path());
        for (limit, is_told) in LIMITS
            .iter()
            .flat_map(|&limit| [(limit, true), (limit, false)])
        {
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
    assert!(broken_off > CASES.len() * 4, "{broken_off}");
}

/// What cannot be printed was not done.
#[cfg(target_os = "linux")]
#[test]
fn a_full_screen() {
    let folder = with_scenario("eager");
    let cases: &[&[&str]] = &[
        &["analyze", "eager"],
        &["analyze", "eager", "--json"],
        &["tables", "eager", "--schema", "metal-gpu-intervals"],
        &["compare", "eager", "eager"],
        &["chart", "eager", "-o", "-"],
        &["schema"],
        &["completions", "bash"],
        &["workload", "list"],
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
