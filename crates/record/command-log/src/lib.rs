//! Writes a command-buffer log: what a program knows about its own Metal command buffers, for
//! metalens to read. `docs/command-buffer-log.md` describes the format.
//!
//! ```
//! use metalens_command_log::{CommandBuffer, Encoder, Header, Kind, Log};
//!
//! # fn main() -> std::io::Result<()> {
//! let header = Header { program: "my-engine", pid: std::process::id(), ..Header::default() };
//! let mut log = Log::new(Vec::new(), &header)?;
//! log.command_buffer(&CommandBuffer {
//!     number: 1,
//!     commit: 2_000,
//!     gpu: Some((3_000, 9_000)),
//!     encoders: &[Encoder { kernels: &[("softmax", 2)], ..Encoder::new(Kind::Compute) }],
//!     ..CommandBuffer::default()
//! })?;
//! log.end(9_700, None, None)?;
//! # Ok(())
//! # }
//! ```
//!
//! Times are whole nanoseconds of one clock that never goes back. What is unknown is `None`, and is
//! left out. Each call writes one line with one `write_all`: a crash loses the last line at most,
//! if the writer does not buffer.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Version of the format, as the header has it.
pub const FORMAT: &str = "command-buffer-log/1";

/// First line of a log: the program and its machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header<'a> {
    /// Name of the program.
    pub program: &'a str,
    /// Its process id.
    pub pid: u32,
    /// Who writes the log, with a version.
    pub writer: Option<&'a str>,
    /// Arguments of the program, without its name.
    pub arguments: Option<&'a [String]>,
    /// Name of the GPU, as `MTLDevice.name` has it.
    pub device: Option<&'a str>,
    /// Version of the operating system: `26.1 (25B78)`.
    pub os: Option<&'a str>,
    /// Date and time of the start, in UTC: `2026-11-24T10:00:00Z`.
    pub started: Option<&'a str>,
    /// True if nothing was measured.
    pub synthetic: bool,
}

/// A committed command buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandBuffer<'a> {
    /// Number of the commit: from 1, each once.
    pub number: u64,
    /// Number of the queue, from 1.
    pub queue: Option<u64>,
    /// Number of the thread that committed it.
    pub thread: Option<u64>,
    /// Label of the command buffer.
    pub label: Option<&'a str>,
    /// Time at which the first encoder was made.
    pub encode: Option<u64>,
    /// Time just before `commit`.
    pub commit: u64,
    /// Time at which the program was told that the buffer is scheduled.
    pub scheduled: Option<u64>,
    /// `GPUStartTime` and `GPUEndTime`. May be missing only if there is an error.
    pub gpu: Option<(u64, u64)>,
    /// Time at which the program was told that the buffer is complete.
    pub completed: Option<u64>,
    /// Text of the error that it ended with.
    pub error: Option<&'a str>,
    /// Its encoders, in order.
    pub encoders: &'a [Encoder<'a>],
}

/// An encoder of a command buffer.
#[derive(Clone, Copy, Debug)]
pub struct Encoder<'a> {
    /// What it encodes.
    pub kind: Kind,
    /// The program's label.
    pub label: Option<&'a str>,
    /// Names of functions, each once, with the number of its dispatches or draws.
    pub kernels: &'a [(&'a str, u64)],
    /// Time at which it was made.
    pub start: Option<u64>,
    /// Time at which its encoding ended.
    pub end: Option<u64>,
    /// Times that were sampled on the GPU, in the log's clock.
    pub gpu: Option<(u64, u64)>,
    /// True if each dispatch got an encoder to be measured, so that the times include waiting.
    pub upper_bound: bool,
}

impl Encoder<'_> {
    /// Returns an encoder of which only the kind is known.
    #[must_use]
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            label: None,
            kernels: &[],
            start: None,
            end: None,
            gpu: None,
            upper_bound: false,
        }
    }
}

/// Kind of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Dispatches of kernels.
    Compute,
    /// Copies and fills.
    Blit,
    /// Draws.
    Render,
    /// Builds structures for ray tracing.
    AccelerationStructure,
    /// Maps sparse textures.
    ResourceState,
    /// Runs networks (Metal 4).
    MachineLearning,
}

impl Kind {
    /// Returns the name in the format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Blit => "blit",
            Self::Render => "render",
            Self::AccelerationStructure => "acceleration_structure",
            Self::ResourceState => "resource_state",
            Self::MachineLearning => "machine_learning",
        }
    }
}

/// A stretch of time in the program: a phase that it names, or its wait for a command buffer.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// Begin of the stretch.
    pub start: u64,
    /// End of the stretch.
    pub end: u64,
    /// Number of the thread.
    pub thread: Option<u64>,
}

/// A log that is being written. It has no end line until [`Log::end`].
#[derive(Debug)]
pub struct Log<W> {
    output: W,
    line: String,
    command_buffers: u64,
}

impl<W: Write> Log<W> {
    /// Begins a log with its header.
    pub fn new(output: W, header: &Header<'_>) -> io::Result<Self> {
        let mut log = Self {
            output,
            line: String::new(),
            command_buffers: 0,
        };
        let mut object = Object::open(&mut log.line);
        object.text("format", Some(FORMAT));
        object.text("writer", header.writer);
        object.text("program", Some(header.program));
        object.number("pid", Some(header.pid.into()));
        if let Some(arguments) = header.arguments {
            object.key("arguments");
            object.list(arguments, |line, argument| quote(line, argument));
        }
        object.text("device", header.device);
        object.text("os", header.os);
        object.text("started", header.started);
        object.flag("synthetic", header.synthetic);
        object.close();
        log.write_line()?;
        Ok(log)
    }

    /// Writes a command buffer, once it is complete.
    pub fn command_buffer(&mut self, buffer: &CommandBuffer<'_>) -> io::Result<()> {
        let mut object = Object::open(&mut self.line);
        object.number("command_buffer", Some(buffer.number));
        object.number("queue", buffer.queue);
        object.number("thread", buffer.thread);
        object.text("label", buffer.label);
        object.number("encode", buffer.encode);
        object.number("commit", Some(buffer.commit));
        object.number("scheduled", buffer.scheduled);
        object.pair(["gpu_start", "gpu_end"], buffer.gpu);
        object.number("completed", buffer.completed);
        object.text("error", buffer.error);
        if !buffer.encoders.is_empty() {
            object.key("encoders");
            object.list(buffer.encoders, write_encoder);
        }
        object.close();
        self.write_line()?;
        self.command_buffers += 1;
        Ok(())
    }

    /// Writes a phase that the program names.
    pub fn phase(&mut self, name: &str, stretch: Stretch) -> io::Result<()> {
        let mut object = Object::open(&mut self.line);
        object.text("phase", Some(name));
        object.stretch(stretch);
        self.write_line()
    }

    /// Writes that the program waited for a command buffer.
    pub fn wait(&mut self, command_buffer: u64, stretch: Stretch) -> io::Result<()> {
        let mut object = Object::open(&mut self.line);
        object.number("wait", Some(command_buffer));
        object.stretch(stretch);
        self.write_line()
    }

    /// Writes what could not be done. Readers see it above the figures.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        let mut object = Object::open(&mut self.line);
        object.text("note", Some(text));
        object.close();
        self.write_line()
    }

    /// Writes the last line, flushes, and returns the writer. `lost` counts the command buffers
    /// that were not written; `cost` is the price of writing one, in nanoseconds.
    pub fn end(mut self, at: u64, lost: Option<u64>, cost: Option<u64>) -> io::Result<W> {
        let mut object = Object::open(&mut self.line);
        object.number("end", Some(at));
        object.number("command_buffers", Some(self.command_buffers));
        object.number("lost", lost);
        object.number("cost_ns_per_command_buffer", cost);
        object.close();
        self.write_line()?;
        self.output.flush()?;
        Ok(self.output)
    }

    /// Flushes the writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    fn write_line(&mut self) -> io::Result<()> {
        self.line.push('\n');
        let result = self.output.write_all(self.line.as_bytes());
        self.line.clear();
        result
    }
}

fn write_encoder(line: &mut String, encoder: &Encoder<'_>) {
    let mut object = Object::open(line);
    object.text("kind", Some(encoder.kind.name()));
    object.text("label", encoder.label);
    if !encoder.kernels.is_empty() {
        object.key("kernels");
        let mut kernels = Object::open(object.line);
        for (name, count) in encoder.kernels {
            kernels.number(name, Some(*count));
        }
        kernels.close();
    }
    object.number("start", encoder.start);
    object.number("end", encoder.end);
    object.pair(["gpu_start", "gpu_end"], encoder.gpu);
    object.flag("upper_bound", encoder.upper_bound);
    object.close();
}

/// A JSON object that is being written. What is `None` is left out.
struct Object<'a> {
    line: &'a mut String,
    is_empty: bool,
}

impl<'a> Object<'a> {
    fn open(line: &'a mut String) -> Self {
        line.push('{');
        Self {
            line,
            is_empty: true,
        }
    }

    fn key(&mut self, key: &str) {
        if !self.is_empty {
            self.line.push(',');
        }
        self.is_empty = false;
        quote(self.line, key);
        self.line.push(':');
    }

    fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.key(key);
            quote(self.line, value);
        }
    }

    fn number(&mut self, key: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.key(key);
            // A string takes everything that is written to it.
            let _ = write!(self.line, "{value}");
        }
    }

    fn pair(&mut self, [start, end]: [&str; 2], value: Option<(u64, u64)>) {
        self.number(start, value.map(|(start, _)| start));
        self.number(end, value.map(|(_, end)| end));
    }

    fn flag(&mut self, key: &str, value: bool) {
        if value {
            self.key(key);
            self.line.push_str("true");
        }
    }

    fn list<T>(&mut self, items: &[T], write_item: fn(&mut String, &T)) {
        self.line.push('[');
        for (position, item) in items.iter().enumerate() {
            if position > 0 {
                self.line.push(',');
            }
            write_item(self.line, item);
        }
        self.line.push(']');
    }

    fn stretch(mut self, stretch: Stretch) {
        self.number("start", Some(stretch.start));
        self.number("end", Some(stretch.end));
        self.number("thread", stretch.thread);
        self.close();
    }

    fn close(self) {
        self.line.push('}');
    }
}

/// Writes a JSON string. Line separators of Unicode are escaped too, because some readers of
/// lines split there.
fn quote(line: &mut String, text: &str) {
    line.push('"');
    for character in text.chars() {
        match character {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(line, "\\u{:04x}", u32::from(character));
            }
            _ => line.push(character),
        }
    }
    line.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const HEADER: Header<'_> = Header {
        program: "engine",
        pid: 42,
        writer: None,
        arguments: None,
        device: None,
        os: None,
        started: None,
        synthetic: false,
    };

    /// Writes a log, and reads its lines after the header.
    fn check(write: impl FnOnce(&mut Log<Vec<u8>>) -> io::Result<()>, expected: Value) {
        let mut log = Log::new(Vec::new(), &HEADER).unwrap();
        write(&mut log).unwrap();
        let end = json!({"end": 99, "command_buffers": log.command_buffers});
        let bytes = log.end(99, None, None).unwrap();
        let lines = read(&bytes);
        assert_eq!(
            lines.first().unwrap(),
            &json!({"format": FORMAT, "program": "engine", "pid": 42})
        );
        assert_eq!(lines.get(1..lines.len() - 1).unwrap(), [expected]);
        assert_eq!(lines.last().unwrap(), &end);
    }

    fn read(bytes: &[u8]) -> Vec<Value> {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(text.ends_with('\n'));
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn a_full_header_has_every_key() {
        let header = Header {
            writer: Some("me 1"),
            arguments: Some(&["-x".to_owned(), "a\"b".to_owned()]),
            device: Some("Apple M3"),
            os: Some("26.1 (25B78)"),
            started: Some("2026-11-24T10:00:00Z"),
            synthetic: true,
            ..HEADER
        };
        let bytes = Log::new(Vec::new(), &header)
            .unwrap()
            .end(5, Some(2), Some(300))
            .unwrap();
        assert_eq!(
            read(&bytes),
            [
                json!({"format": FORMAT, "writer": "me 1", "program": "engine", "pid": 42,
                    "arguments": ["-x", "a\"b"], "device": "Apple M3", "os": "26.1 (25B78)",
                    "started": "2026-11-24T10:00:00Z", "synthetic": true}),
                json!({"end": 5, "command_buffers": 0, "lost": 2,
                    "cost_ns_per_command_buffer": 300}),
            ]
        );
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        check(
            |log| {
                log.command_buffer(&CommandBuffer {
                    number: 1,
                    commit: 2,
                    gpu: Some((3, 4)),
                    ..CommandBuffer::default()
                })
            },
            json!({"command_buffer": 1, "commit": 2, "gpu_start": 3, "gpu_end": 4}),
        );
    }

    #[test]
    fn a_full_command_buffer_has_every_key() {
        let encoder = Encoder {
            label: Some("step"),
            kernels: &[("gemm", 12), ("soft\nmax", 1)],
            start: Some(10),
            end: Some(11),
            gpu: Some((21, 22)),
            upper_bound: true,
            ..Encoder::new(Kind::Compute)
        };
        check(
            |log| {
                log.command_buffer(&CommandBuffer {
                    number: 7,
                    queue: Some(1),
                    thread: Some(u64::MAX),
                    label: Some("token"),
                    encode: Some(9),
                    commit: 12,
                    scheduled: Some(13),
                    gpu: Some((20, 23)),
                    completed: Some(24),
                    error: Some("no"),
                    encoders: &[encoder, Encoder::new(Kind::Blit)],
                })
            },
            json!({"command_buffer": 7, "queue": 1, "thread": u64::MAX, "label": "token",
                "encode": 9, "commit": 12, "scheduled": 13, "gpu_start": 20, "gpu_end": 23,
                "completed": 24, "error": "no", "encoders": [
                {"kind": "compute", "label": "step", "kernels": {"gemm": 12, "soft\nmax": 1},
                "start": 10, "end": 11, "gpu_start": 21, "gpu_end": 22, "upper_bound": true},
                {"kind": "blit"}]}),
        );
    }

    #[test]
    fn stretches_and_notes_are_lines() {
        let stretch = Stretch {
            start: 1,
            end: 2,
            thread: None,
        };
        check(
            |log| log.phase("decode", stretch),
            json!({"phase": "decode", "start": 1, "end": 2}),
        );
        let with_thread = Stretch {
            thread: Some(5),
            ..stretch
        };
        check(
            |log| log.wait(3, with_thread),
            json!({"wait": 3, "start": 1, "end": 2, "thread": 5}),
        );
        check(|log| log.note("left out"), json!({"note": "left out"}));
    }

    #[test]
    fn every_character_comes_back_and_none_ends_a_line() {
        let every: String = (0..0x3000).filter_map(char::from_u32).collect();
        let every = format!("{every}\u{fffd}\u{1f600}");
        check(|log| log.note(&every), json!({ "note": every }));
    }
}
