//! Tests where the picture of a comment is, and what is posted without one.

use std::fs;

use super::server::Server;
use super::{Bench, has_curl};
use crate::stderr;

/// The comment shows one chart, light and dark.
#[test]
fn pictures_can_be_on_a_branch() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let bench = Bench::with("renderer", &server);
    let output = bench.run(&[], 0);
    assert!(stderr(&output).contains("pictures are on the branch metalens-assets"));
    let files = server.files();
    assert_eq!(files.len(), 3, "{files:?}");
    assert_eq!(files[0], "README.md");
    let body = server.comments()[0].body.clone();
    for file in &files[1..] {
        let address = format!("https://github.com/o/r/blob/metalens-assets/{file}?raw=true");
        assert_eq!(body.matches(&address).count(), 1, "{address}");
    }

    // The same pictures need no new commit.
    bench.run(&[], 0);
    assert_eq!(
        server.count("PUT /repos/o/r/contents"),
        3,
        "one found no branch"
    );
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
            bench.run(&["--key", "before"], 0);
            fs::remove_dir_all(bench.path("out")).unwrap();
            super::write_report(
                bench.folder.path(),
                &["renderer", "--process", "Compositor", "-o", "out"],
            );
        }
        server.state.lock().unwrap().overtakes = true;
        bench.run(&[], 0);
        let files = server.files();
        assert!(files.contains(&"theirs.png".to_owned()), "{files:?}");
        assert!(files.len() >= 4, "{files:?}");
    }
}

#[test]
fn without_a_branch_charts_are_text() {
    if !has_curl() {
        return;
    }
    for (status, message) in [
        (403, "Resource not accessible by integration"),
        (404, "Not Found"),
    ] {
        let server = Server::start();
        for request in ["PUT /repos/o/r/contents", "POST /repos/o/r/git/trees"] {
            server.fail(request, status, message);
        }
        let bench = Bench::with("renderer", &server);
        let artifact = "https://github.com/o/r/actions/runs/42/artifacts/1";
        let output = bench.run(&["--artifact-url", artifact], 0);
        let said = stderr(&output);
        let refused = "pictures cannot be put on the branch metalens-assets: GitHub answered ";
        assert!(said.contains(refused), "{said}");
        assert!(said.contains("charts are made of characters"), "{said}");
        let body = &server.comments()[0].body;
        assert!(body.contains(&format!("[The whole report, as an artifact]({artifact})")));
        assert!(body.contains('█') && !body.contains("<img"), "{body}");
        assert!(server.files().is_empty());
    }
}

/// The token of a pull request from a fork cannot write.
#[test]
fn a_token_without_write_access_uses_the_job_summary() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    server.state.lock().unwrap().reads_only = true;
    let bench = Bench::with("renderer", &server);
    for arguments in [&[][..], &["--text"]] {
        let output = bench.run(arguments, 1);
        let said = stderr(&output);
        assert!(said.contains("nothing was posted"), "{said}");
    }

    // A full summary stays as it is: GitHub would drop all of a longer one.
    let summary = bench.path("summary.md");
    fs::write(&summary, vec![b'x'; 1024 * 1024 - 100]).unwrap();
    let bench = bench.set("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
    bench.run(&[], 1);
    assert_eq!(fs::metadata(&summary).unwrap().len(), 1024 * 1024 - 100);

    for arguments in [&[][..], &["--text"]] {
        fs::write(&summary, "before us").unwrap();
        let output = bench.run(arguments, 0);
        let said = stderr(&output);
        assert!(
            said.contains("the token of this run may only read"),
            "{said}"
        );
        assert!(said.contains("The report is in the job summary"), "{said}");
        assert!(output.stdout.is_empty());
        let written = fs::read_to_string(&summary).unwrap();
        assert!(written.starts_with("before us\n<!--"), "{written}");
        assert_eq!(written.matches("### GPU profile").count(), 1);
    }
    assert!(server.comments().is_empty());
    server.check();
}
