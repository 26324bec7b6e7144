//! Tests what the server must not do: leave its roots, show names, go on after its end.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Client;
use crate::recordings;

#[test]
fn nothing_outside_the_roots_is_read_or_written() {
    let all = tempfile::tempdir().unwrap();
    let (inside, outside) = (all.path().join("inside"), all.path().join("outside"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    recordings(&inside, &["fused"]);
    recordings(&outside, &["eager"]);
    symlink(outside.join("eager.trace"), inside.join("link.trace")).unwrap();
    symlink(&outside, inside.join("up")).unwrap();
    let secret = outside.join("eager.trace");
    let secret = secret.to_str().unwrap();

    let mut client = Client::start(&inside, &["--root", ".", "--allow-record"]);
    let ways = [
        secret,
        "../outside/eager.trace",
        "fused.trace/../../outside/eager.trace",
        "link.trace",
        "up/eager.trace",
    ];
    let refused = "is outside the folders that this server may use";
    for way in ways {
        let calls = [
            ("analyze", json!({ "input": way })),
            ("analyze", json!({ "input": way, "section": "findings" })),
            ("analyze", json!({ "input": way, "section": "kernels" })),
            ("analyze", json!({ "input": way, "section": "gaps" })),
            ("compare", json!({ "base": ["fused.trace"], "new": [way] })),
            ("compare", json!({ "base": [way], "new": ["fused.trace"] })),
            (
                "compare",
                json!({ "baseline": way, "new": ["fused.trace"] }),
            ),
            (
                "compare",
                json!({ "base": ["fused.trace"], "new": [way], "gate": "default" }),
            ),
            (
                "compare",
                json!({ "base": ["fused.trace"], "new": ["fused.trace"], "gate": way }),
            ),
            (
                "query",
                json!({ "sql": "SELECT * FROM runs", "inputs": [way] }),
            ),
            ("chart", json!({ "input": way })),
            ("chart", json!({ "input": "fused.trace", "base": way })),
            ("list", json!({ "input": way })),
        ];
        for (tool, arguments) in calls {
            let said = client.problem(tool, arguments.clone());
            assert!(said.contains(refused), "{tool} {arguments}: {said}");
            assert!(said.contains("hint: "), "{tool} {arguments}: {said}");
        }
        let uri = format!("metalens://report/{way}");
        let error = client.ask("resources/read", json!({ "uri": uri }));
        let said = error.unwrap_err().to_string();
        assert!(said.contains(refused), "{said}");
    }

    for output in ["../new", "up/new", outside.join("new").to_str().unwrap()] {
        let bundle = format!("{output}.trace");
        let record = json!({ "workload": "eager", "simulate": true, "output": bundle });
        let said = client.problem("record", record);
        assert!(said.contains(refused), "{output}: {said}");
    }
    let (_, found) = client.answer("list", json!({}));
    assert_eq!(found["recordings"], json!(["./fused.trace"]));
    let left: Vec<_> = fs::read_dir(&outside).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");

    // The same recording is read as soon as its folder is a root.
    drop(client);
    let roots = ["--root", ".", "--root", outside.to_str().unwrap()];
    let mut client = Client::start(&inside, &roots);
    client.answer("analyze", json!({ "input": secret }));
    client.answer("analyze", json!({ "input": "link.trace" }));
    client.close();
}

#[test]
fn names_of_other_processes_are_shown_only_if_allowed() {
    let folder = tempfile::tempdir().unwrap();
    recordings(folder.path(), &["shared-machine"]);
    let others = ["Browser Helper", "Video Call"];
    let input = "shared-machine.trace";
    let calls = [
        (
            "analyze",
            json!({ "input": input, "section": "all", "budget": 200_000 }),
        ),
        ("analyze", json!({ "input": input })),
        (
            "analyze",
            json!({ "input": input, "section": "findings", "top": 99, "budget": 200_000 }),
        ),
        (
            "analyze",
            json!({ "input": input, "section": "gaps", "budget": 200_000 }),
        ),
        (
            "compare",
            json!({ "base": [input], "new": [input], "section": "all", "budget": 200_000 }),
        ),
    ];

    let mut client = Client::start(folder.path(), &[]);
    for (tool, arguments) in calls.clone() {
        let said = client.call(tool, arguments).to_string();
        for other in others {
            assert!(!said.contains(other), "{tool} names {other}");
        }
    }
    let uri = format!("metalens://report/{input}");
    let report = client.ask("resources/read", json!({ "uri": uri })).unwrap();
    let report = report.to_string();
    assert!(report.contains("metalens.report/"), "{report}");
    assert!(others.iter().all(|other| !report.contains(other)));
    let nobody = json!({ "input": input, "part": { "process": "nobody" } });
    let said = client.problem("analyze", nobody);
    assert!(said.contains("other process 1 (pid "), "{said}");
    assert!(others.iter().all(|other| !said.contains(other)), "{said}");
    let rows = json!({ "input": input, "table": "metal-gpu-intervals" });
    let said = client.problem("list", rows.clone());
    assert!(said.contains("--show-names"), "{said}");
    client.close();

    let mut client = Client::start(folder.path(), &["--show-names"]);
    let (tool, arguments) = &calls[0];
    let said = client.call(tool, arguments.clone()).to_string();
    assert!(others.iter().all(|other| said.contains(other)));
    let (text, found) = client.answer("list", rows);
    assert!(text.contains("Video Call"), "{text}");
    let rows = found["rows"].as_array().unwrap();
    assert!((5..=10).contains(&rows.len()), "{}", rows.len());
    client.close();
}

#[test]
fn nothing_is_recorded_unless_it_was_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = json!({ "workload": "eager", "simulate": true, "output": "run.trace" });

    let mut client = Client::start(folder.path(), &[]);
    let call = json!({ "name": "record", "arguments": arguments });
    let error = client.ask("tools/call", call).unwrap_err().to_string();
    assert!(error.contains("--allow-record"), "{error}");
    client.close();
    assert!(!folder.path().join("run.trace").exists());

    let mut client = Client::start(folder.path(), &["--allow-record"]);
    let (text, found) = client.answer("record", arguments);
    assert!(text.contains("SIMULATED"), "{text}");
    assert_eq!(found["simulated"], true);
    let (text, _) = client.answer("analyze", json!({ "input": "run.trace" }));
    assert!(
        text.contains("SIMULATED") || text.contains("SYNTHETIC"),
        "{text}"
    );
    client.close();
}

/// A canceled recording of a program that would run for minutes: all processes end, and the client
/// gets no answer to the canceled request but answers to later ones.
#[test]
fn a_canceled_call_ends_its_processes_and_reports_progress() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pid");
    let script = "echo $$ >pid; exec sleep 300";
    let mut client = Client::start(folder.path(), &["--allow-record"]);
    let id = client.send(
        "tools/call",
        json!({
            "name": "record",
            "arguments": {
                "program": ["sh", "-c", script], "simulate": true, "output": "run.trace",
                "time_limit": "200s",
            },
            "_meta": { "progressToken": "recording" },
        }),
    );
    let started = Instant::now();
    let pid = loop {
        let text = fs::read_to_string(&mark).unwrap_or_default();
        if let Ok(pid) = text.trim().parse() {
            break rustix::process::Pid::from_raw(pid).unwrap();
        }
        assert!(started.elapsed() < Duration::from_secs(100), "nothing runs");
        std::thread::sleep(Duration::from_millis(20));
    };
    while client.progress.is_empty() {
        client.receive().unwrap();
    }
    client.say(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
    }));

    let started = Instant::now();
    while rustix::process::test_kill_process(pid).is_ok() {
        assert!(
            started.elapsed() < Duration::from_secs(100),
            "the program runs on"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    // Later calls are answered, and the canceled one is not.
    let tools = client.ask("tools/list", json!({})).unwrap();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 6);
    assert!(
        client.progress[0].contains("record"),
        "{:?}",
        client.progress
    );
    client.close();
}

/// A client that leaves ends what it asked for.
#[test]
fn the_end_of_the_client_ends_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pid");
    let mut client = Client::start(folder.path(), &["--allow-record"]);
    client.send(
        "tools/call",
        json!({
            "name": "record",
            "arguments": {
                "program": ["sh", "-c", "echo $$ >pid; exec sleep 300"], "simulate": true,
                "output": "run.trace", "time_limit": "200s",
            },
        }),
    );
    let started = Instant::now();
    while fs::read_to_string(&mark).unwrap_or_default().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(100), "nothing runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    client.close();
    let pid = fs::read_to_string(&mark).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    assert!(rustix::process::test_kill_process(pid).is_err());
    assert!(started.elapsed() < Duration::from_secs(150));
}

/// A client waits for an answer to each line, also to one that is no message.
#[test]
fn lines_that_are_no_message_get_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(folder.path(), &[]);
    let mut check = |line: &[u8], code: i64, expected: &str| {
        client.say_bytes(line);
        let answer = client.receive().unwrap();
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]);
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        // MCP, unlike JSON-RPC, has no null there.
        assert!(answer.get("id").is_none(), "{shown}: {answer}");
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.contains(expected), "{shown}: {said}");
        // The server goes on.
        client.ask("ping", json!({})).unwrap();
    };

    check(b"hello", -32700, "is not valid JSON");
    check(
        b"{\"jsonrpc\":\"2.0\",\"id\":7,",
        -32700,
        "is not valid JSON",
    );
    check(b"\"\xff\xfe\"", -32700, "is not valid JSON");
    check(&b"[".repeat(100_000), -32700, "recursion limit");
    let nested = [b"[".repeat(1_000), b"]".repeat(1_000)].concat();
    check(&nested, -32700, "recursion limit");
    check(&b" ".repeat(17 << 20), -32600, "longer than 16 MiB");
    check(b"[]", -32600, "");
    check(b"7", -32600, "");
    client.close();

    // The last line is answered, too, if the client is gone after it.
    let mut client = Client::start(folder.path(), &[]);
    client.say_bytes(b"hello");
    client.end_input();
    assert_eq!(client.receive().unwrap()["error"]["code"], -32700);
    client.close();
}

/// metalens reads its settings in the folder that it starts in: the first root.
#[test]
fn settings_outside_the_roots_are_refused_and_not_told() {
    let all = tempfile::tempdir().unwrap();
    let inside = all.path().join("inside");
    fs::create_dir(&inside).unwrap();
    recordings(&inside, &["eager"]);
    fs::write(all.path().join("secret.txt"), "SECRET-LINE token=abc123\n").unwrap();
    let mut client = Client::start(&inside, &["--root", "."]);
    client.answer("analyze", json!({ "input": "eager.trace" }));

    symlink(all.path().join("secret.txt"), inside.join("metalens.toml")).unwrap();
    let side = ["eager.trace"];
    for (tool, arguments) in [
        ("analyze", json!({ "input": "eager.trace" })),
        (
            "compare",
            json!({ "base": side, "new": side, "gate": "default" }),
        ),
        (
            "query",
            json!({ "sql": "SELECT run FROM runs", "inputs": side }),
        ),
    ] {
        let said = client.problem(tool, arguments);
        assert!(!said.contains("SECRET"), "{tool}: {said}");
        assert!(
            said.contains("the link \"metalens.toml\", which leads"),
            "{tool}: {said}"
        );
    }
    client.close();
}

/// A file in a bundle looks like a part of it, and metalens would no longer read it.
#[test]
fn nothing_is_written_into_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    recordings(folder.path(), &["eager"]);
    let mut client = Client::start(folder.path(), &["--allow-record"]);
    for output in ["eager.trace/new.trace", "eager.trace/corespace/new.trace"] {
        let record = json!({ "workload": "eager", "simulate": true, "output": output });
        let said = client.problem("record", record);
        assert!(said.contains("is inside a recording"), "{output}: {said}");
    }
    client.answer("analyze", json!({ "input": "eager.trace" }));
    client.close();
}
