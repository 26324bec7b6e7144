//! Counts the files and folders whose owner was changed, and those that were left alone.

use std::path::{Path, PathBuf};

/// Numbers of files and folders whose owner was changed or left alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnershipChanges {
    /// Number of files and folders that have a new owner.
    pub changed: u64,
    /// Number of files and folders that had the right owner already.
    pub already: u64,
    /// Number of links, which are not followed.
    pub links: u64,
    /// Files with a second name (hard links), which keep their owner.
    pub shared: Vec<PathBuf>,
    /// Number of entries that are not a file, a folder or a link, or lie on another disk.
    pub others: u64,
}

impl OwnershipChanges {
    /// Replaces the folder `was` in the listed paths by `is`, after that folder was renamed.
    #[must_use]
    pub fn under(mut self, was: &Path, is: &Path) -> Self {
        for shared in &mut self.shared {
            if let Ok(inside) = shared.strip_prefix(was) {
                *shared = is.join(inside);
            }
        }
        self
    }
}
