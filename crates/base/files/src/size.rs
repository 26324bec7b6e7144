//! Computes the size of a file or folder, and the room on its disk.

use std::fs;
use std::path::Path;

/// Returns the size of a file, or of all files in a folder, in bytes. Entries that cannot be read count
/// as zero.
pub fn path_size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        return fs::metadata(path).map_or(0, |facts| facts.len());
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => path_size(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// Returns the number of bytes that are free on the disk of a file or folder.
///
/// # Errors
///
/// If the system does not tell.
#[cfg(unix)]
pub fn free_bytes(path: &Path) -> std::io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
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
        assert_eq!(path_size(root.path()), 15);
        assert_eq!(path_size(&root.path().join("x")), 10);
        assert_eq!(path_size(&root.path().join("absent")), 0);
    }
}
