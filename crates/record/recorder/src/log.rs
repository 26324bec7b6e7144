//! Writes what `xctrace` prints into a file, with times and streams, for reports of faults.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use metalens_xctrace::{LineEnd, Stream, StreamLine};

use crate::error::{Result, file};

/// The log of one run of `xctrace`.
#[derive(Debug)]
pub(crate) struct RunLog {
    file: Option<File>,
    start: Instant,
}

impl RunLog {
    /// Opens the file, if one is wanted. Lines are added to one that exists.
    pub(crate) fn begin(path: Option<&Path>, version: &str) -> Result<Self> {
        let mut log = Self {
            file: path
                .map(|path| {
                    let opened = OpenOptions::new().append(true).create(true).open(path);
                    opened.map_err(file("write", path))
                })
                .transpose()?,
            start: Instant::now(),
        };
        log.write(&format!("xctrace {version}"));
        Ok(log)
    }

    /// Adds a line that `xctrace` or the program printed: time, stream, end, text.
    pub(crate) fn line(&mut self, line: &StreamLine) {
        let stream = match line.stream {
            Stream::Out => "out",
            Stream::Err => "err",
        };
        let end = match line.end {
            LineEnd::Break => "\\n",
            LineEnd::Return => "\\r",
            LineEnd::Open => "..",
        };
        self.write(&format!("{stream} {end} {}", line.text.escape_debug()));
    }

    /// Adds how `xctrace` ended.
    pub(crate) fn end(&mut self, code: Option<i32>, signal: Option<i32>) {
        self.write(&match (code, signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "ended".to_owned(),
        });
    }

    fn write(&mut self, text: &str) {
        if let Some(file) = &mut self.file {
            let time = self.start.elapsed().as_secs_f64();
            // A full disk must not cost the recording.
            let _ = writeln!(file, "{time:9.3} {text}");
        }
    }
}
