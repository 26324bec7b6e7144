//! What a person is told when it does not work, and the exit code a script gets.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use super::{metalens, stderr, transcript, with_scenario};

/// Runs in a folder with the export `eager`, one file of which was changed.
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
fn a_wrong_number() {
    let wrong = |text: &str| text.replacen(" µs\">", " µs\">-", 1);
    assert_snapshot!(broken(wrong, &["analyze", "eager"]));
}

#[test]
fn cut_off_is_refused() {
    let cut = |text: &str| text[..text.len() / 2].to_owned();
    assert_snapshot!(broken(cut, &["analyze", "eager"]));
}

#[test]
fn cut_off_but_allowed_is_loud() {
    let cut = |text: &str| text[..text.len() / 2].to_owned();
    let screen = broken(cut, &["analyze", "eager", "--allow-truncated"]);
    assert_snapshot!(screen.lines().take(12).collect::<Vec<_>>().join("\n"));
}

/// A folder that is called a bundle, and a recording that was never finished.
#[test]
fn bundles_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("run.trace/corespace")).unwrap();
    assert_snapshot!(transcript(&metalens(
        folder.path(),
        &["analyze", "run.trace"]
    )));
    let raw = folder.path().join("raw.trace/Trace1.run/Attachments");
    fs::create_dir_all(&raw).unwrap();
    fs::write(raw.join("trace-data.atrc"), "raw").unwrap();
    let output = metalens(folder.path(), &["analyze", "raw.trace"]);
    assert_snapshot!("unfinished", transcript(&output));
}

/// What needs a Mac says so, with its own exit code.
#[test]
fn what_this_machine_cannot_do() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["analyze", "run.trace", "--reader", "xctrace"];
    let output = metalens(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(3));
    assert_snapshot!(transcript(&output));
}

#[test]
fn no_such_process() {
    let folder = with_scenario("shared-machine");
    let arguments = ["analyze", "shared-machine", "--process", "nobody"];
    assert_snapshot!(transcript(&metalens(folder.path(), &arguments)));
}

/// The table that is needed is missing: nothing is said from the others.
#[test]
fn the_needed_table_is_missing() {
    let folder = with_scenario("eager");
    fs::remove_file(folder.path().join("eager/metal-gpu-intervals.xml")).unwrap();
    assert_snapshot!(transcript(&metalens(folder.path(), &["analyze", "eager"])));
}

#[test]
fn bad_usage() {
    let here = Path::new(".");
    let cases: [&[&str]; 7] = [
        &[],
        &["analyse"],
        &["analyze"],
        &["analyze", "x", "--from", "12"],
        &["analyze", "x", "--run", "first"],
        &["tables", "x", "--json", "--schema", "y"],
        &["synth", "eager"],
    ];
    for arguments in cases {
        let output = metalens(here, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_no_failures() {
    let here = Path::new(".");
    for arguments in [["--help"], ["--version"]] {
        assert_eq!(metalens(here, &arguments).status.code(), Some(0));
    }
    assert_snapshot!("help", transcript(&metalens(here, &["--help"])));
    assert_snapshot!(
        "help-analyze",
        transcript(&metalens(here, &["analyze", "--help"]))
    );
}

/// A device, a pipe or a file without end in the place of a small one is refused at once.
#[cfg(unix)]
#[test]
fn files_that_are_none() {
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
        let output = metalens(folder.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(1),
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
        refused(&["compare", "eager", "eager", "--gate", file], why);
        refused(&["compare", "eager", file], why);
        refused(&["compare", "--baseline", file, "eager"], why);
        refused(&["baseline", "show", file], why);
        refused(&["batch", "eager", "-o", "out", "--work", file], why);
    }
    refused(
        &["synth", "endless.json", "-o", "out"],
        "the file is too large: more than",
    );

    // What lies where it is looked for unasked.
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
