//! Walks through a folder by descriptors: changes the owner of its contents, or removes them.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fchmod, fchown, fstat, openat, statat, unlinkat,
};

use super::error::{Error, Result, io};
use super::owner::Owner;
use super::ownership_changes::OwnershipChanges;

/// Changes the owner of a folder's contents, then of the folder. `path` is only for messages.
pub(crate) fn give(
    folder: &OwnedFd,
    path: &Path,
    owner: Owner,
    changes: &mut OwnershipChanges,
) -> Result<()> {
    let top = fstat(folder).map_err(io("inspect", path))?;
    give_contents(folder, path, owner, &top, changes)
}

fn give_contents(
    folder: &OwnedFd,
    path: &Path,
    owner: Owner,
    top: &Stat,
    changes: &mut OwnershipChanges,
) -> Result<()> {
    for_each_entry(folder, path, |name, path, facts| {
        match FileType::from_raw_mode(facts.st_mode) {
            FileType::Directory if facts.st_dev == top.st_dev => {
                let inner = open_folder(folder.as_fd(), name, path, facts)?;
                give_contents(&inner, path, owner, top, changes)?;
            }
            FileType::RegularFile => {
                let name = OsStr::from_bytes(name.to_bytes());
                give_file(folder, name, path, owner, changes)?;
            }
            FileType::Symlink => changes.links += 1,
            _ => changes.others += 1,
        }
        Ok(())
    })?;

    let facts = fstat(folder).map_err(io("inspect", path))?;
    give_opened(folder.as_fd(), &facts, Mode::RWXU, path, owner, changes)
}

/// Removes everything in a folder. Links are removed, not followed.
pub(crate) fn remove_contents(folder: &OwnedFd, path: &Path) -> Result<()> {
    for_each_entry(folder, path, |name, path, facts| {
        let is_folder = FileType::from_raw_mode(facts.st_mode) == FileType::Directory;
        let flags = if is_folder {
            remove_contents(&open_folder(folder.as_fd(), name, path, facts)?, path)?;
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        unlinkat(folder, name, flags).map_err(io("remove", path))
    })
}

/// Calls a function with the name, the path and the facts of each entry of a folder.
fn for_each_entry(
    folder: &OwnedFd,
    path: &Path,
    mut function: impl FnMut(&CStr, &Path, &Stat) -> Result<()>,
) -> Result<()> {
    for entry in Dir::read_from(folder).map_err(io("read", path))? {
        let entry = entry.map_err(io("read", path))?;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let path = path.join(OsStr::from_bytes(name.to_bytes()));
        let facts =
            statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io("inspect", &*path))?;
        function(name, &path, &facts)?;
    }
    Ok(())
}

/// Opens a folder that was inspected before. Fails if another one has taken its place.
fn open_folder(
    within: BorrowedFd<'_>,
    name: &CStr,
    path: &Path,
    inspected: &Stat,
) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(within, name, flags, Mode::empty()).map_err(io("open", path))?;
    let facts = fstat(&folder).map_err(io("inspect", path))?;

    if (facts.st_dev, facts.st_ino) == (inspected.st_dev, inspected.st_ino) {
        Ok(folder)
    } else {
        Err(Error::Tampered(path.to_owned()))
    }
}

/// Changes the owner of a file that has no other name.
pub(crate) fn give_file(
    within: impl AsFd,
    name: &OsStr,
    path: &Path,
    owner: Owner,
    changes: &mut OwnershipChanges,
) -> Result<()> {
    // NONBLOCK avoids waiting, in case a pipe has taken its place.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(within, name, flags, Mode::empty()).map_err(io("open", path))?;
    let facts = fstat(&opened).map_err(io("inspect", path))?;

    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        changes.others += 1;
        return Ok(());
    }
    if facts.st_nlink > 1 {
        changes.shared.push(path.to_owned());
        return Ok(());
    }
    give_opened(
        opened.as_fd(),
        &facts,
        Mode::RUSR | Mode::WUSR,
        path,
        owner,
        changes,
    )
}

/// Changes the owner of an open file or folder, and lets the owner read and write it.
fn give_opened(
    opened: BorrowedFd<'_>,
    facts: &Stat,
    needed: Mode,
    path: &Path,
    owner: Owner,
    changes: &mut OwnershipChanges,
) -> Result<()> {
    let mode = Mode::from_raw_mode(facts.st_mode);
    if !mode.contains(needed) {
        fchmod(opened, mode | needed).map_err(io("change the permissions of", path))?;
    }
    if (facts.st_uid, facts.st_gid) == (owner.uid, owner.gid) {
        changes.already += 1;
        return Ok(());
    }
    let (uid, gid) = owner.ids();
    fchown(opened, uid, gid).map_err(io("change the owner of", path))?;
    changes.changed += 1;
    Ok(())
}
