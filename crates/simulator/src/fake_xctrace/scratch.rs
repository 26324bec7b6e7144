//! Makes a temporary folder in the system's folder for such, which is removed when it is dropped.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use crate::error::Error;

/// A temporary folder. It stays if the process is killed, like that of the real tool.
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
        // If this fails, the system removes the folder some day.
        let _ = fs::remove_dir_all(&self.0);
    }
}
