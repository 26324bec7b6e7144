//! Tests the requests to the server: there is one comment, which later runs update.

use super::server::{Fault, Server, VIEWER};
use super::{Bench, KEY, has_curl};
use crate::{stderr, stdout};

#[test]
fn a_second_run_updates_the_comment_of_the_first() {
    if !has_curl() {
        return;
    }
    let server = Server::start();

    // These comments put ours on the second page.
    for id in 1..=120 {
        server.add(id, "somebody", "looks good");
    }

    // Anybody can write the marker, so only comments of the token's account count.
    server.add(121, "mallory", &format!("{KEY}\nnot ours"));
    server.add(122, VIEWER, &format!("a report: {KEY}"));
    let bench = Bench::with("renderer", &server);
    let first = bench.run(&["--text"], 0);
    assert_eq!(
        stdout(&first),
        "https://github.com/o/r/pull/7#issuecomment-123\n"
    );
    assert!(stderr(&first).starts_with("posted the comment \"report-Space-Game\" on o/r#7"));
    server.add(124, "somebody", "thanks");
    let again = bench.run(&["--text", "--commit", "c0ffee00"], 0);
    assert_eq!(stdout(&again), stdout(&first));
    assert!(stderr(&again).starts_with("updated"), "{}", stderr(&again));
    let comments = server.comments();
    assert_eq!(comments.len(), 124);
    assert!(comments[122].body.starts_with(KEY));
    assert!(comments[122].body.contains("at commit c0ffee00"));
    assert_eq!(comments[120].body, format!("{KEY}\nnot ours"));
    assert_eq!(comments[121].body, format!("a report: {KEY}"));

    // Another key is another comment.
    bench.run(&["--text", "--key", "other"], 0);
    assert_eq!(server.comments().len(), 125);
    server.check();
}

#[test]
fn duplicate_comments_are_named_and_kept() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    server.add(5, VIEWER, &format!("{KEY}\nold"));
    server.add(9, VIEWER, &format!("{KEY}\nolder run"));
    let output = Bench::with("renderer", &server).run(&["--text"], 0);
    assert!(stderr(&output).contains("issuecomment-9 has the same key"));
    let comments = server.comments();
    assert!(comments[0].body.contains("GPU profile") && comments[1].body.ends_with("older run"));
}

/// Each case has the first answers of the server, and the expected number of posts and result.
#[test]
fn failed_requests_are_repeated_only_if_that_is_safe() {
    if !has_curl() {
        return;
    }
    struct Case {
        faults: Vec<(&'static str, u16, &'static str, bool)>,
        headers: &'static str,
        code: i32,
        posts: usize,
        says: &'static str,
    }
    let check = |case: &Case| {
        let server = Server::start();
        for &(to, status, message, is_done) in &case.faults {
            let headers = case.headers.to_owned();
            server.state.lock().unwrap().faults.push(Fault {
                to,
                status,
                headers,
                message,
                is_done,
            });
        }
        let bench = Bench::with("fused", &server);
        let output = bench.run(&["--text", "--key", "k"], case.code);
        assert!(stderr(&output).contains(case.says), "{}", stderr(&output));
        let posts = server.count("POST /repos/o/r/issues/7/comments");
        assert_eq!(posts, case.posts, "{:?}", case.faults);
        assert_eq!(
            server.comments().len(),
            usize::from(case.code == 0),
            "{:?}",
            case.faults
        );
        server.check();
    };

    const COMMENTS: &str = "POST /repos/o/r/issues/7/comments";
    let case = |faults: &[(&'static str, u16, &'static str, bool)], code, posts, says| Case {
        faults: faults.to_vec(),
        headers: "",
        code,
        posts,
        says,
    };

    // A request that changes nothing may be repeated.
    check(&case(
        &[("GET /repos/o/r/pulls/7", 502, "Bad Gateway", false)],
        0,
        1,
        "posted",
    ));
    check(&case(
        &[("GET", 500, "", false), ("GET", 503, "", false)],
        0,
        1,
        "posted",
    ));

    // A post may be repeated only after a check that the first one failed.
    check(&case(
        &[(COMMENTS, 502, "Bad Gateway", true)],
        0,
        1,
        "posted",
    ));
    check(&case(
        &[(COMMENTS, 502, "Bad Gateway", false)],
        0,
        2,
        "posted",
    ));

    // These errors are final.
    check(&case(
        &[("POST /graphql", 401, "Bad credentials", false)],
        1,
        0,
        "401: Bad credentials",
    ));
    check(&case(
        &[(COMMENTS, 422, "Validation Failed", false)],
        1,
        1,
        "422: Validation Failed",
    ));
    check(&case(
        &[("GET /repos/o/r/pulls/7", 404, "Not Found", false)],
        2,
        0,
        "no pull request #7",
    ));
    check(&case(&[(COMMENTS, 404, "Not Found", false)], 1, 1, "404"));

    // The client waits as long as the server says, up to a limit.
    let limited = |status, headers, code, posts, says| Case {
        headers,
        ..case(&[(COMMENTS, status, "slow down", false)], code, posts, says)
    };

    check(&limited(429, "Retry-After: 1\r\n", 0, 2, "posted"));
    check(&limited(403, "Retry-After: 0\r\n", 0, 2, "posted"));
    check(&limited(
        403,
        "Retry-After: 3600\r\n",
        1,
        1,
        "try again in 3600 s",
    ));
}

/// `run` checks that no output has the token.
#[test]
fn the_token_is_never_shown_even_if_the_server_repeats_it() {
    if !has_curl() {
        return;
    }
    let check = |to: &'static str, status: u16, message: &'static str, says: &str| {
        let server = Server::start();
        server.state.lock().unwrap().faults.push(Fault {
            to,
            status,
            headers: String::new(),
            message,
            is_done: false,
        });
        let bench = Bench::with("fused", &server);
        let output = bench.run(&["--text", "--key", "k"], 1);
        let said = stderr(&output);
        assert!(said.contains(says), "{says}\n{said}");
    };
    check(
        "POST /graphql",
        401,
        "no: ghs_TheSecretOfThisTest",
        "401: no: (token)",
    );
}

#[test]
fn an_unreachable_server_or_a_missing_gh_is_an_error() {
    if !has_curl() {
        return;
    }
    let server = Server::start();

    // Nothing listens on a reserved port.
    let bench = Bench::with("fused", &server).set("SERVER", "http://127.0.0.1:1");
    let output = bench.run(&["--text"], 1);
    let said = stderr(&output);
    assert!(said.contains("no answer to POST /graphql: "), "{said}");
    assert!(
        said.contains("error connecting to api.github.com"),
        "{said}"
    );

    let bench = Bench::with("fused", &server).set("GITHUB_SERVER_URL", "http://api.example");
    let output = bench.run(&["--text"], 2);
    let said = stderr(&output);
    assert!(
        said.contains("is not an address such as https://github.com"),
        "{said}"
    );

    let bench = Bench::with("fused", &server);
    let mut command = bench.command(&["--text"]);
    command.env("PATH", bench.path("nowhere"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("there is no program gh here: install it with `brew install gh`")
    );
}
