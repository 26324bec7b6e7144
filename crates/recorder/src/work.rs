//! `X.work.json`, in which a bundled workload says how much it did, beside its
//! bundle. It is written elsewhere until the bundle is there: what belongs to an old
//! bundle is not lost to a recording that fails, and never lies beside a new one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Result, file};

/// Where a workload writes at first: a folder that goes away.
#[derive(Debug)]
pub(crate) struct Draft {
    folder: TempDir,
}

impl Draft {
    pub(crate) fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("metalens-work-").tempdir();
        let folder = folder.map_err(file("make", "a folder for work.json"))?;
        Ok(Self { folder })
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("work.json")
    }
}

/// Returns the file that tells of the work that is recorded in a bundle.
pub(crate) fn beside(bundle: &Path) -> PathBuf {
    bundle.with_extension("work.json")
}

/// Puts it in its place. An old one that may be replaced tells of another recording: it
/// goes, even if there is no new one.
pub(crate) fn keep(draft: Option<&Draft>, bundle: &Path, may_replace: bool) -> Result<()> {
    let work = beside(bundle);
    if let Some(draft) = draft.map(Draft::file).filter(|draft| draft.is_file()) {
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
