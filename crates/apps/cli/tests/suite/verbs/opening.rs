//! Tests `analyze --open`, `record-and-analyze --open` and `record --runs`.

use std::fs;

use super::record::Bench;
use crate::{stderr, stdout};

/// Creates a bench with a browser that notes the page it is asked to open.
fn with_browser() -> Bench {
    let bench = Bench::new();
    let script = "#!/bin/sh\necho \"$@\" > opened\n";
    metalens_testing::write_program(bench.here().join("browser"), script);
    bench
}

fn opened(bench: &Bench) -> String {
    let text = fs::read_to_string(bench.here().join("opened")).unwrap();
    text.trim().to_owned()
}

#[test]
fn a_page_is_opened_and_stays() {
    let bench = with_browser();
    bench.fine(&[], &["synth", "eager", "-o", "eager.trace"]);
    let open = |arguments: &[&str]| {
        let mut command = bench.command(&[], &[&["analyze", "--open"], arguments].concat());
        command.env("BROWSER", bench.here().join("browser"));
        command.output().unwrap()
    };
    let output = open(&["eager.trace"]);
    assert_eq!(output.status.code(), Some(0), "{}", bench.seen(&output));
    let page = opened(&bench);
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        text.starts_with("<!doctype html>") && text.contains("SYNTHETIC"),
        "{page}"
    );
    assert!(
        stderr(&output).contains(&format!("opened {page} with ")),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("\nLatency-bound: "));

    // A chosen file, and the page of a folder.
    open(&["eager.trace", "--html", "page.html"]);
    assert!(opened(&bench).ends_with("/page.html"), "{}", opened(&bench));
    let again = open(&["eager.trace", "--html", "page.html"]);
    assert_eq!(again.status.code(), Some(1), "{}", bench.seen(&again));
    open(&["eager.trace", "-o", "report"]);
    assert!(
        opened(&bench).ends_with("/report/report.html"),
        "{}",
        opened(&bench)
    );
    let several = open(&["eager.trace", "eager.trace"]);
    assert_eq!(several.status.code(), Some(2), "{}", bench.seen(&several));
}

#[test]
fn without_a_browser_the_page_is_named() {
    let bench = Bench::new();
    bench.fine(&[], &["synth", "eager", "-o", "eager.trace"]);
    let arguments = ["analyze", "eager.trace", "--html", "page.html", "--open"];
    let mut command = bench.command(&[], &arguments);
    // No program of that name is on this path, and none of the system.
    command
        .env("PATH", bench.here())
        .env("BROWSER", "no-such-browser");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", bench.seen(&output));
    let seen = bench.seen(&output);
    assert!(
        seen.contains("no browser was found: open <top>/here/page.html yourself"),
        "{seen}"
    );
    assert!(bench.here().join("page.html").is_file());
}

#[test]
fn a_recording_is_opened() {
    let bench = with_browser();
    let arguments = [
        "record-and-analyze",
        "--simulate",
        "-o",
        "out",
        "--open",
        "-q",
    ];
    let mut command = bench.command(&[], &arguments);
    command.env("BROWSER", bench.here().join("browser"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", bench.seen(&output));
    assert!(
        opened(&bench).ends_with("/out/report.html"),
        "{}",
        opened(&bench)
    );
}

#[test]
fn several_runs_go_into_a_folder() {
    let bench = Bench::new();
    let arguments = [
        "record",
        "--simulate",
        "--runs",
        "3",
        "-o",
        "runs",
        "--workload",
        "eager",
    ];
    let output = bench.fine(&[], &arguments);
    let seen = stderr(&output);
    assert!(seen.contains("run 3 of 3"), "{seen}");
    // Each command is all of its line, so that people can copy it.
    let next = "next: metalens baseline save runs/run-*.trace -o baseline.json\n\
                then: metalens compare --baseline baseline.json OTHER/run-*.trace\n";
    assert!(seen.ends_with(next), "{seen}");
    let bundles = ["runs/run-1.trace", "runs/run-2.trace", "runs/run-3.trace"];
    let save = [&["baseline", "save", "-o", "base.json"], &bundles[..]].concat();
    // Runs that were the same would be refused.
    bench.fine(&[], &save);

    let again = bench.run(&[], &arguments);
    assert_eq!(again.status.code(), Some(1), "{}", bench.seen(&again));
    let bundle = bench.run(
        &[],
        &["record", "--simulate", "--runs", "2", "-o", "x.trace"],
    );
    assert_eq!(bundle.status.code(), Some(2), "{}", bench.seen(&bundle));
}
