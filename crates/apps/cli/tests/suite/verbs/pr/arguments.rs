//! Tests how the pull request and the token are found, and which folders are refused.

use std::fs;

use serde_json::json;

use super::server::{Server, TOKEN};
use super::{Bench, has_curl};
use crate::stderr;

fn bench(server: &Server) -> Bench {
    Bench::new("fused").set("SERVER", &server.api)
}

#[test]
fn the_pull_request_of_a_workflow_run_is_found() {
    if !has_curl() {
        return;
    }
    let check = |event: &serde_json::Value, code: i32, says: &str| {
        let server = Server::start();
        let bench = bench(&server)
            .set("GITHUB_TOKEN", TOKEN)
            .set("GITHUB_REPOSITORY", "o/r");
        let file = bench.path("event.json");
        fs::write(&file, event.to_string()).unwrap();
        let bench = bench.set("GITHUB_EVENT_PATH", file.to_str().unwrap());
        let output = bench.run(&["--text"], code);
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
        server
            .comments()
            .first()
            .map_or(String::new(), |comment| comment.body.clone())
    };

    let head = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";
    let body = check(
        &json!({ "pull_request": { "number": 7, "head": { "sha": head } } }),
        0,
        "o/r#7",
    );
    assert!(body.contains(&format!("at commit {head}")), "{body}");

    // GitHub gives the number for the commit; the number in the event may be forged.
    let run = |branch: &str, commit: &str| {
        json!({ "workflow_run": {
            "head_sha": commit, "head_branch": branch, "head_repository": { "owner": { "login": "fan" } },
            "pull_requests": [{ "number": 666 }],
        } })
    };

    let body = check(&run("faster", head), 0, "o/r#7");
    assert!(body.contains(&format!("at commit {head}")), "{body}");
    check(
        &run("faster", "1234567812345678"),
        2,
        "no open pull request of o/r has 1234567812345678",
    );
    check(&run("slower", head), 2, "as its newest commit");
    check(
        &run("a\u{1b}[31m\u{202e}b", head),
        2,
        "of fan:a‹U+001B›[31m‹U+202E›b",
    );
    check(
        &json!({ "ref": "refs/heads/main" }),
        2,
        "cannot tell which pull request is meant",
    );

    // The pull request has a newer commit.
    let old = "0123456789012345678901234567890123456789";
    check(
        &json!({ "pull_request": { "number": 7, "head": { "sha": old } } }),
        0,
        "but the newest commit of #7 is",
    );
}

#[test]
fn invalid_arguments_and_missing_tokens_are_refused() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let bench = bench(&server).set("GH_TOKEN", TOKEN);
    let here = ["--text", "--repo", "o/r", "--number", "7"];
    bench.run(&here, 0);
    let check = |arguments: &[&str], says: &str| {
        let output = bench.run(&[&here, arguments].concat(), 2);
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };

    check(&["--key", "a --> b"], "--key \"a --> b\" is not valid");
    check(&["--key", "a--b"], "is not valid");
    check(
        &["--commit", "HEAD"],
        "--commit \"HEAD\" is not the hash of a commit",
    );
    check(&["--artifact-url", "https://a/)<img>"], "is not an address");
    assert_eq!(server.comments().len(), 1);
    let without = Bench::new("fused");
    let output = without.run(&["--repo", "o/r", "--number", "7"], 2);
    assert!(
        stderr(&output).contains("gh has no token to post with"),
        "{}",
        stderr(&output)
    );
    let output = without.run(&["--repo", "../r", "--number", "7"], 2);
    assert!(
        stderr(&output).contains("is not a repository"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn folders_that_changed_or_are_not_reports_are_refused() {
    let bench = Bench::new("fused");
    let check = |says: &str, code: i32| {
        let output = bench.run(&["--dry-run"], code);
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    };

    let page = bench.path("out/report.md");
    let text = fs::read(&page).unwrap();
    fs::write(&page, [text.as_slice(), b"more"].concat()).unwrap();
    check("report.md differs from its manifest", 1);
    fs::write(&page, text).unwrap();
    let manifest = bench.path("out/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(
        &manifest,
        text.replace("charts/idle.png", "../../secret.png"),
    )
    .unwrap();
    check(
        "lists \"../../secret.png\", which is not a path inside a report",
        1,
    );
    fs::write(
        &manifest,
        text.replace("metalens.manifest/1", "metalens.manifest/9"),
    )
    .unwrap();
    check("another version of metalens wrote", 1);
    fs::remove_file(&manifest).unwrap();
    check(
        "has no manifest.json, so it is not a complete report: write the folder with `metalens analyze",
        1,
    );
}

/// The error names the thing that a user gave instead of a report folder, and the command to run. No
/// such command writes into a recording.
#[test]
fn what_is_not_a_report_folder_is_named() {
    let bench = Bench::new("fused");
    let at = |name: &str| bench.path(name);
    let recording = at("run 1.trace");
    fs::create_dir_all(recording.join("corespace")).unwrap();
    fs::write(at("page.md"), "x").unwrap();
    fs::create_dir(at("empty")).unwrap();
    let scenario = metalens_simulator::Scenario::preset("fused").unwrap();
    metalens_simulator::write_export(&scenario, &at("fused.export"), false).unwrap();
    let here = at("empty");
    let here = here.parent().unwrap();
    let made = crate::metalens(here, &["batch", "fused.export", "-o", "reports", "-q"]);
    assert!(made.status.success(), "{}", stderr(&made));

    let check = |given: &str, expected: &str| {
        let output = crate::metalens(here, &["pr", given, "--dry-run"]);
        assert_eq!(output.status.code(), Some(1), "{given}");
        let told = stderr(&output);
        assert!(told.starts_with(&format!("error: {expected}")), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    };
    check(
        "run 1.trace",
        "run 1.trace is a recording: analyze it first, with `metalens analyze 'run 1.trace' -o report`, \
         then `metalens pr report`\n",
    );
    check(
        "fused.export",
        "fused.export is a recording: analyze it first, with `metalens analyze fused.export -o report`, \
         then `metalens pr report`\n",
    );
    check(
        "reports",
        "reports has the index of a batch, which cannot be posted: post the folder of one recording in \
         it, such as `metalens pr reports/fused.export`\n",
    );
    check("nosuch", "there is no folder nosuch\n");
    check(
        "page.md",
        "page.md is not a folder that `metalens analyze -o` wrote\n",
    );
    check(
        "empty",
        "empty has no manifest.json, so it is not a complete report",
    );
}
