//! Provides temporary folders inside a folder, for work that is unfinished. If the process is killed, the
//! next one removes its folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use tempfile::TempDir;

use crate::size::path_size;

/// The file that the writing process locks. The system releases the lock when that process
/// ends in any way.
const LOCK: &str = "lock";

/// A temporary folder for unfinished work, removed with its contents on drop.
#[derive(Debug)]
pub struct WorkFolder {
    folder: TempDir,
    /// The lock; `None` on file systems without locks, where no folder counts as abandoned.
    lock: Option<File>,
}

impl WorkFolder {
    /// Creates a temporary folder inside a folder. Its name begins and ends so, with random letters between.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses.
    pub fn inside(folder: &Path, [prefix, suffix]: [&str; 2]) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix(prefix).suffix(suffix).tempdir_in(folder)?;
        let lock = lock_folder(folder.path())?;
        Ok(Self { folder, lock })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Lets the programs that this process starts from now on hold the lock, too.
    pub fn share(&self) {
        if let Some(lock) = &self.lock {
            // Without it, a folder that only such a program uses counts as abandoned.
            let _ = fcntl_setfd(lock, FdFlags::empty());
        }
    }

    /// Keeps the folder for ever, as one that nobody abandoned.
    pub fn keep(&mut self) {
        self.folder.disable_cleanup(true);
        // It may be absent: there are file systems without locks.
        let _ = fs::remove_file(self.path().join(LOCK));
    }

    /// Removes the temporary folders of such a name that killed processes left and that may go, and returns
    /// their size in bytes. Folders that cannot be removed stay: they do no harm.
    pub fn clear_abandoned(folder: &Path, name: [&str; 2], may_go: impl Fn(&Path) -> bool) -> u64 {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| has_name(&entry.file_name(), name));
        let sizes = folders.map(|entry| clear_if_abandoned(&entry.path(), &may_go));
        sizes.sum()
    }
}

fn has_name(name: &OsStr, [prefix, suffix]: [&str; 2]) -> bool {
    let random = name
        .to_str()
        .and_then(|name| name.strip_prefix(prefix)?.strip_suffix(suffix));
    random.is_some_and(|random| random.chars().all(char::is_alphanumeric))
}

/// Creates the lock file. The file gets its name only after it is locked, so that no other
/// process can lock it first.
fn lock_folder(folder: &Path) -> io::Result<Option<File>> {
    let (new, lock) = (folder.join("new-lock"), folder.join(LOCK));
    File::create(&new)?;
    // A file that is open for writing would keep its disk from becoming read-only.
    let file = File::open(&new)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => fs::rename(&new, &lock).map(|()| Some(file)),
        Err(_) => fs::remove_file(&new).map(|()| None),
    }
}

/// Removes a temporary folder that no process has locked. Returns the size that it had, in bytes.
fn clear_if_abandoned(folder: &Path, may_go: &dyn Fn(&Path) -> bool) -> u64 {
    // A folder without a lock file may be new, or on a file system without locks.
    let Ok(lock) = crate::open(&folder.join(LOCK)) else {
        return 0;
    };
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() || !may_go(folder) {
        return 0;
    }

    let bytes = path_size(folder);
    if fs::remove_dir_all(folder).is_ok() {
        bytes
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn only_abandoned_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let made = || {
            let made = WorkFolder::inside(folder.path(), [".metalens-", ".x"]).unwrap();
            fs::write(made.path().join("a.xml"), "1234567").unwrap();
            made
        };
        // A killed process leaves everything except the lock.
        let kill = |made: WorkFolder| {
            drop(made.lock);
            made.folder.keep()
        };
        let (in_use, killed) = (made(), kill(made()));
        // A folder without a lock file may be in use, and one of another name has another purpose.
        let unlocked = folder.path().join(".metalens-unlocked.x");
        fs::create_dir(&unlocked).unwrap();
        let other = folder.path().join(".metalens-a-1.x");
        fs::rename(kill(made()), &other).unwrap();
        // A program that was started still works in it.
        let shared = made();
        shared.share();
        let mut program = Command::new("sleep").arg("600").spawn().unwrap();
        let shared = kill(shared);

        let clear = |may_go: bool| {
            WorkFolder::clear_abandoned(folder.path(), [".metalens-", ".x"], |_| may_go)
        };
        assert_eq!((clear(false), clear(true), clear(true)), (0, 7, 0));
        assert!(!killed.exists());
        for left in [in_use.path(), &unlocked, &other, &shared] {
            assert!(left.exists(), "{}", left.display());
        }
        program.kill().unwrap();
        program.wait().unwrap();
        // A program that another test started at the same time has the lock, too, until it ends.
        let mut tries = (0..1_000).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            clear(true)
        });
        assert_eq!(tries.find(|bytes| *bytes > 0), Some(7));
        let path = in_use.path().to_owned();
        drop(in_use);
        assert!(!path.exists());
    }
}
