//! Detects the format of a file from its first bytes.

use super::mistaken;
use crate::error::Problem;

/// Number of bytes that are enough: the mark of a tar archive is at byte 257.
pub(crate) const PREFIX: usize = 512;

/// The format of a file, according to its first bytes.
#[derive(Debug)]
pub(crate) enum FileFormat {
    Xml,
    /// A command-buffer log.
    Log,
    Gzip,
    Zip,
    /// None of these formats, with a description.
    Other(Problem),
}

/// Detects the format of a file by its first bytes.
pub(crate) fn sniff(start: &[u8]) -> FileFormat {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let text = text.trim_ascii_start();
    let other = |found| FileFormat::Other(Problem::NotXml { found });
    match start {
        [] => other("an empty file"),
        [0x1f, 0x8b, ..] => FileFormat::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => other("a zstd file"),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => FileFormat::Zip,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => other("UTF-16 text"),
        _ if start.starts_with(b"bplist00") => other("a binary property list"),
        _ if start.starts_with(b"SQLite format 3") => other("an SQLite database"),
        _ if start.starts_with(b"version https://git-lfs.") => {
            FileFormat::Other(Problem::LfsPointer)
        }
        _ if start.get(257..262) == Some(b"ustar") => other("a tar archive"),
        _ if text.is_empty() => other("only white space"),
        _ => sniff_text(text),
    }
}

fn sniff_text(text: &[u8]) -> FileFormat {
    let other = |found| FileFormat::Other(Problem::NotXml { found });
    let lower = text.to_ascii_lowercase();
    let contains = |needle: &[u8]| memchr::memmem::find(&lower, needle).is_some();
    match text.first() {
        Some(b'<') if contains(b"<!doctype html") || contains(b"<html") => other("an HTML page"),
        Some(b'<') if contains(b"<!doctype plist") || contains(b"<plist") => {
            other("a property list")
        }
        Some(b'<') => FileFormat::Xml,
        Some(b'{') if crate::log::is_log(text) => FileFormat::Log,
        Some(b'{' | b'[') => match mistaken::json(text) {
            Some(problem) => FileFormat::Other(problem),
            None => other("JSON"),
        },
        Some(_) if text.contains(&0) => other("binary data"),
        _ => other("plain text"),
    }
}
