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
    /// Where the recorder was seen to put it instead: where it ran.
    pub(crate) stray: PathBuf,
    /// What the target prints.
    pub(crate) target_output: PathBuf,
}

impl Staging {
    /// Beside the bundle that is wanted, so that moving it there is one step.
    pub(crate) fn beside(output: &Path, ran_in: &Path) -> Result<Self> {
        let parent = parent(output);
        let folder = tempfile::Builder::new()
            .prefix(".metalens-")
            .suffix(".recording")
            .tempdir_in(parent)
            .map_err(file("create a folder in", parent))?;
        let path = std::path::absolute(folder.path()).map_err(file("find", folder.path()))?;
        let own = path.file_stem().unwrap_or_default().to_string_lossy();
        let random = own.trim_start_matches(".metalens-");
        let name = format!("{}-{random}.trace", plain(output));
        Ok(Self {
            bundle: path.join(&name),
            stray: ran_in.join(name),
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
        self.clear()?;
        match append_to {
            Some(bundle) if bundle.is_dir() => promote::copy(bundle, &self.bundle),
            Some(bundle) => Err(Error::NothingToAppendTo(bundle.to_owned())),
            None => Ok(()),
        }
    }

    /// Removes what there is of a bundle, wherever it came.
    pub(crate) fn clear(&self) -> Result<()> {
        for bundle in [&self.bundle, &self.stray] {
            if bundle.is_dir() {
                fs::remove_dir_all(bundle).map_err(file("remove", bundle))?;
            }
        }
        Ok(())
    }

    /// Leaves it: somebody still writes into it.
    pub(crate) fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        match self.stray.is_dir() {
            true => self.stray,
            false => self.bundle,
        }
    }
}

/// A bundle's name as a recorder takes and tells it whatever it is: in one line
/// of text, and short enough for something to come behind it.
fn plain(output: &Path) -> String {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let is_odd = |one: char| one.is_control() || one == char::REPLACEMENT_CHARACTER;
    let plain = stem.chars().map(|one| if is_odd(one) { '-' } else { one });
    plain.take(50).collect()
}

/// The folder that a file is in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_any_recorder_takes() {
        let check = |output: &str, expected: &str| {
            assert_eq!(plain(Path::new(output)), expected);
        };
        check("a/b c's.trace", "b c's");
        check("a\nb\u{1b}.trace", "a-b-");
        check(&"é".repeat(120), &"é".repeat(50));
    }
}
