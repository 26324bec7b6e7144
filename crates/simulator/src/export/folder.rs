//! The folder written into: files appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::scenario::table::Table;

/// A folder that may be written into.
#[derive(Debug)]
pub(super) struct Folder {
    dir: PathBuf,
    written: Vec<String>,
}

/// A file under a passing name until it is finished.
#[derive(Debug)]
pub(super) struct WholeFile {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    finished: bool,
}

impl Folder {
    /// Makes the folder, or takes an existing one that is empty or may be overwritten.
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

    /// Starts a file.
    pub(super) fn create(&mut self, name: &str) -> Result<WholeFile, Error> {
        let partial = self.dir.join(format!(".{name}.partial"));
        // What a killed process left goes, and a link in its place is not followed.
        let _ = fs::remove_file(&partial);
        let file = File::create_new(&partial).map_err(Error::io("create", &partial))?;
        self.written.push(name.to_owned());
        Ok(WholeFile {
            file,
            partial,
            path: self.dir.join(name),
            finished: false,
        })
    }

    /// Writes a file at once.
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

    /// Removes what an earlier export left under names this crate uses and did not write now.
    pub(super) fn remove_stale(&self) -> Result<(), Error> {
        for name in Table::ALL.iter().flat_map(|table| table.file_names()) {
            let path = self.dir.join(&name);
            if !self.written.contains(&name) && path.exists() {
                fs::remove_file(&path).map_err(Error::io("remove outdated", &path))?;
            }
        }
        Ok(())
    }
}

impl WholeFile {
    /// Adds to the file.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file
            .write_all(bytes)
            .map_err(Error::io("write", &self.partial))
    }

    /// Gives the file its name.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        fs::rename(&self.partial, &self.path).map_err(Error::io("rename to", &self.path))?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.finished {
            // Already failing: the reason is on its way, and a leftover is the lesser evil.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
