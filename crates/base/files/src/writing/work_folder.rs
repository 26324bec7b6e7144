//! Provides a temporary folder inside the export folder for unfinished tables. If an export is killed,
//! the next one removes its folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use super::error::{Error, Result};

const PREFIX: &str = ".metalens-";

/// The file that the writing process locks. The system releases the lock when that process
/// ends in any way.
const LOCK: &str = "lock";

/// A temporary folder for unfinished tables, removed with its contents on drop.
#[derive(Debug)]
pub(crate) struct Drafts {
    folder: TempDir,
    /// The lock; `None` on file systems without locks, where no folder counts as abandoned.
    _lock: Option<File>,
}

impl Drafts {
    /// Creates a temporary folder inside an export folder.
    pub(crate) fn inside(folder: &Path) -> Result<Self> {
        let created = tempfile::Builder::new().prefix(PREFIX).tempdir_in(folder);
        let folder = created.map_err(Error::at(folder))?;
        let lock = lock_folder(folder.path()).map_err(Error::at(folder.path()))?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the temporary folders that killed exports left, and returns their size in bytes.
/// Folders that cannot be removed stay: they do no harm.
pub(crate) fn clear_abandoned(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let drafts = entries.filter(|entry| is_drafts(&entry.file_name()));
    drafts.map(|entry| clear_if_abandoned(&entry.path())).sum()
}

fn is_drafts(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(PREFIX))
}

/// Creates the lock file. The file gets its name only after it is locked, so that no other
/// export can lock it first.
fn lock_folder(folder: &Path) -> io::Result<Option<File>> {
    let (new, lock) = (folder.join("new-lock"), folder.join(LOCK));
    let file = File::create(&new)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => fs::rename(&new, &lock).map(|()| Some(file)),
        Err(_) => fs::remove_file(&new).map(|()| None),
    }
}

/// Removes a temporary folder that no process has locked. Returns the size that it had, in bytes.
fn clear_if_abandoned(drafts: &Path) -> u64 {
    // A folder without a lock file may be new, or on a file system without locks.
    let Ok(lock) = metalens_files::open(&drafts.join(LOCK)) else {
        return 0;
    };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return 0;
    }

    let bytes = size(drafts);
    if fs::remove_dir_all(drafts).is_ok() {
        bytes
    } else {
        0
    }
}

/// Returns the size of the files in a temporary folder, which never has inner folders.
fn size(drafts: &Path) -> u64 {
    let entries = fs::read_dir(drafts).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_abandoned_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let drafts = || Drafts::inside(folder.path()).unwrap();
        let (in_use, killed) = (drafts(), drafts());
        for drafts in [&in_use, &killed] {
            fs::write(drafts.path().join("a.xml"), "1234567").unwrap();
        }
        // A killed process leaves everything except the lock.
        let left = killed.folder.keep();
        drop(killed._lock);
        // A folder without a lock file may be in use.
        let unlocked = folder.path().join(".metalens-unlocked");
        fs::create_dir(&unlocked).unwrap();
        fs::write(unlocked.join("a.xml"), "1").unwrap();

        assert_eq!(clear_abandoned(folder.path()), 7);
        assert!(!left.exists());
        assert!(in_use.path().join("a.xml").exists() && unlocked.exists());
        assert_eq!(clear_abandoned(folder.path()), 0);
        let path = in_use.path().to_owned();
        drop(in_use);
        assert!(!path.exists());
    }
}
