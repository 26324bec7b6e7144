//! Quotes words for a shell, so that people can copy the commands that an error or a note suggests.

use std::ffi::OsStr;
use std::path::Path;

/// Returns a path, quoted for a shell.
pub fn quoted_path(path: &Path) -> String {
    String::from_utf8_lossy(&quoted(path.as_os_str())).into_owned()
}

/// Returns a word as bytes, quoted for a shell. The name of a file may not be UTF-8.
pub fn quoted(word: &OsStr) -> Vec<u8> {
    let word = word.as_encoded_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(byte);
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
    fn words_that_a_shell_would_change_are_quoted() {
        let check = |word: &str, expected: &str| assert_eq!(quoted_path(Path::new(word)), expected);
        check("record", "record");
        check("Metal System Trace", "'Metal System Trace'");
        check("it's", r"'it'\''s'");
        check("", "''");
        check("$HOME", "'$HOME'");
    }
}
