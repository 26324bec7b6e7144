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
    let time = |change: &[&str]| predicted(change)["after_ns"].as_u64().unwrap();
    let recorded = time(&[]);
    assert_eq!(
        predicted(&[])["before_ns"],
        recorded,
        "without a change, nothing changes"
    );

    // The program waits for each command buffer.
    assert_eq!(predicted(&[])["waiting"]["verdict"], "waits");
    let two = time(&["--in-flight", "2"]);
    let never = time(&["--in-flight", "0"]);
    assert!(
        never < two && two < recorded * 6 / 10,
        "{never} {two} {recorded}"
    );
    assert!(time(&["--per-buffer", "10"]) < two);
    assert!(time(&["--host", "2x"]) > recorded);
    assert!(time(&["--latency", "0"]) < recorded / 2);
    assert!(time(&["--kernel", "s*=100x"]) > recorded);
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
    assert!(lines[1].starts_with("Limited by "), "{text}");
    assert!(text.contains("Replayed: 48 command buffers"), "{text}");
    assert!(
        text.contains("waits for each command buffer before it commits the next"),
        "{text}"
    );
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
