//! Files that are written whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Refuses a file that exists, unless it may be replaced.
pub(crate) fn refuse_existing(path: &Path, force: bool) -> Result<()> {
    match !force && path.symlink_metadata().is_ok() {
        true => Err(Error::Exists {
            path: path.to_owned(),
        }),
        false => Ok(()),
    }
}

/// Writes beside it, then gives it its name, so that nobody ever sees half of it.
pub(crate) fn write(path: &Path, force: bool, text: &str) -> Result<()> {
    refuse_existing(path, force)?;
    persist(path, force, text).map_err(|source| Error::Write {
        path: path.to_owned(),
        source,
    })
}

fn persist(path: &Path, force: bool, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".metalens-");
    // Readable by whom the user's umask lets.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut draft = builder.tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    match force {
        true => draft.persist(path),
        false => draft.persist_noclobber(path),
    }
    .map_err(|error| error.error)?;
    Ok(())
}
