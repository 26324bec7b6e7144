//! Drives the server with the command line of the protocol's inspector.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::{metalens, recordings};

/// Runs the inspector, and returns `None` if it is not installed.
fn inspector(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let program = std::env::var_os("METALENS_INSPECTOR").unwrap_or("mcp-inspector".into());
    let server = env!("CARGO_BIN_EXE_metalens-mcp");
    Command::new(program)
        .args(["--cli", server, "--root"])
        .arg(folder)
        .args(arguments)
        .output()
        .ok()
}

/// Returns the result that the inspector prints.
fn result(folder: &Path, arguments: &[&str]) -> Value {
    let output = inspector(folder, arguments).unwrap();
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {failed}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_inspector_lists_and_calls_tools_and_reads_resources() {
    let folder = tempfile::tempdir().unwrap();
    let list = ["--method", "tools/list"];
    if inspector(folder.path(), &list).is_none() {
        eprintln!("skipped: no inspector of the protocol (METALENS_INSPECTOR names it)");
        return;
    }
    metalens();
    recordings(folder.path(), &["eager"]);

    let listed = result(folder.path(), &list);
    let tools = listed["tools"].as_array().unwrap().iter();
    let tools: Vec<_> = tools.filter_map(|tool| tool["name"].as_str()).collect();
    for name in ["list", "analyze", "compare", "chart", "query"] {
        assert!(tools.contains(&name), "{name}: {tools:?}");
    }
    assert!(!tools.contains(&"record"), "{tools:?}");

    let call = ["--method", "tools/call", "--tool-name", "analyze"];
    let analyze = |input| result(folder.path(), &[&call[..], &["--tool-arg", input]].concat());
    let answer = analyze("input=eager.trace");
    let truth = std::fs::read(folder.path().join("eager.trace").join("truth.json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let (found, truth) = (&answer["structuredContent"], &truth["runs"][0]);
    assert_eq!(answer["isError"], false, "{answer}");
    assert_eq!(found["busy"]["busy_ns"], truth["busy"]["busy_ns"]);
    assert_eq!(found["gaps"]["total_ns"], truth["gaps"]["total_ns"]);

    let refused = analyze("input=../outside.trace");
    assert_eq!(refused["isError"], true, "{refused}");

    let read = ["--method", "resources/read", "--uri", "metalens://skill"];
    let skill = result(folder.path(), &read);
    let text = skill["contents"][0]["text"].as_str().unwrap();
    assert_eq!(
        text,
        include_str!("../../../../../skills/metalens/SKILL.md")
    );
}
