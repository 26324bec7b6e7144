//! Decides whether an input is the one that was analyzed: by its files' metadata, and if that
//! differs by their bytes.
//!
//! A fresh checkout or a copy has other times but the same bytes, so the bytes are compared if the
//! times differ. No program can set the time at which a file was last changed in any way (its ctime).
//! A file with the same ctime has the same bytes, unless it was changed so shortly before the check
//! that the next change gets the same time. So the batch waits before it reads a file that was just
//! changed.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use metalens_files::{hexadecimal, sha256_of_file};
use metalens_trace::{PathKind, path_kind};
use sha2::{Digest, Sha256};

/// A file of an input.
#[derive(Debug)]
pub(crate) struct InputFile {
    /// Path of the file in its input.
    pub(crate) name: String,
    path: PathBuf,
    pub(crate) size: u64,
    /// Times of the last write and of the last change in any way, in nanoseconds since 1970.
    written: i128,
    changed: i128,
    inode: u64,
}

/// Returns the files of an input, and those beside it that the report also depends on.
pub(crate) fn input_files(path: &Path, beside: &[PathBuf]) -> io::Result<Vec<InputFile>> {
    let mut files = Vec::new();
    match path_kind(path)? {
        PathKind::Bundle => collect(path, "", true, &mut HashSet::new(), &mut files)?,
        PathKind::Export | PathKind::Folder => {
            collect(path, "", false, &mut HashSet::new(), &mut files)?;
        }
        _ => {
            // Only the extension counts: a copy with another name is the same input.
            let ending = path.extension().map(|ending| ending.to_string_lossy());
            files.extend(input_file(path, format!(".{}", ending.unwrap_or_default())));
        }
    }

    let there = |file: &&PathBuf| !metalens_files::is_absent(file);
    for (file, number) in beside.iter().filter(there).zip(0_u64..) {
        // What cannot be read is an error of the analysis, which must not be left out.
        metalens_files::open(file)?;
        // A file inside the input is in the list already.
        if !file.starts_with(path) {
            files.extend(input_file(file, format!("../{number}")));
        }
    }

    files.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(files)
}

/// Collects the files of a folder. Each folder is visited once, because links may form a circle. A
/// link to a folder inside a bundle is never read, and may lead anywhere.
fn collect(
    folder: &Path,
    inside: &str,
    deep: bool,
    visited: &mut HashSet<PathBuf>,
    files: &mut Vec<InputFile>,
) -> io::Result<()> {
    if !visited.insert(folder.canonicalize()?) {
        return Ok(());
    }

    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{inside}{}", entry.file_name().to_string_lossy());
        if !path.is_dir() {
            files.extend(input_file(&path, name));
        } else if deep && !path.is_symlink() {
            collect(&path, &format!("{name}/"), deep, visited, files)?;
        }
    }
    Ok(())
}

/// Returns the facts of a file, or `None` if it is gone or a broken link.
fn input_file(path: &Path, name: String) -> Option<InputFile> {
    let metadata = fs::metadata(path).ok()?;
    Some(InputFile {
        name,
        path: path.to_owned(),
        size: metadata.len(),
        written: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    })
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

/// Returns a hash of names, sizes, times and inodes. Settled files with the same stamp have not
/// changed.
pub(crate) fn stamp(files: &[InputFile]) -> String {
    let mut hash = Sha256::new();
    for file in files {
        hash.update(file.name.as_bytes());
        hash.update([0]);
        hash.update(file.size.to_le_bytes());
        hash.update(file.written.to_le_bytes());
        hash.update(file.changed.to_le_bytes());
        hash.update(file.inode.to_le_bytes());
    }
    hexadecimal(&hash.finalize())
}

/// Returns the time until all files have settled: a change before that may leave the file's times as
/// they are. Returns `None` if all files have settled.
pub(crate) fn unsettled(files: &[InputFile], now: SystemTime) -> Option<Duration> {
    /// Time step of the coarsest clock of a file system.
    const STEP: Duration = Duration::from_secs(2);

    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let last = files.iter().map(|file| file.changed).max()?;
    let last = Duration::from_nanos(u64::try_from(last).unwrap_or(0));
    // A file server's clock may be ahead of this machine's.
    let wait = (last + STEP).checked_sub(now)?.min(STEP);
    (!wait.is_zero()).then_some(wait)
}

/// Returns a hash of names and bytes. For a file that cannot be read, the hash has its error, because
/// an analysis may not need the file.
pub(crate) fn content(files: &[InputFile]) -> String {
    let mut all = Sha256::new();
    for file in files {
        all.update(file.name.as_bytes());
        all.update([0]);
        match sha256_of_file(&file.path) {
            Ok(hash) => all.update(hash),
            Err(error) => all.update(error.kind().to_string().as_bytes()),
        }
    }
    hexadecimal(&all.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_the_same_if_its_bytes_are() {
        let root = tempfile::tempdir().unwrap();
        let bundle = root.path().join("x.trace");
        let store = bundle.join("corespace/store");
        fs::create_dir_all(bundle.join("corespace")).unwrap();
        let hashes = || {
            let work = root.path().join("x.work.json");
            let files = input_files(&bundle, &[work]).unwrap();
            (stamp(&files), content(&files))
        };
        let write = |text: &str| fs::write(&store, text).unwrap();
        let age = || {
            let file = fs::File::options().write(true).open(&store).unwrap();
            file.set_modified(UNIX_EPOCH).unwrap();
        };

        write("one");
        let first = hashes();
        assert_eq!(hashes(), first);
        age();
        let aged = hashes();
        assert!(aged.0 != first.0 && aged.1 == first.1);

        // Setting the old time does not help: nobody can set the ctime.
        write("two");
        age();
        let changed = hashes();
        assert!(changed.0 != aged.0 && changed.1 != aged.1);

        fs::write(root.path().join("x.work.json"), "{}").unwrap();
        let with_work = hashes();
        assert!(with_work.0 != changed.0 && with_work.1 != changed.1);

        // A link out of the bundle is never read.
        std::os::unix::fs::symlink("/", bundle.join("everything")).unwrap();
        assert_eq!(hashes(), with_work);
    }

    #[test]
    fn recent_changes_are_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a.xml");
        fs::write(&file, "<x/>").unwrap();
        let files = input_files(&file, &[]).unwrap();
        let changed = Duration::from_nanos(u64::try_from(files[0].changed).unwrap());
        let check = |at: Duration, expected_ms: Option<u64>| {
            let left = unsettled(&files, UNIX_EPOCH + at);
            assert_eq!(left, expected_ms.map(Duration::from_millis), "{at:?}");
        };
        let seconds = Duration::from_secs;
        check(changed, Some(2_000));
        check(changed + Duration::from_millis(1_500), Some(500));
        check(changed + seconds(2), None);
        check(changed + seconds(60), None);
        check(changed - seconds(60), Some(2_000));
        assert_eq!(unsettled(&[], UNIX_EPOCH), None);
    }
}
