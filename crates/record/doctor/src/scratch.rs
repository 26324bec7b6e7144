//! Finds the scratch files that Instruments leaves in temporary folders. Five projects reported
//! them, of up to 240 MB per second of recording; none says that macOS removes them soon.

use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::command::{CommandOutput, CommandRunner};

/// A scratch file or folder of Instruments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScratchFile {
    /// Path of the file or folder.
    pub path: PathBuf,
    /// Size of the file or folder, in bytes.
    pub bytes: u64,
    /// User ID of the owner.
    pub owner: u32,
}

/// Whether a process has a file open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenState {
    /// No process has the file open.
    Closed,
    /// These processes have the file open.
    Open(String),
    /// It is unknown, for this reason.
    Unknown(String),
}

/// Returns the temporary folders to which Instruments may write: the user's own, and that of
/// `TMPDIR`, which Instruments was seen to ignore.
pub fn temporary_folders(runner: &dyn CommandRunner, tmpdir: Option<&Path>) -> Vec<PathBuf> {
    let of_user = match runner.run("/usr/bin/getconf", &["DARWIN_USER_TEMP_DIR"]) {
        CommandOutput::Exited {
            code: Some(0), out, ..
        } => Some(PathBuf::from(out.trim())),
        _ => None,
    };
    let named = tmpdir.map(Path::to_owned).into_iter().chain(of_user);
    let real = named.filter_map(|folder| fs::canonicalize(folder).ok());
    let mut folders: Vec<PathBuf> = real.filter(|folder| folder.is_dir()).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Returns the scratch files in these folders, sorted by path.
pub fn scratch_files(folders: &[PathBuf]) -> Vec<ScratchFile> {
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let mut files: Vec<ScratchFile> = entries.filter_map(|entry| scratch_file(&entry)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Returns an entry of a folder if Instruments named it.
fn scratch_file(entry: &DirEntry) -> Option<ScratchFile> {
    let name = entry.file_name().into_string().ok()?;
    let is_trace = name.starts_with("instruments") && name.ends_with(".ktrace");
    if !is_trace && !name.starts_with("xrgpu_aps_") {
        return None;
    }
    // This does not follow a link, which is nothing that Instruments makes.
    let facts = entry.metadata().ok()?;
    let bytes = if facts.is_dir() {
        metalens_files::path_size(&entry.path())
    } else if facts.is_file() {
        facts.len()
    } else {
        return None;
    };
    Some(ScratchFile {
        path: entry.path(),
        bytes,
        owner: facts.uid(),
    })
}

impl ScratchFile {
    /// Returns whether a process has this file, or a file in this folder, open.
    pub fn open_state(&self, runner: &dyn CommandRunner) -> OpenState {
        let path = self.path.to_string_lossy();
        let below = if self.path.is_dir() { "+D" } else { "--" };
        let arguments = ["-w", "-t", below, &path];
        let answer = match runner.run("/usr/sbin/lsof", &arguments) {
            CommandOutput::Failed(_) => runner.run("lsof", &arguments),
            answer => answer,
        };
        match &answer {
            CommandOutput::Exited { out, .. } if !out.trim().is_empty() => {
                OpenState::Open(out.split_whitespace().collect::<Vec<_>>().join(", "))
            }
            // lsof says nothing, and ends with 1, if it finds no process.
            CommandOutput::Exited {
                code: Some(1), err, ..
            } if err.trim().is_empty() => OpenState::Closed,
            other => OpenState::Unknown(other.summary()),
        }
    }
}

/// Returns the command that removes these files.
pub fn removal(files: &[ScratchFile]) -> String {
    let paths = files
        .iter()
        .map(|file| format!("'{}'", file.path.to_string_lossy().replace('\'', r"'\''")));
    format!("rm -r {}", paths.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of `lsof` and `getconf`.
    struct Answers(CommandOutput, PathBuf);

    impl CommandRunner for Answers {
        fn run(&self, program: &str, _: &[&str]) -> CommandOutput {
            if program.ends_with("getconf") {
                return exited(0, &format!("{}/\n", self.1.display()), "");
            }
            self.0.clone()
        }
    }

    fn exited(code: i32, out: &str, err: &str) -> CommandOutput {
        CommandOutput::Exited {
            code: Some(code),
            out: out.to_owned(),
            err: err.to_owned(),
        }
    }

    #[test]
    fn scratch_files_are_found_in_each_folder_once() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("it's");
        fs::create_dir_all(folder.join("xrgpu_aps_1")).unwrap();
        fs::write(folder.join("xrgpu_aps_1/a"), [0; 7]).unwrap();
        fs::write(folder.join("instruments12.ktrace"), [0; 5]).unwrap();
        for other in ["instruments.txt", "my.ktrace"] {
            fs::write(folder.join(other), "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc", folder.join("instruments3.ktrace")).unwrap();

        let runner = Answers(exited(1, "", ""), folder.clone());
        let folders = temporary_folders(&runner, Some(&folder.join("../it's")));
        assert_eq!(folders.len(), 1);
        let files = scratch_files(&folders);
        let found: Vec<_> = files
            .iter()
            .map(|file| (file.path.file_name().unwrap().to_str().unwrap(), file.bytes))
            .collect();
        assert_eq!(found, [("instruments12.ktrace", 5), ("xrgpu_aps_1", 7)]);
        assert!(removal(&files).contains(r"it'\''s/instruments12.ktrace' '"));
    }

    #[test]
    fn only_a_silent_lsof_says_that_a_file_is_closed() {
        let check = |answer: CommandOutput, expected: &OpenState| {
            let file = ScratchFile {
                path: "/x".into(),
                bytes: 0,
                owner: 0,
            };
            assert_eq!(&file.open_state(&Answers(answer, "/".into())), expected);
        };
        let unknown = |why: &str| OpenState::Unknown(why.to_owned());
        check(exited(1, "", ""), &OpenState::Closed);
        let open = OpenState::Open("812, 9".to_owned());
        check(exited(0, "812\n9\n", ""), &open);
        check(exited(1, "812\n9\n", ""), &open);
        check(exited(1, "", "lsof: denied\n"), &unknown("lsof: denied"));
        check(exited(0, "", ""), &unknown("no output, exit code 0"));
        check(
            CommandOutput::Failed("absent".to_owned()),
            &unknown("absent"),
        );
    }
}
