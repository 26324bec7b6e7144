//! Tests `metalens doctor` on other systems than macOS.
#![cfg(not(target_os = "macos"))]

use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{metalens, stdout, transcript};

#[test]
fn doctor_without_a_mac_exits_with_3() {
    let output = metalens(Path::new("."), &["doctor"]);
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(transcript(&output));
}

#[test]
fn the_json_says_that_this_machine_cannot_record() {
    let here = Path::new(".");
    let output = metalens(here, &["doctor", "--json", "--", "python", "bench.py"]);
    assert_eq!(output.status.code(), Some(3));
    let diagnosis: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(diagnosis["schema"], "metalens.doctor/1");
    assert_eq!(diagnosis["can_record"], false);
    assert!(diagnosis["facts"].is_null());
}

#[test]
fn record_without_a_mac_exits_with_3_and_writes_nothing() {
    let folder = metalens_testing::scratch();
    for arguments in [&["record"][..], &["record", "--shader-timeline"]] {
        let output = metalens(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(3), "{}", transcript(&output));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
