//! Tests what a gate says when something is missing: which limits were judged, files that
//! are not plain files, runs that are too few, and limits that runs cannot decide.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use super::compare::{nine, run, scenario, with};
use crate::{metalens, stderr, stdout, transcript};

const GATE: &str = "[gate.metrics]\n\"window.span_ns\" = { grow = \"5%\" }\n";
const ALONE: &str = "[gate.metrics]\n\"busy.ratio\" = { min = \"1%\" }\n";
const IGNORED: &str = "[findings]\nignore = [\"serialized\"]\n";

/// Puts something into the place of a file.
type Put = fn(&Path);

/// Paths that exist and are not files.
const NO_FILES: [(Put, &str); 4] = [
    (
        |at| symlink("nowhere", at).unwrap(),
        "this is a link that leads nowhere, not a file",
    ),
    (
        |at| symlink("/dev/zero", at).unwrap(),
        "this is a device, not a file",
    ),
    (
        |at| fs::create_dir(at).unwrap(),
        "this is a folder, not a file",
    ),
    (make_pipe, "this is a named pipe, not a file"),
];

fn make_pipe(at: &Path) {
    let made = std::process::Command::new("mkfifo").arg(at).status();
    assert!(made.unwrap().success());
}

fn remove(at: &Path) {
    if at.is_dir() && !at.is_symlink() {
        fs::remove_dir(at).unwrap();
    } else {
        let _ = fs::remove_file(at);
    }
}

#[test]
fn a_verdict_names_the_limits_that_were_judged() {
    let folder = nine();
    fs::write(folder.path().join("limits.toml"), GATE).unwrap();
    let settings = folder.path().join("metalens.toml");
    let gate = "compare --base a1 a2 a3 --new b1 b2 b3 --gate";
    let named = "compare --base a1 a2 a3 --new b1 b2 b3 --gate=limits.toml";
    let alone = "analyze a1 --gate";
    let batch = "batch a1 a2 -o out --gate";
    let cases: [(&str, Put, &str); 8] = [
        (
            gate,
            |_| (),
            "Gate passed: 15 limits passed (the default limits)",
        ),
        (
            gate,
            |at| fs::write(at, GATE).unwrap(),
            "Gate passed: 1 limit passed ([gate] of metalens.toml)",
        ),
        (
            gate,
            |at| fs::write(at, IGNORED).unwrap(),
            "Gate passed: 15 limits passed (the default limits, because metalens.toml has no [gate])",
        ),
        (
            named,
            |_| (),
            "Gate passed: 1 limit passed ([gate] of limits.toml)",
        ),
        (
            named,
            |at| fs::write(at, ALONE).unwrap(),
            "Gate passed: 1 limit passed ([gate] of limits.toml)",
        ),
        (
            alone,
            |at| fs::write(at, ALONE).unwrap(),
            "Gate passed: 1 limit passed ([gate] of metalens.toml)",
        ),
        (
            batch,
            |at| fs::write(at, ALONE).unwrap(),
            "a2: Gate passed: 1 limit passed ([gate] of metalens.toml)",
        ),
        (
            batch,
            |at| fs::write(at, ALONE.replace("1%", "100%")).unwrap(),
            "a2: Gate failed: busy share 16.8 %; 0 limits passed, 1 failed ([gate] of metalens.toml)",
        ),
    ];
    for (arguments, put, expected) in cases {
        put(&settings);
        let words: Vec<&str> = arguments.split(' ').collect();
        let output = metalens(folder.path(), &words);
        let said = stderr(&output);
        let last = said.lines().rfind(|line| !line.starts_with("wrote "));
        assert_eq!(last, Some(expected), "{arguments}");
        if arguments.starts_with("compare") {
            // Lines of the screen are wrapped.
            let screen = stdout(&output).replace('\n', " ");
            assert!(screen.trim_start().starts_with(expected), "{arguments}");
        }
        remove(&settings);
    }
}

/// A settings file that cannot be read is not a settings file that is not there.
#[test]
fn settings_that_are_no_file_are_an_error() {
    let folder = nine();
    let check = |file: &str, put: Put, expected: &str| {
        let settings = folder.path().join(file);
        put(&settings);
        for arguments in [
            "compare a1 b1 --gate",
            "compare a1 b1",
            "analyze a1 --gate",
            "batch a1 -o out --gate",
        ] {
            let words: Vec<&str> = arguments.split(' ').collect();
            let output = metalens(folder.path(), &words);
            let said = transcript(&output);
            assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
            assert!(said.contains(expected), "{arguments}: {said}");
        }
        remove(&settings);
    };
    for (put, expected) in NO_FILES {
        check("metalens.toml", put, expected);
    }
    // On a Mac, both names are usually the same file.
    if cfg!(target_os = "linux") {
        let renamed = "Metalens.toml is not read: rename it to metalens.toml";
        check("Metalens.toml", |at| fs::write(at, GATE).unwrap(), renamed);
    }
}

/// So it is with each file beside an input.
#[test]
fn files_beside_an_input_that_are_no_file_are_an_error() {
    let folder = nine();
    run(folder.path(), &["synth", "a1.toml", "-o", "a.trace"], 0);
    run(folder.path(), &["batch", "a1", "a.trace", "-o", "out"], 0);
    for (input, file) in [
        ("a1", "a1/work.json"),
        ("a1", "a1/export.json"),
        ("a.trace", "a.work.json"),
    ] {
        for (put, expected) in NO_FILES {
            let path = folder.path().join(file);
            put(&path);
            for arguments in [
                vec!["analyze", input],
                vec!["compare", "a2", input],
                vec!["batch", input, "-o", "out"],
            ] {
                let output = metalens(folder.path(), &arguments);
                let said = transcript(&output);
                assert_eq!(
                    output.status.code(),
                    Some(1),
                    "{file} {arguments:?}: {said}"
                );
                assert!(said.contains(expected), "{file} {arguments:?}: {said}");
            }
            remove(&path);
        }
    }
}

#[test]
fn fewer_runs_than_the_baseline_has_fail_the_gate() {
    let folder = nine();
    run(
        folder.path(),
        &["baseline", "save", "a1", "a2", "a3", "-o", "base.json"],
        0,
    );
    let limits = |runs: &str| {
        format!("[gate]\n{runs}[gate.metrics]\n\"counts.intervals\" = {{ max = 40 }}\n")
    };
    for (name, runs) in [("any", ""), ("two", "runs = 2\n"), ("five", "runs = 5\n")] {
        fs::write(folder.path().join(format!("{name}.toml")), limits(runs)).unwrap();
    }
    let check = |runs: &str, more: &str, code: i32, expected: &str| {
        let line = format!("compare --baseline base.json {runs} {more}");
        let words: Vec<&str> = line.split(' ').collect();
        let output = metalens(folder.path(), &words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        assert!(said.contains(expected), "{line}: {said}");
    };
    check("c1 c2 c3", "--gate", 5, "Gate failed: ");
    check(
        "c1 c2",
        "--gate",
        5,
        "failed: runs at least 3: new has 2 runs, base has 3 runs; the missing runs may be slower",
    );
    check(
        "c1",
        "--gate",
        5,
        "failed: runs at least 3: new has 1 run, ",
    );
    check("b1 b2 b3", "--gate", 0, "Gate passed: ");
    check(
        "b1 b2",
        "--gate",
        5,
        "Gate failed: runs 2; 15 limits passed, 1 failed ",
    );
    check(
        "b1 b2",
        "--gate --allow-inconclusive",
        0,
        "warning: runs at least 3",
    );
    check("c1", "--gate --allow-inconclusive", 5, "Gate failed: ");
    check("b1 b2", "--gate=any.toml", 5, "failed: runs at least 3");
    check(
        "b1 b2",
        "--gate=two.toml",
        0,
        "Gate passed: 1 limit passed ",
    );
    check("b1", "--gate=two.toml", 5, "failed: runs at least 2");
    check("b1 b2 b3", "--gate=five.toml", 5, "failed: runs at least 5");
}

/// The middle of the change is far beyond the limit, and the runs of the sides overlap.
#[test]
fn an_inconclusive_limit_is_not_passed() {
    let of = |name: &'static str, seed: u32, us: u32| (name, scenario(seed, us, ""));
    let folder = with(&[
        of("a1", 1, 30),
        of("a2", 2, 30),
        of("c1", 3, 60),
        of("d1", 4, 45),
        of("d2", 5, 45),
        of("d3", 6, 45),
    ]);
    fs::write(
        folder.path().join("busy.toml"),
        "[gate.metrics]\n\"busy.busy_ns\" = { grow = \"5%\" }\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("both.toml"),
        "[gate.metrics]\n\"busy.busy_ns\" = { grow = \"5%\" }\n\"counts.intervals\" = { max = 39 }\n",
    )
    .unwrap();
    let check = |more: &str, code: i32, expected: &str| {
        let line = format!("compare --base a1 a2 c1 --new d1 d2 d3 {more}");
        let words: Vec<&str> = line.split(' ').collect();
        let output = metalens(folder.path(), &words);
        let said = transcript(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        assert!(said.contains(expected), "{line}: {said}");
        output
    };
    let overlap = "inconclusive: busy.busy_ns grows by at most 5.0 %: ";
    check("--gate=busy.toml", 6, overlap);
    check(
        "--gate=busy.toml",
        6,
        "Gate inconclusive: GPU busy +49.2 %; 0 limits passed, 1 inconclusive ([gate] of busy.toml)",
    );
    check("--gate=busy.toml --full", 6, "Gate: INCONCLUSIVE");
    check(
        "--gate=busy.toml --allow-inconclusive",
        0,
        "Gate passed: 0 limits passed, 1 inconclusive ",
    );
    check(
        "--gate=both.toml",
        5,
        "Gate failed: GPU intervals 40; 0 limits passed, 1 failed, 1 inconclusive ",
    );

    let json = check("--gate=busy.toml --json", 6, "");
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let gate = &json["gate"];
    assert_eq!(
        (&gate["missed"], &gate["inconclusive"]),
        (&true.into(), &true.into())
    );
    assert_eq!(gate["rows"][0]["verdict"], "inconclusive");

    // One run of each cannot decide a change of 10 %.
    let single = ["compare", "a1", "c1", "--gate=busy.toml"];
    run(folder.path(), &single, 5);
    fs::write(folder.path().join("x.toml"), scenario(9, 33, "")).unwrap();
    run(folder.path(), &["synth", "x.toml", "-o", "x"], 0);
    let output = metalens(folder.path(), &["compare", "a1", "x", "--gate=busy.toml"]);
    assert_eq!(output.status.code(), Some(6), "{}", transcript(&output));
    assert!(stderr(&output).contains("fewer than three runs per side, and at most 25 %"));
}

#[test]
fn a_baseline_with_an_outlying_run_is_refused() {
    let of = |name: &'static str, seed: u32, us: u32| (name, scenario(seed, us, ""));
    let folder = with(&[
        of("a1", 1, 30),
        of("a2", 2, 30),
        of("a3", 3, 32),
        of("c1", 4, 60),
    ]);
    let save = ["baseline", "save", "a1", "a2", "c1", "-o", "base.json"];
    let refused = metalens(folder.path(), &save);
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("error: c1 is far from the other runs: GPU busy "),
        "{said}"
    );
    assert!(!folder.path().join("base.json").exists());

    let allowed = metalens(folder.path(), &[&save[..], &["--allow-spread"]].concat());
    let said = stderr(&allowed);
    assert_eq!(allowed.status.code(), Some(0), "{said}");
    assert!(
        said.contains("warning: c1 is far from the other runs"),
        "{said}"
    );

    let good = ["baseline", "save", "a1", "a2", "a3", "-o", "good.json"];
    let said = stderr(&metalens(folder.path(), &good));
    assert_eq!(said, "wrote good.json\n");
}
