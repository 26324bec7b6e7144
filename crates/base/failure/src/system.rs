//! Says in plain words what the operating system reports: `there is no such file or folder` instead
//! of `No such file or directory (os error 2)`.
//!
//! Errors of the system are inside of errors of many libraries, which put them into their own
//! sentences. So they are found in the text, where they end with their number.

use std::io::{self, ErrorKind};

/// The beginning of the number that ends an error of the operating system.
const NUMBER: &str = " (os error ";
/// `ENOEXEC`, which has no kind: the file is not a program.
const NOT_A_PROGRAM: i32 = 8;
/// `EIO`, which has no kind.
const DISK_FAILED: i32 = 5;

/// Returns a text with the errors of the operating system in plain words, without their numbers.
pub(crate) fn in_plain_words(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(known) = SystemError::find(rest) {
        plain.push_str(known.before);
        plain.push_str(&known.words());
        rest = without_path(known.after);
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
#[must_use]
pub fn what_to_do(text: &str) -> Option<&'static str> {
    Some(match SystemError::find(text)?.kind() {
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
        _ => return None,
    })
}

/// An error of the operating system in a text.
struct SystemError<'a> {
    /// The text before the error.
    before: &'a str,
    /// The error as the system says it, without its number.
    said: &'a str,
    number: i32,
    /// The text behind the error.
    after: &'a str,
}

impl<'a> SystemError<'a> {
    /// Finds the first error with a number.
    fn find(text: &'a str) -> Option<Self> {
        let mut from = 0;
        while let Some(start) = text.get(from..)?.find(NUMBER) {
            let (head, tail) = text.split_at(from + start);
            from += start + NUMBER.len();
            let Some((digits, after)) = tail.get(NUMBER.len()..)?.split_once(')') else {
                continue;
            };
            let Ok(number) = digits.parse() else {
                continue;
            };

            let whole = io::Error::from_raw_os_error(number).to_string();
            let said = whole.split(NUMBER).next().unwrap_or_default();
            // Whatever stands there instead is not of this system, and keeps its words.
            let before = head.strip_suffix(said).unwrap_or(head);
            let said = head.get(before.len()..).unwrap_or_default();
            return Some(Self {
                before,
                said,
                number,
                after,
            });
        }
        None
    }

    fn kind(&self) -> ErrorKind {
        io::Error::from_raw_os_error(self.number).kind()
    }

    /// Returns the error in plain words.
    fn words(&self) -> String {
        if self.said.is_empty() {
            return String::new();
        }
        let words = match self.kind() {
            ErrorKind::NotFound => "there is no such file or folder",
            ErrorKind::PermissionDenied => "permission denied",
            ErrorKind::AlreadyExists => "something with this name exists",
            ErrorKind::IsADirectory => "it is a folder, not a file",
            ErrorKind::NotADirectory => "this is a file, or inside of one, and not a folder",
            ErrorKind::DirectoryNotEmpty => "the folder is not empty",
            ErrorKind::StorageFull => "the disk is full",
            ErrorKind::QuotaExceeded => "your share of the disk is full",
            ErrorKind::ReadOnlyFilesystem => "the disk is read-only",
            ErrorKind::FileTooLarge => "the file is too large",
            ErrorKind::InvalidFilename => "the name is too long",
            ErrorKind::ArgumentListTooLong => "the arguments are too long",
            ErrorKind::ResourceBusy => "something else uses it",
            ErrorKind::ExecutableFileBusy => "something else writes to this program",
            ErrorKind::OutOfMemory => "there is not enough memory",
            ErrorKind::BrokenPipe => "whoever read it has closed it",
            ErrorKind::ConnectionRefused => "nothing answers there",
            ErrorKind::TimedOut => "there was no answer in time",
            _ if self.number == NOT_A_PROGRAM => "this machine cannot run it as a program",
            _ if self.number == DISK_FAILED => "the disk failed",
            _ => return lower_first(self.said),
        };
        words.to_owned()
    }
}

/// Returns a text that begins with a small letter.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_are_said_in_plain_words() {
        let check = |text: &str, expected: &str, hint: Option<&str>| {
            assert_eq!(in_plain_words(text), expected, "{text}");
            let found = what_to_do(text);
            assert_eq!(found.is_some(), hint.is_some(), "{text}: {found:?}");
            assert!(found.unwrap_or_default().contains(hint.unwrap_or_default()));
        };
        check(
            "cannot read a: No such file or directory (os error 2)",
            "cannot read a: there is no such file or folder",
            Some("check the name"),
        );
        // As the library for temporary files says it: with an inner path behind it.
        check(
            "Permission denied (os error 13) at path \"RO/.x\"",
            "permission denied",
            Some("ls -ld"),
        );
        check(
            "a: Is a directory (os error 21); b: File exists (os error 17)",
            "a: it is a folder, not a file; b: something with this name exists",
            Some("name of a file"),
        );
        check(
            "./x cannot be started: Exec format error (os error 8)",
            "./x cannot be started: this machine cannot run it as a program",
            None,
        );
        // What no rule knows keeps its words.
        check(
            "Too many open files (os error 24)",
            "too many open files",
            None,
        );
        // What is no error of this system stays, without a number that says nothing.
        check("The disk melted (os error 2)", "The disk melted", Some(""));
        for same in [
            "",
            "nothing",
            "(os error x)",
            "a (os error ",
            "b (os error z) c",
        ] {
            check(same, same, None);
        }
    }
}
