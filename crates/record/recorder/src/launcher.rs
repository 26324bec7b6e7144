//! Decides with which words a program is started, so that the variables of the probe reach it. macOS takes
//! them from its own programs and from what these start, so that a command begins with none of them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use metalens_failure::shell;
use metalens_xctrace::is_part_of_macos;

/// Longest chain of scripts that name each other as their interpreters.
const CHAIN: usize = 4;
/// Programs of macOS that start the program in their arguments.
const LAUNCHERS: [&str; 6] = ["arch", "caffeinate", "env", "nice", "nohup", "time"];
const SHELLS: [&str; 4] = ["bash", "dash", "sh", "zsh"];
/// Programs in `/usr/bin` that start one of Xcode.
const OF_XCODE: [&str; 2] = ["python3", "swift"];

/// A program that a word of a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) path: PathBuf,
    /// Words of the first line of a script, from its interpreter on; none for other programs.
    pub(crate) interpreter: Vec<OsString>,
}

/// Finds the program that a word names, as a shell does.
pub(crate) type Find<'a> = &'a dyn Fn(&OsStr) -> Option<Named>;

/// A program of macOS that would lose the probe's variables.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    by: PathBuf,
    /// Options and words for a shell that start the program without it, if they are known.
    instead: Option<String>,
}

impl Refused {
    /// Returns the reason, with the way out.
    pub(crate) fn message(&self) -> String {
        let way = match &self.instead {
            Some(words) => format!("record `{words}`"),
            None => {
                "start your own program without it, such as `-- python3 SCRIPT` with a Python of \
                     Homebrew, conda or uv"
                    .to_owned()
            }
        };
        format!(
            "macOS loads no library into {}, which is part of macOS, and takes the probe's variables from \
             what it starts: {way}",
            self.by.display()
        )
    }
}

/// Returns the words that start a program so that the variables reach it: a script for `/usr/bin/env X` is
/// started by X.
pub(crate) fn direct(mut command: Vec<OsString>, find: Find<'_>) -> Result<Vec<OsString>, Refused> {
    for _ in 0..CHAIN {
        let Some((program, arguments)) = command.split_first_mut() else {
            break;
        };
        let Some(Named { path, interpreter }) = find(program) else {
            break;
        };
        if is_part_of_macos(&path) {
            return Err(Refused {
                instead: without(&path, arguments, find),
                by: path,
            });
        }
        *program = path.clone().into();
        let Some(by) = interpreter.first().map(PathBuf::from) else {
            break;
        };
        if !is_part_of_macos(&by) {
            break;
        }
        // Its program is a script, too, and starts the program that the shim stands for.
        if path
            .parent()
            .is_some_and(|folder| folder.ends_with("shims"))
        {
            let instead = of_shim(&path, arguments);
            return Err(Refused { by, instead });
        }
        let started = after_env(&interpreter).unwrap_or(&interpreter);
        command = [started, &command].concat();
    }
    Ok(command)
}

/// Returns what `/usr/bin/env` starts for a script, if the script wants nothing else of it.
fn after_env(interpreter: &[OsString]) -> Option<&[OsString]> {
    let [env, words @ ..] = interpreter else {
        return None;
    };
    let words = match words {
        [split, words @ ..] if split == "-S" => words,
        words => words,
    };
    let first = words.first()?;
    (Path::new(env).ends_with("env") && !is_option(first) && !is_setting(first)).then_some(words)
}

/// Returns options and words that start what a program of macOS would start.
fn without(launcher: &Path, arguments: &[OsString], find: Find<'_>) -> Option<String> {
    let name = launcher.file_name()?.to_str()?;
    if OF_XCODE.contains(&name) {
        return Some(format!("-- \"$(xcrun -f {name})\"{}", in_shell(arguments)));
    }
    let (before, started) = match arguments {
        [option, text] if SHELLS.contains(&name) && option == "-c" => {
            let words = text.to_str()?.split(' ').filter(|word| !word.is_empty());
            let words: Vec<OsString> = words.map(OsString::from).collect();
            // Any other text needs a shell.
            let is_plain = |word: &OsString| shell::quoted(word) == word.as_encoded_bytes();
            (
                vec![],
                Some(words).filter(|words| words.iter().all(is_plain))?,
            )
        }
        _ if LAUNCHERS.contains(&name) => {
            let is_program = |word: &OsString| !is_option(word) && find(word).is_some();
            let (before, started) = arguments.split_at(arguments.iter().position(is_program)?);
            (before.to_vec(), started.to_vec())
        }
        _ => return None,
    };
    let settings = before
        .iter()
        .filter(|word| name == "env" && is_setting(word));
    let settings = settings.map(|word| format!("--env{} ", in_shell(std::slice::from_ref(word))));
    let command = match direct(started.clone(), find) {
        Ok(_) => format!("--{}", in_shell(&started)),
        Err(refused) => refused.instead?,
    };
    Some(settings.chain([command]).collect())
}

/// Returns the words for a program for which a version manager has a shim.
fn of_shim(shim: &Path, arguments: &[OsString]) -> Option<String> {
    let manager = ["pyenv", "asdf"].into_iter().find(|manager| {
        let names = shim.iter().filter_map(OsStr::to_str);
        names
            .map(|name| name.trim_start_matches('.'))
            .any(|name| name == *manager)
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
    let words = words.iter().map(|word| shell::quoted(word));
    words
        .map(|word| format!(" {}", String::from_utf8_lossy(&word)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs by the words that name them, with their paths and first lines.
    const PROGRAMS: [(&str, &str, &str); 14] = [
        ("./app", "/here/app", ""),
        ("python3", "/opt/homebrew/bin/python3", ""),
        ("uv", "/opt/homebrew/bin/uv", ""),
        ("bash", "/bin/bash", ""),
        ("env", "/usr/bin/env", ""),
        (
            "python",
            "/Users/me/.pyenv/shims/python",
            "/usr/bin/env bash",
        ),
        ("torchrun", "/Users/me/.asdf/shims/torchrun", "/bin/sh"),
        ("./venv.py", "/here/venv.py", "/here/.venv/bin/python"),
        ("./own.py", "/here/own.py", "/usr/bin/env python3 -u"),
        ("./split.py", "/here/split.py", "/usr/bin/env -S uv run"),
        (
            "./clean.py",
            "/here/clean.py",
            "/usr/bin/env -i A=1 python3",
        ),
        ("./apples.py", "/here/apples.py", "/usr/bin/python3"),
        ("./run", "/here/run", "/usr/bin/env bash"),
        ("./again", "/here/again", "/usr/bin/env ./again"),
    ];

    fn find(word: &OsStr) -> Option<Named> {
        let word = word.to_str().unwrap();
        let mut known = PROGRAMS
            .iter()
            .map(|(name, path, line)| (*name, *path, *line));
        let known = known.find(|(name, path, _)| [*name, *path].contains(&word));
        let unknown = word.starts_with('/').then_some((word, word, ""));
        let (_, path, line) = known.or(unknown)?;
        Some(Named {
            path: path.into(),
            interpreter: line.split_whitespace().map(OsString::from).collect(),
        })
    }

    #[test]
    fn programs_start_without_those_of_macos_or_not_at_all() {
        let words = |text: &str| text.split('|').map(OsString::from).collect::<Vec<_>>();
        let check = |command: &str, expected: Result<&str, (&str, Option<&str>)>| {
            let expected = expected.map(words).map_err(|(by, instead)| Refused {
                by: by.into(),
                instead: instead.map(str::to_owned),
            });
            assert_eq!(direct(words(command), &find), expected, "{command}");
        };
        check("./app|-n|7", Ok("/here/app|-n|7"));
        check("absent|x", Ok("absent|x"));
        check("./venv.py|x", Ok("/here/venv.py|x"));
        check(
            "./own.py|x",
            Ok("/opt/homebrew/bin/python3|-u|/here/own.py|x"),
        );
        check("./split.py", Ok("/opt/homebrew/bin/uv|run|/here/split.py"));

        let check_refused = |command: &str, by: &str, instead: &str| {
            check(
                command,
                Err((by, Some(instead).filter(|words| !words.is_empty()))),
            );
        };
        let env = "/usr/bin/env";
        check_refused("env|python3|a b.py", env, "-- python3 'a b.py'");
        check_refused("env|-u|A|B=1 2|./app", env, "--env 'B=1 2' -- ./app");
        check_refused(
            "env|B=1|/usr/bin/nice|-n|5|./app",
            env,
            "--env B=1 -- ./app",
        );
        check_refused("env|python|x", env, "-- \"$(pyenv which python)\" x");
        check_refused("env|absent", env, "");
        check_refused("./clean.py|x", env, "--env A=1 -- python3 /here/clean.py x");
        check_refused("/usr/bin/time|-l|./app|7", "/usr/bin/time", "-- ./app 7");
        check_refused("/bin/sh|-c|./app  7", "/bin/sh", "-- ./app 7");
        check_refused("/bin/sh|-c|./app > log", "/bin/sh", "");
        check_refused("/bin/sh|./run", "/bin/sh", "");
        check_refused("./run|./app", "/bin/bash", "");
        check_refused("/bin/cat|./app", "/bin/cat", "");
        let xcode = "/usr/bin/python3";
        check_refused(
            "/usr/bin/python3|x.py",
            xcode,
            "-- \"$(xcrun -f python3)\" x.py",
        );
        check_refused(
            "./apples.py|x",
            xcode,
            "-- \"$(xcrun -f python3)\" /here/apples.py x",
        );
        check_refused("env|/usr/bin/python3", env, "-- \"$(xcrun -f python3)\"");
        check_refused("python|x.py", env, "-- \"$(pyenv which python)\" x.py");
        check_refused(
            "torchrun|x.py",
            "/bin/sh",
            "-- \"$(asdf which torchrun)\" x.py",
        );
        check_refused(
            "/System/Applications/Chess.app/x",
            "/System/Applications/Chess.app/x",
            "",
        );
        // A script that names itself ends, too.
        assert!(direct(words("./again"), &find).is_ok());
    }
}
