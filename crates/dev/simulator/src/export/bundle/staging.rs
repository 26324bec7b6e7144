//! Writes a bundle under a temporary name and renames it, so that it appears complete or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::{io, process};

use super::envelope;
use crate::error::Error;

/// A bundle under a temporary name.
#[derive(Debug)]
pub(super) struct Staging {
    /// Final path of the bundle.
    target: PathBuf,
    /// Temporary path, which no longer exists after renaming.
    dir: PathBuf,
    /// Path of an earlier bundle until it is removed.
    earlier: PathBuf,
}

impl Staging {
    /// Checks that the path is free, or has a bundle of ours that may be replaced, and starts.
    pub(super) fn open(target: &Path, overwrite: bool) -> Result<Self, Error> {
        let unnamed = || io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name");
        let Some(name) = target.file_name() else {
            return Err(Error::io("create bundle", target)(unnamed()));
        };

        check_free(target, overwrite)?;
        let beside = |suffix: &str| {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{suffix}-{}", process::id()));
            target.with_file_name(hidden)
        };

        let dir = beside("partial");
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create folder", parent))?;
        }

        fs::create_dir(&dir).map_err(Error::io("create folder", &dir))?;
        Ok(Self {
            target: target.to_owned(),
            earlier: beside("earlier"),
            dir,
        })
    }

    /// Returns the folder to write into.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Gives the bundle its final name.
    pub(super) fn finish(self) -> Result<(), Error> {
        let occupied = self.target.exists();
        let rename =
            |from: &Path, to: &Path| fs::rename(from, to).map_err(Error::io("rename to", to));
        if occupied {
            rename(&self.target, &self.earlier)?;
        }
        if let Err(error) = rename(&self.dir, &self.target) {
            if occupied {
                rename(&self.earlier, &self.target)?;
            }
            return Err(error);
        }
        if occupied {
            fs::remove_dir_all(&self.earlier).map_err(Error::io("remove", &self.earlier))?;
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.dir.exists() {
            // Another error is being reported already, and a leftover folder does little harm.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// Checks that the path is free: an empty folder or a bundle of ours. A recording is never removed.
fn check_free(target: &Path, overwrite: bool) -> Result<(), Error> {
    if !target.exists() {
        return Ok(());
    }
    let is_empty = fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty || (overwrite && envelope::is_ours(target)) {
        Ok(())
    } else if overwrite {
        Err(Error::NotOurs {
            path: target.to_owned(),
        })
    } else {
        Err(Error::NotEmpty {
            dir: target.to_owned(),
        })
    }
}
