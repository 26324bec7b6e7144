//! One batch at a time writes into a folder.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use metalens_files::Folder;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::{Error, Result};

const LOCK: &str = ".metalens.lock";

/// The length of what a lock says: the number of a process, with spaces before it. Always
/// the same, so that nothing is ever cut off.
const LENGTH: usize = 20;

/// Held until it is dropped, or until whoever holds it is gone: the system knows.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock of a folder.
    ///
    /// # Errors
    ///
    /// If another batch has it, or a file of somebody is in its place.
    pub fn take(folder: &Folder, path: &Path) -> Result<Self> {
        let file = folder.open_or_make(LOCK)?;
        let holder = holder(&file).ok_or_else(|| Error::NotALock(path.join(LOCK)))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(Error::Locked {
                    holder: match holder.as_str() {
                        "" => String::new(),
                        pid => format!(" (process {pid})"),
                    },
                    folder: path.to_owned(),
                });
            }
            // Some network file systems have no locks: then there is none.
            Err(Errno::NOTSUP | Errno::NOLCK | Errno::NOSYS) => {}
            Err(error) => {
                return Err(Error::CannotLock {
                    folder: path.to_owned(),
                    cause: error.into(),
                });
            }
        }
        let lock = Self { file };
        // Who reads it only wants to know whom to wait for.
        let _ = lock.say(&std::process::id().to_string());
        Ok(lock)
    }

    fn say(&self, text: &str) -> io::Result<()> {
        self.file
            .write_all_at(format!("{text:>LENGTH$}").as_bytes(), 0)
    }
}

/// Returns who holds a lock, as its file says. None if the file says anything else: then it
/// is somebody's, maybe under another name, too.
fn holder(file: &File) -> Option<String> {
    let mut text = [0; LENGTH + 1];
    let count = file.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..count)?).ok()?;
    let pid = text.trim();
    let is_ours = count <= LENGTH && pid.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then(|| pid.to_owned())
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file stays: to take it away would let two hold locks of that name.
        let _ = self.say("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(folder: &Path) -> Result<Lock> {
        Lock::take(&Folder::make(folder)?, folder)
    }

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new/out");
        let first = take(&folder).unwrap();
        let second = take(&folder).unwrap_err().to_string();
        let pid = std::process::id();
        assert!(second.contains(&format!("(process {pid})")), "{second}");
        drop(first);
        take(&folder).unwrap();
        // As earlier versions left it.
        for text in ["", "4242"] {
            std::fs::write(folder.join(LOCK), text).unwrap();
            take(&folder).unwrap();
        }
    }

    /// Whatever lies in its place, or has it as a second name, stays as it is.
    #[test]
    fn nothing_of_anybody_is_cut() {
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
        check("is no lock of metalens");
        let _socket = std::os::unix::net::UnixListener::bind(&lock).unwrap();
        check("cannot open");
        std::os::unix::fs::symlink("nowhere", &lock).unwrap();
        check("is a link");
        assert!(!root.path().join("nowhere").exists());
    }
}
