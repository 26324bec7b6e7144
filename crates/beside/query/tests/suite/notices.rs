//! Checks that release archives have the license of each crate that their programs link.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs of a release archive, and the folders of their workspaces.
const PROGRAMS: [(&str, &str); 2] = [("metalens", "."), ("metalens-query", "crates/beside")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Runs a program in a folder; returns what it prints.
fn run(program: impl AsRef<OsStr>, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the names and versions of the crates that a program links, without its own.
fn linked(program: &str, workspace: &str) -> BTreeSet<String> {
    let tree = ["tree", "--locked", "-p", program, "-e"];
    let format = [
        "normal,no-proc-macro",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ];
    let folder = root().join(workspace);
    let lines = run(env!("CARGO"), &folder, &[&tree[..], &format].concat());
    let crates = lines.lines().filter(|line| !line.contains("(/"));
    crates
        .map(|line| line.trim_end_matches(" (*)").replacen(" v", " ", 1))
        .collect()
}

#[test]
fn the_archive_has_the_license_of_each_linked_crate() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no python3");
        return;
    }
    let notices = run(root().join("scripts/notices"), &root(), &[]);
    // The list of all works, then texts, each below the names of its works.
    let (list, texts) = notices.split_once("\n======").unwrap();
    let headings = texts.split("\n======").map(|text| {
        let heading = text.trim_start_matches('=').split(":\n\n").next();
        heading.unwrap_or_default().replace('\n', " ")
    });
    let headings: Vec<String> = headings.collect();
    let works = headings.iter().flat_map(|heading| heading.split(", "));
    let with_text: BTreeSet<&str> = works.map(str::trim).collect();

    let mut seen = 0;
    for (program, workspace) in PROGRAMS {
        for linked in linked(program, workspace) {
            assert!(
                list.contains(&format!("* {linked}: ")),
                "{linked} is missing"
            );
            assert!(with_text.contains(&*linked), "{linked} has no license");
            seen += 1;
        }
    }
    assert!(seen > 300, "{seen}");
    for (work, words) in [
        ("inferno", "Common Development and Distribution License"),
        ("serde_json", "Permission is hereby granted, free of charge"),
        ("The Rust standard library", "The Rust Project Contributors"),
    ] {
        let is_of_work = |text: &&str| {
            let heading = text.split(":\n\n").next();
            heading.is_some_and(|heading| heading.contains(work))
        };
        let mut texts = texts.split("\n======").filter(is_of_work);
        assert!(texts.any(|text| text.contains(words)), "{work}: {words}");
    }

    let package = std::fs::read_to_string(root().join("scripts/package")).unwrap();
    assert!(package.contains("scripts/notices --target \"$target\" >"));
}
