//! Creates the folders and files of a bundle.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::error::Error;

/// Creates a folder and its parents.
pub(super) fn create_dir(dir: PathBuf) -> Result<PathBuf, Error> {
    fs::create_dir_all(&dir).map_err(Error::io("create folder", &dir))?;
    Ok(dir)
}

/// Creates a file and writes its whole content.
pub(super) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let file = File::create(path).map_err(Error::io("create", path))?;
    let mut out = BufWriter::new(file);
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(Error::io("write", path))
}

/// Writes a small file as one zlib stream.
pub(super) fn compressed(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    write_file(path, |out| {
        let mut encoder = ZlibEncoder::new(out, Compression::default());
        write(&mut encoder)?;
        encoder.finish().map(|_| ())
    })
}

/// Converts an error of writing a property list, which only its file can cause.
pub(super) fn io_error(error: plist::Error) -> io::Error {
    error.into_io().unwrap_or_else(io::Error::other)
}
