//! Checks that nothing is there that manifests switch off: a test that never runs would pass.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the text of each source file of a crate.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap_or_default();
            all.push((path, text));
        }
    }
    all
}

/// Returns whether a doc comment of a source has an example that `cargo test` would run.
fn has_example(source: &str) -> bool {
    let docs = source.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("//!").or(line.strip_prefix("///"))
    });
    let fences = docs.filter_map(|line| line.trim_start().strip_prefix("```"));

    // Every second fence ends a block.
    let mut openings = fences.step_by(2);
    openings.any(|language| !["text", "json", "xml", "sh"].contains(&language))
}

#[test]
fn what_a_manifest_switches_off_is_not_there() {
    let mut without_examples = 0;

    for folder in super::imports::crates() {
        let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let is_off = |key: &str| {
            let setting = manifest.get("lib").and_then(|lib| lib.get(key));
            setting.and_then(toml::Value::as_bool) == Some(false)
        };

        for (file, source) in sources(&folder.join("src")) {
            let shown = file.display();
            assert!(
                !is_off("doctest") || !has_example(&source),
                "{shown} has an example: delete `doctest = false` in its manifest"
            );
            assert!(
                !is_off("test") || !source.contains("#[test]"),
                "{shown} has a test: delete `test = false` in its manifest"
            );
        }
        without_examples += u32::from(is_off("doctest"));
    }
    assert!(without_examples > 0, "no manifest switches anything off");
}

#[test]
fn examples_are_recognized() {
    assert!(has_example("/// ```\n/// let x = 1;\n/// ```\n"));
    assert!(has_example(
        "//! ```text\n//! ```\n    /// ```no_run\n    /// ```\n"
    ));
    assert!(!has_example(
        "/// ```text\n/// ```\n// ```\nlet a = \"```\";\n"
    ));
}
