//! Tests `metalens manual` and `metalens completions`.

use std::fs;
use std::process::Command;

use crate::{metalens, stderr, stdout};

/// Returns the commands that `--help` lists, and those that it only names.
fn commands_of(words: &[&str]) -> Vec<String> {
    let help = stdout(&metalens(".".as_ref(), &[words, &["--help"]].concat()));
    let Some((_, listed)) = help.split_once("Commands:\n") else {
        return Vec::new();
    };

    let lines = listed.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");

    let named = help.split_once("More commands: ");
    let named = named.and_then(|(_, rest)| rest.split_once('.'));
    let named = named.map_or("", |(named, _)| named).split(',');
    let named = named.map(str::trim).filter(|name| !name.is_empty());

    names.chain(named).map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_page() {
    let folder = metalens_testing::scratch();
    let written = metalens(folder.path(), &["manual", "-o", "man"]);
    assert!(written.status.success(), "{}", stderr(&written));
    let in_sight = commands_of(&[]);
    assert_eq!(in_sight.len(), 18, "{in_sight:?}");
    let mut expected = vec!["metalens.1".to_owned()];
    // What the help does not name is for packages, tests and one mishap.
    let others = ["manual", "own", "schema", "synth"].map(str::to_owned);
    for command in in_sight.into_iter().chain(others) {
        let inner = commands_of(&[&command]).into_iter();
        expected.extend(inner.map(|inner| format!("metalens-{command}-{inner}.1")));
        expected.push(format!("metalens-{command}.1"));
    }
    expected.sort();
    let found = fs::read_dir(folder.path().join("man")).unwrap();
    let mut found: Vec<String> = found
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, expected);
    let page = fs::read_to_string(folder.path().join("man/metalens-analyze.1")).unwrap();
    for flag in ["skip\\-warmup", "perfetto", "force"] {
        assert!(page.contains(&format!("\\-\\-{flag}")), "{flag}");
    }

    // The synopsis names the values that options take.
    let page = fs::read_to_string(folder.path().join("man/metalens-compare.1")).unwrap();
    let synopsis = page.split(".SH ").find(|part| part.starts_with("SYNOPSIS"));
    let synopsis = synopsis.unwrap().replace('\\', "");
    for part in [
        "--baseline <FILE>]",
        "[--gate[=<FILE>]]",
        "[--full]",
        "[RUN]...",
    ] {
        assert!(synopsis.contains(part), "{part}: {synopsis}");
    }

    let again = metalens(folder.path(), &["manual", "-o", "man"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("exists; --force replaces it"));
    let forced = metalens(folder.path(), &["manual", "-o", "man", "--force"]);
    assert!(forced.status.success());
}

/// Bash completes `metalens sch` to `metalens schema`.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn shells_accept_the_completions() {
    let folder = metalens_testing::scratch();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = metalens(folder.path(), &["completions", shell]);
        assert!(script.status.success(), "{}", stderr(&script));
        assert!(stdout(&script).contains("record-and-analyze"), "{shell}");
        fs::write(folder.path().join(shell), &script.stdout).unwrap();
    }
    let completed = Command::new("bash")
        .current_dir(folder.path())
        .args(["--norc", "-c"])
        .arg(
            "source ./bash && COMP_WORDS=(metalens sch) COMP_CWORD=1 && \
             _metalens metalens sch metalens && echo \"${COMPREPLY[@]}\"",
        )
        .output();
    match completed {
        Ok(completed) => assert_eq!(stdout(&completed), "schema\n", "{}", stderr(&completed)),
        Err(error) => eprintln!("skipped: no bash: {error}"),
    }
}
