//! What the target prints: it goes to a file, and from there to the watcher, byte
//! by byte as it comes. `xctrace` would mix it with its own words.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// A file that grows.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    file: Option<File>,
}

impl Tail {
    /// Of a file that need not be there yet.
    pub(crate) fn of(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// Hands on what has come since the last time.
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
    fn what_comes_is_handed_on_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut tail = Tail::of(path.clone());
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
