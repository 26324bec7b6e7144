//! Writes the folder, in an order that never leaves an incomplete one with a manifest.

use std::fs;
use std::path::{Component, Path, PathBuf};

use metalens_files::Folder;

use super::content::{FOLDER_OF_CHARTS, FileContent};
use super::manifest::{MANIFEST, Manifest};
use crate::error::{Error, Result};
use crate::json;

/// Refuses a path where no file can be created, or where a link replaces the folder of charts.
pub(super) fn check_place(folder: &Path) -> Result<()> {
    let charts = folder.join(FOLDER_OF_CHARTS);
    metalens_files::refuse_link(&charts)?;
    for folder in [folder, &charts] {
        let there = folder
            .ancestors()
            .find(|folder| folder.symlink_metadata().is_ok());
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

/// Writes the files, then the manifest. If that fails without `force`, removes the new files again:
/// no older files were there. With `force` the new files stay, without a manifest.
pub(super) fn write(
    folder: &Path,
    contents: &[FileContent],
    manifest: &Manifest,
    force: bool,
) -> Result<()> {
    let text = json::document(manifest).map_err(|cause| Error::Json {
        what: "the manifest".to_owned(),
        cause,
    })?;
    let mut made = CreatedPaths::of(folder);
    let written = made.files(folder, contents, (manifest, text.as_bytes()), force);
    if force {
        written.map_err(|cause| Error::NotWhole {
            folder: folder.to_path_buf(),
            cause: Box::new(cause),
        })
    } else {
        written.inspect_err(|_| made.remove())
    }
}

/// Files and folders that a run created.
struct CreatedPaths {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl CreatedPaths {
    /// Finds the folders that have to be created, the inner ones first.
    fn of(folder: &Path) -> Self {
        let charts = folder.join(FOLDER_OF_CHARTS);
        let missing = charts
            .ancestors()
            .filter(|folder| !folder.as_os_str().is_empty());
        let missing = missing.take_while(|folder| folder.symlink_metadata().is_err());
        Self {
            folders: missing.map(Path::to_path_buf).collect(),
            files: Vec::new(),
        }
    }

    fn files(
        &mut self,
        path: &Path,
        contents: &[FileContent],
        (manifest, text): (&Manifest, &[u8]),
        force: bool,
    ) -> Result<()> {
        let folder = Folder::make(path)?;
        if contents.iter().any(|file| is_a_chart(&file.path)) {
            folder.inner(Path::new(FOLDER_OF_CHARTS))?;
        }
        clear(&folder, path, manifest, force)?;
        let files = contents.iter();
        let files = files.map(|file| (file.path.as_str(), file.bytes.as_slice()));
        for (name, bytes) in files.chain([(MANIFEST, text)]) {
            folder.write_bytes(Path::new(name), force, bytes)?;
            self.files.push(path.join(name));
        }
        Ok(())
    }

    /// Removes the created files and folders. A folder that others put something into stays.
    fn remove(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Removes an older report's manifest, and those of its charts that the new report does not have:
/// readers could take them for the new report's.
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

/// Returns whether a path is a picture directly in the folder of charts. The manifest that the path
/// comes from is not trusted.
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
    fn only_pictures_in_the_folder_of_charts_are_charts() {
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
