//! The folder in which a recording is made, beside where it is to be.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result, file};
use crate::promote;

/// The folder, which is removed with all that is in it unless it is kept.
#[derive(Debug)]
pub(crate) struct Staging {
    folder: TempDir,
    /// The bundle in it. Nobody else has ever used its name.
    pub(crate) bundle: PathBuf,
    /// What the target prints.
    pub(crate) target_output: PathBuf,
}

impl Staging {
    /// Beside the bundle that is wanted, so that moving it there is one step.
    pub(crate) fn beside(output: &Path) -> Result<Self> {
        let parent = parent(output);
        let folder = tempfile::Builder::new()
            .prefix(".metalens-")
            .suffix(".recording")
            .tempdir_in(parent)
            .map_err(file("create a folder in", parent))?;
        let path = std::path::absolute(folder.path()).map_err(file("find", folder.path()))?;
        let own = path.file_stem().unwrap_or_default().to_string_lossy();
        let random = own.trim_start_matches(".metalens-");
        let stem = output.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self {
            bundle: path.join(format!("{stem}-{random}.trace")),
            target_output: path.join("target.out"),
            folder,
        })
    }

    /// Where something can be moved aside.
    pub(crate) fn aside(&self) -> PathBuf {
        self.folder.path().join("replaced.trace")
    }

    /// Removes what an attempt left: a stale part of a bundle would be in the
    /// next one's way. Puts what is to be appended to in its place.
    pub(crate) fn prepare(&self, append_to: Option<&Path>) -> Result<()> {
        if self.bundle.symlink_metadata().is_ok() {
            fs::remove_dir_all(&self.bundle).map_err(file("remove", &self.bundle))?;
        }
        match append_to {
            Some(bundle) if bundle.is_dir() => promote::copy(bundle, &self.bundle),
            Some(bundle) => Err(Error::NothingToAppendTo(bundle.to_owned())),
            None => Ok(()),
        }
    }

    /// Leaves it: somebody still writes into it.
    pub(crate) fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        self.bundle
    }
}

/// The folder that a file is in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
