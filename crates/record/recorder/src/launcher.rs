//! Decides with which words a program is started, so that the variables of the probe reach it. macOS takes
//! them from its own programs and from what these start, so that a command begins with none of them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use metalens_failure::shell::quoted;
use metalens_xctrace::is_part_of_macos;

/// Programs of macOS that start the program in their arguments.
const LAUNCHERS: [&str; 6] = ["arch", "caffeinate", "env", "nice", "nohup", "time"];
const SHELLS: [&str; 4] = ["bash", "dash", "sh", "zsh"];

/// Finds the program that a word names, as a shell does: its path, and the words of the first line of a script.
pub(crate) type Find<'a> = &'a dyn Fn(&OsStr) -> Option<(PathBuf, Vec<OsString>)>;

/// A program of macOS that would lose the probe's variables.
pub(crate) struct Refused {
    by: PathBuf,
    /// Options and words for a shell that start the program without it, if they are known.
    instead: Option<String>,
}

impl Refused {
    /// Returns the reason, with the way out.
    pub(crate) fn message(&self) -> String {
        let instead = self.instead.as_deref().unwrap_or("-- python3 SCRIPT");
        format!(
            "macOS loads no library into {}, which is part of macOS, and takes the probe's variables from \
             what it starts: start your own program without it, as in `{instead}` (the Pythons of Homebrew, \
             conda and uv are not part of macOS)",
            self.by.display()
        )
    }
}

/// Returns the words that start a program so that the variables reach it: a script for `/usr/bin/env X` is
/// started by X.
pub(crate) fn direct(command: &[OsString], find: Find<'_>) -> Result<Vec<OsString>, Refused> {
    let mut command = command.to_vec();
    // A script that names itself as its interpreter has no end.
    for _ in 0..4 {
        let found = command.split_first_mut();
        let found = found.and_then(|(program, rest)| Some((find(program)?, program, rest)));
        let Some(((path, line), program, arguments)) = found else {
            break;
        };
        if is_part_of_macos(&path) {
            let instead = without(&path, arguments, find);
            return Err(Refused { by: path, instead });
        }
        *program = path.clone().into();
        let Some(by) = line.first().map(PathBuf::from) else {
            break;
        };
        if !is_part_of_macos(&by) {
            break;
        }
        // What a shim starts is a script for a shell of macOS, too.
        if path
            .parent()
            .is_some_and(|folder| folder.ends_with("shims"))
        {
            let instead = of_shim(&path, arguments);
            return Err(Refused { by, instead });
        }
        command = [after_env(&line).unwrap_or(&line), &command].concat();
    }
    Ok(command)
}

/// Returns what `/usr/bin/env` starts for a script, if the script wants nothing else of it.
fn after_env(line: &[OsString]) -> Option<&[OsString]> {
    let (env, words) = line.split_first()?;
    let words = words.strip_prefix(&[OsString::from("-S")]).unwrap_or(words);
    let first = words.first()?;
    (Path::new(env).ends_with("env") && !is_option(first) && !is_setting(first)).then_some(words)
}

/// Returns options and words that start what a program of macOS would start.
fn without(launcher: &Path, arguments: &[OsString], find: Find<'_>) -> Option<String> {
    let name = launcher.file_name()?.to_str()?;
    if name == "python3" {
        // It starts the one of Xcode.
        return Some(format!("-- \"$(xcrun -f python3)\"{}", in_shell(arguments)));
    }
    let (before, started) = match arguments {
        [option, text] if SHELLS.contains(&name) && option == "-c" => {
            let words = text.to_str()?.split_whitespace().map(OsString::from);
            let words: Vec<OsString> = words.collect();
            // What a shell reads in another way needs the shell.
            let is_plain = |word: &OsString| quoted(word) == word.as_encoded_bytes();
            (
                &[][..],
                Some(words).filter(|words| words.iter().all(is_plain))?,
            )
        }
        _ if LAUNCHERS.contains(&name) => {
            let is_program = |word: &OsString| !is_option(word) && find(word).is_some();
            let (before, started) = arguments.split_at(arguments.iter().position(is_program)?);
            (before, started.to_vec())
        }
        _ => return None,
    };
    let settings = before
        .iter()
        .filter(|word| name == "env" && is_setting(word));
    let settings = settings.map(|word| format!("--env{} ", in_shell(std::slice::from_ref(word))));
    let command = match direct(&started, find) {
        Ok(_) => format!("--{}", in_shell(&started)),
        Err(refused) => refused.instead?,
    };
    Some(settings.chain([command]).collect())
}

/// Returns the words for a program for which a version manager has a shim.
fn of_shim(shim: &Path, arguments: &[OsString]) -> Option<String> {
    let folders: Vec<&str> = shim.iter().filter_map(OsStr::to_str).collect();
    let mut managers = ["pyenv", "asdf"].into_iter();
    let manager = managers.find(|name| {
        folders
            .iter()
            .any(|folder| folder.trim_matches('.') == *name)
    })?;
    let name = in_shell(&[shim.file_name()?.to_owned()]);
    Some(format!(
        "-- \"$({manager} which{name})\"{}",
        in_shell(arguments)
    ))
}

fn is_option(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

fn is_setting(word: &OsStr) -> bool {
    word.as_encoded_bytes().contains(&b'=')
}

/// Returns words for a shell, each after a space.
fn in_shell(words: &[OsString]) -> String {
    let words = words.iter().map(|word| quoted(word));
    words
        .map(|word| format!(" {}", String::from_utf8_lossy(&word)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs: word, path, words of the first line.
    const PROGRAMS: [&str; 14] = [
        "./app     /here/app",
        "python3   /opt/homebrew/bin/python3",
        "uv        /opt/homebrew/bin/uv",
        "bash      /bin/bash",
        "env       /usr/bin/env",
        "python    /Users/me/.pyenv/shims/python   /usr/bin/env bash",
        "torchrun  /Users/me/.asdf/shims/torchrun  /bin/sh",
        "./venv.py /here/venv.py                   /here/.venv/bin/python",
        "./own.py  /here/own.py                    /usr/bin/env python3 -u",
        "./uv.py   /here/uv.py                     /usr/bin/env -S uv run",
        "./set.py  /here/set.py                    /usr/bin/env -i A=1 python3",
        "./mac.py  /here/mac.py                    /usr/bin/python3",
        "./run     /here/run                       /usr/bin/env bash",
        "./again   /here/again                     /usr/bin/env ./again",
    ];

    /// Commands, and the words that start them; or the program of macOS that is in the way, and what is said to
    /// start them.
    const CASES: [(&str, &str); 22] = [
        ("./app|-n|7", "/here/app|-n|7"),
        ("absent|x", "absent|x"),
        ("./venv.py|x", "/here/venv.py|x"),
        ("./own.py|x", "/opt/homebrew/bin/python3|-u|/here/own.py|x"),
        ("./uv.py", "/opt/homebrew/bin/uv|run|/here/uv.py"),
        ("env|python3|a b.py", "/usr/bin/env! -- python3 'a b.py'"),
        (
            "env|-u|A|B=1 2|./app",
            "/usr/bin/env! --env 'B=1 2' -- ./app",
        ),
        (
            "env|B=1|/usr/bin/nice|-n|5|./app",
            "/usr/bin/env! --env B=1 -- ./app",
        ),
        (
            "env|python|x",
            "/usr/bin/env! -- \"$(pyenv which python)\" x",
        ),
        ("env|absent", "/usr/bin/env! none"),
        (
            "./set.py|x",
            "/usr/bin/env! --env A=1 -- python3 /here/set.py x",
        ),
        ("/usr/bin/time|-l|./app|7", "/usr/bin/time! -- ./app 7"),
        ("/bin/sh|-c|./app  7", "/bin/sh! -- ./app 7"),
        ("/bin/sh|-c|./app > log", "/bin/sh! none"),
        ("/bin/sh|./app", "/bin/sh! none"),
        ("./run|./app", "/bin/bash! none"),
        (
            "/usr/bin/python3|x.py",
            "/usr/bin/python3! -- \"$(xcrun -f python3)\" x.py",
        ),
        (
            "./mac.py|x",
            "/usr/bin/python3! -- \"$(xcrun -f python3)\" /here/mac.py x",
        ),
        (
            "python|x.py",
            "/usr/bin/env! -- \"$(pyenv which python)\" x.py",
        ),
        (
            "torchrun|x.py",
            "/bin/sh! -- \"$(asdf which torchrun)\" x.py",
        ),
        ("/System/Library/x", "/System/Library/x! none"),
        ("/System/Volumes/Data/x", "/System/Volumes/Data/x"),
    ];

    fn find(word: &OsStr) -> Option<(PathBuf, Vec<OsString>)> {
        let word = word.to_str()?;
        let mut programs = PROGRAMS.iter().map(|line| line.split_whitespace());
        let known = programs.find(|words| words.clone().take(2).any(|name| name == word));
        let mut known = known.map(|words| words.skip(1).map(OsString::from));
        match &mut known {
            Some(words) => Some((words.next()?.into(), words.collect())),
            None => word.starts_with('/').then(|| (word.into(), vec![])),
        }
    }

    #[test]
    fn programs_start_without_those_of_macos_or_not_at_all() {
        let words = |text: &str| text.split('|').map(OsString::from).collect::<Vec<_>>();
        for (command, expected) in CASES {
            let found = match direct(&words(command), &find) {
                Ok(words) => words.join(OsStr::new("|")).into_string().unwrap(),
                Err(Refused { by, instead }) => {
                    let instead = instead.as_deref().unwrap_or("none");
                    format!("{}! {instead}", by.display())
                }
            };
            assert_eq!(found, expected, "{command}");
        }
        // A script that names itself ends, too.
        assert!(direct(&words("./again"), &find).is_ok());
    }
}
