//! Makes folders for tests.

use std::path::Path;

use tempfile::{TempDir, tempdir, tempdir_in};

/// Free memory that the folders need, in bytes: several tests run at once.
const NEEDED: u64 = 2 << 30;

/// Returns a new folder for a test. Where Linux has room it lies in memory: tests make and remove tens of
/// thousands of small files, which takes half of their time on a disk.
#[must_use]
pub fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let is_chosen = std::env::var_os("TMPDIR").is_some();
    let free = rustix::fs::statvfs(memory).map_or(0, |space| space.f_bavail * space.f_frsize);
    let in_memory = (!is_chosen && free >= NEEDED).then(|| tempdir_in(memory));
    in_memory.unwrap_or_else(tempdir).unwrap()
}
