//! Finds the recordings that a command line names: searches folders, expands patterns, and keeps each
//! input once.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use metalens_failure::in_plain_words;
use metalens_trace::{PathKind, may_have_gpu_work, path_kind};

use super::error::{Error, Result};
use super::state::is_entry;

/// A recording to analyze, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRecording {
    /// Path of the recording, as it was given or found.
    pub path: PathBuf,
    /// Name for people: the file name, with the folders in which it was found.
    pub name: String,
}

/// A path that was named or found, but is not a recording.
#[derive(Debug)]
pub struct RefusedPath {
    /// The path, as it was given or found.
    pub path: PathBuf,
    /// Reason why it is not a recording.
    pub why: String,
}

/// Result of searching everything that a command line names.
#[derive(Debug, Default)]
pub struct Search {
    /// The recordings, in the order in which they were named and found.
    pub found: Vec<FoundRecording>,
    /// Paths that were named but are not recordings.
    pub refused: Vec<RefusedPath>,
    /// Number of files that were found and are not recordings.
    pub skipped: usize,
    /// Number of inputs that were named again.
    pub twice: usize,
    inputs: HashSet<PathBuf>,
    /// Folders that were searched for the current path.
    folders: HashSet<PathBuf>,
    /// The folder that the batch writes to.
    output: Option<PathBuf>,
}

/// Searches for recordings in everything that was named, except for the folder that the batch writes
/// to.
///
/// # Errors
///
/// If standard input or an invalid pattern was named.
pub fn find(named: &[PathBuf], output: &Path) -> Result<Search> {
    let mut search = Search {
        output: output.canonicalize().ok(),
        ..Search::default()
    };

    for path in named {
        if path.as_os_str() == "-" {
            return Err(Error::StandardInput);
        }
        let path = without_dots(path);
        match pattern(&path) {
            Some(pattern) => search.expand(&pattern)?,
            None => search.add_named(&path),
        }
    }
    Ok(search)
}

/// Returns a path without `.` components.
fn without_dots(path: &Path) -> PathBuf {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let path: PathBuf = parts.collect();
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}

/// Returns a path as a pattern, if it looks like one and no file has exactly that name.
fn pattern(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let is_pattern = text.contains(['*', '?', '[']) && path.symlink_metadata().is_err();
    is_pattern.then(|| text.to_owned())
}

impl Search {
    /// Expands a pattern like a shell. Each match counts as if it had been named.
    fn expand(&mut self, pattern: &str) -> Result<()> {
        let options = glob::MatchOptions {
            require_literal_leading_dot: true,
            ..glob::MatchOptions::default()
        };
        let paths = glob::glob_with(pattern, options).map_err(|cause| Error::Pattern {
            pattern: pattern.to_owned(),
            cause,
        })?;

        let mut is_empty = true;
        for path in paths {
            is_empty = false;
            match path {
                Ok(path) => self.add_named(&without_dots(&path)),
                Err(error) => self.refuse(error.path(), &error.error().to_string()),
            }
        }

        if is_empty {
            self.refuse(Path::new(pattern), "no file matches this pattern");
        }
        Ok(())
    }

    /// Adds a named path if it is a recording or has recordings in it, and refuses it otherwise.
    fn add_named(&mut self, path: &Path) {
        match path_kind(path) {
            Ok(PathKind::Folder) => self.search_named(path),
            // The analysis reports the problems of a damaged recording.
            Ok(_) => self.add(path, last_name(path)),
            Err(error) => self.refuse(path, &error.to_string()),
        }
    }

    fn search_named(&mut self, folder: &Path) {
        let before = (self.found.len(), self.twice, self.refused.len());
        let skipped = self.skipped;

        // A named folder is searched even if an earlier search included it.
        self.folders = self.output.iter().cloned().collect();
        self.folders.remove(&canonical(folder));
        self.search(folder, folder);

        if before == (self.found.len(), self.twice, self.refused.len()) {
            let others = match self.skipped - skipped {
                0 => String::new(),
                1 => ", but 1 other file".to_owned(),
                files => format!(", but {files} other files"),
            };
            self.refuse(folder, &format!("no recording in this folder{others}"));
        }
    }

    /// Adds every recording in a folder and its folders, in the order of their names.
    fn search(&mut self, folder: &Path, root: &Path) {
        if !self.enter(folder) {
            return;
        }
        let entries = match entries(folder) {
            Ok(entries) => entries,
            Err(error) => return self.refuse(folder, &error.to_string()),
        };

        for entry in entries {
            match path_kind(&entry) {
                // The folder has the report of an earlier batch.
                Ok(PathKind::Folder) if is_entry(&entry) => {}
                Ok(PathKind::Folder) => self.search(&entry, root),
                Ok(PathKind::Other) => self.skipped += 1,
                // Of a folder that is searched, a table alone that cannot have work is no failure.
                Ok(PathKind::Document) if !may_have_gpu_work(&entry) => self.skipped += 1,
                Ok(_) if self.folders.contains(&canonical(&entry)) => {}
                Ok(_) => self.add(&entry, name_in(&entry, root)),
                // A broken link is not a recording.
                Err(_) if entry.is_symlink() => self.skipped += 1,
                Err(error) => self.refuse(&entry, &error.to_string()),
            }
        }
    }

    /// Remembers a folder, and returns whether it is new, since links may form a circle.
    fn enter(&mut self, folder: &Path) -> bool {
        self.folders.insert(canonical(folder))
    }

    fn add(&mut self, path: &Path, name: String) {
        if self.inputs.insert(canonical(path)) {
            self.found.push(FoundRecording {
                path: path.to_path_buf(),
                name,
            });
        } else {
            self.twice += 1;
        }
    }

    fn refuse(&mut self, path: &Path, why: &str) {
        self.refused.push(RefusedPath {
            path: path.to_path_buf(),
            why: in_plain_words(why),
        });
    }
}

/// Returns the visible entries of a folder, sorted by name.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            let path = if folder == Path::new(".") {
                PathBuf::from(&name)
            } else {
                folder.join(&name)
            };
            entries.insert(name, path);
        }
    }
    Ok(entries.into_values().collect())
}

/// Returns the path without links, or the path itself if it does not exist.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Returns the last part of a path. For `..` it is the name of the folder that it leads to.
pub(crate) fn last_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .or_else(|| Some(canonical(path).file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_else(|| path.display().to_string())
}

/// Returns the path relative to the folder that was searched.
fn name_in(path: &Path, root: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts = inside
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns a folder with bundles, exports, and files of other kinds.
    fn mixed_folder() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, content: &str| {
            let at = root.path().join(path);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, content).unwrap();
        };
        file("b10.trace/corespace/x", "");
        file("b2.trace/inner.trace/x", "");
        file("deep/er/export/toc.xml", "<trace-toc/>");
        file("deep/er/export/nested/toc.xml", "<trace-toc/>");
        file("notes.txt", "words");
        file("broken.zip", "no zip");
        file(".hidden/x.trace/y", "");
        file("out/run.trace/y", "");
        fs::create_dir(root.path().join("empty")).unwrap();
        root
    }

    fn names(search: &Search) -> Vec<&str> {
        search
            .found
            .iter()
            .map(|recording| recording.name.as_str())
            .collect()
    }

    #[test]
    fn folders_are_searched() {
        let root = mixed_folder();
        let named = [root.path().to_path_buf()];
        let search = find(&named, &root.path().join("out")).unwrap();
        let expected = ["b10.trace", "b2.trace", "broken.zip", "deep/er/export"];
        assert_eq!(names(&search), expected);
        assert_eq!((search.skipped, search.refused.len()), (1, 0));
    }

    #[test]
    fn named_paths_are_traces_or_refused() {
        let root = mixed_folder();
        let at = |path: &str| root.path().join(path);
        let check = |named: &[&str], expected: &[&str], refused: &[&str], twice: usize| {
            let named: Vec<PathBuf> = named.iter().map(|path| at(path)).collect();
            let search = find(&named, &at("out")).unwrap();
            assert_eq!(names(&search), expected, "{named:?}");
            let refusals: Vec<&str> = search
                .refused
                .iter()
                .map(|refusal| refusal.why.as_str())
                .collect();
            assert_eq!(refusals, refused, "{named:?}");
            assert_eq!(search.twice, twice, "{named:?}");
        };
        check(&["notes.txt"], &["notes.txt"], &[], 0);
        check(&["empty"], &[], &["no recording in this folder"], 0);
        check(&["b*.trace"], &["b10.trace", "b2.trace"], &[], 0);
        check(&["nothing*"], &[], &["no file matches this pattern"], 0);
        check(&["deep/er/export", "deep"], &["export"], &[], 1);
        check(&["b2.trace", "./b2.trace", "b2.*"], &["b2.trace"], &[], 2);
        check(&["deep", "deep/er"], &["er/export"], &[], 1);
        check(&["out"], &["run.trace"], &[], 0);
        check(&["none"], &[], &["No such file or directory"], 0);
        assert!(find(&[PathBuf::from("-")], &at("out")).is_err());
        assert!(find(&[at("b[.trace")], &at("out")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_in_circles_are_followed_once() {
        let root = mixed_folder();
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(root.path().join(to), root.path().join(at)).unwrap();
        };
        link("", "deep/again");
        link("deep", "deep/er/up");
        link("b2.trace", "other-name.trace");
        link("nowhere", "broken-link.trace");
        let search = find(&[root.path().to_path_buf()], Path::new("out")).unwrap();
        assert_eq!(search.found.len(), 5, "{:?}", search.found);
        assert_eq!(search.refused.len(), 0, "{:?}", search.refused);
    }
}
