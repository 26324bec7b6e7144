//! Tests settings: `--threshold`, `--check`, `metalens.toml`, and errors in them.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{metalens, stderr, stdout, transcript, with_scenario};

/// Returns the verdict of each threshold of a run on `fused`, and the exit code.
fn verdicts(folder: &Path, arguments: &[&str]) -> (Vec<String>, Option<i32>) {
    let arguments = [&["analyze", "fused", "--json"], arguments].concat();
    let output = metalens(folder, &arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let thresholds = report["thresholds"].as_array().unwrap();
    let verdict = |threshold: &Value| threshold["verdict"].as_str().unwrap().to_owned();
    (
        thresholds.iter().map(verdict).collect(),
        output.status.code(),
    )
}

/// Thresholds that `fused` meets: its gaps are 178 µs long, and the GPU is busy for 9.3 %.
const MODEST: &str = "[thresholds]
average-gap = \"200us\"
utilization = \"9%\"
launch-efficiency = 0.09
";

#[test]
fn a_missed_threshold_exits_with_5_only_with_check() {
    let folder = with_scenario("fused");
    let check = |arguments: &[&str], expected: &[&str], code: i32| {
        let (found, exit) = verdicts(folder.path(), arguments);
        assert_eq!(found, expected, "{arguments:?}");
        assert_eq!(exit, Some(code), "{arguments:?}");
    };

    check(&[], &[], 0);
    check(&["--threshold", "saturated"], &["fail"; 3], 0);
    check(&["--check", "--threshold", "saturated"], &["fail"; 3], 5);
    let gap = ["--check", "--threshold", "average-gap=0.2ms"];
    check(&gap, &["pass"], 0);
    let saturated = [&["--threshold", "saturated"], &gap[..]].concat();
    check(&saturated, &["pass", "fail", "fail"], 5);
    fs::write(folder.path().join("modest.toml"), MODEST).unwrap();
    let modest = ["--check", "--config", "modest.toml"];
    check(&modest, &["pass"; 3], 0);
    let harder = [&modest[..], &["--threshold", "utilization=10%"]].concat();
    check(&harder, &["pass", "fail", "pass"], 5);
}

#[test]
fn a_missed_threshold_is_named_on_stderr() {
    let folder = with_scenario("fused");
    let arguments = [
        "analyze",
        "fused",
        "--json",
        "--check",
        "--threshold",
        "utilization=80%",
    ];
    let output = metalens(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(5));
    let missed = "utilization is 9.3 %; the threshold is above 80.0 %\n";
    let source = "(--threshold utilization=80%)\n";
    let said = format!("error: {missed}Check failed: 1 threshold, missed 1 time {source}");
    assert_eq!(stderr(&output), said);

    // Of several recordings, each line names its own.
    fs::rename(folder.path().join("fused"), folder.path().join("one")).unwrap();
    let two = folder.path().join("two");
    metalens(
        folder.path(),
        &["synth", "fused", "-o", two.to_str().unwrap()],
    );
    let arguments = [&["analyze", "one", "two"], &arguments[2..]].concat();
    let output = metalens(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(5));
    let verdict = format!("Check failed: 1 threshold, missed 2 times {source}");
    let expected = format!("error: one: {missed}error: two: {missed}{verdict}");
    assert_eq!(stderr(&output), expected);
}

#[test]
fn a_threshold_that_cannot_be_measured_fails() {
    let folder = with_scenario("fused");
    fs::remove_file(
        folder
            .path()
            .join("fused/metal-command-buffer-completed.xml"),
    )
    .unwrap();
    let others = [
        "--check",
        "--threshold",
        "average-gap=1s",
        "--threshold",
        "utilization=1%",
    ];
    let check = |more: &[&str], expected: &[&str], code: i32| {
        let (found, exit) = verdicts(folder.path(), &[&others[..], more].concat());
        assert_eq!(found, expected);
        assert_eq!(exit, Some(code));
    };

    let unmeasured = ["pass", "pass", "not-measurable"];
    check(&[], &["pass", "pass"], 0);
    check(&["--threshold", "launch-efficiency=1%"], &unmeasured, 5);
    fs::write(
        folder.path().join("set.toml"),
        "[thresholds]\nlaunch-efficiency = \"1%\"\n",
    )
    .unwrap();
    check(&["--config", "set.toml"], &unmeasured, 5);
    let batch = |more: &[&str]| {
        let arguments = [&["batch", "fused", "-o", "out", "-q"], &others[..], more].concat();
        let output = metalens(folder.path(), &arguments);
        (output.status.code(), transcript(&output))
    };

    let (code, said) = batch(&[]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = batch(&["--config", "set.toml"]);
    assert_eq!(code, Some(5), "{said}");
}

#[test]
fn metalens_toml_in_the_current_folder_is_read_by_default() {
    let folder = with_scenario("fused");
    fs::write(folder.path().join("metalens.toml"), MODEST).unwrap();
    let found = verdicts(folder.path(), &["--check"]);
    assert_eq!(found, (vec!["pass".to_owned(); 3], Some(0)));
    fs::write(folder.path().join("mine.toml"), "").unwrap();
    let named = verdicts(folder.path(), &["--config", "mine.toml"]);
    assert_eq!(named, (Vec::new(), Some(0)));
}

#[test]
fn an_ignored_finding_is_left_out_and_noted() {
    let folder = with_scenario("fused");
    let ids = || {
        let output = metalens(folder.path(), &["analyze", "fused", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().clone();
        let id = |finding: &Value| finding["id"].as_str().unwrap().to_owned();
        findings.iter().map(id).collect::<Vec<_>>()
    };

    let all = ids();
    assert!(all.contains(&"serialized".to_owned()), "{all:?}");
    let ignoring = "[findings]\nignore = [\"serialized\"]\n";
    fs::write(folder.path().join("metalens.toml"), ignoring).unwrap();
    let expected: Vec<String> = all.into_iter().filter(|id| id != "serialized").collect();
    assert_eq!(ids(), expected);
    let screen = stdout(&metalens(folder.path(), &["analyze", "fused", "--full"]));
    let note = "the settings hide these findings, whether or not they apply: serialized";
    assert!(screen.contains(note), "{screen}");
}

#[test]
fn misspelled_settings_are_explained() {
    let folder = with_scenario("fused");
    let files = [
        ("section.toml", "[target]\naverage-gap = \"5us\"\n"),
        ("unit.toml", "[thresholds]\naverage-gap = \"5\"\n"),
        ("finding.toml", "[findings]\nignore = [\"serialised\"]\n"),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let cases: [(&[&str], i32); 7] = [
        (&["--config", "section.toml"], 2),
        (&["--config", "unit.toml"], 2),
        (&["--config", "finding.toml"], 2),
        (&["--config", "nothing.toml"], 2),
        (&["--threshold", "utilisation=80%"], 2),
        (&["--threshold", "utilization=80"], 2),
        (&["--json", "--markdown"], 2),
    ];
    let mut transcripts = String::new();
    for (arguments, code) in cases {
        let output = metalens(folder.path(), &[&["analyze", "fused"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        transcripts.push_str(&format!(
            "$ {}\n{}",
            arguments.join(" "),
            transcript(&output)
        ));
    }
    assert_snapshot!(transcripts);
}
