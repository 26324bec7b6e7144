//! Locks a folder, so that only one process at a time writes to it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use metalens_files::Folder;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::error::{Error, Result};

const LOCK: &str = ".metalens.lock";

/// Length of a lock's text: the id of a process, padded with spaces. The length never changes, so the
/// file need not be truncated.
const LENGTH: usize = 20;

/// A lock that is held until it is dropped or its process ends.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
}

impl FolderLock {
    /// Takes the lock of a folder.
    ///
    /// # Errors
    ///
    /// If another process has it, or another file has its name.
    pub fn take(folder: &Folder, path: &Path) -> Result<Self> {
        let file = folder.open_or_make(LOCK)?;
        let holder = holder(&file).ok_or_else(|| Error::NotALock(path.join(LOCK)))?;

        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(Error::Locked {
                    holder: match holder.as_str() {
                        "" => String::new(),
                        pid => format!(" ({pid})"),
                    },
                    folder: path.to_owned(),
                });
            }
            // Some network file systems have no locks. Then the batch runs without one.
            Err(Errno::NOTSUP | Errno::NOLCK | Errno::NOSYS) => {}
            Err(error) => {
                return Err(Error::CannotLock {
                    folder: path.to_owned(),
                    cause: error.into(),
                });
            }
        }

        let lock = Self { file };
        // Only error messages use the id, so a failed write is harmless.
        let _ = lock.write(&std::process::id().to_string());
        Ok(lock)
    }

    fn write(&self, text: &str) -> io::Result<()> {
        self.file
            .write_all_at(format!("{text:>LENGTH$}").as_bytes(), 0)
    }
}

/// Returns the id of the process in a lock file. Returns `None` if the file has any other text: it
/// is then a file of somebody else, possibly with a second name.
fn holder(file: &File) -> Option<String> {
    let mut text = [0; LENGTH + 1];
    let count = file.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..count)?).ok()?;
    let pid = text.trim();
    let is_ours = count <= LENGTH && pid.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then(|| pid.to_owned())
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // The file stays: if it were removed, two processes could lock different files of that name.
        let _ = self.write("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(folder: &Path) -> Result<FolderLock> {
        FolderLock::take(&Folder::make(folder)?, folder)
    }

    #[test]
    fn only_one_batch_can_lock_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new/out");
        let first = take(&folder).unwrap();
        let second = take(&folder).unwrap_err().to_string();
        let pid = std::process::id();
        assert!(second.contains(&format!("({pid})")), "{second}");
        drop(first);

        take(&folder).unwrap();
        // Earlier versions left such files.
        for text in ["", "4242"] {
            std::fs::write(folder.join(LOCK), text).unwrap();
            take(&folder).unwrap();
        }
    }

    /// Checks that any other file with the name of the lock stays as it is.
    #[test]
    fn foreign_files_are_not_truncated() {
        let root = tempfile::tempdir().unwrap();
        let (victim, lock) = (root.path().join("victim"), root.path().join(LOCK));
        let text = "a file of somebody";
        std::fs::write(&victim, text).unwrap();
        let check = |expected: &str| {
            let refused = take(root.path()).unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), text);
            std::fs::remove_file(&lock).unwrap();
        };

        std::os::unix::fs::symlink(&victim, &lock).unwrap();
        check("is a link");
        std::fs::hard_link(&victim, &lock).unwrap();
        check("is not a lock file of metalens");
        let _socket = std::os::unix::net::UnixListener::bind(&lock).unwrap();
        check("cannot open");
        std::os::unix::fs::symlink("nowhere", &lock).unwrap();
        check("is a link");
        assert!(!root.path().join("nowhere").exists());
    }
}
