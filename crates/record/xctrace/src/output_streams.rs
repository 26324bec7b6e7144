//! Reads the output of a tool, line by line and in the order of writing.

use std::io::{self, PipeReader, Read};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionread};

/// The stream that a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The standard output.
    Out,
    /// The standard error.
    Err,
}

/// A line of output; very long lines are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamLine {
    /// Stream that the line came from.
    pub stream: Stream,
    /// Text of the line, without the line break.
    pub text: String,
    /// End of the line.
    pub end: LineEnd,
}

/// The end of a line of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// A line break, or the end of the stream.
    Break,
    /// A carriage return alone: the next text replaces the line, as progress bars do.
    Return,
    /// None yet: the start of a line that replaces another, or a prompt.
    Open,
}

impl LineEnd {
    /// Returns the characters of this end.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Break => "\n",
            Self::Return => "\r",
            Self::Open => "",
        }
    }
}

/// Returns whether macOS asks for the password of an administrator in this line. The first of its two lines
/// may be lost.
pub(crate) fn asks_password(line: &str) -> bool {
    let is_prompt = line.starts_with("Username (") && line.trim_end().ends_with("):");
    is_prompt || line.contains("wants permission to analyze other processes")
}

/// Length at which a line is cut. Lines with a known meaning are shorter.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;

/// Reads two streams to their ends. What was on standard error before a piece of standard output is
/// sent before it: the program that `xctrace` records writes its last words on standard error before
/// `xctrace` says on standard output that the program has ended.
pub(crate) fn follow(mut out: FollowedStream, mut err: FollowedStream) {
    while out.is_open && err.is_open {
        let mut ready = [
            PollFd::new(&out.pipe, PollFlags::IN),
            PollFd::new(&err.pipe, PollFlags::IN),
        ];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => continue,
            // Without knowing which stream has something, both are read one after the other.
            Err(_) => break,
            Ok(_) => {}
        }

        let [is_out_ready, is_err_ready] = ready.map(|poll| !poll.revents().is_empty());
        if is_out_ready {
            let piece = out.read();
            err.read_and_send_bytes(err.waiting_bytes());
            out.send(&piece);
        } else if is_err_ready {
            err.read_and_send();
        }
    }
    while err.read_and_send() {}
    while out.read_and_send() {}
}

/// A stream of a tool whose lines are passed on.
pub(crate) struct FollowedStream {
    pipe: PipeReader,
    lines: Lines,
    /// False after the end of the stream.
    is_open: bool,
}

/// Largest piece of a stream that is read at once, in bytes.
const LARGEST_PIECE: usize = 8 * 1024;

impl FollowedStream {
    /// Returns a stream whose lines are passed to a function.
    pub(crate) fn new(
        pipe: PipeReader,
        from: Stream,
        to: impl FnMut(StreamLine) + Send + 'static,
    ) -> Self {
        Self {
            pipe,
            lines: Lines {
                from,
                to: Box::new(to),
                line: Vec::new(),
                is_return_held: false,
                replaces: false,
                is_cut: false,
            },
            is_open: true,
        }
    }

    /// Returns the number of bytes that can be read without waiting.
    fn waiting_bytes(&self) -> u64 {
        ioctl_fionread(&self.pipe).unwrap_or(0)
    }

    /// Waits for the next piece, and returns it; an empty one at the end of the stream. A stream that
    /// cannot be read counts as ended.
    fn read(&mut self) -> Vec<u8> {
        let mut piece = vec![0; LARGEST_PIECE];
        let count = loop {
            match self.pipe.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.unwrap_or(0),
            }
        };
        self.is_open &= count > 0;
        piece.truncate(count);
        piece
    }

    /// Sends the lines of a piece; of an empty one, the line that the end of the stream has left.
    fn send(&mut self, piece: &[u8]) {
        piece.iter().for_each(|&byte| self.lines.add(byte));
        if self.lines.line.is_empty() && (self.is_open || !self.lines.is_cut) {
            return;
        }
        if !self.is_open {
            self.lines.send(LineEnd::Break);
        } else if (self.lines.replaces || self.lines.is_prompt()) && piece.len() < LARGEST_PIECE {
            // Neither a progress bar nor a prompt ends a line. A full piece may have cut another line
            // in two.
            self.lines.send(LineEnd::Open);
        }
    }

    /// Reads a piece and sends its lines. Returns whether the stream goes on.
    fn read_and_send(&mut self) -> bool {
        let piece = self.read();
        self.send(&piece);
        self.is_open
    }

    /// Reads as many bytes as wait, and sends their lines.
    fn read_and_send_bytes(&mut self, mut bytes: u64) {
        while bytes > 0 && self.is_open {
            let piece = self.read();
            self.send(&piece);
            bytes = bytes.saturating_sub(piece.len() as u64);
        }
    }
}

/// Splits a stream into lines.
struct Lines {
    from: Stream,
    to: Box<dyn FnMut(StreamLine) + Send>,
    line: Vec<u8>,
    /// True after a carriage return, which may be the start of a line break.
    is_return_held: bool,
    /// True if the line replaces another.
    replaces: bool,
    /// True if the start of the line was sent already.
    is_cut: bool,
}

impl Lines {
    /// Returns whether the line asks for a password, and so may never end.
    fn is_prompt(&self) -> bool {
        asks_password(&String::from_utf8_lossy(&self.line))
    }

    fn add(&mut self, byte: u8) {
        if std::mem::take(&mut self.is_return_held) && byte != b'\n' {
            self.send(LineEnd::Return);
            self.replaces = true;
        }
        match byte {
            b'\n' => {
                self.send(LineEnd::Break);
                self.replaces = false;
            }
            b'\r' => self.is_return_held = true,
            _ if self.line.len() < LONGEST_LINE => self.line.push(byte),
            _ => {}
        }
    }

    fn send(&mut self, end: LineEnd) {
        let text = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        self.is_cut = end == LineEnd::Open;
        (self.to)(StreamLine {
            stream: self.from,
            text,
            end,
        });
    }
}
