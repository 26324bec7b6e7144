//! Follows a file with the output of the recorded program, and passes it on byte by byte. On
//! a pipe, `xctrace` would mix it with its own output.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// A file that grows while it is read.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    file: Option<File>,
}

impl Tail {
    /// Returns a tail of a file, which need not exist yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// Passes on the bytes that were added since the last call.
    pub(crate) fn drain(&mut self, mut to: impl FnMut(&[u8])) {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else {
            return;
        };

        let mut chunk = [0; 16 * 1024];
        while let Ok(count @ 1..) = file.read(&mut chunk) {
            to(chunk.get(..count).unwrap_or(&chunk));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn bytes_are_passed_on_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut tail = Tail::new(path.clone());
        let drained = |tail: &mut Tail| {
            let mut all = Vec::new();
            tail.drain(|bytes| all.extend_from_slice(bytes));
            all
        };
        assert_eq!(drained(&mut tail), b"");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\n").unwrap();
        assert_eq!(drained(&mut tail), b"one\n");
        assert_eq!(drained(&mut tail), b"");
        file.write_all(&[b'x'; 40_000]).unwrap();
        assert_eq!(drained(&mut tail).len(), 40_000);
    }
}
