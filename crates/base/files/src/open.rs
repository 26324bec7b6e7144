//! Opens and reads regular files, and never waits.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::limit::{limited, too_large_error};

/// The error for a path that is not a regular file. An [`io::Error`] contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is {kind}, not a file")]
pub struct NotAFile {
    /// The real kind of the path, with its article, such as "a folder".
    pub kind: &'static str,
}

/// Opens a regular file for reading. Follows links, and never waits.
///
/// # Errors
///
/// Returns the errors of opening, and [`NotAFile`].
pub fn open(path: &Path) -> io::Result<File> {
    let facts = std::fs::metadata(path).map_err(|error| {
        if is_absent(path) || error.kind() != io::ErrorKind::NotFound {
            return error;
        }
        let kind = "a link that leads nowhere";
        io::Error::new(io::ErrorKind::InvalidInput, NotAFile { kind })
    })?;
    refuse_others(&facts)?;
    open_checked(path, true)
}

/// Opens a regular file for reading, unless the last part of its path is a link.
///
/// # Errors
///
/// Returns the errors of opening, and [`NotAFile`].
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    refuse_others(&std::fs::symlink_metadata(path)?)?;
    open_checked(path, false)
}

/// Reads a regular file completely, unless it has more than `limit` bytes.
///
/// # Errors
///
/// Returns the errors of opening and reading, [`NotAFile`] and [`TooLarge`](crate::TooLarge).
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_opened(open(path)?, limit)
}

/// Reads an open file completely, unless it has more than `limit` bytes.
fn read_opened(file: File, limit: u64) -> io::Result<Vec<u8>> {
    if file.metadata()?.len() > limit {
        return Err(too_large_error(limit));
    }
    // The file may grow while it is read.
    let mut bytes = Vec::new();
    limited(file, limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file completely that need not be there. Returns none only if nothing has the path.
///
/// # Errors
///
/// Returns those of [`read`].
pub fn read_optional(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if is_absent(path) {
        return Ok(None);
    }
    read(path, limit).map(Some)
}

/// Returns whether nothing has a path. A link that leads nowhere has it, and so has what cannot be
/// seen: only reading shows what is wrong with that.
pub fn is_absent(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        )
    })
}

/// Reads a regular file of UTF-8 text completely, unless it has more than `limit` bytes.
///
/// # Errors
///
/// Returns the errors of [`read`], and one for bytes that are not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    read_opened_text(open(path)?, limit)
}

/// Reads an open file of UTF-8 text completely, unless it has more than `limit` bytes.
pub(crate) fn read_opened_text(file: File, limit: u64) -> io::Result<String> {
    String::from_utf8(read_opened(file, limit)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text"))
}

/// Returns the [`NotAFile`] inside an error of this crate, if there is one.
pub fn not_a_file(error: &io::Error) -> Option<NotAFile> {
    error.get_ref()?.downcast_ref().copied()
}

fn open_checked(path: &Path, follow: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    without_waiting(&mut options, follow);
    let file = options.open(path)?;
    // Another file can have taken its place since the first check.
    refuse_others(&file.metadata()?)?;
    Ok(file)
}

#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions, follow: bool) {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    let mut flags = OFlags::NONBLOCK;
    flags.set(OFlags::NOFOLLOW, !follow);
    // The flags are bits: their sign has no meaning.
    options.custom_flags(flags.bits().cast_signed());
}

#[cfg(not(unix))]
fn without_waiting(_options: &mut OpenOptions, _follow: bool) {}

/// Fails with [`NotAFile`] unless the facts are those of a regular file.
pub(crate) fn refuse_others(facts: &Metadata) -> io::Result<()> {
    if facts.is_file() {
        return Ok(());
    }
    Err(refused(kind(facts)))
}

/// Returns the error for a link that is not followed.
#[cfg(unix)]
pub(crate) fn refused_link() -> io::Error {
    refused(LINK)
}

fn refused(kind: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, NotAFile { kind })
}

const LINK: &str = "a link, which is not followed here";

fn kind(facts: &Metadata) -> &'static str {
    if facts.is_dir() {
        "a folder"
    } else if facts.is_symlink() {
        LINK
    } else {
        special_kind(facts)
    }
}

#[cfg(unix)]
fn special_kind(facts: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;

    let kind = facts.file_type();
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special_kind(_facts: &Metadata) -> &'static str {
    "something else"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn reading_has_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert_eq!(read_text(&path, u64::MAX).unwrap(), "12345");
        let error = read(&path, 4).unwrap_err();
        let expected = "the file is too large: more than 4 bytes";
        assert_eq!(error.to_string(), expected);
        fs::write(&path, b"\xff").unwrap();
        assert!(read_text(&path, 9).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_what_is_not_there_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        std::os::unix::fs::symlink("nowhere", at("link")).unwrap();
        std::os::unix::fs::symlink("circle", at("circle")).unwrap();
        let check = |name: &str, expected: bool| {
            assert_eq!(is_absent(&at(name)), expected, "{name}");
        };
        check("nothing", true);
        check("nothing/inside", true);
        check("file/inside", true);
        check("file", false);
        check("link", false);
        check("circle", false);
        check(".", false);
        check(&"long".repeat(100), false);
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_opened() {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;
        use std::process::Command;

        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        symlink("file", at("link")).unwrap();
        let made = Command::new("mkfifo").arg(at("pipe")).status();
        assert!(made.unwrap().success());
        symlink("pipe", at("link to a pipe")).unwrap();
        let _listener = UnixListener::bind(at("socket")).unwrap();
        let check = |path: &Path, expected: Option<&str>, unlinked: Option<&str>| {
            let refusal = |opened: io::Result<File>| {
                opened.err().map(|error| match not_a_file(&error) {
                    Some(NotAFile { kind }) => kind.to_owned(),
                    None => format!("{:?}", error.kind()),
                })
            };
            assert_eq!(refusal(open(path)).as_deref(), expected, "{path:?}");
            assert_eq!(
                refusal(open_unlinked(path)).as_deref(),
                unlinked,
                "{path:?}"
            );
        };
        let same = |path: &Path, expected: Option<&str>| check(path, expected, expected);
        let link = Some("a link, which is not followed here");
        same(&at("file"), None);
        check(&at("link"), None, link);
        same(&at("pipe"), Some("a named pipe"));
        symlink("nowhere", at("link to nowhere")).unwrap();
        check(
            &at("link to nowhere"),
            Some("a link that leads nowhere"),
            link,
        );
        check(&at("link to a pipe"), Some("a named pipe"), link);
        same(&at("socket"), Some("a socket"));
        same(Path::new("/dev/null"), Some("a device"));
        same(folder.path(), Some("a folder"));
        same(&at("nothing"), Some("NotFound"));
    }
}
