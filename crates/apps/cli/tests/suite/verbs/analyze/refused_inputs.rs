//! Tests inputs and files that `analyze` refuses: messages and exit codes.

use std::fs;

use insta::assert_snapshot;

use crate::{metalens, stderr, transcript, with_scenario};

/// Runs metalens in a folder with the export `eager`, after changing one of its tables.
fn broken(change: impl Fn(&str) -> String, arguments: &[&str]) -> String {
    let folder = with_scenario("eager");
    let file = folder.path().join("eager/metal-gpu-intervals.xml");
    let text = fs::read_to_string(&file).unwrap();
    let changed = change(&text);
    assert_ne!(changed, text, "nothing was changed");
    fs::write(&file, changed).unwrap();
    transcript(&metalens(folder.path(), arguments))
}

#[test]
fn an_invalid_number_is_an_error_with_its_place() {
    let wrong = |text: &str| text.replacen(" µs\">", " µs\">-", 1);
    assert_snapshot!(broken(wrong, &["analyze", "eager"]));
}

#[test]
fn a_table_that_is_cut_off_is_refused() {
    let cut = |text: &str| text[..text.len() / 2].to_owned();
    assert_snapshot!(broken(cut, &["analyze", "eager"]));
}

#[test]
fn allow_truncated_analyzes_it_with_a_loud_note() {
    let cut = |text: &str| text[..text.len() / 2].to_owned();
    let screen = broken(cut, &["analyze", "eager", "--allow-truncated"]);
    assert_snapshot!(screen.lines().take(12).collect::<Vec<_>>().join("\n"));
}

#[test]
fn empty_and_unfinished_bundles_are_errors() {
    let folder = metalens_testing::scratch();
    fs::create_dir_all(folder.path().join("run.trace/corespace")).unwrap();
    assert_snapshot!(transcript(&metalens(
        folder.path(),
        &["analyze", "run.trace"]
    )));
    fs::create_dir_all(folder.path().join("later.trace/corespace/run1/core")).unwrap();
    let output = metalens(folder.path(), &["analyze", "later.trace"]);
    assert_snapshot!("without_table_manager", transcript(&output));
    let raw = folder.path().join("raw.trace/Trace1.run/Attachments");
    fs::create_dir_all(&raw).unwrap();
    fs::write(raw.join("trace-data.atrc"), "raw").unwrap();
    let output = metalens(folder.path(), &["analyze", "raw.trace"]);
    assert_snapshot!("unfinished", transcript(&output));
}

#[test]
fn an_unknown_process_is_an_error_that_lists_the_processes() {
    let folder = with_scenario("shared-machine");
    let arguments = ["analyze", "shared-machine", "--process", "nobody"];
    assert_snapshot!(transcript(&metalens(folder.path(), &arguments)));
}

#[test]
fn a_recording_without_gpu_intervals_is_an_error() {
    let folder = with_scenario("eager");
    fs::remove_file(folder.path().join("eager/metal-gpu-intervals.xml")).unwrap();
    assert_snapshot!(transcript(&metalens(folder.path(), &["analyze", "eager"])));
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_endless_files_are_refused_at_once() {
    let folder = with_scenario("eager");
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("/dev/zero", at("device.json")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(at("pipe.json"))
        .status();
    assert!(made.unwrap().success());
    let endless = fs::File::create(at("endless.json")).unwrap();
    endless.set_len(50 << 30).unwrap();

    let refused = |arguments: &[&str], expected: &str| {
        // Settings are part of the request; all else is input.
        let is_usage = arguments.contains(&"--config") || expected.contains("metalens.toml");
        let output = metalens(folder.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(if is_usage { 2 } else { 1 }),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
    };

    for (file, why) in [
        ("device.json", "cannot read device.json: this is a device"),
        ("pipe.json", "cannot read pipe.json: this is a named pipe"),
        (
            "endless.json",
            "cannot read endless.json: the file is too large: more than",
        ),
    ] {
        refused(&["analyze", "eager", "--config", file], why);
        refused(&["analyze", "eager", "--work", file], why);
        let gate = format!("--gate={file}");
        refused(&["compare", "eager", "eager", &gate], why);
        refused(&["compare", "eager", file], why);
        refused(&["compare", "--baseline", file, "eager"], why);
        refused(&["baseline", "show", file], why);
        refused(&["batch", "eager", "-o", "out", "--work", file], why);
    }
    refused(
        &["synth", "endless.json", "-o", "out"],
        "the file is too large: more than",
    );

    // Files that are read by default are refused too.
    fs::rename(at("endless.json"), at("eager/work.json")).unwrap();
    refused(
        &["analyze", "eager"],
        "cannot read eager/work.json: the file is too large: more than",
    );
    fs::rename(at("eager/work.json"), at("metalens.toml")).unwrap();
    refused(
        &["analyze", "eager"],
        "cannot read metalens.toml: the file is too large: more than",
    );
}
