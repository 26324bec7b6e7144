//! After `sudo`, what was written belongs to root. It is given back: what is in a
//! bundle and nothing else, however its folders were tampered with meanwhile.
//!
//! Everything is reached from the bundle's own descriptor, name by name, and no
//! link is followed. A file with a second name somewhere (a hard link) is left
//! alone: that other name may be `/etc/passwd`. A folder is given back after what
//! is in it, so that nobody but root can have changed that before.

use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::error::{Error, Result, io};
use crate::given::Given;
use crate::owner::Owner;
use crate::{walk, without_trailing};

/// Gives a folder and all that is in it to an owner.
///
/// # Errors
///
/// If it is no folder, or something in it cannot be opened or given away.
pub fn give_folder(path: &Path, owner: Owner) -> Result<Given> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path = without_trailing(path);
    let folder = match openat(CWD, &path, flags, Mode::empty()) {
        Err(_) if path.is_symlink() => return Err(Error::Link(path)),
        opened => opened.map_err(io("open", &*path))?,
    };
    let mut given = Given::default();
    walk::give(&folder, &path, owner, &mut given)?;
    Ok(given)
}

/// Gives a file to an owner.
///
/// # Errors
///
/// If it is no file, or cannot be given away.
pub fn give_file(path: &Path, owner: Owner) -> Result<Given> {
    let mut given = Given::default();
    walk::give_file(CWD, path.as_os_str(), path, owner, &mut given)?;
    Ok(given)
}
