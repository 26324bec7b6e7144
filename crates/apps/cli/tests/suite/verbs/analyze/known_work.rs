//! Tests `metalens analyze --work`: a file of known work, named or in its default place.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{metalens, stderr, stdout, transcript, with_scenario};

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
fn known_work_is_read_from_the_named_or_the_default_file() {
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
fn the_file_matches_its_schema() {
    let schema = metalens(std::path::Path::new("."), &["schema", "work"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut file: Value = serde_json::from_str(WORK).unwrap();
    assert!(schema.is_valid(&file));
    file["work"][0]["flop"] = 1.into();
    assert!(!schema.is_valid(&file), "the schema takes anything");
}

#[test]
fn an_invalid_or_missing_file_is_explained() {
    let folder = with_scenario("eager");
    let file = folder.path().join("work.json");
    fs::write(&file, WORK.replace("bytes", "byte")).unwrap();
    let arguments = ["analyze", "eager", "--work", "work.json"];
    assert_snapshot!(transcript(&metalens(folder.path(), &arguments)));
    fs::remove_file(&file).unwrap();
    assert_snapshot!("missing", transcript(&metalens(folder.path(), &arguments)));
}

/// The default places are in an export's folder and beside a bundle. The report names the file.
#[test]
fn only_the_default_places_are_read() {
    let folder = with_scenario("eager");
    let at = |name: &str| folder.path().join(name);
    let synth = ["synth", "eager", "-o", "b.trace"];
    assert!(metalens(folder.path(), &synth).status.success());
    let check = |work: &str, input: &str, is_read: bool| {
        fs::write(at(work), WORK).unwrap();
        let output = metalens(folder.path(), &["analyze", input, "--full"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let told = format!("the amounts of work are from {work}; only the time");
        let said = stdout(&output)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(said.contains(&told), is_read, "{work} {input}: {said}");
        fs::remove_file(at(work)).unwrap();
    };

    check("eager/work.json", "eager", true);
    check("b.work.json", "b.trace", true);
    check("b.work.json", "b.trace/", true);
    check("b.trace/work.json", "b.trace", false);
    check("eager.work.json", "eager", false);
    check("work.json", "eager", false);
}
