//! Finds what of a recording lies in folders that macOS guards (Documents, Desktop, Downloads, iCloud
//! Drive, other disks). Two projects saw a program that `xctrace` started hang or fail there, without
//! a prompt: the right of the terminal does not count for it.

use std::fs;
use std::path::{Path, PathBuf};

/// Guarded folders of a home, and their names.
const GUARDED: [(&str, &str); 5] = [
    ("Documents", "~/Documents"),
    ("Desktop", "~/Desktop"),
    ("Downloads", "~/Downloads"),
    ("Library/Mobile Documents", "iCloud Drive"),
    ("Library/CloudStorage", "~/Library/CloudStorage"),
];

/// Advice on a guarded folder.
pub(crate) const WAY_OUT: &str = "move it (to ~/Developer or /tmp, for example), or start the program yourself and record it with \
     --attach";

/// Returns what a recording uses in guarded folders, and why that may fail, or `None` if it uses
/// nothing there. Each path comes with its name in the sentence.
pub fn guarded(paths: &[(&str, &Path)], home: Option<&Path>) -> Option<String> {
    let mut folders: Vec<String> = Vec::new();
    for (name, path) in paths {
        if let Some(place) = place(path, home) {
            folders.push(format!("{name} is in {place}"));
        }
    }
    (!folders.is_empty()).then(|| {
        format!(
            "{}: macOS may block a program that xctrace starts from there, without asking you",
            folders.join(", ")
        )
    })
}

/// Returns the guarded folder that a path or the target of its links is in. A Python is in its
/// environment by the path of a link, and elsewhere by its target.
fn place(path: &Path, home: Option<&Path>) -> Option<&'static str> {
    let absolute = std::path::absolute(path).ok();
    let real = fs::canonicalize(path).ok();
    let homes: Vec<PathBuf> = home
        .into_iter()
        .flat_map(|home| [Some(home.to_owned()), fs::canonicalize(home).ok()])
        .flatten()
        .collect();
    // `/Volumes/Macintosh HD` is a link to `/`, so only the real path tells about other disks.
    if real
        .as_deref()
        .is_some_and(|real| is_below(real, Path::new("/Volumes")))
    {
        return Some("/Volumes");
    }

    let guarded = GUARDED.iter().find(|(folder, _)| {
        let paths = [&absolute, &real].into_iter().flatten();
        paths
            .into_iter()
            .any(|path| homes.iter().any(|home| is_below(path, &home.join(folder))))
    });
    guarded.map(|(_, name)| *name)
}

/// Returns whether a path is a folder or below it. The disks of most Macs ignore case.
fn is_below(path: &Path, folder: &Path) -> bool {
    let mut parts = path.components();
    folder.components().all(|wanted| {
        parts
            .next()
            .is_some_and(|part| part.as_os_str().eq_ignore_ascii_case(wanted.as_os_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarded_folders_are_named() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        for folder in ["Documents/env/bin", "Developer"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("Developer/python"), "x").unwrap();
        let link = |from: &str, to: &str| std::os::unix::fs::symlink(at(from), at(to)).unwrap();
        link("Developer/python", "Documents/env/bin/python");
        link("Documents/env", "Developer/env");

        let check = |path: &str, expected: Option<&str>| {
            let path = Path::new(path);
            let path = home.path().join(path);
            assert_eq!(place(&path, Some(home.path())), expected, "{path:?}");
        };
        check("Developer/python", None);
        check("Documents/env/bin/python", Some("~/Documents"));
        check("Developer/env", Some("~/Documents"));
        check("documents/absent", Some("~/Documents"));
        check("Library/Mobile Documents/a", Some("iCloud Drive"));
        check("DocumentsOfMine/a", None);
        assert!(is_below(Path::new("/volumes/x/y"), Path::new("/Volumes")));
        assert_eq!(place(&at("Documents"), None), None);

        let paths = [
            ("the program", &*at("Developer")),
            ("x.trace", &*at("Desktop/x")),
        ];
        let said = guarded(&paths, Some(home.path())).unwrap();
        assert!(
            said.starts_with("x.trace is in ~/Desktop: macOS may"),
            "{said}"
        );
        assert_eq!(guarded(&paths[..1], Some(home.path())), None);
    }
}
