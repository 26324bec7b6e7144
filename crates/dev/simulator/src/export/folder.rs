//! Manages the export folder: its files appear complete or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A folder that may be written into.
#[derive(Debug)]
pub(super) struct Folder {
    dir: PathBuf,
    written: Vec<String>,
}

/// A file with a temporary name until it is finished.
#[derive(Debug)]
pub(super) struct AtomicFile {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    finished: bool,
}

impl Folder {
    /// Creates the folder, or opens an existing one that is empty or may be overwritten.
    pub(super) fn open(dir: &Path, overwrite: bool) -> Result<Self, Error> {
        fs::create_dir_all(dir).map_err(Error::io("create folder", dir))?;
        let mut entries = fs::read_dir(dir).map_err(Error::io("read folder", dir))?;
        if !overwrite && entries.next().is_some() {
            return Err(Error::NotEmpty {
                dir: dir.to_owned(),
            });
        }
        Ok(Self {
            dir: dir.to_owned(),
            written: Vec::new(),
        })
    }

    /// Starts a file under a temporary name.
    pub(super) fn create(&mut self, name: &str) -> Result<AtomicFile, Error> {
        let partial = self.dir.join(format!(".{name}.partial"));
        // Remove what a killed process left; `create_new` does not follow a link in its place.
        let _ = fs::remove_file(&partial);
        let file = File::create_new(&partial).map_err(Error::io("create", &partial))?;
        self.written.push(name.to_owned());
        Ok(AtomicFile {
            file,
            partial,
            path: self.dir.join(name),
            finished: false,
        })
    }

    /// Writes a file completely and gives it its name.
    pub(super) fn write_whole(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let file = self.create(name)?;
        let mut out = BufWriter::new(&file.file);
        write(&mut out)
            .and_then(|()| out.flush())
            .map_err(Error::io("write", &file.partial))?;
        drop(out);
        file.finish()
    }

    /// Removes the files of an earlier export that were not written now.
    pub(super) fn remove_stale(&self, is_exported: fn(&str) -> bool) -> Result<(), Error> {
        let entries = fs::read_dir(&self.dir).map_err(Error::io("read folder", &self.dir))?;
        for entry in entries {
            let path = entry.map_err(Error::io("read folder", &self.dir))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let is_stale = name.is_some_and(|name| {
                is_exported(name) && !self.written.iter().any(|written| written == name)
            });
            if is_stale {
                fs::remove_file(&path).map_err(Error::io("remove outdated", &path))?;
            }
        }
        Ok(())
    }
}

impl AtomicFile {
    /// Appends bytes to the file.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file
            .write_all(bytes)
            .map_err(Error::io("write", &self.partial))
    }

    /// Gives the file its final name.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        fs::rename(&self.partial, &self.path).map_err(Error::io("rename to", &self.path))?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.finished {
            // Another error is being reported already, and a leftover file does little harm.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
