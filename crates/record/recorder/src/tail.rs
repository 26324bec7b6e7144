//! Follows a file with the output of the recorded program, and passes it on byte by byte. On
//! a pipe, `xctrace` would mix it with its own output. A thread keeps the file from filling the disk,
//! also while nobody reads what is passed on.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Largest room of the output on the disk, in bytes.
pub(crate) const MOST_OUTPUT: u64 = 1 << 30;
/// Interval at which the room is measured. A fast disk writes 100 MB in it.
const INTERVAL: Duration = Duration::from_millis(20);
/// Largest number of bytes that are passed on at once: the caller has more to do.
const MOST_AT_ONCE: usize = 8 << 20;
/// Size of the blocks in which a file's room is counted.
const BLOCK: u64 = 512;

/// A file that grows while it is read.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    file: Option<File>,
    cut: Cut,
    /// The thread that measures the room ends when this is dropped.
    _until: Sender<()>,
}

/// True once the file was emptied because it was too large. Locked while the file is read or emptied:
/// after that, the place of the reader is in a hole.
#[derive(Debug, Clone, Default)]
struct Cut(Arc<Mutex<bool>>);

impl Cut {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tail {
    /// Returns a tail of a file, which need not exist yet, and which gets no more room than `most`.
    pub(crate) fn new(path: PathBuf, most: u64) -> Self {
        let cut = Cut::default();
        let (until, ended) = channel();
        let (watched, watched_cut) = (path.clone(), cut.clone());
        thread::spawn(move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let mut is_cut = watched_cut.lock();
                if *is_cut || is_too_large(&watched, most) {
                    *is_cut = true;
                    empty(&watched);
                }
            }
        });
        Self {
            path,
            file: None,
            cut,
            _until: until,
        }
    }

    /// Returns whether output was dropped because there was too much of it.
    pub(crate) fn is_cut(&self) -> bool {
        *self.cut.lock()
    }

    /// Passes on the bytes that were added since the last call, unless there are too many.
    pub(crate) fn drain(&mut self, mut to: impl FnMut(&[u8])) {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else {
            return;
        };

        let mut chunk = [0; 16 * 1024];
        let mut passed_on = 0;
        while passed_on < MOST_AT_ONCE {
            let is_cut = self.cut.lock();
            let count = if *is_cut {
                0
            } else {
                file.read(&mut chunk).unwrap_or(0)
            };
            // Whoever reads what is passed on may make this wait.
            drop(is_cut);
            if count == 0 {
                return;
            }
            to(chunk.get(..count).unwrap_or(&chunk));
            passed_on += count;
        }
    }
}

/// Returns whether a file has too much room, or more than it leaves on its disk.
fn is_too_large(path: &Path, most: u64) -> bool {
    let Ok(facts) = path.metadata() else {
        return false;
    };
    let room = facts.blocks() * BLOCK;
    let left = metalens_files::free_bytes(path).unwrap_or(u64::MAX);
    room > most.min(left)
}

/// Empties a file that another process writes. If that fails, nothing else can be done.
fn empty(path: &Path) {
    if let Ok(file) = OpenOptions::new().write(true).open(path) {
        let _ = file.set_len(0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Instant;

    use super::*;

    fn drained(tail: &mut Tail) -> Vec<u8> {
        let mut all = Vec::new();
        tail.drain(|bytes| all.extend_from_slice(bytes));
        all
    }

    #[test]
    fn bytes_are_passed_on_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut tail = Tail::new(path.clone(), MOST_OUTPUT);
        assert_eq!(drained(&mut tail), b"");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\n").unwrap();
        assert_eq!(drained(&mut tail), b"one\n");
        assert_eq!(drained(&mut tail), b"");
        file.write_all(&[b'x'; 40_000]).unwrap();
        assert_eq!(drained(&mut tail).len(), 40_000);
        file.write_all(&vec![b'x'; MOST_AT_ONCE + 1]).unwrap();
        assert_eq!(drained(&mut tail).len(), MOST_AT_ONCE);
        assert_eq!(drained(&mut tail).len(), 1);
        assert!(!tail.is_cut());
    }

    /// A program prints without end, whether it appends or not, and whether anybody reads or not.
    #[test]
    fn output_without_end_takes_little_room() {
        const MOST: u64 = 4 << 20;
        let check = |appends: bool, is_read: bool| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out");
            let mut options = OpenOptions::new();
            let mut file = options
                .create(true)
                .write(true)
                .append(appends)
                .open(&path)
                .unwrap();
            let mut tail = Tail::new(path.clone(), MOST);
            let (start, mut written, mut largest, mut all) = (Instant::now(), 0, 0, 0);
            while !tail.is_cut() || written < 20 * MOST {
                file.write_all(&[b'x'; 1 << 16]).unwrap();
                written += 1 << 16;
                thread::sleep(Duration::from_millis(1));
                largest = largest.max(path.metadata().unwrap().blocks() * BLOCK);
                if is_read {
                    let bytes = drained(&mut tail);
                    assert!(bytes.iter().all(|byte| *byte == b'x'), "a hole was read");
                    all += bytes.len() as u64;
                }
                assert!(start.elapsed() < Duration::from_secs(60), "{written}");
            }
            assert!(largest < 3 * MOST, "{largest}");
            assert!(!is_read || (MOST / 2..3 * MOST).contains(&all), "{all}");
        };
        thread::scope(|scope| {
            for (appends, is_read) in [(true, true), (true, false), (false, true), (false, false)] {
                scope.spawn(move || check(appends, is_read));
            }
        });
    }
}
