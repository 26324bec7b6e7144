//! After `sudo`: whose everything is. Only root can try that.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use super::{Bench, stderr, stdout};

/// Whoever that is.
const OWNER: (u32, u32) = (12_345, 23_456);

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn is_root() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let is_root = folder.path().metadata().unwrap().uid() == 0;
    if !is_root {
        println!("skipped: only root can give files away");
    }
    is_root
}

fn owner(path: &Path) -> (u32, u32) {
    let facts = path.symlink_metadata().unwrap();
    (facts.uid(), facts.gid())
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let inside = |path: PathBuf| match path.is_dir() && !path.is_symlink() {
        true => [below(&path), vec![path]].concat(),
        false => vec![path],
    };
    entries.flat_map(inside).collect()
}

/// As `sudo` starts it.
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
            said.contains("given back") && said.contains("sudo is not needed"),
            "{said}"
        );
    }
}

#[test]
fn all_that_is_written() {
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

/// In a folder that was there, what was there is whose it was.
#[test]
fn and_nothing_else() {
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
        // The folder of charts is made by us, and is new.
        assert_eq!(owner(&path), expected, "{}", path.display());
    }
}

/// `metalens own`: what others left to root.
#[test]
fn own() {
    if !is_root() {
        return;
    }
    let bench = Bench::new();
    bench.fine(&[], &super::recording(&[], "exit 0"));
    let bundle = bench.here().join("x.trace");
    let outside = bench.here().join("outside");
    fs::write(&outside, "x").unwrap();
    symlink(&outside, bundle.join("link")).unwrap();
    fs::hard_link(&outside, bundle.join("second-name")).unwrap();
    let output = with_sudo(&bench, &[], &["own", "x.trace"]);
    assert_eq!(output.status.code(), Some(0), "{}", bench.seen(&output));
    let said = stdout(&output);
    assert!(said.contains("1 link not followed"), "{said}");
    assert!(
        said.contains("left alone, since it has a second name somewhere: x.trace/second-name"),
        "{said}"
    );
    assert_eq!(owner(&outside), (0, 0));
    assert_eq!(owner(&bundle), OWNER);
    assert_eq!(owner(&bundle.join("form.template")), OWNER);
    // Only bundles, and only to somebody.
    let refused = with_sudo(&bench, &[], &["own", "outside"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(owner(&outside), (0, 0));
    let refused = bench.run(&[], &["own", "x.trace"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("nobody ran sudo; name the new owner"));
}
