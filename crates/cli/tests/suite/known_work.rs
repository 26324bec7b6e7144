//! `metalens analyze --work`: a file of known work, named or found.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::{metalens, stderr, transcript, with_scenario};

const WORK: &str = r#"{"schema": "metalens.work/1",
    "work": [{"label": "*", "per": "instance", "operations": 1, "bytes": 4096}]}"#;

fn work(folder: &std::path::Path, arguments: &[&str]) -> Value {
    let arguments = [&["analyze", "eager", "--json"], arguments].concat();
    let output = metalens(folder, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["work"].clone()
}

#[test]
fn named_or_found() {
    let folder = with_scenario("eager");
    assert_eq!(work(folder.path(), &[]), Value::Null);
    fs::write(folder.path().join("mine.json"), WORK).unwrap();
    let named = work(folder.path(), &["--work", "mine.json"]);
    assert_eq!(named["file"], "mine.json");
    assert!(named["rows"][0]["gpu_time"]["gb_per_s"].as_f64() > Some(0.0));
    assert_eq!(named["rows"][0]["gpu_time"]["flops"], Value::Null);
    fs::copy(
        folder.path().join("mine.json"),
        folder.path().join("eager/work.json"),
    )
    .unwrap();
    let found = work(folder.path(), &[]);
    assert_eq!(found["file"], "eager/work.json");
    assert_eq!(found["rows"], named["rows"]);
}

#[test]
fn the_file_is_what_the_schema_promises() {
    let schema = metalens(std::path::Path::new("."), &["schema", "work"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut file: Value = serde_json::from_str(WORK).unwrap();
    assert!(schema.is_valid(&file));
    file["work"][0]["flop"] = 1.into();
    assert!(!schema.is_valid(&file), "the schema takes anything");
}

#[test]
fn a_file_that_is_wrong() {
    let folder = with_scenario("eager");
    let file = folder.path().join("work.json");
    fs::write(&file, WORK.replace("bytes", "byte")).unwrap();
    let arguments = ["analyze", "eager", "--work", "work.json"];
    assert_snapshot!(transcript(&metalens(folder.path(), &arguments)));
    fs::remove_file(&file).unwrap();
    assert_snapshot!("missing", transcript(&metalens(folder.path(), &arguments)));
}
