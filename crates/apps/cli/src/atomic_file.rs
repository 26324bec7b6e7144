//! Writes files completely or not at all, and names the file in errors.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes a file beside its final place, then renames it, so that no reader sees half of it.
/// Refuses to replace an existing file unless `force` is set.
pub(crate) fn write(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        anyhow::ensure!(
            folder.exists(),
            "cannot write {}: there is no folder {}",
            path.display(),
            folder.display()
        );
    }
    metalens_files::write(path, force, |out| {
        fill(out).with_context(|| format!("cannot write {}", path.display()))
    })
}
