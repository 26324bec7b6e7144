//! Refuses paths outside the roots, the folders that the server may read and write in.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, ensure};
use metalens_trace::{PathKind, path_kind};

use crate::problem::ToolProblem;

/// The largest number of files that an input's folder may have.
const MOST_FILES: usize = 100_000;
/// Settings file that metalens reads in the folder that it starts in.
const SETTINGS: &str = "metalens.toml";
/// Endings of the files that metalens reads beside a recording.
const BESIDE: [&str; 2] = ["work.json", "recording.json"];

/// The roots, as paths without links.
#[derive(Debug)]
pub(crate) struct Roots {
    folders: Vec<PathBuf>,
}

impl Roots {
    /// Resolves the paths of the roots; without any, the current folder is the root.
    pub(crate) fn open(named: &[PathBuf]) -> anyhow::Result<Self> {
        let here = [PathBuf::from(".")];
        let named = if named.is_empty() { &here } else { named };
        let mut folders = Vec::new();
        for folder in named {
            let shown = folder.display();
            let real = folder
                .canonicalize()
                .with_context(|| format!("cannot open the root {shown}"))?;
            ensure!(real.is_dir(), "the root {shown} is not a folder");
            folders.push(real);
        }
        Ok(Self { folders })
    }

    /// Returns the folder that relative paths start from: the first root.
    pub(crate) fn first(&self) -> &Path {
        self.folders
            .first()
            .map_or(Path::new("."), PathBuf::as_path)
    }

    /// Returns the real path of an input. Refuses one outside the roots, and a folder with a link
    /// that leads outside.
    pub(crate) fn input(&self, named: &str) -> Result<PathBuf, ToolProblem> {
        let real = self.existing(&self.first().join(named), named)?;
        self.refuse_links_out(&real, named)?;
        // metalens also reads files beside a recording, and beside its archive.
        let mut bundle = real.clone();
        while bundle.extension().is_some() {
            bundle.set_extension("");
            for beside in BESIDE {
                let mut path = bundle.clone().into_os_string();
                path.push(".");
                path.push(beside);
                self.refuse_link_out(Path::new(&path), named)?;
            }
        }
        Ok(self.shortest(real))
    }

    /// Returns the paths of the recordings below the roots, in the order of their names. Follows no
    /// link, and looks at a limited number of files.
    pub(crate) fn recordings(&self) -> Vec<String> {
        let mut folders = self.folders.clone();
        let mut recordings = BTreeSet::new();
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            if is_recording(&folder) {
                recordings.insert(self.shortest(folder).display().to_string());
                continue;
            }
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                files += 1;
                if files > MOST_FILES {
                    return recordings.into_iter().collect();
                }
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(path),
                    Ok(kind) if kind.is_file() && is_archive(&path) => {
                        recordings.insert(self.shortest(path).display().to_string());
                    }
                    _ => {}
                }
            }
        }
        recordings.into_iter().collect()
    }

    /// Refuses settings that are a link to a place outside the roots. metalens finds them by itself,
    /// in the folder that it starts in.
    pub(crate) fn refuse_settings_outside(&self) -> Result<(), ToolProblem> {
        self.refuse_link_out(&self.first().join(SETTINGS), ".")
    }

    /// Returns the real path of a file or folder to write. Refuses one outside the roots, one that
    /// exists, and one in a recording, which metalens would no longer read.
    pub(crate) fn output(&self, named: &str) -> Result<PathBuf, ToolProblem> {
        let path = self.first().join(named);
        let (Some(Component::Normal(name)), Some(folder)) =
            (path.components().next_back(), path.parent())
        else {
            return Err(ToolProblem::new(format!("{named:?} does not name a file"))
                .hint("give the name of a file or folder that is to be written"));
        };
        let folder = self.existing(folder, named)?;
        let real = folder.join(name);
        // `exists` would return false for a broken link.
        if real.symlink_metadata().is_ok() {
            return Err(ToolProblem::new(format!(
                "{named:?} exists, and this server replaces nothing"
            ))
            .hint("write to another name"));
        }
        let mut folders = folder.ancestors().take_while(|folder| self.has(folder));
        if folders.any(is_recording) {
            return Err(ToolProblem::new(format!("{named:?} is inside a recording"))
                .hint("write to another folder"));
        }
        Ok(self.shortest(real))
    }

    /// Returns the real path of an existing file or folder below a root: an input, or the folder of
    /// an output.
    fn existing(&self, path: &Path, named: &str) -> Result<PathBuf, ToolProblem> {
        let is_absent = match path.canonicalize() {
            Ok(real) if self.has(&real) => return Ok(real),
            Ok(_) => false,
            // The error for a path outside the roots must not reveal whether the path exists.
            Err(_) => path
                .ancestors()
                .find_map(|ancestor| ancestor.canonicalize().ok())
                .is_some_and(|ancestor| self.has(&ancestor) && !climbs(path)),
        };
        Err(if is_absent {
            ToolProblem::new(format!("{named:?} does not exist below {}", self.shown()))
                .hint("check the path; a relative path starts from the first of these folders")
        } else {
            self.outside(named)
        })
    }

    fn outside(&self, named: &str) -> ToolProblem {
        ToolProblem::new(format!(
            "{named:?} is outside the folders that this server may use: {}",
            self.shown()
        ))
        .hint("use a path below them, or ask the user to start the server with --root DIR")
    }

    fn shown(&self) -> String {
        let folders = self.folders.iter();
        let folders: Vec<String> = folders.map(|folder| folder.display().to_string()).collect();
        folders.join(", ")
    }

    fn has(&self, real: &Path) -> bool {
        self.folders.iter().any(|folder| real.starts_with(folder))
    }

    /// Refuses a folder that contains a link to a place outside the roots.
    fn refuse_links_out(&self, real: &Path, named: &str) -> Result<(), ToolProblem> {
        let mut folders = vec![real.to_owned()];
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            // A file has no entries. metalens reports a folder that cannot be read.
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                files += 1;
                if files > MOST_FILES {
                    return Err(ToolProblem::new(format!(
                        "{named:?} has more than {MOST_FILES} files"
                    ))
                    .hint("name a recording, an export or a dataset, not the folder of many"));
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_symlink() => self.refuse_link_out(&entry.path(), named)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Refuses a link that leads outside the roots.
    fn refuse_link_out(&self, link: &Path, named: &str) -> Result<(), ToolProblem> {
        let is_link = link.is_symlink();
        let leads_out = || link.canonicalize().is_ok_and(|target| !self.has(&target));
        if is_link && leads_out() {
            let name = link.file_name().unwrap_or_default().to_string_lossy();
            return Err(ToolProblem::new(format!(
                "{named:?} has the link {name:?}, which leads outside the folders that this server \
                 may use"
            ))
            .hint("remove the link, or copy the file that it leads to"));
        }
        Ok(())
    }

    /// Returns the path relative to the first root if possible, so that messages do not name the
    /// folders above it.
    fn shortest(&self, real: PathBuf) -> PathBuf {
        match real.strip_prefix(self.first()) {
            // A name that begins with a hyphen must not be an option.
            Ok(inside) => Path::new(".").join(inside),
            Err(_) => real,
        }
    }
}

/// Returns whether a folder is a recording, or has the name of one.
fn is_recording(folder: &Path) -> bool {
    matches!(path_kind(folder), Ok(PathKind::Bundle | PathKind::Export))
}

/// Returns whether a file is the archive of a recording.
fn is_archive(file: &Path) -> bool {
    let is_zip = file.extension().is_some_and(|ending| ending == "zip");
    is_zip && matches!(path_kind(file), Ok(PathKind::Archive))
}

/// Returns whether a path has a part that leads up.
fn climbs(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::Roots;

    /// ```text
    /// outside/secret.trace        inside/run.trace  inside/other/
    /// inside/link.trace -> outside/secret.trace     inside/folder.trace/data -> outside/secret.trace
    /// inside/up -> outside        inside/fine.trace -> inside/run.trace
    /// ```
    fn folders() -> (tempfile::TempDir, Roots) {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        for folder in ["inside/other", "inside/folder.trace", "outside"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in [
            "inside/run.trace",
            "inside/-run.trace",
            "outside/secret.trace",
        ] {
            fs::write(at(file), "").unwrap();
        }
        let secret = at("outside/secret.trace");
        symlink(&secret, at("inside/link.trace")).unwrap();
        symlink(&secret, at("inside/folder.trace/data")).unwrap();
        symlink(at("outside"), at("inside/up")).unwrap();
        symlink(at("inside/run.trace"), at("inside/fine.trace")).unwrap();
        for (recording, beside) in [
            ("worked.trace", "worked.work.json"),
            ("made.trace", "made.recording.json"),
            ("packed.trace.zip", "packed.recording.json"),
        ] {
            fs::write(at("inside").join(recording), "").unwrap();
            symlink(&secret, at("inside").join(beside)).unwrap();
        }
        fs::create_dir_all(at("inside/export/deep")).unwrap();
        fs::write(at("inside/export/toc.xml"), "").unwrap();
        let roots = Roots::open(&[at("inside")]).unwrap();
        (all, roots)
    }

    #[test]
    fn inputs_are_below_the_roots() {
        let (all, roots) = folders();
        let absolute = |name: &str| all.path().join(name).display().to_string();
        let check = |named: &str, expected: &str| {
            let found = match roots.input(named) {
                Ok(path) => path.display().to_string(),
                Err(problem) => problem.to_string(),
            };
            assert!(found.contains(expected), "{named}: {found}");
        };

        check("run.trace", "./run.trace");
        check("-run.trace", "./-run.trace");
        check("other/../run.trace", "./run.trace");
        check("fine.trace", "./run.trace");
        check(&absolute("inside/run.trace"), "./run.trace");
        check("absent.trace", "does not exist below");
        check("other/absent.trace", "does not exist below");
        let outside = "is outside the folders that this server may use";
        check("../outside/secret.trace", outside);
        check("../outside/absent.trace", outside);
        check("other/../../outside/absent.trace", outside);
        check(&absolute("outside/secret.trace"), outside);
        check(&absolute("outside/absent.trace"), outside);
        check("link.trace", outside);
        check("up/secret.trace", outside);
        check("up/absent.trace", outside);
        check("/etc/passwd", outside);
        check("s3://bucket/fleet", "does not exist below");
        check("-", "does not exist below");
        check("folder.trace", "has the link \"data\", which leads outside");
        check(
            "worked.trace",
            "has the link \"worked.work.json\", which leads",
        );
        check("made.trace", "has the link \"made.recording.json\", which");
        check(
            "packed.trace.zip",
            "the link \"packed.recording.json\", which",
        );
    }

    #[test]
    fn outputs_are_below_the_roots() {
        let (all, roots) = folders();
        let check = |named: &str, expected: &str| {
            let found = match roots.output(named) {
                Ok(path) => path.display().to_string(),
                Err(problem) => problem.to_string(),
            };
            assert!(found.contains(expected), "{named}: {found}");
        };

        check("new.trace", "./new.trace");
        check("other/new.trace", "./other/new.trace");
        check("absent/new.trace", "does not exist below");
        check("link.trace", "exists, and this server replaces nothing");
        check("run.trace", "exists, and this server replaces nothing");
        check("other", "exists, and this server replaces nothing");
        for inside in ["folder.trace/new", "export/new", "export/deep/new"] {
            check(inside, "is inside a recording");
        }
        check("up/new.trace", "is outside");
        check("../new.trace", "is outside");
        check("..", "does not name a file");
        check(
            &all.path().join("outside/new").display().to_string(),
            "is outside",
        );
    }

    /// A link leads to no recording.
    #[test]
    fn recordings_below_the_roots_are_listed() {
        let (_all, roots) = folders();
        assert_eq!(
            roots.recordings(),
            ["./export", "./folder.trace", "./packed.trace.zip"]
        );
    }

    /// Settings are an input at each call: a link may appear while the server runs.
    #[test]
    fn settings_are_below_the_roots() {
        let (all, roots) = folders();
        let check = |target: &str, is_refused: bool| {
            let settings = all.path().join("inside/metalens.toml");
            let _ = fs::remove_file(&settings);
            symlink(all.path().join(target), &settings).unwrap();
            let found = roots.refuse_settings_outside();
            assert_eq!(found.is_err(), is_refused, "{target}: {found:?}");
        };

        assert!(roots.refuse_settings_outside().is_ok());
        check("inside/run.trace", false);
        check("outside/secret.trace", true);
        check("outside/absent", false);
    }
}
