//! The folder in which a recording is made, beside where it is to be.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Result, file};
use crate::promote;

/// The folder. It is removed with what is in it, unless that may be a recording.
#[derive(Debug)]
pub(crate) struct Staging {
    folder: TempDir,
    /// The bundle in it. Nobody else has ever used its name.
    pub(crate) bundle: PathBuf,
    /// Where the recorder was seen to put it instead: where it ran.
    pub(crate) stray: PathBuf,
    /// What the target prints.
    pub(crate) target_output: PathBuf,
    /// Whether somebody may still write into it.
    is_in_use: bool,
}

impl Staging {
    /// Beside the bundle that is wanted, so that moving it there is one step.
    pub(crate) fn beside(output: &Path, ran_in: &Path) -> Result<Self> {
        let parent = metalens_files::parent(output);
        let folder = tempfile::Builder::new()
            .prefix(".metalens-")
            .suffix(".recording")
            .disable_cleanup(true)
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
            is_in_use: false,
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

    /// Removes bundles that hold no recording, wherever they came.
    pub(crate) fn clear(&self) -> Result<()> {
        let stray = Some(self.stray.clone()).filter(|stray| stray.is_dir());
        for bundle in self.bundles().into_iter().chain(stray) {
            fs::remove_dir_all(&bundle).map_err(file("remove", bundle))?;
        }
        Ok(())
    }

    /// Brings a bundle that came elsewhere into the folder. What follows happens on one
    /// disk, out of others' reach.
    pub(crate) fn bring_home(&self, found: &Path) -> Result<PathBuf> {
        if found.parent() == self.bundle.parent() {
            return Ok(found.to_owned());
        }
        promote::bring(found, &self.bundle)?;
        Ok(self.bundle.clone())
    }

    /// Removes what a new bundle has replaced.
    pub(crate) fn forget_replaced(&self) -> Result<()> {
        let aside = self.aside();
        match aside.symlink_metadata() {
            Ok(facts) if facts.is_dir() => fs::remove_dir_all(&aside),
            Ok(_) => fs::remove_file(&aside),
            Err(_) => Ok(()),
        }
        .map_err(file("remove what was replaced,", aside))
    }

    /// Returns the bundles in it, and what was moved aside for one.
    fn bundles(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path()).into_iter().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|is| is.is_dir());
        let folders = entries.flatten().filter(is_folder);
        folders.map(|entry| entry.path()).collect()
    }

    /// Leaves it to whoever still writes into it; returns where that bundle will be.
    pub(crate) fn leave(mut self) -> PathBuf {
        self.is_in_use = true;
        match self.stray.is_dir() {
            true => self.stray.clone(),
            false => self.bundle.clone(),
        }
    }
}

impl Drop for Staging {
    /// Whatever went wrong, even in a panic: a recording stays.
    fn drop(&mut self) {
        if !self.is_in_use && self.bundles().is_empty() {
            // It is empty but for what the target printed, which was handed on.
            let _ = fs::remove_dir_all(self.folder.path());
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
