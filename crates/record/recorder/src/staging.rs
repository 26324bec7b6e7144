//! Manages the folder in which a recording is made, beside its final path.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use metalens_files::{WorkFolder, path_size};
use tempfile::TempDir;

use crate::error::{Result, file};
use crate::{promote, raw_recording};

/// Largest size of a stub, in bytes. Those that were seen have 52 to 56 KB.
pub(crate) const MAX_STUB_BYTES: u64 = 1 << 20;

const NAME: [&str; 2] = [".metalens-", ".recording"];

/// The staging folder. Dropping it removes it, unless it may contain a recording.
#[derive(Debug)]
pub(crate) struct Staging {
    folder: WorkFolder,
    /// Path of the bundle in it, a name that nothing else has ever used.
    pub(crate) bundle: PathBuf,
    /// Path in the current folder, where `xctrace` was seen to put the bundle instead.
    pub(crate) stray: PathBuf,
    /// File for what the recorded program prints. It is in a temporary folder: macOS may not let the
    /// program open files in the folder of the recording.
    pub(crate) target_output: PathBuf,
    /// Folder of that file, removed when this is dropped.
    target_folder: TempDir,
    /// True if another process may still write into it.
    is_in_use: bool,
}

impl Staging {
    /// Creates the folder beside the wanted bundle, so that moving the bundle there is one step. Removes those
    /// that killed recordings left there, unless they may contain a recording.
    pub(crate) fn beside(output: &Path, ran_in: &Path) -> Result<Self> {
        let parent = metalens_files::parent(output);
        WorkFolder::clear_abandoned(parent, NAME, |folder| {
            let bundles = bundles(folder);
            bundles.is_ok_and(|bundles| bundles.iter().all(|bundle| is_stub(bundle)))
        });
        let folder =
            WorkFolder::inside(parent, NAME).map_err(file("create a folder in", parent))?;
        // An `xctrace` whose metalens was killed may go on.
        folder.share();
        let path = std::path::absolute(folder.path()).map_err(file("find", folder.path()))?;

        let own = path.file_stem().unwrap_or_default().to_string_lossy();
        let random = own.trim_start_matches(NAME[0]);
        let name = format!("{}-{random}.trace", plain(output));
        let target_folder = tempfile::Builder::new()
            .prefix("metalens-output-")
            .tempdir()
            .map_err(file("create a folder in", std::env::temp_dir()))?;
        Ok(Self {
            bundle: path.join(&name),
            stray: ran_in.join(name),
            target_output: target_folder.path().join("target.out"),
            target_folder,
            folder,
            is_in_use: false,
        })
    }

    /// Returns the path to which a replaced bundle is moved.
    pub(crate) fn aside(&self) -> PathBuf {
        self.folder.path().join("replaced.trace")
    }

    /// Removes what an earlier attempt left, at both paths: bundles that contain no recording.
    pub(crate) fn clear(&self) -> Result<()> {
        let stray = Some(self.stray.clone()).filter(|stray| stray.is_dir());
        let bundles = bundles(self.folder.path()).map_err(file("read", self.folder.path()))?;
        for bundle in bundles.into_iter().chain(stray) {
            fs::remove_dir_all(&bundle).map_err(file("remove", bundle))?;
        }
        Ok(())
    }

    /// Moves a bundle from another path into the folder, so that the next steps happen on one
    /// disk and out of reach of others.
    pub(crate) fn bring_home(&self, bundle: &Path) -> Result<PathBuf> {
        if bundle.parent() == self.bundle.parent() {
            return Ok(bundle.to_owned());
        }
        promote::move_or_copy(bundle, &self.bundle)?;
        Ok(self.bundle.clone())
    }

    /// Removes the bundle that the new one has replaced.
    pub(crate) fn forget_replaced(&self) -> Result<()> {
        let aside = self.aside();
        match aside.symlink_metadata() {
            Ok(facts) if facts.is_dir() => fs::remove_dir_all(&aside),
            Ok(_) => fs::remove_file(&aside),
            Err(_) => Ok(()),
        }
        .map_err(file("remove the replaced bundle", aside))
    }

    /// Leaves the folder to the process that still writes into it, and returns the path of its
    /// bundle.
    pub(crate) fn leave(mut self) -> PathBuf {
        self.is_in_use = true;
        // The program may still run and print.
        self.target_folder.disable_cleanup(true);
        if self.stray.is_dir() {
            self.stray.clone()
        } else {
            self.bundle.clone()
        }
    }
}

impl Drop for Staging {
    /// Keeps the folder if it contains a bundle: a recording stays, even after a panic.
    fn drop(&mut self) {
        // A folder that macOS does not let us read may contain a recording.
        let is_empty = bundles(self.folder.path()).is_ok_and(|bundles| bundles.is_empty());
        if self.is_in_use || !is_empty {
            self.folder.keep();
        }
    }
}

/// Returns the bundles in a staging folder, including one that was moved aside.
fn bundles(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut bundles = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            bundles.push(entry.path());
        }
    }
    Ok(bundles)
}

/// Returns whether a bundle is a stub: small, and without the file that `xctrace` writes last.
/// Anything else is a recording whatever was said, even one that metalens cannot read.
pub(crate) fn is_stub(bundle: &Path) -> bool {
    let is_complete = bundle.join("form.template").symlink_metadata();
    let is_absent = is_complete.is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound);
    let is_small = path_size(bundle) <= MAX_STUB_BYTES;
    let has_raw = raw_recording::inside(bundle).is_some();
    is_absent && bundle.read_dir().is_ok() && is_small && !has_raw
}

/// Returns the name of a bundle in a form that `xctrace` accepts and prints unchanged: one line
/// of text, short enough to append a suffix.
fn plain(output: &Path) -> String {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let is_odd = |letter: char| letter.is_control() || letter == char::REPLACEMENT_CHARACTER;
    let plain = stem
        .chars()
        .map(|letter| if is_odd(letter) { '-' } else { letter });
    plain.take(50).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundle_names_are_plain() {
        let check = |output: &str, expected: &str| {
            assert_eq!(plain(Path::new(output)), expected);
        };
        check("a/b c's.trace", "b c's");
        check("a\nb\u{1b}.trace", "a-b-");
        check(&"é".repeat(120), &"é".repeat(50));
    }

    #[test]
    fn what_killed_recordings_left_goes_unless_it_may_be_one() {
        let here = tempfile::tempdir().unwrap();
        let left = |name: &str, file: &str| {
            let folder = here.path().join(format!(".metalens-{name}.recording"));
            fs::create_dir_all(folder.join("x.trace")).unwrap();
            fs::write(folder.join("x.trace").join(file), "1").unwrap();
            fs::write(folder.join("lock"), "").unwrap();
            folder
        };
        let stub = left("stub", "store");
        let whole = left("whole", "form.template");
        let stage = || Staging::beside(&here.path().join("y.trace"), here.path()).unwrap();
        let alive = stage();
        fs::create_dir(&alive.bundle).unwrap();
        assert!(!stub.exists() && whole.exists());
        drop(stage());
        assert!(alive.bundle.exists());
        // It was told where it is.
        let kept = alive.leave();
        drop(stage());
        assert!(kept.exists());
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 2);
    }
}
