//! Makes folders for tests, and copies programs into them.

use std::path::Path;
use std::process::Command;

use tempfile::{TempDir, tempdir, tempdir_in};

/// Free memory that the folders need, in bytes: several tests run at once.
const NEEDED: u64 = 2 << 30;

/// Returns a new folder for a test. Where Linux has room it lies in memory: tests make and remove tens of
/// thousands of small files, which takes half of their time on a disk.
pub fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let is_chosen = std::env::var_os("TMPDIR").is_some();
    let free = rustix::fs::statvfs(memory).map_or(0, |space| space.f_bavail * space.f_frsize);
    let in_memory = (!is_chosen && free >= NEEDED).then(|| tempdir_in(memory));
    in_memory.unwrap_or_else(tempdir).unwrap()
}

/// Copies a program that the test then runs. `cp` does it: a file that this process has open for writing is
/// open in every child that another test starts at that moment, and cannot be run until that child runs.
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let status = Command::new("cp")
        .arg(from.as_ref())
        .arg(to.as_ref())
        .status();
    assert!(status.unwrap().success(), "{}", to.as_ref().display());
}

/// Writes a script that the test then runs. `install` does it, for the reason that `cp` does in
/// [`copy_program`].
pub fn write_program(path: impl AsRef<Path>, script: &str) {
    let path = path.as_ref();
    let text = path.with_extension("text");
    std::fs::write(&text, script).unwrap();
    let mut install = Command::new("install");
    let status = install.args(["-m", "755"]).args([&text, path]).status();
    assert!(status.unwrap().success(), "{}", path.display());
    std::fs::remove_file(text).unwrap();
}

/// Writes commands of a shell as a program.
pub fn write_script(path: impl AsRef<Path>, commands: &str) {
    write_program(path, &format!("#!/bin/sh\n{commands}\n"));
}
