//! Writes single files, and checks paths before writing.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::{self, Error, Result};
use super::folder::Folder;
use super::inside::refuse_inside_bundle;

/// Writes a file completely or not at all: first under a temporary name in the same folder,
/// then under its own.
///
/// # Errors
///
/// Fails if the file exists and `force` is not set, if it cannot be written, or if `fill`
/// fails.
pub fn write<E: From<Error>>(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    refuse_existing(path, force)?;
    let folder = Folder::open(parent(path)).map_err(|error| match error {
        Error::Io { cause, .. } => error::io("write", path)(cause),
        other => other,
    })?;
    folder.write(Path::new(path.file_name().unwrap_or_default()), force, fill)
}

/// Writes bytes as a file completely or not at all.
///
/// # Errors
///
/// Fails if the file exists and `force` is not set, or it cannot be written.
pub fn write_bytes(path: &Path, force: bool, bytes: &[u8]) -> Result<()> {
    write(path, force, |out| {
        out.write_all(bytes).map_err(error::io("write", path))
    })
}

/// Refuses a path that exists, unless it may be replaced, and one inside a bundle.
///
/// # Errors
///
/// Fails if the path exists, also if it is a link that leads nowhere, or if it is inside a bundle.
pub fn refuse_existing(path: &Path, force: bool) -> Result<()> {
    refuse_inside_bundle(path)?;
    if !force && path.symlink_metadata().is_ok() {
        return Err(Error::Exists(path.to_owned()));
    }
    Ok(())
}

/// Refuses a link in the place of a folder that metalens creates.
///
/// # Errors
///
/// Fails if the path is a link.
pub fn refuse_link(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(status) if status.is_symlink() => Err(Error::Link(path.to_owned())),
        _ => Ok(()),
    }
}

/// Returns the parent folder of a path: `.` for a bare name.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns a path without `/` and `/.` at its end. With these the system follows a link even
/// under `O_NOFOLLOW`.
pub fn without_trailing(path: &Path) -> PathBuf {
    path.components().collect()
}
