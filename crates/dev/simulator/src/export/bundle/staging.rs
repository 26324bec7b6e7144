//! Writes a bundle into a temporary folder and renames it, so that it appears complete or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::envelope;
use crate::error::Error;

/// A bundle that is not at its place yet.
#[derive(Debug)]
pub(super) struct Staging {
    /// Final path of the bundle.
    target: PathBuf,
    /// Folder beside it, which goes with all that is left in it.
    folder: TempDir,
    /// Path of the new bundle, in that folder.
    new: PathBuf,
}

impl Staging {
    /// Checks that the path is free, or has a bundle of ours that may be replaced, and starts.
    pub(super) fn open(target: &Path, overwrite: bool) -> Result<Self, Error> {
        check_free(target, overwrite)?;
        let parent = metalens_files::parent(target);
        fs::create_dir_all(parent).map_err(Error::io("create folder", parent))?;
        let folder = tempfile::Builder::new().prefix(".").tempdir_in(parent);
        let folder = folder.map_err(Error::io("create folder in", parent))?;
        let new = folder.path().join("new");
        fs::create_dir(&new).map_err(Error::io("create folder", &new))?;
        Ok(Self {
            target: target.to_owned(),
            folder,
            new,
        })
    }

    /// Returns the folder to write into.
    pub(super) fn dir(&self) -> &Path {
        &self.new
    }

    /// Gives the bundle its final name.
    pub(super) fn finish(self) -> Result<(), Error> {
        let earlier = self.folder.path().join("earlier");
        let rename =
            |from: &Path, to: &Path| fs::rename(from, to).map_err(Error::io("rename to", to));
        let is_occupied = self.target.exists();
        if is_occupied {
            rename(&self.target, &earlier)?;
        }
        let renamed = rename(&self.new, &self.target);
        if renamed.is_err() && is_occupied {
            rename(&earlier, &self.target)?;
        }
        renamed
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
