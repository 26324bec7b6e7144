//! Inflates the stored files of a bundle completely, so that every checksum is checked.

use std::io::{Cursor, Read as _};

use super::Bundled;

/// Returns the uncompressed files, and checks every checksum.
pub(crate) fn plain(stored: &Bundled, is_compressed: bool) -> Result<Bundled, String> {
    let inflated = |(path, bytes): (String, Vec<u8>)| {
        if is_compressed {
            Ok((path, inflate(&bytes)?))
        } else {
            Ok((path, bytes))
        }
    };
    match stored.get("bundle.zip") {
        Some(archive) => unzip(archive)?.into_iter().map(inflated).collect(),
        None => stored.clone().into_iter().map(inflated).collect(),
    }
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let mut decoder = flate2::bufread::ZlibDecoder::new(bytes);
    let read = decoder.read_to_end(&mut plain);
    read.map_err(|error| error.to_string())?;
    match decoder.into_inner() {
        [] => Ok(plain),
        rest => Err(format!("{} bytes behind the stream", rest.len())),
    }
}

fn unzip(bytes: &[u8]) -> Result<Bundled, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| text(&error))?;
    let mut files = Bundled::new();
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(|error| text(&error))?;
        let name = entry.name().map_err(|error| text(&error))?;
        let name = name.strip_prefix("X.trace/").ok_or("another folder")?;
        let name = name.to_owned();
        let mut bytes = Vec::new();
        entry
            .read_to_end(&mut bytes)
            .map_err(|error| text(&error))?;
        files.insert(name, bytes);
    }
    Ok(files)
}
