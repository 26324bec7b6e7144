//! A bundle appears whole or not at all: it is made beside its place and then renamed.

use std::fs;
use std::path::{Path, PathBuf};
use std::{io, process};

use super::envelope;
use crate::error::Error;

/// A bundle under a passing name.
#[derive(Debug)]
pub(super) struct Staging {
    /// Where it is to be.
    target: PathBuf,
    /// Where it is made; gone once it has its name.
    dir: PathBuf,
    /// Where an earlier bundle waits to be removed.
    earlier: PathBuf,
}

impl Staging {
    /// Checks that the place is free, or holds a bundle of ours to be replaced.
    pub(super) fn open(target: &Path, overwrite: bool) -> Result<Self, Error> {
        let unnamed = || io::Error::new(io::ErrorKind::InvalidInput, "the path ends in no name");
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

    /// The folder to write into.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Gives the bundle its name.
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
            // Already failing: the reason is on its way, and a leftover is the lesser evil.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// Only an empty folder or a bundle of ours gives way: a recording cannot be made again.
fn check_free(target: &Path, overwrite: bool) -> Result<(), Error> {
    if !target.exists() {
        return Ok(());
    }
    let empty = fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    match (empty, overwrite) {
        (true, _) => Ok(()),
        (false, false) => Err(Error::NotEmpty {
            dir: target.to_owned(),
        }),
        (false, true) if envelope::is_ours(target) => Ok(()),
        (false, true) => Err(Error::NotOurs {
            path: target.to_owned(),
        }),
    }
}
