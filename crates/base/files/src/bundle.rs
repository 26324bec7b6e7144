//! Tells bundles of Instruments from other folders, so that nothing is written into them.

use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;

/// Returns whether a path has the name or the files of a bundle.
pub fn is_bundle(path: &Path) -> bool {
    let is_named = path
        .extension()
        .is_some_and(|extension| extension == "trace");
    is_named || has_bundle_files(path)
}

/// Returns whether a folder has the files of a bundle.
pub fn has_bundle_files(path: &Path) -> bool {
    path.join("corespace").is_dir() || path.join("form.template").is_file()
}

/// Returns the bundle that a path is inside of, at any depth, also through links.
#[cfg(unix)]
pub(crate) fn bundle_around(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let parent = path.parent()?;
    // What does not exist yet can be no link.
    let real = parent
        .ancestors()
        .find_map(|outer| outer.canonicalize().ok());
    let mut bundles = parent
        .ancestors()
        .chain(real.iter().flat_map(|real| real.ancestors()))
        .filter(|outer| is_bundle(outer));
    bundles.next().map(Path::to_path_buf)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn paths_inside_bundles_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a.trace/deep")).unwrap();
        fs::create_dir_all(at("renamed/corespace/run1")).unwrap();
        fs::create_dir_all(at("plain/a.export")).unwrap();
        std::os::unix::fs::symlink(at("a.trace/deep"), at("plain/link")).unwrap();
        let check = |path: &str, expected: bool| {
            assert_eq!(bundle_around(&at(path)).is_some(), expected, "{path}");
        };
        check("a.trace", false);
        check("a.trace/report", true);
        check("a.trace/deep/new/page.html", true);
        check("new.trace/page.html", true);
        check("renamed/corespace/run1/x", true);
        check("renamed/x", true);
        check("plain/link/x", true);
        check("plain/link/new/x", true);
        check("plain/../a.trace/x", true);
        check("plain/x", false);
        check("plain/a.export/report", false);
        check("x", false);
    }
}
