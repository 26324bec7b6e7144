//! Where the beginnings of an export are made: a folder in its folder, which goes
//! with it. What an export left there that was killed goes with the next one.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::error::{Error, Result};

const PREFIX: &str = ".metalens-";

/// Held by whoever makes something in the folder. The system lets go of it when that
/// process is gone, however it went.
const LOCK: &str = "lock";

/// A folder for beginnings, removed with all that is in it.
#[derive(Debug)]
pub(crate) struct Drafts {
    folder: TempDir,
    /// None where the file system has no locks: then the folder is never taken for one
    /// that was left.
    _lock: Option<File>,
}

impl Drafts {
    /// A new one.
    pub(crate) fn inside(folder: &Path) -> Result<Self> {
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(folder);
        let folder = made.map_err(Error::at(folder))?;
        let lock = hold(folder.path()).map_err(Error::at(folder.path()))?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Takes away what exports left in a folder that were killed; how many bytes that was.
/// What cannot be taken away stays: it is in nobody's way.
pub(crate) fn clear_left_over(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let drafts = entries.filter(|entry| is_drafts(&entry.file_name()));
    drafts.map(|entry| clear_if_left(&entry.path())).sum()
}

fn is_drafts(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(PREFIX))
}

/// Has its name only when it is held, so that no other export finds it free.
fn hold(folder: &Path) -> io::Result<Option<File>> {
    let (new, lock) = (folder.join("new-lock"), folder.join(LOCK));
    let file = File::create(&new)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => fs::rename(&new, &lock).map(|()| Some(file)),
        Err(_) => fs::remove_file(&new).map(|()| None),
    }
}

fn clear_if_left(drafts: &Path) -> u64 {
    // Without a lock it was made this moment, or nobody knows whether it is in use.
    let Ok(lock) = metalens_files::open(&drafts.join(LOCK)) else {
        return 0;
    };
    let is_left = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    let bytes = if is_left { size(drafts) } else { 0 };
    match is_left && fs::remove_dir_all(drafts).is_ok() {
        true => bytes,
        false => 0,
    }
}

/// No folder is ever made in it.
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
    fn only_what_was_left_goes() {
        let folder = tempfile::tempdir().unwrap();
        let drafts = || Drafts::inside(folder.path()).unwrap();
        let (at_work, killed) = (drafts(), drafts());
        for one in [&at_work, &killed] {
            fs::write(one.path().join("a.xml"), "1234567").unwrap();
        }
        // What a process leaves that is killed: all but the lock's being held.
        let left = killed.folder.keep();
        drop(killed._lock);
        // And a folder of somebody who has no locks, or has not taken his yet.
        let unheld = folder.path().join(".metalens-unheld");
        fs::create_dir(&unheld).unwrap();
        fs::write(unheld.join("a.xml"), "1").unwrap();

        assert_eq!(clear_left_over(folder.path()), 7);
        assert!(!left.exists());
        assert!(at_work.path().join("a.xml").exists() && unheld.exists());
        assert_eq!(clear_left_over(folder.path()), 0);
        let path = at_work.path().to_owned();
        drop(at_work);
        assert!(!path.exists());
    }
}
