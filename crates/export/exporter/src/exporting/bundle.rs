//! Checks a bundle, and estimates the size of its export.

use std::path::Path;

use super::error::{Error, Result};

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

/// Estimates the maximum size of an export, in bytes. The tables that metalens reads took less
/// space than the bundle in two real recordings; all tables are reported to take 10 times the
/// bundle and more.
pub(crate) fn estimate(bundle_bytes: u64, is_all: bool) -> u64 {
    bundle_bytes.saturating_mul(if is_all { 15 } else { 1 })
}
