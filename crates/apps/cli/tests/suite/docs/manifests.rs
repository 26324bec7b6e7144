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

/// The programs beside `metalens` are a workspace of their own, which cannot inherit from the main one.
#[test]
fn both_workspaces_have_the_same_versions_and_lints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let read = |file: &str| -> toml::Table {
        let text = fs::read_to_string(root.join(file)).unwrap();
        text.parse().unwrap()
    };
    let [main, beside] = ["Cargo.toml", "crates/beside/Cargo.toml"].map(read);
    let [main, beside] = [&main["workspace"], &beside["workspace"]];
    assert_eq!(main["package"], beside["package"]);
    assert_eq!(main["lints"], beside["lints"]);

    let mut shared = 0;
    for (name, here) in beside["dependencies"].as_table().unwrap() {
        let version = |of: &toml::Value| of.get("version").unwrap_or(of).clone();
        let there = main["dependencies"].get(name);
        if let Some(there) = there.filter(|there| there.get("path").is_none()) {
            assert_eq!(version(here), version(there), "{name}");
            shared += 1;
        }
    }
    assert!(shared > 10, "only {shared} dependencies are in both");
}
