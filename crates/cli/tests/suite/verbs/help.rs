//! Tests `--help`, `--version` and wrong usage.

use std::path::Path;

use insta::assert_snapshot;

use crate::{metalens, transcript};

#[test]
fn wrong_usage_exits_with_2_and_prints_nothing_on_stdout() {
    let here = Path::new(".");
    let cases: [&[&str]; 7] = [
        &[],
        &["analyse"],
        &["analyze"],
        &["analyze", "x", "--from", "12"],
        &["analyze", "x", "--run", "first"],
        &["tables", "x", "--json", "--schema", "y"],
        &["synth", "eager"],
    ];
    for arguments in cases {
        let output = metalens(here, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_and_version_succeed() {
    let here = Path::new(".");
    for arguments in [["--help"], ["--version"]] {
        assert_eq!(metalens(here, &arguments).status.code(), Some(0));
    }
    assert_snapshot!("help", transcript(&metalens(here, &["--help"])));
    assert_snapshot!(
        "help-analyze",
        transcript(&metalens(here, &["analyze", "--help"]))
    );
}
