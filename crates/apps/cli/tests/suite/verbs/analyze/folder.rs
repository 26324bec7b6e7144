//! Tests the folder that `analyze -o` writes: its files, and its manifest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{metalens, stderr, stdout, with_scenario};

/// Returns all files under a folder, by their relative path.
pub(crate) fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(folder.join(&at)).unwrap() {
            let entry = entry.unwrap();
            let path = at.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(entry.path()).unwrap();
                files.insert(path.to_str().unwrap().to_owned(), bytes);
            }
        }
    }
    files
}

pub(crate) fn write_report(folder: &Path, arguments: &[&str]) {
    let output = metalens(folder, &[&["analyze", "-q"], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
}

pub(crate) fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes);
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares a manifest with the bytes of the files beside it.
pub(crate) fn check_manifest(files: &BTreeMap<String, Vec<u8>>) {
    let manifest = json(&files["manifest.json"]);
    let listed = manifest["files"].as_array().unwrap();
    let paths: Vec<&str> = listed
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    let mut sorted = paths.clone();
    sorted.sort_unstable();
    let found: Vec<&str> = files.keys().map(String::as_str).collect();
    let found: Vec<&str> = found
        .into_iter()
        .filter(|&path| path != "manifest.json")
        .collect();
    assert_eq!(sorted, found);
    for (entry, path) in listed.iter().zip(paths) {
        let bytes = &files[path];
        assert_eq!(entry["bytes"], bytes.len(), "{path}");
        assert_eq!(entry["sha256"], sha256(bytes), "{path}");
        let (kind, media_type) = match path {
            "report.json" | "comparison.json" => ("report", "application/json"),
            "report.md" | "comparison.md" => ("page", "text/markdown"),
            "report.html" | "comparison.html" => ("page", "text/html"),
            _ => ("chart", "image/png"),
        };
        assert_eq!(
            (&entry["kind"], &entry["media_type"]),
            (&kind.into(), &media_type.into())
        );
        let picture = &entry["picture"];
        assert_eq!(picture.is_object(), kind == "chart", "{path}");
        if kind == "chart" {
            // The first chunk of a PNG begins with its width and height.
            let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!(picture["width"], word(16), "{path}");
            assert_eq!(picture["height"], word(20), "{path}");
            assert_eq!(word(16), 2 * 830, "{path}");
            assert!(picture["alt"].as_str().unwrap().len() > 20, "{path}");
            assert!(bytes.len() < 200_000, "{path}: {}", bytes.len());
        }
    }
}

#[test]
fn the_manifest_lists_every_file_and_matches_the_report() {
    let folder = with_scenario("shared-machine");
    write_report(folder.path(), &["shared-machine", "-o", "a/b"]);
    let files = files_of(&folder.path().join("a/b"));
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_snapshot!(names.join("\n"));
    check_manifest(&files);
    let manifest = json(&files["manifest.json"]);
    let report = json(&files["report.json"]);
    assert_eq!(manifest["report_schema"], report["schema"]);
    assert_eq!(manifest["problems"], Value::Array(Vec::new()));
}

#[test]
fn a_truncated_recording_is_marked_and_paths_are_left_out() {
    let folder = with_scenario("eager");
    let file = folder.path().join("eager/metal-gpu-intervals.xml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() / 2]).unwrap();
    let input = folder.path().join("eager");
    let input = input.to_str().unwrap();
    write_report(folder.path(), &[input, "--allow-truncated", "-o", "out"]);
    let files = files_of(&folder.path().join("out"));
    check_manifest(&files);
    let report = json(&files["report.json"]);
    let mut notes = report["notes"].as_array().unwrap().iter();
    assert!(notes.any(|note| note["id"] == "truncated"), "{report}");
    let page = String::from_utf8(files["report.md"].clone()).unwrap();
    assert!(page.contains("TRUNCATED"), "{page}");
    assert!(!page.contains(folder.path().to_str().unwrap()), "{page}");
}

#[test]
fn the_page_starts_with_the_verdict_and_shows_every_chart() {
    let folder = with_scenario("awkward");
    write_report(folder.path(), &["awkward", "-o", "out"]);
    let files = files_of(&folder.path().join("out"));
    let page = String::from_utf8(files["report.md"].clone()).unwrap();
    let shown: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| {
            line.strip_prefix("![")?
                .strip_suffix(')')?
                .rsplit_once("](")
        })
        .collect();
    let paths: Vec<&str> = shown.iter().map(|(_, path)| *path).collect();
    assert_eq!(
        paths,
        [
            "charts/timeline.png",
            "charts/idle.png",
            "charts/kernels.png",
            "charts/gaps.png"
        ]
    );
    for (alt, path) in &shown {
        assert!(files.contains_key(*path), "{path}");

        // No character ends the alternative text or begins an element.
        let plain = alt.replace("\\[", "").replace("\\]", "");
        assert!(!plain.contains(['[', ']', '<', '>']), "{alt}");
    }
    let verdict = json(&files["report.json"])["verdict"]["why"]["text"]
        .as_str()
        .unwrap()
        .len();
    let at = |text: &str| page.find(text).unwrap();
    assert!(at("**") < 60 && at("**") + verdict < at("!["), "{page}");
    assert!(at("SYNTHETIC") < at("!["), "{page}");

    let printed = stdout(&metalens(
        folder.path(),
        &["analyze", "awkward", "--markdown"],
    ));
    assert!(
        !printed.contains("!["),
        "printed Markdown has no files beside it"
    );
    assert!(!page.contains("\n\n\n"), "{page}");
    // Printed Markdown has a chart of characters instead of the timeline.
    let without_charts = |page: &str| -> String {
        let parts = page.split_inclusive("\n\n");
        let is_chart = |part: &&str| part.starts_with("![") || part.starts_with("```text");
        parts.filter(|part| !is_chart(part)).collect()
    };

    assert!(printed.contains("```text\nbusy "), "{printed}");
    assert_eq!(
        without_charts(&page),
        without_charts(&printed),
        "the pages differ only in the charts"
    );
}

/// HTML breaks lines anywhere, so a number must keep its unit. Other files have plain spaces, which
/// can be searched.
#[test]
fn only_html_has_unbreakable_spaces_before_units() {
    let folder = with_scenario("eager");
    write_report(folder.path(), &["eager", "-o", "out"]);
    let files = files_of(&folder.path().join("out"));
    let text = |path: &str| String::from_utf8(files[path].clone()).unwrap();
    let verdict = json(&files["report.json"])["verdict"]["why"]["text"].clone();
    let verdict = verdict.as_str().unwrap();
    assert!(text("report.md").contains(verdict));
    assert!(!text("report.md").contains('\u{a0}') && !text("report.json").contains('\u{a0}'));
    let units = [" %", " ns", " µs", " ms"];
    let unbreakable = units.iter().fold(verdict.to_owned(), |text, unit| {
        text.replace(unit, &unit.replace(' ', "\u{a0}"))
    });
    assert!(
        unbreakable != verdict && text("report.html").contains(&unbreakable),
        "{unbreakable}"
    );
}

#[test]
fn other_processes_are_named_only_with_show_names() {
    let folder = with_scenario("awkward");
    let input = folder.path().join("awkward");
    let input = input.to_str().unwrap();
    write_report(folder.path(), &[input, "-o", "out"]);
    write_report(folder.path(), &[input, "-o", "named", "--show-names"]);
    let (plain, named) = ("out", "named");
    for (name, redacted) in [(plain, true), (named, false)] {
        let files = files_of(&folder.path().join(name));
        let manifest = json(&files["manifest.json"]);
        for file in manifest["files"].as_array().unwrap() {
            let is_for_programs = file["path"] == "report.json";
            assert_eq!(file["redacted"], redacted && !is_for_programs, "{file}");
            for secret in ["Helper (GPU) (Renderer)", "Compositor", "/awkward"] {
                let alt = file["picture"]["alt"].as_str().unwrap_or_default();
                assert!(!alt.contains(secret), "{alt}");
            }
        }
    }

    // The SVG of a chart has the same words as its PNG, and can be searched.
    for chart in ["timeline", "idle", "gaps", "kernels"] {
        let file = format!("{chart}.svg");
        let drawn = metalens(
            folder.path(),
            &["chart", "-q", input, "--chart", chart, "-o", &file],
        );
        assert!(drawn.status.success(), "{}", stderr(&drawn));
        let picture = fs::read_to_string(folder.path().join(file)).unwrap();
        for secret in ["Helper", "Compositor", "/awkward"] {
            assert!(!picture.contains(secret), "{secret} on {chart}");
        }
    }
}

#[test]
fn same_input_gives_same_bytes() {
    let folder = with_scenario("renderer");
    write_report(folder.path(), &["renderer", "-o", "one"]);
    write_report(folder.path(), &["renderer", "-o", "two"]);
    let files = files_of(&folder.path().join("one"));
    assert_eq!(files, files_of(&folder.path().join("two")));
    write_report(folder.path(), &["renderer", "-o", "two", "--force"]);
    assert_eq!(files, files_of(&folder.path().join("two")));

    // report.json is what --json prints.
    let printed = metalens(folder.path(), &["analyze", "renderer", "--json"]);
    assert_eq!(files["report.json"], printed.stdout);
}
