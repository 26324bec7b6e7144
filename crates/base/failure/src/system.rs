//! Finds errors of the operating system in texts: `No such file or directory (os error 2)`.
//!
//! Errors of the system are inside of errors of many libraries, which put them into their own
//! sentences. So they are found in the text, where they end with their number.

use std::io::{self, ErrorKind};

/// The beginning of the number that ends an error of the operating system.
const NUMBER: &str = " (os error ";
/// `ENOEXEC`, which has no kind: the file is not a program.
const NOT_A_PROGRAM: i32 = 8;

/// Returns the text of an error in plain words: without numbers of the operating system. Every error
/// that people read passes through here.
pub fn in_plain_words(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, _, after)) = find(rest) {
        plain.push_str(before);
        rest = without_path(after);
    }
    plain.push_str(rest);
    plain
}

/// Returns a text without the path that the library for temporary files adds to an error. That path
/// is an inner one, and the message begins with the place that the user named.
fn without_path(text: &str) -> &str {
    let path = text.strip_prefix(" at path \"");
    let rest = path.and_then(|path| path.split_once('"'));
    rest.map_or(text, |(_, rest)| rest)
}

/// Returns what to do about the first error of the operating system in a text, if it has one.
pub fn what_to_do(text: &str) -> Option<&'static str> {
    let (_, number, _) = find(text)?;
    Some(match io::Error::from_raw_os_error(number).kind() {
        ErrorKind::NotFound => "check the name, and the folder that you are in",
        ErrorKind::PermissionDenied => {
            "look at owner and permissions with `ls -ld`, or choose another place"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room, or choose a place on another disk"
        }
        ErrorKind::ReadOnlyFilesystem => "choose a place on another disk",
        ErrorKind::IsADirectory => "give the name of a file, or move the folder away",
        ErrorKind::NotADirectory => "choose the name of a folder",
        ErrorKind::InvalidFilename => "choose a shorter name",
        _ if number == NOT_A_PROGRAM => "give a program that this machine can run",
        _ => return None,
    })
}

/// Returns the first number of an error of the operating system, with the text before and behind it.
fn find(text: &str) -> Option<(&str, i32, &str)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find(NUMBER)?;
        from = start + NUMBER.len();
        if let Some((digits, after)) = text.get(from..)?.split_once(')')
            && let Ok(number) = digits.parse()
        {
            return Some((text.get(..start)?, number, after));
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_lose_their_numbers() {
        let check = |text: &str, expected: &str, hint: &str| {
            assert_eq!(in_plain_words(text), expected, "{text}");
            let found = what_to_do(text).unwrap_or_default();
            assert_eq!(found.is_empty(), hint.is_empty(), "{text}: {found}");
            assert!(found.contains(hint), "{found}");
        };
        check(
            "cannot read a: No such file or directory (os error 2)",
            "cannot read a: No such file or directory",
            "check the name",
        );
        // As the library for temporary files says it: with an inner path behind it.
        check(
            "Permission denied (os error 13) at path \"RO/.x\"",
            "Permission denied",
            "ls -ld",
        );
        check(
            "a: Is a directory (os error 21); b: File exists (os error 17)",
            "a: Is a directory; b: File exists",
            "name of a file",
        );
        check(
            "./x cannot be started: Exec format error (os error 8)",
            "./x cannot be started: Exec format error",
            "can run",
        );
        check(
            "Too many open files (os error 24)",
            "Too many open files",
            "",
        );
        for same in [
            "",
            "nothing",
            "(os error x)",
            "a (os error ",
            "b (os error z) c",
        ] {
            check(same, same, "");
        }
        check("b (os error z) (os error 17) c", "b (os error z) c", "");
    }
}
