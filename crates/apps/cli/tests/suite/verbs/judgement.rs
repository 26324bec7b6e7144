//! Tests what is said of scenarios whose truth is known, and what answers usual mistakes.

use std::fs;
use std::path::Path;

use crate::{metalens, stderr, stdout, with_scenario};

fn findings(folder: &Path, scenario: &str) -> Vec<String> {
    let output = metalens(folder, &["analyze", scenario, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| finding["id"].as_str().unwrap().to_owned())
        .collect()
}

/// One wait per dispatch is one finding, with its parts inside it; what the program itself waits
/// for is found beside contention; work that is committed ahead is not blamed for small kernels.
#[test]
fn a_cause_is_one_finding() {
    let cases: [(&str, &[&str], &[&str]); 3] = [
        (
            "eager",
            &["serialized"],
            &["submission-latency", "completion-latency", "host-bound"],
        ),
        ("shared-machine", &["contention", "serialized"], &[]),
        ("pipelined", &["queue-starved"], &["tiny-kernels"]),
    ];
    for (scenario, expected, absent) in cases {
        let folder = with_scenario(scenario);
        let found = findings(folder.path(), scenario);
        for id in expected {
            assert!(found.iter().any(|one| one == id), "{scenario}: {found:?}");
        }
        for id in absent {
            assert!(!found.iter().any(|one| one == id), "{scenario}: {found:?}");
        }
    }
}

/// Completion takes 66 µs per buffer there, and the work 112 µs.
#[test]
fn completion_is_not_longer_than_work_that_takes_longer() {
    let folder = with_scenario("batched");
    let whole = stdout(&metalens(folder.path(), &["analyze", "batched", "--full"]));
    assert!(whole.contains("completion latency"), "{whole}");
    assert!(!whole.contains("longer than the work"), "{whole}");
}

#[test]
fn usual_mistakes_are_answered() {
    let folder = with_scenario("eager");
    fs::create_dir(folder.path().join("empty.trace")).unwrap();
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let output = metalens(folder.path(), arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    };

    // A red job has its reason in its log.
    let limits = "[gate.metrics]\n\"busy.ratio\" = { min = \"80%\" }\n";
    fs::write(folder.path().join("limits.toml"), limits).unwrap();
    let gated = ["analyze", "eager", "--json", "--gate=limits.toml"];
    check(&gated, 5, "failed: busy.ratio at least 80.0 %: it is 2.5 %");
    // The next argument is a recording, not the file of the gate.
    check(
        &["compare", "--gate", "eager", "eager"],
        6,
        "the same run is on both sides",
    );
    check(
        &["analyze", "eager", "--html", "-"],
        2,
        "- is no file name here",
    );
    check(&["analyze", "empty.trace"], 4, "this is an empty folder");
    assert!(!folder.path().join("-").exists());
}

/// The count of failed inputs mentions others only if there are some, and nothing has a heading.
#[test]
fn a_lone_failed_input_has_no_others() {
    let folder = metalens_testing::scratch();
    fs::write(folder.path().join("notes.txt"), "words").unwrap();
    let output = metalens(folder.path(), &["batch", "notes.txt", "-o", "out"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("1 of 1 input failed\n"), "{said}");
    assert_eq!(stdout(&output).trim(), "");
}
