//! Writes unfinished files under a temporary name, readable only by their owner.
//!
//! The writing process holds a lock on the file. The system releases it when that process
//! ends in any way, so a draft without a lock was left by a killed process.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, fchmod, fchown, flock,
    fstat, linkat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::error::{Error, Result, io};
use super::owner::Owner;

const PREFIX: &str = ".metalens-";
const SUFFIX: &str = ".draft";

/// Number of attempts to create a draft. A name is seldom taken, and another process seldom
/// cleans up at the same moment.
const ATTEMPTS: u32 = 16;

/// The folder of a draft.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DraftPlace<'a> {
    pub(crate) folder: &'a OwnedFd,
    /// The path of the folder, only for messages.
    pub(crate) path: &'a Path,
    /// The user who ran `sudo`, to whom the file will belong.
    pub(crate) owner: Option<Owner>,
}

/// A file that is being written. It is removed unless it is finished.
#[derive(Debug)]
pub struct Draft<'a> {
    place: DraftPlace<'a>,
    /// The name that the file will have.
    name: OsString,
    temporary_name: String,
    file: File,
    /// The permissions that the user's umask allows; none on file systems without permissions.
    mode: Option<Mode>,
    is_finished: bool,
}

impl<'a> Draft<'a> {
    /// Creates a draft in a folder.
    pub(crate) fn begin(place: DraftPlace<'a>, name: &OsStr) -> Result<Self, Errno> {
        let mut attempt = 1;
        loop {
            match Self::try_to_begin(place, name) {
                Err(Errno::EXIST | Errno::WOULDBLOCK) if attempt < ATTEMPTS => attempt += 1,
                begun => return begun,
            }
        }
    }

    fn try_to_begin(place: DraftPlace<'a>, name: &OsStr) -> Result<Self, Errno> {
        let temporary_name = new_name();
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let permissions = Mode::from_raw_mode(0o666);
        let opened = openat(place.folder, &temporary_name, flags, permissions)?;

        let mut draft = Self {
            place,
            name: name.to_owned(),
            temporary_name,
            file: opened.into(),
            mode: None,
            is_finished: false,
        };
        let usual = Mode::from_raw_mode(fstat(&draft.file)?.st_mode);
        draft.mode = fchmod(&draft.file, Mode::RUSR | Mode::WUSR)
            .ok()
            .map(|()| usual);
        // Some network file systems have no locks. There no draft is taken for an abandoned one.
        let locked = flock(&draft.file, FlockOperation::NonBlockingLockExclusive);
        if locked == Err(Errno::WOULDBLOCK) {
            return Err(Errno::WOULDBLOCK);
        }
        // Another process removed the draft before it was locked.
        if fstat(&draft.file)?.st_nlink == 0 {
            return Err(Errno::WOULDBLOCK);
        }
        Ok(draft)
    }

    /// Returns the open file, for writing and reading.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its permissions, its owner and its name.
    ///
    /// # Errors
    ///
    /// Fails if the name is taken and `force` is not set, or if the system refuses.
    pub fn finish(mut self, force: bool) -> Result<()> {
        let finished = self.rename(force).map_err(|cause| {
            let path = self.place.path.join(&self.name);
            match cause {
                Errno::EXIST => Error::Exists(path),
                cause => io("write", path)(cause),
            }
        });
        self.is_finished = finished.is_ok();
        finished
    }

    fn rename(&self, force: bool) -> Result<(), Errno> {
        if let Some(mode) = self.mode {
            fchmod(&self.file, mode)?;
        }
        give(&self.file, self.place.owner);
        let folder = self.place.folder;
        if force {
            renameat(folder, &self.temporary_name, folder, &self.name)
        } else {
            rename_new(folder, OsStr::new(&self.temporary_name), &self.name)
        }
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // The error that ended the writing is already on its way to the caller, and the next
            // process removes a draft that stays.
            let _ = unlinkat(self.place.folder, &self.temporary_name, AtFlags::empty());
        }
    }
}

/// Gives a new file or folder to the user who ran `sudo`. A file system without owners
/// refuses, which does not matter.
pub(crate) fn give(made: impl AsFd, owner: Option<Owner>) {
    if let Some(owner) = owner {
        let (uid, gid) = owner.ids();
        let _ = fchown(made, uid, gid);
    }
}

/// Renames within a folder, unless the new name is taken.
fn rename_new(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    match renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        renamed => return renamed,
    }
    // Some file systems do not support this flag but have hard links.
    match linkat(folder, from, folder, to, AtFlags::empty()) {
        Ok(()) => unlinkat(folder, from, AtFlags::empty()),
        Err(Errno::EXIST) => Err(Errno::EXIST),
        Err(_) => match statat(folder, to, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(Errno::EXIST),
            Err(_) => renameat(folder, from, folder, to),
        },
    }
}

fn new_name() -> String {
    // The standard library seeds every state with new random keys.
    let random = RandomState::new().build_hasher().finish();
    format!("{PREFIX}{random:016x}{SUFFIX}")
}

fn is_draft_name(name: &CStr) -> bool {
    let name = name.to_bytes();
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

/// Removes the drafts that killed processes left in a folder. A draft that cannot be removed
/// stays: it does no harm.
pub(crate) fn clear_abandoned(folder: &OwnedFd, path: &Path) -> Result<()> {
    let entries = Dir::read_from(folder).map_err(io("read", path))?;
    for entry in entries.flatten() {
        if is_draft_name(entry.file_name()) {
            let _ = clear_if_abandoned(folder, entry.file_name());
        }
    }
    Ok(())
}

fn clear_if_abandoned(folder: &OwnedFd, name: &CStr) -> Result<(), Errno> {
    // Network file systems lock only files that are open for writing. NONBLOCK avoids waiting at
    // a pipe.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&opened)?.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    flock(&opened, FlockOperation::NonBlockingLockExclusive)?;
    unlinkat(folder, name, AtFlags::empty())
}
