//! Tests that answers are those of the command line, within their budget.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;
use crate::{metalens, recordings};

/// Runs metalens itself, and returns the JSON that it prints.
fn printed(folder: &std::path::Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(metalens());
    let output = command.current_dir(folder).args(arguments).output();
    serde_json::from_slice(&output.unwrap().stdout).unwrap()
}

/// Returns the arguments of `analyze` for a section of a recording.
fn section(section: &str) -> Value {
    json!({ "input": "eager.trace", "section": section })
}

#[test]
fn answers_have_the_figures_that_metalens_prints() {
    let folder = tempfile::tempdir().unwrap();
    recordings(folder.path(), &["eager", "fused"]);
    let mut client = Client::start(folder.path(), &[]);
    let input = json!({ "input": "eager.trace" });
    let report = printed(folder.path(), &["analyze", "eager.trace", "--json", "-q"]);

    let (text, found) = client.answer("analyze", input);
    for key in ["busy", "idle", "counts"] {
        assert_eq!(found[key], report[key], "{key}");
    }
    assert_eq!(found["verdict"]["bound"], report["verdict"]["bound"]);
    assert_eq!(found["gaps"]["p95_ns"], report["gaps"]["p95_ns"]);
    assert!(text.contains("\nLatency-bound: "), "{text}");
    assert!(text.contains("SYNTHETIC"), "{text}");
    assert!(!text.contains("--"), "options of the command line: {text}");
    assert!(!text.contains('\u{1b}'), "{text}");

    let (_, found) = client.answer("analyze", section("kernels"));
    let mut kernels = report["kernels"].clone();
    for kernel in kernels.as_array_mut().unwrap() {
        // Only comparisons need these.
        for key in ["sixteenths_ns", "med_thirds_ns"] {
            kernel.as_object_mut().unwrap().remove(key).unwrap();
        }
    }
    assert_eq!(found["kernels"], kernels);
    let mut first = section("kernels");
    first["top"] = json!(1);
    let (text, found) = client.answer("analyze", first);
    assert_eq!(found["kernels"].as_array().unwrap().len(), 1);
    assert_eq!(found["total"], 4);
    assert!(text.contains("3 more"), "{text}");
    let mut named = section("kernels");
    named["name"] = json!("soft");
    let (_, found) = client.answer("analyze", named);
    assert_eq!(found["kernels"][0]["name"], "softmax");

    let (_, found) = client.answer("analyze", section("gaps"));
    assert_eq!(found["gaps"]["histogram"], report["gaps"]["histogram"]);
    assert_eq!(found["longest"][0], report["gaps"]["top"][0]);

    let (text, found) = client.answer("analyze", section("findings"));
    assert_eq!(
        found["findings"][0]["evidence"],
        report["findings"][0]["evidence"]["text"]
    );
    assert!(text.contains("addCompletedHandler"), "{text}");
    let mut none = section("findings");
    none["name"] = json!("hangs");
    let said = client.problem("analyze", none);
    assert!(
        said.contains("it has eager-execution, serialized"),
        "{said}"
    );

    let sides = json!({ "base": ["eager.trace"], "new": ["fused.trace"] });
    let (text, found) = client.answer("compare", sides.clone());
    let words = ["compare", "eager.trace", "fused.trace", "--json", "-q"];
    let compared = printed(folder.path(), &words);
    assert_eq!(found["headline"], compared["headline"]["text"]);
    assert_eq!(found["work"]["amount"], "different");
    assert!(text.contains("No kernel in common"), "{text}");
    let mut judged = sides;
    judged["gate"] = json!("default");
    let (_, found) = client.answer("compare", judged);
    assert_eq!(found["passed"], false);
    let same = json!({ "base": ["eager.trace"], "new": ["eager.trace"], "gate": "default" });
    let (_, found) = client.answer("compare", same);
    assert_eq!(found["passed"], true);

    let (text, found) = client.answer("list", json!({}));
    assert_eq!(text, "./eager.trace\n./fused.trace\n");
    assert_eq!(
        found["recordings"],
        json!(["./eager.trace", "./fused.trace"])
    );
    let (text, found) = client.answer("list", json!({ "input": "eager.trace" }));
    assert!(text.contains("1020  metal-gpu-intervals"), "{text}");
    assert_eq!(found["tables"].as_array().unwrap().len(), 27);
    client.close();
}

#[test]
fn a_check_records_nothing_and_says_whether_this_machine_can() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path(), &["--allow-record"]);
    let (text, found) = client.answer("record", json!({ "check": true }));
    assert!(text.starts_with("This machine can"), "{text}");
    assert_eq!(found["schema"], "metalens.doctor/1");
    assert!(found.get("facts").is_none(), "{found}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    // A recording that fails has the same answer.
    let absent = json!({ "program": ["./no-such-program"], "output": "x.trace" });
    let said = client.problem("record", absent);
    assert!(said.contains("\n\nThis machine can"), "{said}");
    client.close();
}

#[test]
fn every_answer_keeps_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    recordings(folder.path(), &["renderer", "fused"]);
    let mut client = Client::start(folder.path(), &["--budget", "4000", "--allow-record"]);
    let calls = [
        ("analyze", json!({ "input": "renderer.trace" })),
        (
            "analyze",
            json!({ "input": "renderer.trace", "section": "all" }),
        ),
        (
            "analyze",
            json!({ "input": "renderer.trace", "section": "findings", "top": 99 }),
        ),
        (
            "analyze",
            json!({ "input": "renderer.trace", "section": "kernels", "top": 99 }),
        ),
        (
            "analyze",
            json!({ "input": "renderer.trace", "section": "gaps", "top": 99 }),
        ),
        (
            "compare",
            json!({ "base": ["renderer.trace"], "new": ["renderer.trace"], "section": "all" }),
        ),
        ("list", json!({ "input": "renderer.trace" })),
        ("record", json!({ "check": true })),
    ];
    for (tool, arguments) in calls {
        for budget in [None, Some(1_000), Some(20_000)] {
            let mut arguments = arguments.clone();
            if let Some(budget) = budget {
                arguments["budget"] = json!(budget);
            }
            let most = budget.unwrap_or(4_000);
            let (text, found) = client.answer(tool, arguments);
            assert!(text.chars().count() <= most, "{tool} {most}");
            assert!(found.to_string().chars().count() <= most, "{tool} {most}");
        }
    }
    // The default budget has room for the figures of a first answer.
    let whole = json!({ "input": "renderer.trace", "budget": 6000 });
    let (text, found) = client.answer("analyze", whole);
    assert!(found["idle"]["total_ns"].is_u64(), "{found}");
    assert!(!text.contains("[cut: "), "{text}");
    client.close();
}

#[test]
fn pictures_are_made() {
    let folder = tempfile::tempdir().unwrap();
    recordings(folder.path(), &["fused"]);
    let mut client = Client::start(folder.path(), &[]);
    let chart = json!({ "input": "fused.trace", "chart": "idle" });
    let result = client.call("chart", chart);
    let picture = &result["content"][1];
    assert_eq!(picture["type"], "image");
    assert_eq!(picture["mimeType"], "image/png");
    // "\x89PNG\r\n" in base64.
    assert!(picture["data"].as_str().unwrap().starts_with("iVBORw0K"));
    client.close();
}

#[test]
fn errors_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    recordings(folder.path(), &["fused", "shared-machine"]);
    std::fs::write(folder.path().join("broken.xml"), "<trace-query-result>").unwrap();
    let mut client = Client::start(folder.path(), &["--allow-record"]);
    let cases = [
        ("analyze", json!({}), "missing field `input`"),
        ("analyze", json!({ "imput": "x" }), "unknown field `imput`"),
        ("analyze", json!({ "input": "x" }), "does not exist below"),
        ("analyze", json!({ "input": "broken.xml" }), "hint: "),
        (
            "analyze",
            json!({ "input": "fused.trace", "section": "x" }),
            "hint: use one of verdict, step, timeline",
        ),
        (
            "analyze",
            json!({ "input": "fused.trace", "section": "gaps", "name": "x" }),
            "name is for the sections findings and kernels",
        ),
        (
            "analyze",
            json!({ "input": "fused.trace", "part": { "phase": "step" } }),
            "step",
        ),
        (
            "analyze",
            json!({ "input": "fused.trace", "part": { "from": "--json" } }),
            "--json",
        ),
        (
            "analyze",
            json!({ "input": "fused.trace", "budget": 5 }),
            "from 1000 to 200000",
        ),
        (
            "compare",
            json!({ "new": ["fused.trace"] }),
            "nothing to compare with",
        ),
        (
            "compare",
            json!({ "base": ["fused.trace"], "new": [] }),
            "new is empty",
        ),
        (
            "compare",
            json!({ "base": ["fused.trace"], "new": ["shared-machine.trace"] }),
            "not comparable",
        ),
        ("list", json!({ "run": 1 }), "input is missing"),
        ("query", json!({ "sql": "SELECT 1" }), "inputs is empty"),
        (
            "chart",
            json!({ "input": "fused.trace", "chart": "pie" }),
            "unknown variant `pie`",
        ),
        ("record", json!({ "output": "x" }), "does not end in .trace"),
        (
            "record",
            json!({ "output": "fused.trace" }),
            "\"fused.trace\" exists, and this server replaces nothing",
        ),
        (
            "record",
            json!({ "output": "x.trace" }),
            "nothing to record",
        ),
    ];
    for (tool, arguments, expected) in cases {
        let said = client.problem(tool, arguments.clone());
        assert!(said.contains(expected), "{tool} {arguments}: {said}");
        // An error names what is at fault: it does not end with a code alone.
        assert!(!said.contains("exit code"), "{tool} {arguments}: {said}");
    }
    let call = json!({ "name": "profile", "arguments": {} });
    let error = client.ask("tools/call", call).unwrap_err().to_string();
    assert!(error.contains("use one of list, analyze"), "{error}");
    let uri = json!({ "uri": "metalens://nothing" });
    client.ask("resources/read", uri).unwrap_err();
    client.close();
}
