//! Keeps `X.work.json`, in which a bundled workload describes its work, beside the bundle. The
//! workload writes a draft elsewhere until there is a bundle. So a failed recording does not
//! lose the file of an old bundle, and that file is never beside a new bundle.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Result, file};

/// A temporary folder for the file that the workload writes.
#[derive(Debug)]
pub(crate) struct WorkFileDraft {
    folder: TempDir,
}

impl WorkFileDraft {
    pub(crate) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("metalens-work-").tempdir();
        let folder = folder.map_err(file("create", "a folder for work.json"))?;
        Ok(Self { folder })
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("work.json")
    }

    /// Returns the path of the file that tells the workload that the recording has begun.
    pub(crate) fn started_file(&self) -> PathBuf {
        self.folder.path().join("recording")
    }

    /// Returns a name for the notification of this recording, which no other has.
    pub(crate) fn notification(&self) -> String {
        let folder = self.folder.path().file_name().unwrap_or_default();
        format!("{}.tracing-started", folder.to_string_lossy())
    }
}

/// Returns the path of the work file that belongs to a bundle.
pub(crate) fn beside(bundle: &Path) -> PathBuf {
    bundle.with_extension("work.json")
}

/// Moves the draft beside its bundle. An old file that may be replaced describes another
/// recording, so that it is removed even if there is no draft.
pub(crate) fn keep(draft: Option<&WorkFileDraft>, bundle: &Path, may_replace: bool) -> Result<()> {
    let work = beside(bundle);
    if let Some(draft) = draft
        .map(WorkFileDraft::file)
        .filter(|draft| draft.is_file())
    {
        let text = fs::read(&draft).map_err(file("read", draft))?;
        return Ok(metalens_files::write_bytes(&work, may_replace, &text)?);
    }

    if !may_replace {
        return Ok(());
    }
    match fs::remove_file(&work) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file("remove", work)(error)),
        _ => Ok(()),
    }
}
