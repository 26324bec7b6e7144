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
    refuse_others(&std::fs::metadata(path)?)?;
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
    let file = open(path)?;
    if file.metadata()?.len() > limit {
        return Err(too_large_error(limit));
    }
    // The file may grow while it is read.
    let mut bytes = Vec::new();
    limited(file, limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of UTF-8 text completely, unless it has more than `limit` bytes.
///
/// # Errors
///
/// Returns the errors of [`read`], and one for bytes that are not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text"))
}

/// Returns the [`NotAFile`] inside an error of this crate, if there is one.
#[must_use]
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
    let kind = kind(facts);
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        NotAFile { kind },
    ))
}

fn kind(facts: &Metadata) -> &'static str {
    if facts.is_dir() {
        "a folder"
    } else if facts.is_symlink() {
        "a link, which is not followed here"
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
        check(&at("link to a pipe"), Some("a named pipe"), link);
        same(&at("socket"), Some("a socket"));
        same(Path::new("/dev/null"), Some("a device"));
        same(folder.path(), Some("a folder"));
        same(&at("nothing"), Some("NotFound"));
    }
}
