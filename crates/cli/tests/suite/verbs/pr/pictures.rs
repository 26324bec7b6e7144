//! Tests the methods for pictures in a comment, and the fall back from one to the next.

use std::fs;

use super::server::{Server, TOKEN, VIEWER};
use super::{Bench, KEY, has_curl};
use crate::{stderr, write_program};

/// Writes a fake `gh` that logs its arguments and posts like the real one: it replaces the paths of
/// files in the body with addresses.
fn fake_gh(bench: &Bench, server: &Server, version: &str, comment: &str) {
    let api = &server.api;
    let log = bench.path("gh.log");
    let log = log.display();
    let script = format!(
        "#!/bin/sh\n\
         echo \"$*\" >>{log}\n\
         case \"$1 $2\" in\n\
         '--version '*) echo 'gh version {version} (2026-09-01)' ;;\n\
         'auth token') echo '{TOKEN}' ;;\n\
         'pr view') echo '{{\"number\":7,\"url\":\"https://github.com/o/r/pull/7\"}}' ;;\n\
         'pr comment')\n\
         [ \"$GH_TOKEN\" ] || exit 4\n\
         case \"$*\" in *--edit-last*) where=edit-last ;; *) where=comment ;; esac\n\
         {comment} ;;\n\
         esac\n"
    )
    .replace(
        "POST",
        &format!(
            "env -u GH_TOKEN -u GITHUB_TOKEN curl -q -s --data-binary @- {api}/fake-gh/$where"
        ),
    );
    let file = bench.path("bin/gh");
    write_program(&file, &script);
}

const UPLOADS: &str = "sed 's#](charts/#](https://github.com/user-attachments/assets/#' | POST";

fn logged(bench: &Bench) -> String {
    fs::read_to_string(bench.path("gh.log")).unwrap_or_default()
}

#[test]
fn a_workflow_token_does_not_attach_pictures() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let bench = Bench::with("renderer", &server);
    fake_gh(&bench, &server, "2.99.0", UPLOADS);
    let output = bench.run(&["--images", "attach"], 0);
    assert!(stderr(&output).contains("the token of a workflow or an app may not attach"));
    assert_eq!(logged(&bench), "");
}

#[test]
fn gh_attaches_pictures_for_a_person() {
    if !has_curl() {
        return;
    }
    let check = |version: &str, comment: &str, before: &[(&str, String)], says: &str| {
        let server = Server::start();
        for (id, (author, body)) in (1..).zip(before) {
            server.add(id, author, body);
        }
        let token = TOKEN.replace("ghs_", "ghp_");
        server.state.lock().unwrap().other_token = Some(token.clone());
        let bench = Bench::with("renderer", &server).set("GITHUB_TOKEN", &token);
        fake_gh(&bench, &server, version, comment);
        let output = bench.run(&["--images", "attach"], 0);
        let said = stderr(&output);
        assert!(said.contains(says), "{says}\n{said}");
        let comments = server.comments();
        let ours = comments
            .iter()
            .filter(|one| one.author == VIEWER && one.body.starts_with(KEY));
        assert_eq!(ours.count(), 1, "{comments:?}");
        assert!(
            comments.iter().all(|one| !one.body.contains("](charts/")),
            "{comments:?}"
        );
        assert_eq!(comments.len(), before.len().max(1));
        assert!(!logged(&bench).contains(&token));
        server.check();
        logged(&bench)
    };

    let ours = || vec![(VIEWER, format!("{KEY}\nold"))];
    let log = check(
        "2.99.0",
        UPLOADS,
        &[],
        "posted the comment \"report-Space-Game\" on o/r#7; pictures are attached by gh",
    );
    let expected = "pr comment 7 --repo o/r --body-file - --attach charts/timeline.png --attach \
        charts/idle.png --attach charts/gaps.png --attach charts/kernels.png";
    assert_eq!(log.lines().last(), Some(expected));
    let log = check("3.0.0", UPLOADS, &ours(), "updated the comment");
    assert!(log.contains("--edit-last"), "{log}");

    // With two comments of the account, `gh` could change the wrong one, so it is not called.
    let two = [ours(), vec![(VIEWER, "another".to_owned())]].concat();
    let log = check(
        "2.99.0",
        UPLOADS,
        &two,
        "gh can change only the last comment of",
    );
    assert!(!log.contains("pr comment"), "{log}");
    check(
        "2.45.0",
        UPLOADS,
        &[],
        "gh 2.45 cannot attach files; update it to 2.99 or newer",
    );
    check(
        "2.99.0",
        "echo 'unknown flag: --attach' >&2; exit 1",
        &[],
        "gh: unknown flag: --attach",
    );
    check("2.99.0", "echo 'HTTP 401' >&2; exit 4", &[], "gh: HTTP 401");

    // A comment that `gh` posted with missing pictures is updated to text.
    check(
        "2.99.0",
        "POST; echo '1 of 4 failed' >&2; exit 1",
        &[],
        "updated the comment",
    );
    check(
        "2.99.0",
        "POST",
        &[],
        "gh left the path charts/timeline.png in place of an address",
    );
}

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

    assert_eq!(files.len(), 9, "{files:?}");
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
        assert!(files.len() >= 9, "{files:?}");
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
        said.contains(
            "pictures cannot be attached: the token of a workflow or an app may not attach"
        )
    );
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
