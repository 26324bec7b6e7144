//! Tests the owners of files after `sudo`. Only root can run these tests.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::{Bench, add_two_runs, recording, stderr};
use crate::verbs::stacks::with_samples;

/// User and group that ran `sudo`; any will do.
const OWNER: (u32, u32) = (12_345, 23_456);

fn is_root() -> bool {
    let folder = metalens_testing::scratch();
    let is_root = folder.path().metadata().unwrap().uid() == 0;
    if !is_root {
        skipped("only root can change the owner of files");
    }
    is_root
}

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn skipped(why: &str) {
    println!("skipped: {why}");
}

fn owner(path: &Path) -> (u32, u32) {
    let facts = path.symlink_metadata().unwrap();
    (facts.uid(), facts.gid())
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let inside = |path: PathBuf| {
        if path.is_dir() && !path.is_symlink() {
            [below(&path), vec![path]].concat()
        } else {
            vec![path]
        }
    };

    entries.flat_map(inside).collect()
}

/// Runs metalens with the environment that `sudo` sets.
fn with_sudo(bench: &Bench, settings: &[&str], arguments: &[&str]) -> Output {
    let mut command = bench.command(settings, arguments);
    command.env("SUDO_UID", OWNER.0.to_string());
    command.env("SUDO_GID", OWNER.1.to_string());
    command.output().unwrap()
}

fn check(settings: &[&str], arguments: &[&str], code: i32) {
    let bench = Bench::new();
    let output = with_sudo(&bench, settings, arguments);
    assert_eq!(output.status.code(), Some(code), "{}", bench.seen(&output));
    let all = below(&bench.here());
    let all: Vec<_> = all.iter().filter(|path| !path.ends_with("bench")).collect();
    assert!(all.len() > 5, "{all:?}");
    for path in all {
        assert_eq!(owner(path), OWNER, "{}", path.display());
    }
    if code == 0 {
        let said = stderr(&output);
        assert!(
            said.contains("changed the owner of") && said.contains("sudo is not needed"),
            "{said}"
        );
    }
}

#[test]
fn after_sudo_all_files_of_a_recording_belong_to_the_user() {
    if !is_root() {
        return;
    }
    let small = ["--simulate", "--count", "2", "-o"];
    check(&[], &[&["record"], &small[..], &["x.trace"]].concat(), 0);
    check(
        &["MISBEHAVE=disk-full"],
        &[&["record"], &small[..], &["x.trace"]].concat(),
        4,
    );
    let whole = [&["record-and-analyze"], &small[..], &["new/folder"]].concat();
    check(&[], &whole, 0);
    check(&["MISBEHAVE=no-target-rows"], &whole, 4);
}

#[test]
fn after_sudo_existing_files_keep_their_owner() {
    if !is_root() {
        return;
    }
    let bench = Bench::new();
    let folder = bench.here().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes.txt"), "x").unwrap();
    let arguments = [
        "record-and-analyze",
        "--simulate",
        "--count",
        "2",
        "-o",
        "mine",
    ];
    let output = with_sudo(&bench, &[], &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", bench.seen(&output));
    assert_eq!(owner(&folder), (0, 0));
    for path in below(&folder) {
        let expected = if path.ends_with("notes.txt") {
            (0, 0)
        } else {
            OWNER
        };

        // Only the new files and folders, such as the folder of charts, change their owner.
        assert_eq!(owner(&path), expected, "{}", path.display());
    }
}

/// Folders that a command creates belong to the user too.
#[test]
fn after_sudo_outputs_of_every_command_belong_to_the_user() {
    if !is_root() {
        return;
    }
    let bench = Bench::new();
    bench.fine(&[], &recording(&[], "exit 0"));
    bench.fine(&[], &["analyze", "x.trace", "--json"]);
    let check = |arguments: &[&str]| {
        let before = below(&bench.here());
        let output = with_sudo(&bench, &[], arguments);
        assert_eq!(output.status.code(), Some(0), "{}", bench.seen(&output));
        let after = below(&bench.here()).into_iter();
        let new: Vec<PathBuf> = after.filter(|path| !before.contains(path)).collect();
        assert!(!new.is_empty(), "{arguments:?}");
        for path in new {
            assert_eq!(owner(&path), OWNER, "{}", path.display());
        }
    };

    check(&["analyze", "x.trace", "-o", "a/b"]);
    check(&[
        "analyze",
        "x.trace",
        "--html",
        "x.html",
        "--gaps",
        "x.csv",
        "--perfetto",
        "x.json",
    ]);
    check(&["analyze", "x.trace", "--parquet", "d/s"]);
    check(&[
        "batch",
        "x.trace",
        "-o",
        "many/reports",
        "--parquet",
        "runs",
    ]);
    check(&["synth", "eager", "-o", "s/eager"]);
    add_two_runs(&bench.here(), "eager");
    check(&["compare", "s/eager", "eager2", "-o", "c"]);
    check(&[
        "baseline", "save", "s/eager", "eager2", "eager3", "-o", "b.json",
    ]);
    check(&["chart", "x.trace", "-o", "c.png"]);
    let sampled = with_samples();
    let sampled = sampled.path().join("cpu");
    check(&["stacks", sampled.to_str().unwrap(), "-o", "x.folded"]);
    check(&["export", "x.trace"]);
    check(&["export", "x.trace", "-o", "e/x"]);
    check(&["synth", "eager", "-o", "eager.trace"]);
    check(&["workload", "eager", "--simulated", "--output", "w.json"]);
}

/// The owner is one that the user namespace of the test does not have, so the change fails.
#[test]
fn a_recording_whose_owner_cannot_be_changed_is_kept() {
    let bench = Bench::new();
    let mut command = bench.command(&[], &recording(&[], "exit 0"));
    command.env("SUDO_UID", OWNER.0.to_string());
    command.env("SUDO_GID", OWNER.1.to_string());
    let mut inside = std::process::Command::new("unshare");
    inside
        .args(["--user", "--map-root-user"])
        .arg(command.get_program());
    inside
        .args(command.get_args())
        .current_dir(bench.here())
        .env_clear();
    for (name, value) in command.get_envs() {
        inside.env(name, value.unwrap());
    }
    let mut probe = std::process::Command::new("unshare");
    let probe = probe.args(["--user", "--map-root-user", "true"]).status();
    if !probe.is_ok_and(|status| status.success()) {
        skipped("there are no namespaces of users here");
        return;
    }
    let output = inside.output().unwrap();
    let seen = bench.seen(&output);
    assert_eq!(output.status.code(), Some(0), "{seen}");
    assert!(seen.contains("saved x.trace"), "{seen}");
    assert!(
        seen.contains(
            "warning: the recording is complete, but root still owns it: cannot change the owner of x.trace"
        ),
        "{seen}"
    );
    assert_eq!(bench.disk(), "x.recording.json\nx.trace: whole\n");
}
