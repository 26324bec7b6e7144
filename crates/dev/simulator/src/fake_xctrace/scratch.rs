//! Makes a folder in the system's temporary folder, and removes it when it is dropped.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, process};

use crate::error::Error;

/// A temporary folder. It stays if the process is killed, like that of the real tool.
#[derive(Debug)]
pub(super) struct Scratch {
    dir: PathBuf,
    /// File that is open as long as the folder is needed, like those of the real tool.
    _open: File,
}

impl Scratch {
    pub(super) fn new() -> Result<Self, Error> {
        let dir = env::temp_dir().join(format!("instruments{}.ktrace", process::id()));
        let hidden = env::temp_dir().join(format!(".instruments{}", process::id()));
        fs::create_dir_all(&hidden).map_err(Error::io("create folder", &hidden))?;
        let path = hidden.join("open");
        let open = File::create(&path).map_err(Error::io("create", &path))?;
        // The folder gets its name only when a file in it is open, so that no cleaner takes it for old.
        fs::rename(&hidden, &dir).map_err(Error::io("write", &dir))?;
        Ok(Self { dir, _open: open })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Leaves scratch files. If `holds` is true, another process has one of them open.
pub(super) fn leave(holds: bool) -> Result<(), Error> {
    let path = env::temp_dir().join(format!("instruments{}0.ktrace", process::id()));
    let file = File::create(&path).map_err(Error::io("create", &path))?;
    file.set_len(LEFT_BYTES)
        .map_err(Error::io("write", &path))?;
    let folder = env::temp_dir().join(format!("xrgpu_aps_{}", process::id()));
    fs::create_dir_all(&folder).map_err(Error::io("create folder", &folder))?;
    if holds {
        let mut holder = Command::new("sleep");
        let holder = holder.arg("8").stdin(file).stdout(Stdio::null());
        let started = holder.stderr(Stdio::null()).spawn();
        started.map_err(Error::io("start a process with", &path))?;
    }
    Ok(())
}

/// Size of the scratch file, in bytes.
const LEFT_BYTES: u64 = 3_000_000;

impl Drop for Scratch {
    fn drop(&mut self) {
        // If this fails, the system removes the folder some day.
        let _ = fs::remove_dir_all(&self.dir);
    }
}
