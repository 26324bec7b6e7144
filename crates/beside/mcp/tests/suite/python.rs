//! Drives the server with the protocol's own Python package.

use std::path::Path;
use std::process::Command;

use crate::{beside, metalens, recordings};

const SCENARIOS: [&str; 7] = [
    "eager",
    "fused",
    "batched",
    "pipelined",
    "renderer",
    "shared-machine",
    "two-runs",
];

/// Asks ten questions, and checks each figure against the truth of the recording. Prints what was
/// asked and found: `cargo test -p metalens-mcp questions -- --nocapture`.
#[test]
fn ten_questions_are_answered_with_the_true_figures() {
    let python = std::env::var_os("METALENS_PYTHON").unwrap_or("python3".into());
    let imports = Command::new(&python).args(["-c", "import mcp"]).output();
    if !imports.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no Python with the package mcp (METALENS_PYTHON names it)");
        return;
    }
    metalens();
    if !beside("metalens-query").is_file() {
        eprintln!("without the question about SQL: metalens-query is not built");
    }

    let folder = tempfile::tempdir().unwrap();
    recordings(folder.path(), &SCENARIOS);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/questions.py");
    let output = Command::new(python)
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_metalens-mcp"))
        .arg(folder.path())
        .output()
        .unwrap();
    let (said, failed) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    eprintln!("{said}");
    assert!(output.status.success(), "{said}\n{failed}");
    let asked = said
        .lines()
        .filter(|line| line.starts_with("question "))
        .count();
    let expected = if beside("metalens-query").is_file() {
        10
    } else {
        9
    };
    assert_eq!(asked, expected, "{said}");
}
