//! Running Apple's tool for what it writes on standard output, byte by byte as
//! it comes: nothing is kept, and nothing lies on a disk in between.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::time::Duration;

use crate::error::Result;
use crate::run::{Answer, Running};
use crate::tool::Tool;

/// A tool that runs, and whose standard output is read as bytes. Dropped before
/// its end it is asked to end: only for one that saves nothing.
#[derive(Debug)]
pub struct Streaming {
    out: PipeReader,
    running: Running,
    answer: Answer,
    has_ended: bool,
}

impl Tool {
    /// Starts it for what it writes on standard output.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn stream(&self, arguments: &[OsString]) -> Result<Streaming> {
        let (running, out) = self.start_for_bytes(arguments)?;
        Ok(Streaming {
            out,
            running,
            answer: Answer::default(),
            has_ended: false,
        })
    }
}

impl Read for Streaming {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.out.read(bytes)?;
        self.listen(Duration::ZERO);
        Ok(count)
    }
}

impl Streaming {
    /// Waits for its end, once all that it wrote was read, and says how it ended
    /// and what it said last on standard error.
    pub fn finish(&mut self) -> Result<&Answer> {
        while !self.has_ended {
            self.listen(Duration::from_millis(50));
            if let Some((code, signal)) = self.running.ended()? {
                (self.answer.code, self.answer.signal) = (code, signal);
                self.has_ended = true;
                // What is in the pipe still.
                self.listen(Duration::from_millis(50));
            }
        }
        Ok(&self.answer)
    }

    /// Takes in what it said on standard error; waits as long for each line.
    fn listen(&mut self, patience: Duration) {
        // As many at a time: something may talk without end.
        for _ in 0..10_000 {
            let Some(piece) = self.running.next(patience) else {
                return;
            };
            self.answer.keep(piece);
        }
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        if !self.has_ended {
            // It is of no use to anyone now, and nobody is left to be told.
            let _ = self.running.terminate();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// An `xctrace` that is a line of shell.
    fn shell(script: &str) -> Streaming {
        let tool = Tool::at("/bin/sh".into());
        tool.stream(&["-c".into(), script.into()]).unwrap()
    }

    #[test]
    fn bytes_come_as_they_are_and_errors_beside_them() {
        let loud = "i=0; while [ $i -lt 20000 ]; do echo 'a line that fills the pipe' >&2; i=$((i+1)); done";
        let mut tool = shell(&format!(
            "printf 'a\\377\\r\\n'; {loud}; echo last >&2; printf b; kill -TRAP $$"
        ));
        let mut bytes = Vec::new();
        tool.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"a\xff\r\nb");
        let answer = tool.finish().unwrap();
        assert_eq!((answer.code, answer.signal), (None, Some(5)));
        assert_eq!(answer.pieces.last().unwrap().line, "last");
        assert!(answer.pieces.len() < 100);
    }

    #[test]
    fn one_that_is_dropped_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ended");
        let script = format!(
            "trap 'touch {}; exit' TERM; echo x; while :; do sleep 0.05; done",
            file.display()
        );
        let mut tool = shell(&script);
        tool.read_exact(&mut [0; 2]).unwrap();
        drop(tool);
        let is_there = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            file.exists()
        });
        assert!(is_there);
    }
}
