//! Files that are written whole or not at all.

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
    refuse_existing(path, force)?;
    let shown = path.display();
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let failed = || format!("cannot write {shown}");
    let mut draft = draft_in(folder).with_context(failed)?;
    {
        let mut out = std::io::BufWriter::new(&mut draft);
        fill(&mut out).with_context(failed)?;
        out.flush().with_context(failed)?;
    }
    match force {
        true => draft.persist(path).map_err(|error| error.error),
        false => draft.persist_noclobber(path).map_err(|error| error.error),
    }
    .with_context(failed)?;
    Ok(())
}

/// Refuses a file that exists, unless it may be replaced.
pub(crate) fn refuse_existing(path: &Path, force: bool) -> anyhow::Result<()> {
    anyhow::ensure!(
        force || path.symlink_metadata().is_err(),
        "{} exists; --force replaces it",
        path.display()
    );
    Ok(())
}

/// Whether a file can be made in a folder: makes one, and takes it away.
pub(crate) fn try_to_write_in(folder: &Path) -> std::io::Result<()> {
    let tried = draft_in(folder).and_then(tempfile::NamedTempFile::close);
    // Its name is of no interest to anybody.
    tried.map_err(|error| error.kind().into())
}

/// What the names of files begin with that are not whole yet.
pub(crate) const DRAFT: &str = ".metalens-";

/// A nameless beginning, readable by whom the user's umask lets.
fn draft_in(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(DRAFT);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_and_nothing_is_left_half_done() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let text =
            |text: &'static str| move |out: &mut dyn Write| Ok(out.write_all(text.as_bytes())?);
        write(&file, false, text("one")).unwrap();
        assert!(write(&file, false, text("two")).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one");
        write(&file, true, text("two")).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two");
        let broken = write(&file, true, |out| {
            out.write_all(b"three")?;
            anyhow::bail!("no more")
        });
        assert!(broken.is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
