//! Runs `xctrace` and reads its standard output as a stream of bytes, without a file.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::time::Duration;

use crate::error::Result;
use crate::run::{LATE_LINES, LastLines, RunningTool, ToolOutput};
use crate::tool::Tool;

/// A running tool whose standard output is read as bytes. Dropping it asks the tool to end: only
/// for tools that save nothing.
#[derive(Debug)]
pub struct Streaming {
    out: PipeReader,
    running: RunningTool,
    /// The last lines of standard error.
    kept: LastLines,
    answer: ToolOutput,
    has_ended: bool,
}

impl Tool {
    /// Starts the tool, to read its standard output.
    ///
    /// # Errors
    ///
    /// Fails if the tool cannot be started.
    pub fn stream(&self, arguments: &[OsString]) -> Result<Streaming> {
        let (running, out, kept) = self.start_for_bytes(arguments)?;
        Ok(Streaming {
            out,
            running,
            kept,
            answer: ToolOutput::default(),
            has_ended: false,
        })
    }
}

impl Read for Streaming {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.out.read(bytes)
    }
}

impl Streaming {
    /// Waits until the tool ends, after its output was read. Returns how it ended and the last
    /// lines of standard error.
    pub fn finish(&mut self) -> Result<&ToolOutput> {
        while !self.has_ended {
            self.running.next(Duration::from_millis(50));
            if let Some((code, signal)) = self.running.ended()? {
                self.has_ended = true;
                // The pipe can still have lines; this returns at its end.
                let _ = self.running.next_or_end(LATE_LINES);
                self.answer = std::mem::take(&mut *self.kept.lock());
                (self.answer.code, self.answer.signal) = (code, signal);
            }
        }
        Ok(&self.answer)
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        if !self.has_ended {
            // A drop cannot return an error, and the output is not needed any more.
            let _ = self.running.terminate();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// Starts a shell script in place of `xctrace`.
    fn shell(script: &str) -> Streaming {
        let tool = Tool::at("/bin/sh".into());
        tool.stream(&["-c".into(), script.into()]).unwrap()
    }

    #[test]
    fn bytes_are_unchanged_and_errors_are_separate() {
        let many_lines = "i=0; while [ $i -lt 20000 ]; do echo 'a line that fills the pipe' >&2; i=$((i+1)); done";
        let mut tool = shell(&format!(
            "printf 'a\\377\\r\\n'; {many_lines}; echo last >&2; printf b; kill -TRAP $$"
        ));
        let mut bytes = Vec::new();
        tool.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"a\xff\r\nb");
        let answer = tool.finish().unwrap();
        assert_eq!((answer.code, answer.signal), (None, Some(5)));
        assert_eq!(answer.lines.last().unwrap().text, "last");
        assert!(answer.lines.len() < 100);
    }

    #[test]
    fn dropping_a_stream_ends_the_tool() {
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
