//! Tests `metalens synth`: scenarios become folders, and files of the user survive.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::{SMALL, metalens, stderr, stdout, transcript, with_scenario};

#[test]
fn a_scenario_file_becomes_an_export() {
    let folder = metalens_testing::scratch();
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
fn an_invalid_scenario_file_is_explained() {
    let folder = metalens_testing::scratch();
    let wrong = SMALL.replace("\"10us\"", "\"10 parsecs\"");
    fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    let output = metalens(folder.path(), &["synth", "wrong.toml", "-o", "out"]);
    assert_snapshot!(transcript(&output));
    assert!(!folder.path().join("out").exists());
}

#[test]
fn existing_files_survive() {
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
fn list_shows_the_built_in_scenarios() {
    let folder = metalens_testing::scratch();
    assert_snapshot!(transcript(&metalens(folder.path(), &["synth", "--list"])));
    let output = metalens(folder.path(), &["synth", "eagre", "-o", "out"]);
    assert_snapshot!("no-such-scenario", transcript(&output));
}

/// The native reader of the bundle and the reader of the export give the same report.
#[test]
fn a_bundle_and_an_export_of_a_scenario_are_equal() {
    let folder = metalens_testing::scratch();
    for output in ["eager.trace", "eager.export"] {
        let written = metalens(folder.path(), &["synth", "eager", "-o", output, "--quiet"]);
        assert_eq!(transcript(&written), "exit 0\n");
    }
    let compare = ["verify", "--compare", "eager.trace", "eager.export"];
    let output = metalens(folder.path(), &compare);
    assert_eq!(output.status.code(), Some(0), "{}", transcript(&output));
    let text = stdout(&output);
    assert_eq!(text.matches(": 0 of ").count(), 18, "{text}");
    let line = "metal-gpu-intervals: 0 of 18360 cells differ, 0 only in a name that metalens did not find or demangle; 0 more";
    assert!(text.contains(line), "{text}");
    let screen = metalens(folder.path(), &["analyze", "eager.trace", "--full"]);
    let export = metalens(folder.path(), &["analyze", "eager.export", "--full"]);
    let export = transcript(&export).replace("eager.export", "eager.trace");
    assert_eq!(transcript(&screen), export);
}

/// A damaged table that the analysis needs is an error; another one is a note.
#[test]
fn a_damaged_table_is_an_error_if_needed_else_a_note() {
    let folder = with_scenario("eager");
    let check = |schema: &str| {
        let arguments = ["synth", "eager", "-o", "eager.trace", "--force", "--quiet"];
        assert!(metalens(folder.path(), &arguments).status.success());
        let store = store_of(&folder.path().join("eager.trace"), schema);
        let bytes = fs::read(&store).unwrap();
        fs::write(&store, &bytes[..30]).unwrap();
        metalens(folder.path(), &["analyze", "eager.trace", "--full"])
    };

    for schema in [
        "metal-gpu-state-intervals",
        "metal-application-encoders-list",
        "metal-command-buffer-completed",
    ] {
        let output = check(schema);
        assert_eq!(output.status.code(), Some(4), "{schema}");
        assert!(stderr(&output).contains(schema), "{}", stderr(&output));
    }
    let output = check("metal-current-allocated-size");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("metal-current-allocated-size"));
    assert_snapshot!(transcript(&check("metal-gpu-intervals")));
}

/// Returns the file with the rows of a table in a bundle.
fn store_of(bundle: &Path, schema: &str) -> PathBuf {
    let stores = fs::read_dir(bundle.join("corespace/run1/core/stores")).unwrap();
    let mut stores = stores.map(|entry| entry.unwrap().path());
    let named = format!("\"{schema}\"");
    let store = stores.find(|store| {
        let descriptor = inflate(&fs::read(store.join("schema.xml")).unwrap());
        String::from_utf8_lossy(&descriptor).contains(&named)
    });
    store.unwrap().join("bulkstore")
}

fn inflate(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut inflated = Vec::new();
    flate2::read::ZlibDecoder::new(bytes)
        .read_to_end(&mut inflated)
        .unwrap();
    inflated
}
