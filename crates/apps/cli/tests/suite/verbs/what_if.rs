//! Tests `metalens what-if`: predictions of changes.

use std::path::Path;

use serde_json::Value;

use crate::{metalens, stderr, stdout};

fn small_export() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/small-export");
    root.display().to_string()
}

/// Returns the prediction for the small export.
fn predicted(change: &[&str]) -> Value {
    let input = small_export();
    let folder = metalens_testing::scratch();
    let arguments = [&["what-if", &input, "--json"], change].concat();
    let output = metalens(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn changes_leave_less_or_more() {
    let least = |change: &[&str]| predicted(change)["least_ns"].as_u64().unwrap();
    let most = |change: &[&str]| predicted(change)["most_ns"].as_u64().unwrap();
    let recorded = predicted(&[])["before_ns"].as_u64().unwrap();
    assert_eq!(
        predicted(&[])["after_ns"],
        recorded,
        "without a change, nothing changes"
    );

    // The program waits for each command buffer.
    assert_eq!(predicted(&[])["waiting"]["verdict"], "waits");
    let two = most(&["--in-flight", "2"]);
    let never = most(&["--in-flight", "0"]);
    assert!(
        never < two && two < recorded * 6 / 10,
        "{never} {two} {recorded}"
    );
    assert!(most(&["--per-buffer", "10"]) < two);
    assert!(least(&["--host", "2x"]) > recorded);
    assert!(most(&["--latency", "0"]) < recorded / 2);
    assert!(least(&["--kernel", "s*=100x"]) > recorded);
    let changed = predicted(&["--kernel", "s*=100x"])["changed_kernels"].clone();
    assert_eq!(changed, serde_json::json!(["sin"]));
}

#[test]
fn a_prediction_says_what_limits_and_what_it_assumes() {
    let (input, folder) = (small_export(), metalens_testing::scratch());
    let output = metalens(folder.path(), &["what-if", &input, "--in-flight", "2"]);
    let text = stdout(&output);
    let mut lines: Vec<&str> = text.lines().collect();
    assert!(lines.remove(0).starts_with("SYNTHETIC: "), "{text}");
    assert!(
        lines[0].starts_with("About ") && lines[0].contains(" instead of "),
        "{text}"
    );
    assert!(lines[1].starts_with("A step takes about "), "{text}");
    assert!(lines[2].starts_with("Between "), "{text}");
    assert!(lines[3].starts_with("Limited by "), "{text}");
    assert!(text.contains("Replayed: 48 command buffers"), "{text}");
    assert!(
        text.contains("waits for the last command buffer before 47 of 47 command buffers"),
        "{text}"
    );
}

/// Without a change, the screen lists what each would leave, the best first, and leaves out those that
/// change nothing.
#[test]
fn changes_are_listed_by_what_they_leave() {
    let (input, folder) = (small_export(), metalens_testing::scratch());
    let output = metalens(folder.path(), &["what-if", &input]);
    let text = stdout(&output);
    let (_, list) = text.split_once("\nChanges\n").unwrap();
    let list = list.split("\n\n").next().unwrap();
    let options: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  --"))
        .collect();
    assert!(options.len() > 4, "{text}");
    assert!(!list.contains("--no-others"), "{text}");

    let listed = predicted(&[])["changes"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 9);
    let known: Vec<u64> = listed
        .iter()
        .filter_map(|each| each["after_ns"].as_u64())
        .collect();
    assert!(known.is_sorted() && known.len() > 4, "{listed:?}");
    // Each is what the command says that is asked for it alone.
    for each in listed {
        let option = each["option"].as_str().unwrap().replace('\'', "");
        let words: Vec<&str> = option.split(' ').collect();
        let alone = predicted(&words);
        assert_eq!(alone["least_ns"], each["least_ns"], "{option}");
        assert_eq!(
            alone.get("after_ns").unwrap_or(&Value::Null),
            &each["after_ns"],
            "{option}"
        );
    }
}

#[test]
fn a_pattern_that_matches_nothing_is_an_error() {
    let (input, folder) = (small_export(), metalens_testing::scratch());
    let check = |change: &[&str], expected: &str| {
        let arguments = [&["what-if", input.as_str()], change].concat();
        let output = metalens(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{change:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    };
    check(
        &["--kernel", "gemm*=0.5x"],
        "no kernel has a name that --kernel matches",
    );
    check(&["--kernel", "gemm"], "expected NAME=FACTOR");
    check(&["--per-buffer", "0"], "expected a number from 1");
    check(&["--host=-1x"], "expected a factor");
}
