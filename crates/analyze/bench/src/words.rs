//! Splits a command line into words. No shell reads it: the recorder starts the program itself, and
//! would record the shell.

use crate::error::{Error, Result};

/// Words that a shell takes for something else than an argument.
const SHELL_WORDS: [&str; 11] = ["|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "!"];

/// Splits a command into words: quotation marks and backslashes hold them together, as in a shell.
pub(crate) fn split(command: &str) -> Result<Vec<String>> {
    let words = shlex::split(command).ok_or_else(|| Error::Quotes(command.to_owned()))?;
    let first = words.first().ok_or(Error::EmptyCommand)?;

    let is_assignment = first.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    });
    let is_shell_word = |word: &&String| SHELL_WORDS.contains(&word.as_str());
    // A quoted operator is an argument: it stands in quotation marks in the command.
    let is_bare = |word: &&String| command.split_whitespace().any(|bare| bare == word.as_str());
    let shell_word = words.iter().filter(is_shell_word).find(is_bare);
    match shell_word.or(is_assignment.then_some(first)) {
        Some(word) => Err(Error::ShellWord {
            command: command.to_owned(),
            word: word.clone(),
        }),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_splits_them() {
        let check = |command: &str, expected: &[&str]| {
            assert_eq!(split(command).unwrap(), expected, "{command}");
        };
        check("./bench", &["./bench"]);
        check("./bench --size 4", &["./bench", "--size", "4"]);
        check("'my bench' a\\ b \"c d\"", &["my bench", "a b", "c d"]);
        check("./bench '' '|' a=b", &["./bench", "", "|", "a=b"]);
    }

    #[test]
    fn what_only_a_shell_understands_is_refused() {
        let check = |command: &str, expected: &str| {
            assert_eq!(split(command).unwrap_err().to_string(), expected);
        };
        check("", "a command is empty");
        check(
            "./a 'b",
            "cannot split the command `./a 'b` into words: a quotation mark is not closed",
        );
        check(
            "./a | b",
            "the command `./a | b` contains `|`, but no shell reads it",
        );
        check(
            "N=1 ./a",
            "the command `N=1 ./a` contains `N=1`, but no shell reads it",
        );
    }
}
