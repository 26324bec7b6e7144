//! Files that are written whole or not at all, and what failed is told.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

/// Writes a file: first beside it, then under its name, so that nobody ever
/// sees half of it. An existing one is left alone unless `force`.
pub(crate) fn write(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    metalens_files::write(path, force, |out| {
        fill(out).with_context(|| format!("cannot write {}", path.display()))
    })
}
