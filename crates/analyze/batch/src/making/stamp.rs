//! Notes the size and the time of an input, by which a later batch recognizes it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use metalens_trace::{PathKind, path_kind};
use serde::{Deserialize, Serialize};

/// The sums of the sizes and of the times of all files that a report depends on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InputStamp {
    bytes: u64,
    /// Sum of the times of the last writes, in nanoseconds since 1970. A sum shows a file that was put
    /// back, too, which is no newer than the others.
    modified_ns: u64,
}

impl InputStamp {
    /// Returns the stamp of an input and of the files beside it.
    pub(crate) fn of(input: &Path, beside: &[PathBuf]) -> io::Result<Self> {
        let mut stamp = Self::default();
        match path_kind(input)? {
            PathKind::Bundle => stamp.add_folder(input, true)?,
            PathKind::Export | PathKind::Folder => stamp.add_folder(input, false)?,
            _ => stamp.add(input),
        }
        for file in beside {
            stamp.add(file);
        }
        Ok(stamp)
    }

    /// Adds the files of a folder. A link to a folder may lead anywhere, and is left out.
    fn add_folder(&mut self, folder: &Path, is_deep: bool) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if !path.is_dir() {
                self.add(&path);
            } else if is_deep && !path.is_symlink() {
                self.add_folder(&path, true)?;
            }
        }
        Ok(())
    }

    /// Adds a path, and what it leads to if it is a link. What is missing adds nothing.
    fn add(&mut self, path: &Path) {
        let own = fs::symlink_metadata(path).ok();
        let target = fs::metadata(path).ok().filter(|_| path.is_symlink());
        for facts in own.into_iter().chain(target) {
            self.bytes = self.bytes.saturating_add(facts.len());
            let modified = facts
                .modified()
                .unwrap_or(UNIX_EPOCH)
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            let modified_ns = u64::try_from(modified.as_nanos()).unwrap_or(u64::MAX);
            self.modified_ns = self.modified_ns.wrapping_add(modified_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_input_is_the_same_if_its_size_and_time_are() {
        let root = tempfile::tempdir().unwrap();
        let bundle = root.path().join("x.trace");
        let store = bundle.join("corespace/store");
        let work = root.path().join("x.work.json");
        fs::create_dir_all(bundle.join("corespace")).unwrap();
        let stamp = || InputStamp::of(&bundle, std::slice::from_ref(&work)).unwrap();
        let write = |text: &str, seconds: u64| {
            fs::write(&store, text).unwrap();
            let file = fs::File::options().write(true).open(&store).unwrap();
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            file.set_modified(time).unwrap();
        };

        write("one", 5);
        let first = stamp();
        write("two", 5);
        assert_eq!(stamp(), first);
        write("two", 6);
        assert_ne!(stamp(), first);
        write("three", 5);
        assert_ne!(stamp(), first);

        let alone = stamp();
        fs::write(&work, "{}").unwrap();
        let with_work = stamp();
        assert_ne!(with_work, alone);

        // A link out of the bundle is not followed.
        std::os::unix::fs::symlink("/", bundle.join("everything")).unwrap();
        assert_eq!(stamp(), with_work);
    }
}
