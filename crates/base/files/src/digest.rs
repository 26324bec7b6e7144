//! Computes the SHA-256 of bytes and files.

use std::fmt::Write;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&sha256_of_bytes(bytes))
}

/// Returns the SHA-256 of bytes.
pub fn sha256_of_bytes(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Returns the SHA-256 of a file's bytes. The file is read in pieces.
///
/// # Errors
///
/// Returns the errors of [`open`](crate::open) and of reading.
pub fn sha256_of_file(path: &Path) -> io::Result<[u8; 32]> {
    const BUFFER: usize = 256 << 10;

    let mut file = crate::open(path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; BUFFER]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            read => hash.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// Returns bytes in hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples are those of FIPS 180-2.
    #[test]
    fn hashes_are_those_of_the_standard() {
        let check = |text: &str, expected: &str| assert_eq!(sha256(text.as_bytes()), expected);
        check(
            "abc",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        );
        check(
            "",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        );
    }

    #[test]
    fn a_file_has_the_hash_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(hexadecimal(&sha256_of_file(&file).unwrap()), sha256(b"abc"));
    }
}
