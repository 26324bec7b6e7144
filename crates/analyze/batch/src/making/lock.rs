//! Locks a folder, so that only one process at a time writes to it.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::error::{Error, Result};

/// A lock that is held until it is dropped or its process ends.
#[derive(Debug)]
pub struct FolderLock {
    _folder: File,
}

impl FolderLock {
    /// Takes the lock of a folder.
    ///
    /// # Errors
    ///
    /// If another process has it, or the folder cannot be opened.
    pub fn take(path: &Path) -> Result<Self> {
        let folder = File::open(path).map_err(|cause| Error::CannotLock {
            folder: path.to_owned(),
            cause,
        })?;
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(Error::Locked(path.to_owned())),
            // Some network file systems have no locks. Then the process runs without one.
            _ => Ok(Self { _folder: folder }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_process_can_lock_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::take(folder.path()).unwrap();
        let second = FolderLock::take(folder.path()).unwrap_err();
        assert!(matches!(second, Error::Locked(_)), "{second}");
        drop(first);
        FolderLock::take(folder.path()).unwrap();
    }
}
