//! The program that is to be started: where it is, and whether it can be traced.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProgram {
    /// Its absolute path. Links are kept: a Python knows its environment by the
    /// name it is called by.
    pub path: PathBuf,
    /// Why it may not be traceable, and what to do.
    pub doubt: Option<String>,
}

/// Finds a program as a shell would.
///
/// # Errors
///
/// If there is none, or it cannot be run.
pub fn resolve(program: &OsStr, path: Option<&OsStr>, folder: &Path) -> Result<FoundProgram> {
    let name = Path::new(program);
    let found = match name.components().count() > 1 || name.is_absolute() {
        true => Some(folder.join(name)),
        false => searched(name, path, folder),
    };
    let shown = name.display();
    let Some(found) = found else {
        return Err(Error::Program(format!("{shown} was not found in PATH")));
    };
    match fs::metadata(&found) {
        Err(cause) => Err(Error::Program(format!(
            "{shown} cannot be started: {cause}"
        ))),
        Ok(facts) if !facts.is_file() => Err(Error::Program(format!(
            "{shown} cannot be started: it is no file"
        ))),
        Ok(facts) if !is_executable(&facts) => Err(Error::Program(format!(
            "{shown} cannot be started: it is not executable (chmod +x)"
        ))),
        Ok(_) => Ok(FoundProgram {
            doubt: doubt(&found),
            path: found,
        }),
    }
}

fn searched(name: &Path, path: Option<&OsStr>, folder: &Path) -> Option<PathBuf> {
    let folders = std::env::split_paths(path?);
    let candidates = folders.map(|one| folder.join(one).join(name));
    let is_program = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|facts| facts.is_file() && is_executable(&facts))
    };
    candidates.into_iter().find(is_program)
}

#[cfg(unix)]
fn is_executable(facts: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    facts.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

/// Where the system's own programs are, which it lets nobody trace.
const PROTECTED: [&str; 4] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

/// Only what is certain to be in the way is told.
fn doubt(program: &Path) -> Option<String> {
    let shown = program.display();
    let is_protected = |path: &Path| {
        PROTECTED
            .iter()
            .any(|one| path.parent() == Some(Path::new(one)))
    };
    if is_protected(program) {
        return Some(format!(
            "{shown} is a part of macOS, which lets nobody trace its own programs: use one of your own \
             (a Python of a venv, Homebrew or pyenv)"
        ));
    }
    let interpreter = interpreter(program)?;
    let interpreter = Path::new(&interpreter);
    is_protected(interpreter).then(|| {
        format!(
            "{shown} is a script for {}, which macOS lets nobody trace: give the program that it runs \
             (for a shim of pyenv: `$(pyenv which python)`)",
            interpreter.display()
        )
    })
}

/// What a script names in its first line.
fn interpreter(program: &Path) -> Option<OsString> {
    let mut start = Vec::new();
    fs::File::open(program)
        .ok()?
        .take(256)
        .read_to_end(&mut start)
        .ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|&byte| byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line);
    Some(line.split_whitespace().next()?.into())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &Path, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn as_a_shell_finds_them() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        program(root, "a/bench", 0o644, "not this one");
        let bench = program(root, "b/bench", 0o755, "\u{7f}ELF");
        program(root, "c/bench", 0o755, "nor this one");
        std::os::unix::fs::symlink(&bench, root.join("python")).unwrap();
        let path = std::env::join_paths([root.join("a"), "b".into(), root.join("c")]).unwrap();
        let check = |name: &str, expected: std::result::Result<&Path, &str>| {
            let found = resolve(OsStr::new(name), Some(&path), root);
            let found = found.map(|one| one.path).map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{name}");
        };
        check("bench", Ok(&bench));
        check("./b/bench", Ok(&root.join("./b/bench")));
        check(bench.to_str().unwrap(), Ok(&bench));
        check("./python", Ok(&root.join("./python")));
        check("bnech", Err("bnech was not found in PATH"));
        check(
            "./a/bench",
            Err("./a/bench cannot be started: it is not executable (chmod +x)"),
        );
        check("./a", Err("./a cannot be started: it is no file"));
        let absent = "./x cannot be started: No such file or directory (os error 2)";
        check("./x", Err(absent));
    }

    #[test]
    fn what_the_system_protects() {
        let root = tempfile::tempdir().unwrap();
        let doubted = |text: &str| {
            let path = program(root.path(), "it", 0o755, text);
            resolve(path.as_os_str(), None, root.path())
                .unwrap()
                .doubt
                .is_some()
        };
        assert!(!doubted("\u{7f}ELF"));
        assert!(doubted("#!/usr/bin/env bash\nexec python\n"));
        assert!(doubted("#! /bin/sh"));
        assert!(!doubted("#!/opt/homebrew/bin/python3\n"));
        let shell = resolve(OsStr::new("/bin/sh"), None, root.path()).unwrap();
        assert!(shell.doubt.unwrap().contains("a part of macOS"));
    }
}
