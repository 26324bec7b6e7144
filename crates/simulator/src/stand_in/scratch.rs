//! A folder for passing things, in the folder for such; gone with its value.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use crate::error::Error;

/// A folder of our own. It stays when the process is killed, as the real tool's does.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new() -> Result<Self, Error> {
        let dir = env::temp_dir().join(format!("instruments{}.ktrace", process::id()));
        fs::create_dir_all(&dir).map_err(Error::io("create folder", &dir))?;
        Ok(Self(dir))
    }

    pub(super) fn dir(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover there is the system's to remove.
        let _ = fs::remove_dir_all(&self.0);
    }
}
