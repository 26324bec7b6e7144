//! Changes the owner of files that `sudo` left to root: the contents of a bundle and nothing
//! else, even if somebody changes its folders meanwhile.
//!
//! Everything is reached from the bundle's own descriptor, name by name, and no link is
//! followed. A file with a second name (a hard link) keeps its owner: the other name may be
//! `/etc/passwd`. A folder changes its owner after its contents, so that until then only root
//! can have changed them.

use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::error::{Error, Result, io};
use super::owner::Owner;
use super::ownership_changes::OwnershipChanges;
use super::walk;
use super::write::without_trailing;

/// Changes the owner of a folder and of everything in it.
///
/// # Errors
///
/// Fails if the path is not a folder, or something in it cannot be opened or changed.
pub fn give_folder(path: &Path, owner: Owner) -> Result<OwnershipChanges> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path = without_trailing(path);
    let folder = match openat(CWD, &path, flags, Mode::empty()) {
        Err(_) if path.is_symlink() => return Err(Error::Link(path)),
        opened => opened.map_err(io("open", &*path))?,
    };
    let mut changes = OwnershipChanges::default();
    walk::give(&folder, &path, owner, &mut changes)?;
    Ok(changes)
}

/// Changes the owner of one file.
///
/// # Errors
///
/// Fails if the path is not a file, or its owner cannot be changed.
pub fn give_file(path: &Path, owner: Owner) -> Result<OwnershipChanges> {
    let mut changes = OwnershipChanges::default();
    walk::give_file(CWD, path.as_os_str(), path, owner, &mut changes)?;
    Ok(changes)
}
