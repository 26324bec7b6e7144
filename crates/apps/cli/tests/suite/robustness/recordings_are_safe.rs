//! Tests that recordings are not changed by outputs, and that those which cannot be read are named.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;

use crate::verbs::analyze::folder::files_of;
use crate::{add_two_runs, metalens, stderr, with_scenario};

/// Each command refuses a recording as its output folder, and the name of one, before it does
/// anything.
#[test]
fn no_command_writes_into_a_recording() {
    let folder = with_scenario("fused");
    let synth = ["synth", "fused", "-o", "run.trace"];
    assert!(metalens(folder.path(), &synth).status.success());
    let before = files_of(folder.path());

    let commands = [
        "analyze fused -o",
        "analyze fused --parquet",
        "batch fused -o",
        "bench --simulate --workload eager -r 2 -o",
        "compare fused fused -o",
        "record-and-analyze --simulate --workload eager -o",
        "verify --simulate -o",
    ];
    let places = [
        ("run.trace", "run.trace is a recording"),
        ("fused", "fused is a recording"),
        ("new.trace", "new.trace is a name for a recording"),
    ];
    for command in commands {
        for (place, problem) in places {
            let arguments: Vec<&str> = command.split(' ').chain([place]).collect();
            let output = metalens(folder.path(), &arguments);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{command} {place}: {said}");
            let expected = format!("error: {problem}: choose another folder for the output\n");
            assert!(said.starts_with(&expected), "{command} {place}: {said}");
        }
    }
    assert_eq!(files_of(folder.path()), before);
}

/// Nothing is written inside a bundle either, at any depth, also through a link.
#[test]
fn no_command_writes_inside_a_bundle() {
    let folder = with_scenario("fused");
    add_two_runs(folder.path(), "fused");
    let here = folder.path();
    let fine = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = metalens(here, &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    fine("synth fused -o run.trace");
    fine("baseline save fused fused2 fused3 -o base.json");
    fine("analyze fused -o report");
    fs::create_dir(here.join("run.trace/deep")).unwrap();
    let outside = metalens_testing::scratch();
    let link = outside.path().join("link");
    std::os::unix::fs::symlink(here.join("run.trace/deep"), &link).unwrap();
    let through_link = link.join("x").display().to_string();
    let before = files_of(here);

    let commands = [
        "analyze fused -o",
        "analyze fused --parquet",
        "analyze fused --html",
        "analyze fused --gaps",
        "analyze fused --perfetto",
        "batch fused -o",
        "batch fused -o out --parquet",
        "baseline save fused fused2 fused3 -o",
        "bench --simulate --workload eager -r 2 -o",
        "chart fused --format png -o",
        "compare fused fused -o",
        "pr report --dry-run -o",
        "record --simulate --workload eager -o",
        "record-and-analyze --simulate --workload eager -o",
        "stacks fused -o",
        "synth fused -o",
        "verify --simulate -o",
        "workload eager --simulated -o",
    ];
    for command in commands {
        for place in [
            "run.trace/x",
            "run.trace/deep/new/x",
            through_link.as_str(),
            "new.trace/x",
        ] {
            // Recordings and stacks need their endings.
            let ending = match command.split(' ').next() {
                Some("record") => ".trace",
                Some("stacks") => ".folded",
                _ => "",
            };
            let place = format!("{place}{ending}");
            let arguments: Vec<&str> = command.split(' ').chain([place.as_str()]).collect();
            let output = metalens(here, &arguments);
            let said = stderr(&output);
            assert!(!output.status.success(), "{command} {place}: {said}");
            let expected = "is inside the recording ";
            assert!(said.contains(expected), "{command} {place}: {said}");
            let _ = fs::remove_dir_all(here.join("out"));
            assert_eq!(files_of(here), before, "{command} {place}: {said}");
        }
    }
}

/// A recording to which something added a report is still one.
#[test]
fn a_report_inside_a_recording_does_not_hide_it() {
    let folder = with_scenario("fused");
    let synth = ["synth", "fused", "-o", "run.trace"];
    assert!(metalens(folder.path(), &synth).status.success());
    for place in ["run.trace", "fused"] {
        for file in ["report.json", "manifest.json"] {
            fs::write(folder.path().join(place).join(file), "{}").unwrap();
        }
        let output = metalens(folder.path(), &["analyze", place]);
        assert!(output.status.success(), "{place}: {}", stderr(&output));
    }
}

/// Runs `metalens` as a user to whom nothing belongs. Root may read everything.
fn as_stranger(folder: &Path, arguments: &[&str]) -> Output {
    let program = folder.join("metalens-for-everyone");
    if !program.exists() {
        // A file that is open for writing cannot be started, and a child process of another test may
        // inherit the open file, so another process writes it.
        let mut install = Command::new("install");
        install.args(["-m", "755"]).arg(cargo_bin("metalens"));
        assert!(install.arg(&program).status().unwrap().success());
    }
    let mut command = Command::new(&program);
    command.current_dir(folder).env_clear().args(arguments);
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        command.uid(65_534).gid(65_534);
    }
    command.output().unwrap()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A recording made with sudo belongs to root: that is the problem, not its format.
#[test]
fn bundles_that_may_not_be_read_are_not_called_unknown() {
    let folder = metalens_testing::scratch();
    set_mode(folder.path(), 0o755);
    let tables = "run.trace/corespace/run1/core/table-manager";
    for closed in ["run.trace", "run.trace/corespace", tables] {
        fs::create_dir_all(folder.path().join(tables)).unwrap();
        fs::write(folder.path().join(tables).join("tables.plist"), "").unwrap();
        set_mode(&folder.path().join(closed), 0o000);
        let output = as_stranger(folder.path(), &["analyze", "run.trace"]);
        set_mode(&folder.path().join(closed), 0o700);
        fs::remove_dir_all(folder.path().join("run.trace")).unwrap();

        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{closed}: {said}");
        assert!(said.contains(": Permission denied\n"), "{closed}: {said}");
        assert!(said.contains("sudo chown -R"), "{closed}: {said}");
    }
}

/// A nightly batch must not lose recordings in silence. Other files may be unreadable.
#[test]
fn a_batch_names_recordings_that_it_may_not_read() {
    let folder = with_scenario("fused");
    set_mode(folder.path(), 0o755);
    fs::create_dir(folder.path().join("out")).unwrap();
    set_mode(&folder.path().join("out"), 0o777);
    let runs = folder.path().join("runs");
    fs::create_dir(&runs).unwrap();
    fs::rename(folder.path().join("fused"), runs.join("fused")).unwrap();
    for file in ["closed.zip", "notes.txt"] {
        fs::write(runs.join(file), "closed").unwrap();
        set_mode(&runs.join(file), 0o000);
    }

    let output = as_stranger(folder.path(), &["batch", "runs", "-o", "out"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("runs/closed.zip: Permission denied"),
        "{said}"
    );
    let skipped = "note: files skipped because they are not recordings: 1\n";
    assert!(said.contains(skipped), "{said}");
    assert!(folder.path().join("out/fused/report.json").is_file());
}
