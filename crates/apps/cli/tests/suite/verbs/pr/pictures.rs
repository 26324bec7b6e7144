//! Tests the methods for pictures in a comment, and the fall back from one to the next.

use std::fs;

use super::server::Server;
use super::{Bench, has_curl};
use crate::stderr;

/// The comment shows four charts, each light and dark.
#[test]
fn pictures_can_be_on_a_branch() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let bench = Bench::with("renderer", &server);
    let output = bench.run(&["--images", "assets"], 0);
    assert!(stderr(&output).contains("pictures are on the branch metalens-assets"));
    let (files, tip) = {
        let state = server.state.lock().unwrap();
        (
            state.files(),
            state.refs["refs/heads/metalens-assets"].clone(),
        )
    };

    assert_eq!(files.len(), 3, "{files:?}");
    assert_eq!(files[0], "README.md");
    let body = server.comments()[0].body.clone();
    for file in &files[1..] {
        let address = format!("https://github.com/o/r/blob/{tip}/{file}?raw=true");
        assert_eq!(body.matches(&address).count(), 1, "{address}");
    }

    // The same pictures need no new commit.
    bench.run(&["--images", "assets"], 0);
    assert_eq!(server.count("POST /repos/o/r/git/commits"), 1);
    assert_eq!(server.comments()[0].body, body);
    server.check();
}

#[test]
fn commits_of_others_on_the_branch_are_kept() {
    if !has_curl() {
        return;
    }
    for is_new in [true, false] {
        let server = Server::start();
        let bench = Bench::with("renderer", &server);
        if !is_new {
            bench.run(&["--images", "assets", "--key", "before"], 0);
            fs::remove_dir_all(bench.path("out")).unwrap();
            super::write_report(
                bench.folder.path(),
                &["renderer", "--process", "Compositor", "-o", "out"],
            );
        }
        server.state.lock().unwrap().overtakes = true;
        bench.run(&["--images", "assets"], 0);
        let state = server.state.lock().unwrap();
        let files = state.files();
        assert!(files.contains(&"theirs.png".to_owned()), "{files:?}");
        assert!(files.len() >= 3, "{files:?}");
        let tip = &state.refs["refs/heads/metalens-assets"];
        assert_eq!(state.commits[tip].1.len(), 1, "on top of theirs");
    }
}

#[test]
fn each_method_falls_back_to_the_next() {
    if !has_curl() {
        return;
    }

    // The branch is refused, and there is a job summary.
    let server = Server::start();
    server.fail(
        "POST /repos/o/r/git/blobs",
        403,
        "Resource not accessible by integration",
    );
    let bench = Bench::with("renderer", &server)
        .set("GITHUB_RUN_ID", "42")
        .set("GITHUB_ACTIONS", "true");
    let summary = bench.path("summary.md");
    fs::write(&summary, "before us").unwrap();
    let bench = bench.set("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
    let artifact = "https://github.com/o/r/actions/runs/42/artifacts/1";
    let output = bench.run(&["--artifact-url", artifact], 0);
    let said = stderr(&output);
    assert!(
        said.contains("pictures cannot be put on the branch metalens-assets: GitHub answered POST")
    );
    assert!(said.contains("pictures are left out; the job summary has the full report"));
    let body = &server.comments()[0].body;
    assert!(body.contains(&format!("[The whole report, as an artifact]({artifact}) · [Job summary](https://github.com/o/r/actions/runs/42)")), "{body}");
    assert!(body.contains('█') && !body.contains("<img"), "{body}");
    let written = fs::read_to_string(&summary).unwrap();
    assert!(written.starts_with("before us\n<!--") && written.contains("### GPU profile"));

    // Without a job summary the comment has only text.
    let server = Server::start();
    server.fail("POST /repos/o/r/git/blobs", 404, "Not Found");
    let output = Bench::with("renderer", &server).run(&[], 0);
    assert!(
        stderr(&output)
            .contains("pictures cannot be shown in the job summary: this is not a workflow run")
    );
    assert!(stderr(&output).contains("pictures are left out; charts are made of characters"));

    // A full summary stays as it is: GitHub would drop all of a longer one.
    let server = Server::start();
    let bench = Bench::with("renderer", &server);
    let summary = bench.path("summary.md");
    fs::write(&summary, vec![b'x'; 1024 * 1024 - 100]).unwrap();
    let bench = bench.set("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
    bench.run(&["--images", "summary"], 0);
    assert_eq!(fs::metadata(&summary).unwrap().len(), 1024 * 1024 - 100);
}

/// The token of a pull request from a fork cannot write.
#[test]
fn a_token_without_write_access_uses_the_job_summary() {
    if !has_curl() {
        return;
    }
    for images in ["auto", "assets", "summary", "text"] {
        let server = Server::start();
        server.state.lock().unwrap().reads_only = true;
        let bench = Bench::with("renderer", &server);
        let output = bench.run(&["--images", images], 1);
        assert!(
            stderr(&output).contains("nothing was posted"),
            "{}",
            stderr(&output)
        );
        let summary = bench.path("summary.md");
        let bench = bench.set("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
        let output = bench.run(&["--images", images], 0);
        assert!(
            stderr(&output).contains("The report is in the job summary"),
            "{}",
            stderr(&output)
        );
        assert!(output.stdout.is_empty());
        let written = fs::read_to_string(&summary).unwrap();
        assert_eq!(written.matches("### GPU profile").count(), 1);
        assert!(server.comments().is_empty());
        server.check();
    }
}
