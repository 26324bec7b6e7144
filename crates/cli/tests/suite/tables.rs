//! `metalens tables`: what is there, and its rows.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::{metalens, stderr, stdout, transcript, with_scenario};

#[test]
fn the_list() {
    let folder = with_scenario("eager");
    assert_snapshot!(transcript(&metalens(folder.path(), &["tables", "eager"])));
    let json = metalens(folder.path(), &["tables", "eager", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let intervals = json.as_array().unwrap().iter();
    let mut intervals = intervals.filter(|table| table["schema"] == "metal-gpu-intervals");
    assert_eq!(
        intervals.next().unwrap()["columns"]
            .as_array()
            .unwrap()
            .len(),
        18
    );
}

#[test]
fn several_runs_are_told_apart() {
    let folder = with_scenario("two-runs");
    assert_snapshot!(transcript(&metalens(
        folder.path(),
        &["tables", "two-runs"]
    )));
}

/// The others are still listed; the exit code says that something failed.
#[test]
fn a_broken_table_does_not_hide_the_others() {
    let folder = with_scenario("eager");
    let file = folder.path().join("eager/metal-gpu-info.xml");
    fs::write(file, "<trace-query-result><node>").unwrap();
    let pointer = "version https://git-lfs.github.com/spec/v1\n";
    fs::write(folder.path().join("eager/tick.xml"), pointer).unwrap();
    let output = metalens(folder.path(), &["tables", "eager"]);
    assert_snapshot!(transcript(&output));
}

#[test]
fn rows() {
    let folder = with_scenario("awkward");
    let rows = |arguments: &[&str]| {
        let first = ["tables", "awkward", "--schema", "metal-gpu-intervals"];
        let output = metalens(folder.path(), &[&first, arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let first = |text: &str| text.lines().take(4).collect::<Vec<_>>().join("\n");
    assert_snapshot!("rows-csv", first(&rows(&[])));
    let json = rows(&["--format", "jsonl"]);
    assert_snapshot!("rows-jsonl", first(&json));
    assert_eq!(json.lines().count() + 1, rows(&[]).lines().count());
    json.lines()
        .for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
}

#[test]
fn a_table_that_is_not_there() {
    let folder = with_scenario("eager");
    let output = metalens(folder.path(), &["tables", "eager", "--schema", "kdebug"]);
    assert_snapshot!(transcript(&output));
}

/// A path that begins at the root is given as one.
#[test]
fn where_a_table_is() {
    let folder = with_scenario("eager");
    let files = |input: &str| -> Vec<String> {
        let output = metalens(folder.path(), &["tables", input, "--json"]);
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let listed = listed.as_array().unwrap().iter();
        listed
            .map(|one| one["file"].as_str().unwrap().to_owned())
            .collect()
    };
    let table = folder.path().join("eager/metal-gpu-intervals.xml");
    let table = table.to_str().unwrap();
    assert_eq!(files(table), [table]);
    assert_eq!(
        files("eager/metal-gpu-intervals.xml"),
        ["eager/metal-gpu-intervals.xml"]
    );
    // In an export they are named as they lie in it.
    let whole = folder.path().join("eager");
    assert!(files(whole.to_str().unwrap()).contains(&"metal-gpu-intervals.xml".to_owned()));
}
