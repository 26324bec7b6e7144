//! Words as a shell takes them.

use std::ffi::OsStr;
use std::path::Path;

/// A path as a shell takes it.
pub(super) fn shown(path: &Path) -> String {
    String::from_utf8_lossy(&quoted(path.as_os_str())).into_owned()
}

/// Byte by byte: the name of a file need not be text.
pub(super) fn quoted(word: &OsStr) -> Vec<u8> {
    let word = word.as_encoded_bytes();
    let is_plain = |one: &u8| one.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(one);
    if !word.is_empty() && word.iter().all(is_plain) {
        return word.to_vec();
    }
    let mut quoted = vec![b'\''];
    for &byte in word {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell() {
        let check = |word: &str, expected: &str| assert_eq!(shown(Path::new(word)), expected);
        check("record", "record");
        check("Metal System Trace", "'Metal System Trace'");
        check("it's", r"'it'\''s'");
        check("", "''");
        check("$HOME", "'$HOME'");
    }
}
