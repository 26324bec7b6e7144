//! Computes the size of a folder.

use std::fs;
use std::path::Path;

/// Returns the size of all files in a folder, in bytes. Entries that cannot be read count as
/// zero.
#[must_use]
pub fn folder_size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => folder_size(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_inner_folders_count() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::write(root.path().join("x"), [0; 10]).unwrap();
        fs::write(root.path().join("a/b/y"), [0; 5]).unwrap();
        assert_eq!(folder_size(root.path()), 15);
        assert_eq!(folder_size(&root.path().join("absent")), 0);
    }
}
