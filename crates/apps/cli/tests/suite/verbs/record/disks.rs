//! Tests recordings on disks that fail meanwhile. Each test mounts disks of its own, which only its
//! processes see.
#![cfg(target_os = "linux")]

use std::process::{Command, Output};

use super::{Bench, METALENS};
use crate::{stderr, stdout};

/// Runs shell commands as `root` of a namespace with mounts of its own.
fn as_root(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "/bin/sh",
        "-c",
        script,
    ]);
    command
}

/// Records to `output`, after shell commands that mount disks, and then lists the complete bundles.
/// Returns `None` where nothing can be mounted.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn record(bench: &Bench, mounts: &str, settings: &[&str], output: &str) -> Option<Output> {
    let probe = as_root("mount -t tmpfs none /mnt").output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("skipped: no disks can be mounted here");
        return None;
    }

    let arguments = ["record", "-o", output, "--", "./bench", "-c", "exit 0"];
    let metalens = bench.command(settings, &arguments);
    let found = "find here -name form.template";
    let script =
        format!("set -e\n{mounts}\ncd here; \"$@\" || code=$?; cd ..; {found}; exit $code");
    let mut command = as_root(&script);
    command
        .arg("sh")
        .arg(metalens.get_program())
        .args(metalens.get_args());
    command.env_clear().current_dir(bench.path(""));
    for (name, value) in metalens.get_envs() {
        command.env(name, value.unwrap());
    }
    Some(command.output().unwrap())
}

/// The disk becomes read-only when the recording has been saved.
#[test]
fn a_disk_that_becomes_read_only_keeps_the_recording() {
    let bench = Bench::new();
    bench.behave(&format!(
        "{METALENS} fake-xctrace -- \"$@\"; code=$?\n\
         [ $1 != record ] || mount -o remount,ro \"$top/here\"; exit $code\n"
    ));
    let mounts = "mount -t tmpfs none here; cp /bin/sh here/bench";
    let Some(output) = record(&bench, mounts, &[], "x.trace") else {
        return;
    };
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the recording was made, but"), "{said}");
    let found = stdout(&output);
    let kept = found.trim().strip_prefix("here/").unwrap();
    let kept = kept.strip_suffix("/form.template").unwrap();
    assert!(said.contains(&format!("{kept}\n")), "{said}{found}");
}

/// The bundle lands on another disk than the requested one, which has no room for it.
#[test]
fn a_disk_without_room_for_a_copy_keeps_the_recording() {
    let bench = Bench::new();
    let mounts = "mkdir here/small; mount -t tmpfs -o size=64k none here/small";
    let settings = ["MISBEHAVE=basename-in-cwd"];
    let Some(output) = record(&bench, mounts, &settings, "small/x.trace") else {
        return;
    };
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    let found = stdout(&output);
    let kept = found.trim().strip_prefix("here/").unwrap();
    let kept = kept.strip_suffix("/form.template").unwrap();
    assert!(!kept.starts_with("small"), "{found}");
    assert!(said.contains(&format!("{kept}\n")), "{said}{found}");
}
