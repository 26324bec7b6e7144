//! Through a folder by descriptors, giving away what is in it.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fchmod, fchown, fstat, openat, statat,
};
use rustix::io::Errno;

use crate::error::{Error, Result, io};
use crate::given::Given;
use crate::owner::Owner;

/// Gives away what is in a folder, then the folder. `path` is only for messages.
pub(crate) fn give(folder: &OwnedFd, path: &Path, owner: Owner, given: &mut Given) -> Result<()> {
    let top = told(fstat(folder), "look at", path)?;
    given_inside(folder, path, owner, &top, given)
}

fn given_inside(
    folder: &OwnedFd,
    path: &Path,
    owner: Owner,
    top: &Stat,
    given: &mut Given,
) -> Result<()> {
    let entries = told(Dir::read_from(folder), "read", path)?;
    for entry in entries {
        let entry = told(entry, "read", path)?;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let path = path.join(OsStr::from_bytes(name.to_bytes()));
        let facts = told(
            statat(folder, name, AtFlags::SYMLINK_NOFOLLOW),
            "look at",
            &path,
        )?;
        match FileType::from_raw_mode(facts.st_mode) {
            FileType::Directory if facts.st_dev == top.st_dev => {
                let inner = open_folder(folder.as_fd(), name, &path, &facts)?;
                given_inside(&inner, &path, owner, top, given)?;
            }
            FileType::RegularFile => {
                let name = OsStr::from_bytes(name.to_bytes());
                give_file(folder, name, &path, owner, given)?;
            }
            FileType::Symlink => given.links += 1,
            _ => given.others += 1,
        }
    }
    let facts = told(fstat(folder), "look at", path)?;
    give_one(folder.as_fd(), &facts, Mode::RWXU, path, owner, given)
}

/// The folder that was looked at, and no other that has taken its place.
fn open_folder(
    within: BorrowedFd<'_>,
    name: &CStr,
    path: &Path,
    looked_at: &Stat,
) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = told(openat(within, name, flags, Mode::empty()), "open", path)?;
    let facts = told(fstat(&folder), "look at", path)?;
    match (facts.st_dev, facts.st_ino) == (looked_at.st_dev, looked_at.st_ino) {
        true => Ok(folder),
        false => Err(Error::Tampered(path.to_owned())),
    }
}

/// Gives away a file that has no other name.
pub(crate) fn give_file(
    within: impl AsFd,
    name: &OsStr,
    path: &Path,
    owner: Owner,
    given: &mut Given,
) -> Result<()> {
    // Without waiting, in case a pipe has taken its place.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(within, name, flags, Mode::empty());
    let opened = told(opened, "open", path)?;
    let facts = told(fstat(&opened), "look at", path)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        given.others += 1;
        return Ok(());
    }
    if facts.st_nlink > 1 {
        given.shared.push(path.to_owned());
        return Ok(());
    }
    give_one(
        opened.as_fd(),
        &facts,
        Mode::RUSR | Mode::WUSR,
        path,
        owner,
        given,
    )
}

/// Gives away what is open, and lets its owner read and write it.
fn give_one(
    opened: BorrowedFd<'_>,
    facts: &Stat,
    needed: Mode,
    path: &Path,
    owner: Owner,
    given: &mut Given,
) -> Result<()> {
    let mode = Mode::from_raw_mode(facts.st_mode);
    if !mode.contains(needed) {
        told(
            fchmod(opened, mode | needed),
            "change the permissions of",
            path,
        )?;
    }
    if (facts.st_uid, facts.st_gid) == (owner.uid, owner.gid) {
        given.already += 1;
        return Ok(());
    }
    let (uid, gid) = owner.ids();
    told(fchown(opened, uid, gid), "give away", path)?;
    given.changed += 1;
    Ok(())
}

fn told<T>(result: Result<T, Errno>, what: &'static str, path: &Path) -> Result<T> {
    result.map_err(io(what, path))
}
