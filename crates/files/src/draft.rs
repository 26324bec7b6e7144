//! Files that are not finished: under a passing name, for their owner's eyes only.
//!
//! Whoever writes one holds a lock on it, which the system lets go of when that process is
//! gone, however it went. One that nobody holds was left by a killed process.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, fchmod, fchown, flock,
    fstat, linkat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::error::{Error, Result, io};
use crate::owner::Owner;

const PREFIX: &str = ".metalens-";
const SUFFIX: &str = ".draft";

/// A name is taken seldom, and another process seldom tidies up at this very moment.
const ATTEMPTS: u32 = 16;

/// A file that is being written. It goes away unless it is finished.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    folder: &'a OwnedFd,
    name: String,
    pub(crate) file: File,
    /// The permissions that the user's umask leaves; none where files have no permissions.
    mode: Option<Mode>,
    is_finished: bool,
}

impl<'a> Draft<'a> {
    /// Begins a file in a folder.
    pub(crate) fn begin(folder: &'a OwnedFd) -> Result<Self, Errno> {
        let mut attempt = 1;
        loop {
            match Self::try_to_begin(folder) {
                Err(Errno::EXIST | Errno::WOULDBLOCK) if attempt < ATTEMPTS => attempt += 1,
                begun => return begun,
            }
        }
    }

    fn try_to_begin(folder: &'a OwnedFd) -> Result<Self, Errno> {
        let name = new_name();
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(folder, &name, flags, Mode::from_raw_mode(0o666))?;
        let mut draft = Self {
            folder,
            name,
            file: opened.into(),
            mode: None,
            is_finished: false,
        };
        let usual = Mode::from_raw_mode(fstat(&draft.file)?.st_mode);
        draft.mode = fchmod(&draft.file, Mode::RUSR | Mode::WUSR)
            .ok()
            .map(|()| usual);
        // Some network file systems have no locks: there nothing is taken for left.
        let locked = flock(&draft.file, FlockOperation::NonBlockingLockExclusive);
        if locked == Err(Errno::WOULDBLOCK) {
            return Err(Errno::WOULDBLOCK);
        }
        // Whoever tidies up was quicker.
        if fstat(&draft.file)?.st_nlink == 0 {
            return Err(Errno::WOULDBLOCK);
        }
        Ok(draft)
    }

    /// Gives the file its permissions, its owner and its name.
    pub(crate) fn finish(
        mut self,
        name: &OsStr,
        force: bool,
        owner: Option<Owner>,
    ) -> Result<(), Errno> {
        if let Some(mode) = self.mode {
            fchmod(&self.file, mode)?;
        }
        give(&self.file, owner);
        match force {
            true => renameat(self.folder, &self.name, self.folder, name)?,
            false => rename_new(self.folder, OsStr::new(&self.name), name)?,
        }
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // What failed is on its way, and a left draft goes with the next process.
            let _ = unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Gives what was just made to the user who ran `sudo`. Where files have no owners nobody
/// can, and there is nobody to give them to.
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
    // Some file systems cannot be asked for that, but have links.
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
    // Keyed anew by the system for each state.
    let random = RandomState::new().build_hasher().finish();
    format!("{PREFIX}{random:016x}{SUFFIX}")
}

fn is_name_of_one(name: &CStr) -> bool {
    let name = name.to_bytes();
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

/// Takes away the drafts that killed processes left in a folder. What cannot be taken away
/// stays: it is in nobody's way.
pub(crate) fn clear_left_over(folder: &OwnedFd, path: &Path) -> Result<()> {
    let entries = Dir::read_from(folder).map_err(io("read", path))?;
    for entry in entries.flatten() {
        if is_name_of_one(entry.file_name()) {
            let _ = clear_if_left(folder, entry.file_name());
        }
    }
    Ok(())
}

fn clear_if_left(folder: &OwnedFd, name: &CStr) -> Result<(), Errno> {
    // For writing, since network file systems lock nothing else; without waiting at a pipe.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&opened)?.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    flock(&opened, FlockOperation::NonBlockingLockExclusive)?;
    unlinkat(folder, name, AtFlags::empty())
}

/// Turns what a draft met into an error about the file that it was to be.
pub(crate) fn about(path: &Path) -> impl FnOnce(Errno) -> Error {
    let path = path.to_owned();
    move |cause| match cause {
        Errno::EXIST => Error::Exists(path),
        cause => io("write", path)(cause),
    }
}
