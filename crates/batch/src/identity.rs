//! Whether an input is the one that was analyzed: by what the system says of its files, and
//! where that differs by their bytes.
//!
//! A fresh checkout, or a copy, has other times and the same bytes: so the bytes decide,
//! and they are read only then. When a file was last changed in any way (its ctime) is
//! something that nobody can set: what has the same has the same bytes, unless it was changed
//! so shortly before the look that the next change may have the same time. So what was changed
//! just now is waited for.

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
pub(crate) struct Part {
    /// Where it is in the input.
    pub(crate) name: String,
    path: PathBuf,
    pub(crate) size: u64,
    /// When it was written, and when it was changed in any way, ns since 1970.
    written: i128,
    changed: i128,
    number: u64,
}

/// Returns the files that an input consists of, and the one beside it that its report depends
/// on, too.
pub(crate) fn parts(path: &Path, beside: Option<&Path>) -> io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    match path_kind(path)? {
        PathKind::Bundle => collect(path, "", true, &mut HashSet::new(), &mut parts)?,
        PathKind::Export | PathKind::Folder => {
            collect(path, "", false, &mut HashSet::new(), &mut parts)?;
        }
        _ => {
            // Its ending alone: a copy of another name is the same input.
            let ending = path.extension().map(|ending| ending.to_string_lossy());
            parts.extend(part(path, format!(".{}", ending.unwrap_or_default())));
        }
    }
    // That of an export lies in it.
    let beside = beside.filter(|file| !file.starts_with(path));
    if let Some(file) = beside.filter(|file| file.is_file()) {
        parts.extend(part(file, "../work.json".to_owned()));
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(parts)
}

/// The files of a folder, each folder once: links may lead in circles. A link to a folder
/// inside a bundle is never read, and may lead to everything.
fn collect(
    folder: &Path,
    inside: &str,
    deep: bool,
    seen: &mut HashSet<PathBuf>,
    parts: &mut Vec<Part>,
) -> io::Result<()> {
    if !seen.insert(folder.canonicalize()?) {
        return Ok(());
    }
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{inside}{}", entry.file_name().to_string_lossy());
        match path.is_dir() {
            true if deep && !path.is_symlink() => {
                collect(&path, &format!("{name}/"), deep, seen, parts)?;
            }
            true => {}
            false => parts.extend(part(&path, name)),
        }
    }
    Ok(())
}

/// A file; none if it is gone, or a link that leads nowhere.
fn part(path: &Path, name: String) -> Option<Part> {
    let facts = fs::metadata(path).ok()?;
    Some(Part {
        name,
        path: path.to_owned(),
        size: facts.len(),
        written: nanoseconds(facts.mtime(), facts.mtime_nsec()),
        changed: nanoseconds(facts.ctime(), facts.ctime_nsec()),
        number: facts.ino(),
    })
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

/// Names, sizes, times and numbers: what is the same has not been changed since it had settled.
pub(crate) fn stamp(parts: &[Part]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.name.as_bytes());
        hash.update([0]);
        hash.update(part.size.to_le_bytes());
        hash.update(part.written.to_le_bytes());
        hash.update(part.changed.to_le_bytes());
        hash.update(part.number.to_le_bytes());
    }
    hexadecimal(&hash.finalize())
}

/// Returns how long to wait until no file was changed just now: another change meanwhile might
/// leave its times as they are. None if all files have settled.
pub(crate) fn unsettled(parts: &[Part], now: SystemTime) -> Option<Duration> {
    /// The step of the coarsest clocks that file systems have.
    const STEP: Duration = Duration::from_secs(2);
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let last = parts.iter().map(|part| part.changed).max()?;
    let last = Duration::from_nanos(u64::try_from(last).unwrap_or(0));
    // A clock elsewhere may be ahead of ours.
    let left = (last + STEP).checked_sub(now)?.min(STEP);
    (!left.is_zero()).then_some(left)
}

/// Names and bytes. What cannot be read counts as such: an analysis may not need it.
pub(crate) fn content(parts: &[Part]) -> String {
    let mut all = Sha256::new();
    for part in parts {
        all.update(part.name.as_bytes());
        all.update([0]);
        match sha256_of_file(&part.path) {
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
    fn the_bytes_decide() {
        let root = tempfile::tempdir().unwrap();
        let bundle = root.path().join("x.trace");
        let store = bundle.join("corespace/store");
        fs::create_dir_all(bundle.join("corespace")).unwrap();
        let of = || {
            let work = root.path().join("x.work.json");
            let parts = parts(&bundle, Some(&work)).unwrap();
            (stamp(&parts), content(&parts))
        };
        let write = |text: &str| fs::write(&store, text).unwrap();
        let age = || {
            let file = fs::File::options().write(true).open(&store).unwrap();
            file.set_modified(UNIX_EPOCH).unwrap();
        };
        write("one");
        let first = of();
        assert_eq!(of(), first);
        age();
        let aged = of();
        assert!(aged.0 != first.0 && aged.1 == first.1);
        // Not even with the time that it had: when it was changed nobody can set.
        write("two");
        age();
        let changed = of();
        assert!(changed.0 != aged.0 && changed.1 != aged.1);
        fs::write(root.path().join("x.work.json"), "{}").unwrap();
        let with_work = of();
        assert!(with_work.0 != changed.0 && with_work.1 != changed.1);
        // It leads out of the bundle, and is never read.
        std::os::unix::fs::symlink("/", bundle.join("everything")).unwrap();
        assert_eq!(of(), with_work);
    }

    #[test]
    fn what_was_changed_just_now_is_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a.xml");
        fs::write(&file, "<x/>").unwrap();
        let parts = parts(&file, None).unwrap();
        let changed = Duration::from_nanos(u64::try_from(parts[0].changed).unwrap());
        let check = |at: Duration, expected_ms: Option<u64>| {
            let found = unsettled(&parts, UNIX_EPOCH + at);
            assert_eq!(found, expected_ms.map(Duration::from_millis), "{at:?}");
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
