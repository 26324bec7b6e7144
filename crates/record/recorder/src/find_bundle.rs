//! Finds the bundle that `xctrace` saved.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the path of the bundle, or `None` if there is none. `xctrace` may have saved it at the
/// requested path; under that name in its current folder (seen: it forgot the folder); under the
/// name that it printed; or under any name in the staging folder. Nothing else has used the
/// requested name or the staging folder.
pub(crate) fn find_bundle(staged: &Path, ran_in: &Path, said: Option<&str>) -> Option<PathBuf> {
    let staging = staged.parent()?;
    let mut candidates = vec![staged.to_owned(), ran_in.join(staged.file_name()?)];

    let said = said
        .map(Path::new)
        .filter(|said| !said.as_os_str().is_empty());
    candidates.extend(
        said.and_then(Path::file_name)
            .map(|name| staging.join(name)),
    );
    let entries = fs::read_dir(staging).into_iter().flatten().flatten();
    let others = entries.map(|entry| entry.path());
    candidates
        .extend(others.filter(|path| path.extension().is_some_and(|ending| ending == "trace")));
    candidates.into_iter().find(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_candidate_that_exists_is_found() {
        let root = tempfile::tempdir().unwrap();
        let (staging, here) = (root.path().join("staging"), root.path().join("here"));
        let staged = staging.join("a-1.trace");
        fs::create_dir_all(&staging).unwrap();
        fs::create_dir_all(here.join("b.trace")).unwrap();
        let check = |said: Option<&str>, expected: Option<&Path>| {
            assert_eq!(find_bundle(&staged, &here, said).as_deref(), expected);
        };
        // A bundle of another name in the current folder belongs to somebody else.
        check(Some("b.trace"), None);
        fs::create_dir(staging.join("c.trace")).unwrap();
        check(Some("b.trace"), Some(&staging.join("c.trace")));
        fs::create_dir(staging.join("b.trace")).unwrap();
        check(Some("b.trace"), Some(&staging.join("b.trace")));
        check(Some("/else/where/b.trace"), Some(&staging.join("b.trace")));
        fs::create_dir(here.join("a-1.trace")).unwrap();
        check(None, Some(&here.join("a-1.trace")));
        fs::create_dir(&staged).unwrap();
        check(Some("b.trace"), Some(&staged));
    }
}
