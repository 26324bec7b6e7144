//! Identifies the bundle and the range of an export. If they change, old and new tables do not
//! belong together.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use metalens_xctrace::command::TimeRange;

use super::error::{Error, Result};
use crate::manifest::Basis;

impl Basis {
    /// Inspects the files of a bundle. Folders do not count, since opening a bundle may change
    /// them.
    pub(crate) fn from_bundle(bundle: &Path, range: TimeRange) -> io::Result<Self> {
        let name = bundle.file_name().unwrap_or(bundle.as_os_str());
        let mut basis = Self {
            bundle: name.to_string_lossy().into_owned(),
            files: 0,
            bytes: 0,
            modified_ns: 0,
            from_ns: range.from_ns,
            to_ns: range.to_ns,
        };
        basis.add(bundle)?;
        Ok(basis)
    }

    /// Adds the files of a folder and of all folders in it.
    fn add(&mut self, folder: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // `metadata` of an entry does not follow links, which may lead out of the bundle.
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                self.add(&entry.path())?;
                continue;
            }
            self.files += 1;
            self.bytes += metadata.len();
            let since_1970 = metadata.modified()?.duration_since(UNIX_EPOCH);
            let nanoseconds = since_1970.map_or(0, |duration| duration.as_nanos());
            let nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
            self.modified_ns = self.modified_ns.max(nanoseconds);
        }
        Ok(())
    }
}

/// Returns an error for a path that xctrace cannot open.
pub(crate) fn require_bundle(path: &Path) -> Result<()> {
    if path.metadata().map_err(Error::at(path))?.is_dir() {
        return Ok(());
    }

    Err(Error::NoBundle {
        path: path.display().to_string(),
        why: "it is a file, not a folder",
    })
}

/// Returns the free space on the disk of a folder, in bytes.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(folder).ok()?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// Estimates the maximum size of an export, in bytes. The tables that metalens reads took less
/// space than the bundle in two real recordings; all tables are reported to take 10 times the
/// bundle and more.
pub(crate) fn estimate(bundle_bytes: u64, is_all: bool) -> u64 {
    bundle_bytes.saturating_mul(if is_all { 15 } else { 1 })
}
