//! Keeps the raw recording (`.atrc`) that `xctrace` may leave if it cannot make a bundle of it. Two
//! programs for one game saw that after 90 s of recording: the raw recording was all that the bundle
//! had. `xctrace import` reads such files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::promote::{first_free, is_unused, move_new};

/// Depth to which a bundle is searched.
const MAX_DEPTH: usize = 6;

/// Finds a raw recording in the staging folder or in the stray bundle, or one with the unique name of
/// the bundle beside it or in the temporary folder.
pub(crate) fn find(staged: &Path, stray: &Path) -> Option<PathBuf> {
    let elsewhere = [stray.parent(), Some(&std::env::temp_dir())].map(|folder| {
        let path = folder?.join(staged.file_stem()?).with_extension("atrc");
        path.exists().then_some(path)
    });
    let inside = staged.parent().and_then(inside);
    inside
        .or_else(|| self::inside(stray))
        .or_else(|| elsewhere.into_iter().flatten().next())
}

/// Returns a raw recording in a folder.
pub(crate) fn inside(folder: &Path) -> Option<PathBuf> {
    let mut level = vec![folder.to_owned()];
    for _ in 0..MAX_DEPTH {
        let entries: Vec<_> = level
            .iter()
            .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
            .collect();
        let mut paths = entries.iter().map(fs::DirEntry::path);
        if let Some(raw) =
            paths.find(|path| path.extension().is_some_and(|ending| ending == "atrc"))
        {
            return Some(raw);
        }
        let folders = entries
            .iter()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        level = folders.map(fs::DirEntry::path).collect();
    }
    None
}

/// Returns where a raw recording is, after its bundle was moved to `landed`. One that is in no bundle
/// is moved beside the output, if it can be.
pub(crate) fn keep(raw: PathBuf, landed: Option<&Path>, output: &Path) -> Option<PathBuf> {
    let is_bundle = |path: &&Path| path.extension().is_some_and(|ending| ending == "trace");
    let Some(bundle) = raw.ancestors().find(is_bundle) else {
        let kept = first_free(&output.with_extension("raw"), ".atrc", is_unused);
        return match move_new(&raw, &kept) {
            Ok(()) => Some(kept),
            Err(_) => Some(raw),
        };
    };
    let inside = raw.strip_prefix(bundle).ok().zip(landed);
    let in_landed = inside.map(|(inside, landed)| landed.join(inside));
    [in_landed, Some(raw.clone())]
        .into_iter()
        .flatten()
        .find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_recordings_are_found_and_kept() {
        let check = |place: &str, expected: Option<&str>| {
            let root = tempfile::tempdir().unwrap();
            let at = |path: &str| root.path().join(path);
            for folder in ["staging/x-1.trace/a/b", "here/x-1.trace"] {
                fs::create_dir_all(at(folder)).unwrap();
            }
            // Somebody else's.
            fs::write(at("here/other.atrc"), "other").unwrap();
            fs::write(at(place), "raw").unwrap();
            let found = find(&at("staging/x-1.trace"), &at("here/x-1.trace"));
            assert_eq!(found, expected.map(|_| at(place)), "{place}");

            let landed = at("here/x.incomplete.trace");
            fs::rename(at("staging/x-1.trace"), &landed).unwrap();
            let kept = found.and_then(|found| keep(found, Some(&landed), &at("here/x.trace")));
            assert_eq!(kept, expected.map(at), "{place}");
            if let Some(kept) = kept {
                assert_eq!(fs::read_to_string(kept).unwrap(), "raw");
            }
        };
        let in_bundle = "here/x.incomplete.trace/a/b/any.atrc";
        check("staging/x-1.trace/a/b/any.atrc", Some(in_bundle));
        check("staging/any.atrc", Some("here/x.raw.atrc"));
        check("here/x-1.trace/any.atrc", Some("here/x-1.trace/any.atrc"));
        check("here/x-1.atrc", Some("here/x.raw.atrc"));
        check("here/mine.atrc", None);
    }
}
