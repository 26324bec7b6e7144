//! What an export is of: if that changes, its tables do not belong together.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use metalens_xctrace::command::Part;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A bundle as it was when it was exported, and the part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// What the bundle is called.
    pub bundle: String,
    /// How many files it has.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// When one of them was last written, ns since 1970.
    pub modified_ns: u64,
    /// Only what comes from here, ns of the recording.
    pub from_ns: Option<u64>,
    /// Only what comes before this.
    pub to_ns: Option<u64>,
}

impl Basis {
    /// Looks at the files of a bundle. Folders do not count: opening a bundle
    /// may touch them.
    pub(crate) fn of(bundle: &Path, part: Part) -> io::Result<Self> {
        let name = bundle.file_name().unwrap_or(bundle.as_os_str());
        let mut basis = Self {
            bundle: name.to_string_lossy().into_owned(),
            files: 0,
            bytes: 0,
            modified_ns: 0,
            from_ns: part.from_ns,
            to_ns: part.to_ns,
        };
        basis.add(bundle)?;
        Ok(basis)
    }

    fn add(&mut self, folder: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // Of the entry itself: nothing is followed out of the bundle.
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                self.add(&entry.path())?;
                continue;
            }
            self.files += 1;
            self.bytes += metadata.len();
            let since = metadata.modified()?.duration_since(UNIX_EPOCH);
            let since = since.map_or(0, |since| since.as_nanos());
            let since = u64::try_from(since).unwrap_or(u64::MAX);
            self.modified_ns = self.modified_ns.max(since);
        }
        Ok(())
    }
}

/// Refuses what xctrace does not open.
pub(crate) fn is_bundle(path: &Path) -> Result<()> {
    let found = path.metadata().map_err(Error::at(path))?;
    match found.is_dir() {
        true => Ok(()),
        false => Err(Error::NoBundle {
            path: path.display().to_string(),
            why: "it is a file, not a folder",
        }),
    }
}

/// Bytes that are free where a folder is.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// About as many bytes as an export takes at most. Of two real bundles the
/// tables that metalens reads took less than the bundle did; of all tables it
/// is said that XML takes 10 times the bundle and more.
pub(crate) fn estimate(bundle_bytes: u64, is_all: bool) -> u64 {
    bundle_bytes.saturating_mul(if is_all { 15 } else { 1 })
}
