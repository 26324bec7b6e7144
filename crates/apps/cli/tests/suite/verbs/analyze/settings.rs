//! Tests settings: `metalens.toml`, the limits of a recording (`--gate`), and errors in them.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::verbs::compare::check_schema;
use crate::{metalens, stderr, stdout, transcript, with_scenario};

/// Returns the figure and the verdict of each limit of a run on `fused`, and the exit code.
fn verdicts(folder: &Path, arguments: &[&str]) -> (Vec<String>, Option<i32>) {
    let arguments = [&["analyze", "fused", "--json", "-q"], arguments].concat();
    let output = metalens(folder, &arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    check_schema("report.schema.json", &report);
    let rows = report["gate"]["rows"].as_array();
    let verdict = |row: &Value| {
        let (what, verdict) = (row["what"].as_str(), row["verdict"].as_str());
        format!("{} {}", what.unwrap(), verdict.unwrap())
    };
    let verdicts = rows.into_iter().flatten().map(verdict);
    (verdicts.collect(), output.status.code())
}

/// Limits that `fused` keeps: its gaps are 178 µs long, and the GPU is busy for 9.3 %.
const MODEST: &str = "[gate.metrics]
\"gaps.mean_ns\" = { max = \"200us\" }
\"busy.ratio\" = { min = \"9%\" }
\"efficiency.of_program\" = { min = 0.09 }
\"window.span_ns\" = { grow = \"5%\" }
";
const MODEST_KEPT: [&str; 3] = [
    "busy.ratio pass",
    "efficiency.of_program pass",
    "gaps.mean_ns pass",
];

#[test]
fn a_missed_limit_exits_with_5() {
    let folder = with_scenario("fused");
    let check = |limits: &str, expected: &[&str], code: i32| {
        fs::write(folder.path().join("limits.toml"), limits).unwrap();
        let (found, exit) = verdicts(folder.path(), &["--gate=limits.toml"]);
        assert_eq!(found, expected, "{limits}");
        assert_eq!(exit, Some(code), "{limits}");
    };

    assert_eq!(verdicts(folder.path(), &[]), (Vec::new(), Some(0)));
    // The limit that compares with a base is not judged.
    check(MODEST, &MODEST_KEPT, 0);
    check(
        "[gate.metrics]\n\"busy.ratio\" = { min = \"80%\" }\n\"gaps.mean_ns\" = { max = \"1s\" }\n",
        &["busy.ratio miss", "gaps.mean_ns pass"],
        5,
    );
    check(
        "[gate.metrics]\n\"busy.ratio\" = { min = \"80%\", severity = \"warn\" }\n",
        &["busy.ratio miss"],
        0,
    );
    check(
        "[gate.kernels]\n\"fused*\" = { max = \"1us\", of = \"median\" }\n",
        &["fused_block miss"],
        5,
    );
    check(
        "[gate.kernels]\n\"gemm\" = { max = \"1us\", of = \"median\" }\n",
        &["gemm miss"],
        5,
    );
}

#[test]
fn a_missed_limit_is_named_on_stderr() {
    let folder = with_scenario("fused");
    let limits = "[gate.metrics]\n\"busy.ratio\" = { min = \"80%\" }\n";
    fs::write(folder.path().join("limits.toml"), limits).unwrap();
    let gated = ["--json", "--gate=limits.toml"];
    let output = metalens(folder.path(), &[&["analyze", "fused"], &gated[..]].concat());
    assert_eq!(output.status.code(), Some(5));
    let lines = [
        "failed: busy.ratio at least 80.0 %: it is 9.3 %\n",
        "Gate failed: busy share 9.3 %; 0 limits passed, 1 failed ([gate] of limits.toml)\n",
    ];
    assert_eq!(stderr(&output), lines.concat());

    // Of several recordings, each line names its own.
    fs::rename(folder.path().join("fused"), folder.path().join("one")).unwrap();
    let two = folder.path().join("two");
    metalens(
        folder.path(),
        &["synth", "fused", "-o", two.to_str().unwrap()],
    );
    let output = metalens(
        folder.path(),
        &[&["analyze", "one", "two"], &gated[..]].concat(),
    );
    assert_eq!(output.status.code(), Some(5));
    let of = |name: &str| lines.map(|line| format!("{name}: {line}")).concat();
    assert_eq!(stderr(&output), of("one") + &of("two"));
}

#[test]
fn a_limit_that_cannot_be_measured_fails() {
    let folder = with_scenario("fused");
    let completions = "fused/metal-command-buffer-completed.xml";
    fs::remove_file(folder.path().join(completions)).unwrap();
    let check = |limit: &str, expected: &str, code: i32| {
        let limits = format!(
            "[gate.metrics]\n\"busy.ratio\" = {{ min = \"1%\" }}\n\"efficiency.of_program\" = {{ {limit} }}\n"
        );
        fs::write(folder.path().join("limits.toml"), limits).unwrap();
        let (found, exit) = verdicts(folder.path(), &["--gate=limits.toml"]);
        let mut expected = [
            format!("efficiency.of_program {expected}"),
            "busy.ratio pass".to_owned(),
        ];
        if code == 0 {
            expected.sort_by_key(|row| row.ends_with("pass"));
        }
        assert_eq!(
            (found.as_slice(), exit),
            (&expected[..], Some(code)),
            "{limit}"
        );

        let batch = ["batch", "fused", "-o", "out", "-q", "--gate=limits.toml"];
        let output = metalens(folder.path(), &batch);
        assert_eq!(output.status.code(), Some(code), "{}", transcript(&output));
    };
    check("min = \"1%\"", "miss", 5);
    check("min = \"1%\", optional = true", "not-measurable", 0);
}

#[test]
fn metalens_toml_in_the_current_folder_is_read_by_default() {
    let folder = with_scenario("fused");
    fs::write(folder.path().join("metalens.toml"), MODEST).unwrap();
    let kept = MODEST_KEPT.map(str::to_owned).to_vec();
    assert_eq!(verdicts(folder.path(), &["--gate"]), (kept, Some(0)));
    assert_eq!(verdicts(folder.path(), &[]), (Vec::new(), Some(0)));
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
        (
            "unit.toml",
            "[gate.metrics]\n\"gaps.mean_ns\" = { max = \"5\" }\n",
        ),
        (
            "base.toml",
            "[gate.metrics]\n\"gaps.mean_ns\" = { grow = \"5%\" }\n",
        ),
        ("finding.toml", "[findings]\nignore = [\"serialised\"]\n"),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let cases: [(&[&str], i32); 7] = [
        (&["--config", "section.toml"], 2),
        (&["--gate=unit.toml"], 2),
        (&["--config", "finding.toml"], 2),
        (&["--config", "nothing.toml"], 2),
        (&["--gate=base.toml"], 2),
        (&["--gate"], 2),
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
