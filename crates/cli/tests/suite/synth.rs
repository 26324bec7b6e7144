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

/// The same scenario as a bundle: one reading, then the other, one answer.
#[test]
fn as_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    for output in ["eager.trace", "eager.export"] {
        let written = metalens(folder.path(), &["synth", "eager", "-o", output, "--quiet"]);
        assert_eq!(transcript(&written), "exit 0\n");
    }
    let output = metalens(folder.path(), &["selfcheck", "eager.trace", "eager.export"]);
    assert_snapshot!(transcript(&output));
    let screen = metalens(folder.path(), &["analyze", "eager.trace"]);
    let export = metalens(folder.path(), &["analyze", "eager.export"]);
    let export = transcript(&export).replace("eager.export", "eager.trace");
    assert_eq!(transcript(&screen), export);
}

/// A bundle whose GPU table is damaged: selfcheck and analyze say so.
#[test]
fn a_damaged_bundle() {
    let folder = with_scenario("eager");
    let written = metalens(
        folder.path(),
        &["synth", "eager", "-o", "eager.trace", "--quiet"],
    );
    assert!(written.status.success());
    let stores = folder.path().join("eager.trace/corespace/run1/core/stores");
    for entry in fs::read_dir(stores).unwrap() {
        let store = entry.unwrap().path();
        let schema = fs::read(store.join("schema.xml")).unwrap();
        if !String::from_utf8_lossy(&inflate(&schema)).contains("\"metal-gpu-intervals\"") {
            continue;
        }
        fs::write(store.join("bulkstore"), "not a store").unwrap();
    }
    let output = metalens(folder.path(), &["analyze", "eager.trace"]);
    assert_snapshot!(transcript(&output));
}

fn inflate(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut inflated = Vec::new();
    flate2::read::ZlibDecoder::new(bytes)
        .read_to_end(&mut inflated)
        .unwrap();
    inflated
}
