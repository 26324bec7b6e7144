//! `X.work.json`, in which a bundled workload says how much it did, beside its
//! bundle. It is written elsewhere until the bundle is there: what belongs to an old
//! bundle is not lost to a recording that fails, and never lies beside a new one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

/// Where a workload writes at first: a folder that goes away.
pub(super) struct Draft {
    folder: TempDir,
}

impl Draft {
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("metalens-work-").tempdir();
        let folder = folder.context("cannot make a folder for work.json")?;
        Ok(Self { folder })
    }

    pub(super) fn file(&self) -> PathBuf {
        self.folder.path().join("work.json")
    }
}

/// What tells of the work that is recorded in a bundle.
pub(super) fn beside(bundle: &Path) -> PathBuf {
    bundle.with_extension("work.json")
}

/// Puts it in its place. An old one that may be replaced tells of another recording: it
/// goes, even if there is no new one.
pub(super) fn keep(draft: Option<&Draft>, bundle: &Path, may_replace: bool) -> anyhow::Result<()> {
    let work = beside(bundle);
    if let Some(draft) = draft.map(Draft::file).filter(|draft| draft.is_file()) {
        let text = fs::read(&draft).with_context(|| format!("cannot read {}", draft.display()))?;
        return Ok(metalens_files::write_bytes(&work, may_replace, &text)?);
    }
    if !may_replace {
        return Ok(());
    }
    match fs::remove_file(&work) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", work.display()))
        }
        _ => Ok(()),
    }
}
