//! `metalens doctor` where there is no Mac: what it says, and with which exit code.
#![cfg(not(target_os = "macos"))]

use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use super::{metalens, stdout, transcript};

#[test]
fn no_mac() {
    let output = metalens(Path::new("."), &["doctor"]);
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(transcript(&output));
}

#[test]
fn as_json() {
    let here = Path::new(".");
    let output = metalens(here, &["doctor", "--json", "--", "python", "bench.py"]);
    assert_eq!(output.status.code(), Some(3));
    let diagnosis: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let schema = metalens(here, &["schema", "doctor"]);
    let schema: Value = serde_json::from_str(&stdout(&schema)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&diagnosis), "{diagnosis}");
    assert_eq!(diagnosis["schema"], "metalens.doctor/1");
    assert_eq!(diagnosis["can_record"], false);
    assert!(diagnosis["facts"].is_null());
}

/// Without a Mac and without the fake `xctrace`, recording says so as well.
#[test]
fn recording_without_a_mac() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["record"][..], &["record", "--shader-timeline"]] {
        let output = metalens(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(3), "{}", transcript(&output));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
