//! One batch at a time writes into a folder.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::Context;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

const LOCK: &str = ".metalens.lock";

/// Held until it is dropped, or until whoever holds it is gone: the system knows.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Makes the folder and takes it, or says who has it.
    pub(super) fn take(folder: &Path) -> anyhow::Result<Self> {
        let shown = folder.display();
        let failed = || format!("cannot write into {shown}");
        fs::create_dir_all(folder).with_context(failed)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(folder.join(LOCK)).with_context(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                let holder = match holder.trim() {
                    "" => String::new(),
                    pid => format!(" (process {pid})"),
                };
                anyhow::bail!(
                    "another metalens batch{holder} is writing into {shown}: wait for it, or name \
                     another folder with -o"
                );
            }
            // Some network file systems have no locks: then there is none.
            Err(Errno::NOTSUP | Errno::NOLCK | Errno::NOSYS) => {}
            Err(error) => return Err(error).with_context(failed),
        }
        let mut lock = Self { file };
        // Who reads it only wants to know whom to wait for.
        let _ = lock.say(&std::process::id().to_string());
        Ok(lock)
    }

    fn say(&mut self, text: &str) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())
    }
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

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new/out");
        let first = Lock::take(&folder).unwrap();
        let second = Lock::take(&folder).unwrap_err().to_string();
        let pid = std::process::id();
        assert!(second.contains(&format!("(process {pid})")), "{second}");
        drop(first);
        Lock::take(&folder).unwrap();
    }
}
