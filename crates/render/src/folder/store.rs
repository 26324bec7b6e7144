//! Writing the folder, in an order that leaves no half one under a manifest.

use std::fs;
use std::path::{Component, Path, PathBuf};

use metalens_files::Folder;

use super::content::{Content, FOLDER_OF_CHARTS};
use super::manifest::{MANIFEST, Manifest};
use crate::error::{Error, Result};
use crate::json;

/// Refuses a place where no file can be made, or where a link stands in the place of the
/// folder of charts.
pub(super) fn check_place(folder: &Path) -> Result<()> {
    let charts = folder.join(FOLDER_OF_CHARTS);
    metalens_files::refuse_link(&charts)?;
    for folder in [folder, &charts] {
        let there = folder
            .ancestors()
            .find(|one| one.symlink_metadata().is_ok());
        let there = match there {
            Some(there) if !there.as_os_str().is_empty() => there,
            _ => Path::new("."),
        };
        let (folder, at) = (folder.to_path_buf(), there.to_path_buf());
        if !there.is_dir() {
            return Err(Error::NotAFolder { folder, at });
        }
        let tried = Folder::open(there)?.try_to_write();
        tried.map_err(|cause| Error::CannotWrite { folder, at, cause })?;
    }
    Ok(())
}

/// Writes the files, then the manifest. Should that fail without `force`, what was
/// written is taken away again: it was nobody's before. With `force` the new files
/// that are already there stay, without a manifest.
pub(super) fn write(
    folder: &Path,
    contents: &[Content],
    manifest: &Manifest,
    force: bool,
) -> Result<()> {
    let text = json::document(manifest).map_err(|cause| Error::Json {
        what: "the manifest".to_owned(),
        cause,
    })?;
    let mut made = Made::of(folder);
    let written = made.files(folder, contents, (manifest, text.as_bytes()), force);
    if force {
        written.map_err(|cause| Error::NotWhole {
            folder: folder.to_path_buf(),
            cause: Box::new(cause),
        })
    } else {
        written.inspect_err(|_| made.take_away())
    }
}

/// Files and folders that a run created.
struct Made {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    /// The folders that are to be made, the inner ones first.
    fn of(folder: &Path) -> Self {
        let charts = folder.join(FOLDER_OF_CHARTS);
        let missing = charts.ancestors().filter(|one| !one.as_os_str().is_empty());
        let missing = missing.take_while(|one| one.symlink_metadata().is_err());
        Self {
            folders: missing.map(Path::to_path_buf).collect(),
            files: Vec::new(),
        }
    }

    fn files(
        &mut self,
        path: &Path,
        contents: &[Content],
        (manifest, text): (&Manifest, &[u8]),
        force: bool,
    ) -> Result<()> {
        let folder = Folder::make(path)?;
        folder.inner(Path::new(FOLDER_OF_CHARTS))?;
        clear(&folder, path, manifest, force)?;
        let files = contents.iter();
        let files = files.map(|one| (one.path.as_str(), one.bytes.as_slice()));
        for (name, bytes) in files.chain([(MANIFEST, text)]) {
            folder.write_bytes(Path::new(name), force, bytes)?;
            self.files.push(path.join(name));
        }
        Ok(())
    }

    /// Leaves alone what others put there meanwhile: a folder with something in it stays.
    fn take_away(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Takes an older report's manifest away, and the charts that it lists and the new
/// one does not: nobody shall take them for the new report's.
fn clear(folder: &Folder, path: &Path, new: &Manifest, force: bool) -> Result<()> {
    if !force {
        return Ok(());
    }
    let old = Manifest::load(path);
    folder.remove(Path::new(MANIFEST))?;
    for listed in old.iter().flat_map(|old| &old.files) {
        let is_kept = new.files.iter().any(|kept| kept.path == listed.path);
        // One that was changed since is somebody's work.
        if !is_kept && is_a_chart(&listed.path) && listed.is_as_written(path) {
            folder.remove(Path::new(&listed.path))?;
        }
    }
    Ok(())
}

/// Returns whether a path is a picture directly in the folder of charts. Anybody may have written
/// the manifest that the path is from.
fn is_a_chart(path: &str) -> bool {
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    match parts.as_slice() {
        [Component::Normal(folder), Component::Normal(name)] => {
            *folder == FOLDER_OF_CHARTS && Path::new(name).extension().is_some_and(|is| is == "png")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_elsewhere_are_no_charts() {
        let check = |path: &str, expected: bool| assert_eq!(is_a_chart(path), expected, "{path}");
        check("charts/compare.png", true);
        check("charts/../report.png", false);
        check("charts/a/b.png", false);
        check("/charts/a.png", false);
        check("../charts/a.png", false);
        check("charts/notes.md", false);
        check("report.md", false);
        check("", false);
    }
}
