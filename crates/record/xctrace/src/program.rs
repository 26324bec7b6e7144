//! Finds the program to record, and checks whether macOS allows tracing it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use metalens_failure::shell;

use crate::error::{Error, Result};

/// A program that exists and can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProgram {
    /// Absolute path of the program. Links are kept: a Python finds its environment by the path
    /// of its executable.
    pub path: PathBuf,
    /// Words of the first line of a script, from its interpreter on; none for other programs.
    pub first_line: Vec<OsString>,
    /// Reason why its recording may not have its work, with advice; None if there is none.
    pub doubt: Option<String>,
}

impl FoundProgram {
    /// Returns the interpreter that a script names in its first line; `None` for other programs.
    pub fn interpreter(&self) -> Option<&Path> {
        self.first_line.first().map(Path::new)
    }
}

/// Finds a program as a shell would.
///
/// # Errors
///
/// Fails if the program does not exist or cannot be started.
pub fn resolve(program: &OsStr, path: Option<&OsStr>, folder: &Path) -> Result<FoundProgram> {
    let name = Path::new(program);
    let has_folder = program.as_encoded_bytes().contains(&b'/');
    let file = if has_folder {
        Some(folder.join(name))
    } else {
        search_path(name, path, folder)
    };

    let shown = name.display();
    let Some(file) = file else {
        return Err(Error::NoProgram {
            what: format!("{shown} was not found in PATH"),
            advice: file_here(name, folder).or_else(|| separate_words(name, path, folder)),
        });
    };

    let file = in_application(&file).unwrap_or(file);
    match fs::metadata(&file) {
        Err(cause) => {
            let what = format!("{shown} cannot be started: {cause}");
            Err(match separate_words(name, path, folder) {
                None => Error::Program(what),
                advice => Error::NoProgram { what, advice },
            })
        }
        Ok(facts) if facts.is_dir() => Err(Error::Program(format!(
            "{shown} cannot be started: it is a folder"
        ))),
        Ok(facts) if !facts.is_file() => Err(Error::Program(format!(
            "{shown} cannot be started: it is not a file"
        ))),
        Ok(facts) if !is_executable(&facts) => Err(Error::Program(format!(
            "{shown} cannot be started: it is not executable ({})",
            match runner(name) {
                Some(runner) => format!("run {runner} {}", shell::quoted_path(name)),
                None => "chmod +x".to_owned(),
            }
        ))),
        Ok(_) => {
            let mut found = FoundProgram {
                first_line: first_line(&file),
                path: file,
                doubt: None,
            };
            found.doubt = doubt(&found);
            Ok(found)
        }
    }
}

/// Returns how to start a file of this folder that was named like a program in `PATH`.
fn file_here(name: &Path, folder: &Path) -> Option<String> {
    let facts = fs::metadata(folder.join(name)).ok()?;
    let shown = shell::quoted_path(name);
    if facts.is_dir() {
        return Some(format!("{shown} here is a folder: give a program"));
    }
    let is_executable = is_executable(&facts);
    let run = match runner(name) {
        Some(runner) if is_executable => format!("run ./{shown} or {runner} {shown}"),
        Some(runner) => format!("run {runner} {shown}"),
        None if is_executable => format!("run ./{shown}"),
        None => format!("make it executable with chmod +x {shown}, then run ./{shown}"),
    };
    Some(format!("the file is in this folder: {run}"))
}

/// Returns advice on a program and its arguments in one word.
fn separate_words(name: &Path, path: Option<&OsStr>, folder: &Path) -> Option<String> {
    let text = name.to_str()?;
    let first = text.split_whitespace().next()?;
    let is_program = || resolve(OsStr::new(first), path, folder).is_ok();
    let is_command = first != text && (folder.join(first).is_file() || is_program());
    is_command.then(|| {
        format!("the program and its arguments are separate words: remove the quotes, as in {text}")
    })
}

/// Returns the program that runs a script, by the ending of its name.
fn runner(script: &Path) -> Option<&'static str> {
    match script.extension()?.to_str()? {
        "py" => Some("python3"),
        "sh" => Some("sh"),
        _ => None,
    }
}

/// Returns the program of an application (`X.app`), as its `Info.plist` names it.
fn in_application(folder: &Path) -> Option<PathBuf> {
    if folder.extension()? != "app" || !folder.is_dir() {
        return None;
    }
    let facts = plist::Value::from_file(folder.join("Contents/Info.plist")).ok()?;
    let name = facts.as_dictionary()?.get("CFBundleExecutable")?;
    // Only a name: a path could lead out of the application.
    let name = Path::new(name.as_string()?).file_name()?;
    Some(folder.join("Contents/MacOS").join(name))
}

fn search_path(name: &Path, path: Option<&OsStr>, folder: &Path) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .map(|entry| folder.join(entry).join(name))
        .find(|path| fs::metadata(path).is_ok_and(|facts| facts.is_file() && is_executable(&facts)))
}

fn is_executable(facts: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    facts.permissions().mode() & 0o111 != 0
}

/// Folders of the programs of macOS, which cannot be debugged. Recordings through `env` and shells
/// were made nevertheless: Metal System Trace looks at the whole system.
const PROTECTED: [&str; 8] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/libexec",
    // `/System/Volumes/Data` has the files of the user.
    "/System/Applications",
    "/System/Cryptexes",
    "/System/Library",
];

/// Returns the reason why the recording of a program may fail, or be that of another one.
fn doubt(program: &FoundProgram) -> Option<String> {
    let shown = program.path.display();
    if is_part_of_macos(&program.path) {
        return Some(format!(
            "{shown} is a part of macOS: macOS may refuse to trace it, and if it starts another program, \
            that one has the GPU work. Give your own program instead (such as the Python of a venv, \
            Homebrew or pyenv), or record with --all-processes"
        ));
    }
    let interpreter = program.interpreter()?;
    is_part_of_macos(interpreter).then(|| {
        format!(
            "{shown} is a script for {}, a part of macOS: unless the script ends with exec, the program \
            that it starts has the GPU work. Give that program instead (for a shim of pyenv: \
            `$(pyenv which python)`), or record with --all-processes",
            interpreter.display()
        )
    })
}

/// Returns whether the path of a program is that of one that macOS protects.
pub fn is_part_of_macos(program: &Path) -> bool {
    PROTECTED.iter().any(|folder| program.starts_with(folder))
}

/// Returns the words of the first line of a script, from its interpreter on; none for other programs.
fn first_line(program: &Path) -> Vec<OsString> {
    let mut start = Vec::new();
    let opened = fs::File::open(program);
    let read = opened.and_then(|file| file.take(256).read_to_end(&mut start));
    let line = start.strip_prefix(b"#!").filter(|_| read.is_ok());
    let line = line.and_then(|text| text.split(|&byte| byte == b'\n').next());
    let line = String::from_utf8_lossy(line.unwrap_or_default());
    line.split_whitespace().map(OsString::from).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use metalens_failure::Failure;

    use super::*;

    fn program(folder: &Path, name: &str, mode: u32, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn programs_are_found_as_a_shell_does() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        program(root, "a/bench", 0o644, "not this one");
        let bench = program(root, "b/bench", 0o755, "\u{7f}ELF");
        program(root, "c/bench", 0o755, "nor this one");
        std::os::unix::fs::symlink(&bench, root.join("python")).unwrap();
        let path = std::env::join_paths([root.join("a"), "b".into(), root.join("c")]).unwrap();
        let check = |name: &str, expected: std::result::Result<&Path, &str>| {
            let found = resolve(OsStr::new(name), Some(&path), root);
            let found = found
                .map(|found| found.path)
                .map_err(|error| error.to_string());
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
        check("./a", Err("./a cannot be started: it is a folder"));
        check("./", Err("./ cannot be started: it is a folder"));
        let script = "./a/run.py cannot be started: it is not executable (run python3 ./a/run.py)";
        program(root, "a/run.py", 0o644, "print()");
        check("./a/run.py", Err(script));
        let absent = "./x cannot be started: No such file or directory (os error 2)";
        check("./x", Err(absent));
    }

    /// The hint has the command that a newcomer may have meant, to copy.
    #[test]
    fn a_program_that_is_not_found_has_advice() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        program(root, "b/python3", 0o755, "\u{7f}ELF");
        program(root, "tool", 0o755, "\u{7f}ELF");
        program(root, "data", 0o644, "x");
        program(root, "own.py", 0o755, "#!/usr/bin/env python3\n");
        program(root, "other.py", 0o644, "print()");
        program(root, "my run.py", 0o644, "print()");
        let path = root.join("b");
        let check = |name: &str, expected: Option<&str>| {
            let found = resolve(OsStr::new(name), Some(path.as_os_str()), root);
            let error = found.unwrap_err();
            assert_eq!(error.to_string(), format!("{name} was not found in PATH"));
            assert_eq!(error.hint().as_deref(), expected, "{name}");
        };

        check("nothing", None);
        check("nothing at all", None);
        check("tool", Some("the file is in this folder: run ./tool"));
        check(
            "data",
            Some(
                "the file is in this folder: make it executable with chmod +x data, then run ./data",
            ),
        );
        check(
            "own.py",
            Some("the file is in this folder: run ./own.py or python3 own.py"),
        );
        check(
            "other.py",
            Some("the file is in this folder: run python3 other.py"),
        );
        check(
            "my run.py",
            Some("the file is in this folder: run python3 'my run.py'"),
        );
        check("b", Some("b here is a folder: give a program"));
        let words = "the program and its arguments are separate words: remove the quotes, as in";
        for command in ["python3 bench.py", "./tool --fast", "./other.py 3"] {
            let found = resolve(OsStr::new(command), Some(path.as_os_str()), root);
            let hint = found.unwrap_err().hint();
            assert_eq!(hint, Some(format!("{words} {command}")));
        }
    }

    #[test]
    fn an_application_stands_for_its_program() {
        let root = tempfile::tempdir().unwrap();
        let app = root.path().join("My Bench.app");
        let bench = program(&app, "Contents/MacOS/bench", 0o755, "x");
        let check = |info: &str, expected: Option<&Path>| {
            fs::write(app.join("Contents/Info.plist"), info).unwrap();
            let found = resolve(OsStr::new("./My Bench.app"), None, root.path());
            let found = found.ok().map(|found| found.path);
            let normal = found.map(|path| path.canonicalize().unwrap());
            let expected = expected.map(|path| path.canonicalize().unwrap());
            assert_eq!(normal, expected, "{info}");
        };

        let info = |name: &str| {
            format!(
                "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>CFBundleExecutable</key>\
                 <string>{name}</string></dict></plist>"
            )
        };
        check(&info("bench"), Some(&bench));
        check(&info("../../bench"), Some(&bench));
        check(&info("absent"), None);
        check("nothing", None);
    }

    #[test]
    fn protected_programs_are_doubted() {
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
