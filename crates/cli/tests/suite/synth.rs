//! `metalens synth`: scenarios to folders, and nothing of the user's lost.

use std::fs;

use insta::assert_snapshot;

use super::{metalens, transcript, with_scenario};

const SMALL: &str = r#"
[[process]]
name = "bench"
pid = 4321
role = "target"

[[process.stream]]
count = 3
duration = "10us"
"#;

#[test]
fn a_scenario_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    let output = metalens(folder.path(), &["synth", "small.toml", "-o", "out"]);
    assert_snapshot!(transcript(&output));
    let mut files: Vec<String> = fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_snapshot!("files", files.join("\n"));
}

#[test]
fn a_mistake_in_it_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = SMALL.replace("\"10us\"", "\"10 parsecs\"");
    fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    let output = metalens(folder.path(), &["synth", "wrong.toml", "-o", "out"]);
    assert_snapshot!(transcript(&output));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let folder = with_scenario("fused");
    let mine = folder.path().join("fused/mine.txt");
    fs::write(&mine, "mine").unwrap();
    let output = metalens(folder.path(), &["synth", "eager", "-o", "fused"]);
    assert_snapshot!(transcript(&output));
    let forced = metalens(folder.path(), &["synth", "eager", "-o", "fused", "--force"]);
    assert!(forced.status.success());
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine");
}

#[test]
fn the_built_in_ones() {
    let folder = tempfile::tempdir().unwrap();
    assert_snapshot!(transcript(&metalens(folder.path(), &["synth", "--list"])));
    let output = metalens(folder.path(), &["synth", "eagre", "-o", "out"]);
    assert_snapshot!("no-such-scenario", transcript(&output));
}
