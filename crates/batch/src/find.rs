//! Which traces a command line names: folders are searched, patterns expanded, and what
//! is named twice is one.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};

use metalens_trace::{PathKind, path_kind};

use crate::error::{Error, Result};
use crate::state::is_entry;

/// A trace to analyze.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// As it was given, or found in what was given.
    pub path: PathBuf,
    /// What people call it: its file name, with the folders in which it was found.
    pub name: String,
}

/// What was named, or found, and is no trace.
#[derive(Debug)]
pub struct Refused {
    /// The path.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

/// All that a command line names.
#[derive(Debug, Default)]
pub struct Search {
    /// The traces, in the order in which they were named and found.
    pub found: Vec<Found>,
    /// Everything that is no trace although it was named.
    pub refused: Vec<Refused>,
    /// Files that were found and are no traces.
    pub skipped: usize,
    /// How often an input was named that had been named before.
    pub twice: usize,
    inputs: HashSet<PathBuf>,
    /// Those that were searched, of the one that was named.
    folders: HashSet<PathBuf>,
    /// The folder that is written.
    output: Option<PathBuf>,
}

/// Looks for traces in everything that was named, but for the folder that is written.
///
/// # Errors
///
/// If standard input was named, or a pattern that is none.
pub fn find(named: &[PathBuf], output: &Path) -> Result<Search> {
    let mut search = Search {
        output: output.canonicalize().ok(),
        ..Search::default()
    };
    for path in named {
        if path.as_os_str() == "-" {
            return Err(Error::StandardInput);
        }
        let path = plain(path);
        match pattern(&path) {
            Some(pattern) => search.expand(&pattern)?,
            None => search.named(&path),
        }
    }
    Ok(search)
}

/// A path without the parts that lead nowhere.
fn plain(path: &Path) -> PathBuf {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let path: PathBuf = parts.collect();
    match path.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => path,
    }
}

/// The pattern that a path is, if there is nothing of that very name.
fn pattern(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let is_one = text.contains(['*', '?', '[']) && path.symlink_metadata().is_err();
    is_one.then(|| text.to_owned())
}

impl Search {
    /// As a shell would: what it finds is as if it had been named.
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
                Ok(path) => self.named(&plain(&path)),
                Err(error) => self.refuse(error.path(), &error.error().to_string()),
            }
        }
        if is_empty {
            self.refuse(Path::new(pattern), "nothing has such a name");
        }
        Ok(())
    }

    /// What a user named is a trace, or has one in it, or that is told.
    fn named(&mut self, path: &Path) {
        match path_kind(path) {
            Ok(PathKind::Folder) => {
                let before = (self.found.len(), self.twice, self.refused.len());
                let skipped = self.skipped;
                // What is named is searched, whoever was there before.
                self.folders = self.output.iter().cloned().collect();
                self.folders.remove(&canonical(path));
                self.search(path, path);
                if before == (self.found.len(), self.twice, self.refused.len()) {
                    let files = self.skipped - skipped;
                    let what = match files {
                        0 => String::new(),
                        1 => ": the one file in it is none".to_owned(),
                        files => format!(": none of the {files} files in it is one"),
                    };
                    self.refuse(path, &format!("there is no trace in this folder{what}"));
                }
            }
            // Reading it tells what is wrong with it.
            Ok(_) => self.add(path, last_name(path)),
            Err(error) => self.refuse(path, &error.to_string()),
        }
    }

    /// Every trace in a folder and its folders, in the order of their names.
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
                // A report of ours.
                Ok(PathKind::Folder) if is_entry(&entry) => {}
                Ok(PathKind::Folder) => self.search(&entry, root),
                Ok(PathKind::Other) => self.skipped += 1,
                Ok(_) if self.folders.contains(&canonical(&entry)) => {}
                Ok(_) => self.add(&entry, name_in(&entry, root)),
                // A link that leads nowhere is nobody's trace.
                Err(_) if entry.is_symlink() => self.skipped += 1,
                Err(error) => self.refuse(&entry, &error.to_string()),
            }
        }
    }

    /// Whether a folder was not searched yet: links may lead in circles.
    fn enter(&mut self, folder: &Path) -> bool {
        self.folders.insert(canonical(folder))
    }

    fn add(&mut self, path: &Path, name: String) {
        match self.inputs.insert(canonical(path)) {
            true => self.found.push(Found {
                path: path.to_path_buf(),
                name,
            }),
            false => self.twice += 1,
        }
    }

    fn refuse(&mut self, path: &Path, why: &str) {
        self.refused.push(Refused {
            path: path.to_path_buf(),
            why: why.to_owned(),
        });
    }
}

/// What is in a folder, but for what is hidden, in the order of the names.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            let path = match folder == Path::new(".") {
                true => PathBuf::from(&name),
                false => folder.join(&name),
            };
            found.insert(name, path);
        }
    }
    Ok(found.into_values().collect())
}

/// The path without links, as far as there is one.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The last part of a path; of `..` that of the folder it leads to.
pub(crate) fn last_name(path: &Path) -> String {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let real = || Some(canonical(path).file_name()?.to_string_lossy().into_owned());
    name.or_else(real)
        .unwrap_or_else(|| path.display().to_string())
}

/// Where it lies in the folder that was searched.
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

    /// A folder with all kinds of things in it.
    fn zoo() -> tempfile::TempDir {
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
        search.found.iter().map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn folders_are_searched() {
        let root = zoo();
        let named = [root.path().to_path_buf()];
        let search = find(&named, &root.path().join("out")).unwrap();
        let expected = ["b10.trace", "b2.trace", "broken.zip", "deep/er/export"];
        assert_eq!(names(&search), expected);
        assert_eq!((search.skipped, search.refused.len()), (1, 0));
    }

    #[test]
    fn what_is_named_is_a_trace_or_told() {
        let root = zoo();
        let at = |path: &str| root.path().join(path);
        let check = |named: &[&str], expected: &[&str], refused: &[&str], twice: usize| {
            let named: Vec<PathBuf> = named.iter().map(|one| at(one)).collect();
            let search = find(&named, &at("out")).unwrap();
            assert_eq!(names(&search), expected, "{named:?}");
            let told: Vec<&str> = search.refused.iter().map(|one| one.why.as_str()).collect();
            assert_eq!(told, refused, "{named:?}");
            assert_eq!(search.twice, twice, "{named:?}");
        };
        check(&["notes.txt"], &["notes.txt"], &[], 0);
        check(&["empty"], &[], &["there is no trace in this folder"], 0);
        check(&["b*.trace"], &["b10.trace", "b2.trace"], &[], 0);
        check(&["nothing*"], &[], &["nothing has such a name"], 0);
        check(&["deep/er/export", "deep"], &["export"], &[], 1);
        check(&["b2.trace", "./b2.trace", "b2.*"], &["b2.trace"], &[], 2);
        check(&["deep", "deep/er"], &["er/export"], &[], 1);
        check(&["out"], &["run.trace"], &[], 0);
        check(
            &["none"],
            &[],
            &["No such file or directory (os error 2)"],
            0,
        );
        assert!(find(&[PathBuf::from("-")], &at("out")).is_err());
        assert!(find(&[at("b[.trace")], &at("out")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_in_circles() {
        let root = zoo();
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
