//! The files and folders that were given back, and those that were left alone.

use std::path::{Path, PathBuf};

/// What was given back, and what was left alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// Files and folders that have a new owner.
    pub changed: u64,
    /// Those that were the owner's already.
    pub already: u64,
    /// Links, which are not followed.
    pub links: u64,
    /// Files with a second name somewhere, left alone.
    pub shared: Vec<PathBuf>,
    /// What is neither file, folder nor link, or lies on another disk.
    pub others: u64,
}

impl Given {
    /// Names what was left alone as it is called now that its folder was renamed.
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
