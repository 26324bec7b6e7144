//! Reads a command-buffer log, as `docs/command-buffer-log.md` describes it, into the tables that
//! Instruments has for the same facts.
//!
//! Facts that no table of Instruments has are in tables of the log's own: the functions of each
//! encoder's dispatches, and the waits.

mod line;
mod tables;

use std::borrow::Cow;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::mpsc::sync_channel;
use std::thread;

use rustc_hash::FxHashMap;

use self::line::{End, Header, Line, LineError};
use self::tables::LogTables;
use crate::error::{Error, Problem, Result};
use crate::names::Names;
use crate::note::TraceNote;
use crate::partial_trace::PartialTrace;
use crate::place::Place;
use crate::select::Selection;
use crate::toc::{Device, Run, Target, TargetProcess};

/// Name of the log where a message names a table.
const LOG: &str = "command-buffer log";
/// Largest length of a line: a command buffer of a hundred thousand encoders fits.
const LONGEST_LINE: usize = 16 << 20;
/// Number of bytes that are parsed at once.
const BATCH: usize = 4 << 20;
/// Number of bytes that a thread parses at once.
const PART: usize = 256 << 10;
/// Largest number of threads: more would wait for the one that builds the tables.
const MOST_THREADS: usize = 4;

/// Largest length of a log: those of no recording are a hundred days apart.
const LONGEST: u64 = 100 * 86_400 * 1_000_000_000;
/// Largest time from a commit to the GPU, where no command buffer has a shorter one.
const LATEST_START: u64 = 600 * 1_000_000_000;
/// Time in nanoseconds that the longest of many command buffers takes on any GPU: times in another unit are
/// less.
const SHORTEST_WORK: u64 = 1_000;
const MANY: u64 = 10;

/// Returns whether a file begins as a command-buffer log of any version does, or as one without its
/// header.
pub(crate) fn is_log(start: &[u8]) -> bool {
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or(start);
    let object = first
        .strip_prefix(b"{")
        .map_or(first, <[u8]>::trim_ascii_start);
    memchr::memmem::find(first, b"\"command-buffer-log/").is_some()
        || object.starts_with(b"\"command_buffer\"")
}

/// Reads a log into a trace. A log that is cut off is refused, unless that is allowed.
pub(crate) fn read(
    bytes: impl Read,
    file: &str,
    selection: &Selection,
    allow_truncated: bool,
    trace: &mut PartialTrace,
) -> Result<()> {
    let names = &mut trace.names;
    let mut batches = Batches::new(bytes, file);
    let first = batches.first_line()?;
    let header = Header::parse(&first).map_err(|detail| broken(file, 1, detail))?;

    let mut tables = LogTables::new(&header, names, selection);
    let mut state = ReadState::default();
    let mut number = 1;
    while let Some(batch) = batches.next()? {
        for_each_line(batch, |line| {
            number += 1;
            let taken = match line.object {
                // Only the last line can lack its newline, and only a cut one is no whole object.
                Err(error) if error.is_cut && !line.is_whole => Ok(()),
                Err(error) => Err(error.detail),
                Ok(object) => state.take(object, &mut tables, names),
            };
            taken.map_err(|detail| broken(file, number, detail))
        })?;
    }
    if tables.least_latency.is_some_and(|ns| ns > LATEST_START) {
        let detail = "gpu_start is more than ten minutes after commit in every command buffer: all times \
                      are of one clock";
        let detail = detail.to_owned();
        return Err(Error::in_file(Problem::BrokenLog { detail }, file));
    }
    let (count, longest_ns) = (state.seen.count, tables.longest_ns);
    if count >= MANY && (1..SHORTEST_WORK).contains(&longest_ns) {
        let detail = format!(
            "no GPU work of {count} command buffers takes more than {longest_ns} ns: times are nanoseconds"
        );
        return Err(Error::in_file(Problem::BrokenLog { detail }, file));
    }
    // The end is the last line: a log without it was cut, at a newline or elsewhere.
    let is_cut = state.end.is_none() || batches.is_cut;
    if is_cut && !allow_truncated {
        let whole_rows = state.seen.count;
        let place = Place {
            table: Some(LOG.to_owned()),
            ..Place::file(file)
        };
        return Err(Error::new(Problem::Truncated { whole_rows }, place));
    }
    state.finish(header, tables, is_cut, file, trace);
    Ok(())
}

/// Returns the error of a line.
fn broken(file: &str, line: u64, detail: String) -> Error {
    let place = Place {
        line: Some(line),
        ..Place::file(file)
    };
    Error::new(Problem::BrokenLog { detail }, place)
}

/// State of a log that is being read, beside its tables.
#[derive(Default)]
struct ReadState {
    seen: Numbers,
    notes: Vec<TraceNote>,
    end: Option<End>,
}

/// A set of numbers, nearly all of which follow each other.
#[derive(Default)]
struct Numbers {
    /// A bit for each number of a block, by the number of the block.
    blocks: FxHashMap<u64, u64>,
    count: u64,
    greatest: u64,
}

impl Numbers {
    /// Adds a number, and returns whether it is new.
    fn insert(&mut self, number: u64) -> bool {
        let block = self.blocks.entry(number / 64).or_default();
        let bit = 1 << (number % 64);
        let is_new = *block & bit == 0;
        *block |= bit;
        self.count += u64::from(is_new);
        self.greatest = self.greatest.max(number);
        is_new
    }
}

impl ReadState {
    /// Takes an object of the log.
    fn take(
        &mut self,
        line: Line<'_>,
        tables: &mut LogTables,
        names: &mut Names,
    ) -> std::result::Result<(), String> {
        if self.end.is_some() {
            return Err("there is a line after the end of the log".to_owned());
        }
        match line {
            Line::Buffer(buffer) => {
                if !self.seen.insert(buffer.command_buffer) {
                    let number = buffer.command_buffer;
                    return Err(format!("command_buffer {number} is in the log twice"));
                }
                buffer.check()?;
                tables.add_buffer(&buffer, names);
            }
            Line::Phase(phase) => tables.add_phase(&phase, names),
            Line::Wait(wait) => tables.add_wait(&wait, names),
            Line::Note(text) => self.notes.push(TraceNote::Writer { text }),
            Line::End(end) => {
                let written = self.seen.count;
                if end.end.ns() < tables.last_ns() {
                    return Err(format!(
                        "end ({}) is before the last time of the log ({})",
                        end.end.ns(),
                        tables.last_ns()
                    ));
                }
                if end.command_buffers != written {
                    return Err(format!(
                        "the end counts {} command buffers, but the log has {written}",
                        end.command_buffers
                    ));
                }
                tables.see(end.end);
                self.end = Some(end);
            }
        }
        if tables.length_ns() > LONGEST {
            return Err(
                "its times are more than a hundred days from others of the log: all times \
                        are of one clock"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Adds the tables and the facts of the log to a trace.
    fn finish(
        mut self,
        header: Header<'_>,
        tables: LogTables,
        is_cut: bool,
        file: &str,
        trace: &mut PartialTrace,
    ) {
        // The number of a command buffer that is lost is missing, or was never given.
        let missing = self.seen.greatest - self.seen.count;
        let lost = self.end.map_or(0, |end| end.lost).max(missing);
        if lost > 0 {
            let all = self.seen.count.saturating_add(lost);
            self.notes.push(TraceNote::LogLost { lost, all });
        }
        if is_cut {
            self.notes.push(TraceNote::Truncated {
                file: file.to_owned(),
                table: LOG.to_owned(),
                rows: usize::try_from(self.seen.count).unwrap_or(usize::MAX),
            });
        }
        if tables.outside > 0 {
            let encoders = tables.outside;
            self.notes.push(TraceNote::SampledOutside { encoders });
        }
        if tables.upper_bounds > 0 {
            let (encoders, all) = (tables.upper_bounds, tables.all_encoders);
            self.notes.push(TraceNote::UpperBounds { encoders, all });
        }

        let length_ns = tables.length_ns();
        let (tables, listed) = tables.finish(file, is_cut, header.synthetic);
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        trace.run = Some(Run {
            number: 1,
            synthetic: header.synthetic,
            target: Target::Recorded(TargetProcess {
                name: header.program.into_owned(),
                pid: Some(header.pid),
                arguments: (!header.arguments.is_empty()).then(|| header.arguments.join(" ")),
                ..TargetProcess::default()
            }),
            device: Some(Device {
                os_version: owned(header.os),
                ..Device::default()
            }),
            start_date: owned(header.started),
            duration_ns: Some(length_ns),
            template: Some(match header.writer {
                Some(writer) => format!("{LOG} of {writer}"),
                None => LOG.to_owned(),
            }),
            tables: listed,
            ..Run::default()
        });
        trace.tables.extend(tables);
        trace.notes.extend(self.notes);
        trace.is_log = true;
    }
}

/// A line of the log, parsed.
struct ParsedLine<'a> {
    object: std::result::Result<Line<'a>, LineError>,
    /// True if the newline is there.
    is_whole: bool,
}

/// Parses the lines of a batch, on other threads if there are several, and hands them out in order.
fn for_each_line<'a>(
    batch: &'a [u8],
    mut take: impl FnMut(ParsedLine<'a>) -> Result<()>,
) -> Result<()> {
    let parts = parts(batch);
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let workers = threads.min(MOST_THREADS) - 1;
    if workers == 0 || parts.len() == 1 {
        return parts.into_iter().flat_map(parse_lines).try_for_each(take);
    }
    thread::scope(|scope| {
        let start = |first: usize| {
            let (done, parsed) = sync_channel(1);
            let own: Vec<&[u8]> = parts.iter().skip(first).step_by(workers).copied().collect();
            // The receiver is gone after an error.
            scope.spawn(move || {
                let mut parsed = own.into_iter().map(parse_lines);
                parsed.try_for_each(|lines| done.send(lines))
            });
            parsed
        };
        let workers: Vec<_> = (0..workers).map(start).collect();
        for worker in workers.iter().cycle().take(parts.len()) {
            // A thread that panicked sends nothing more, and lets the scope panic.
            worker
                .recv()
                .into_iter()
                .flatten()
                .try_for_each(&mut take)?;
        }
        Ok(())
    })
}

/// Cuts whole lines into parts of about the same size.
fn parts(mut lines: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while !lines.is_empty() {
        let (part, rest) = lines.split_at(line_end(lines, PART.min(lines.len())));
        parts.push(part);
        lines = rest;
    }
    parts
}

/// Returns the end of the line with this byte, after its newline.
fn line_end(lines: &[u8], byte: usize) -> usize {
    let rest = lines.get(byte..).unwrap_or(&[]);
    memchr::memchr(b'\n', rest).map_or(lines.len(), |newline| byte + newline + 1)
}

fn parse_lines(lines: &[u8]) -> Vec<ParsedLine<'_>> {
    let mut parsed = Vec::new();
    let mut start = 0;
    while start < lines.len() {
        let end = line_end(lines, start);
        let line = lines.get(start..end).unwrap_or(&[]);
        let bytes = line.strip_suffix(b"\n").unwrap_or(line);
        parsed.push(ParsedLine {
            object: Line::parse(bytes),
            is_whole: bytes.len() < line.len(),
        });
        start = end;
    }
    parsed
}

/// Reads whole lines, many at once.
struct Batches<'f, R> {
    bytes: R,
    file: &'f str,
    buffer: Vec<u8>,
    /// Number of bytes of the buffer that were handed out.
    taken: usize,
    /// True if there are no more bytes.
    is_over: bool,
    /// True if the file ends before its compressed content does.
    is_cut: bool,
}

impl<'f, R: Read> Batches<'f, R> {
    fn new(bytes: R, file: &'f str) -> Self {
        Self {
            bytes,
            file,
            buffer: Vec::new(),
            taken: 0,
            is_over: false,
            is_cut: false,
        }
    }

    /// Returns the first line without its newline.
    fn first_line(&mut self) -> Result<Vec<u8>> {
        while memchr::memchr(b'\n', &self.buffer).is_none() && !self.is_over {
            self.fill()?;
        }
        let (line, _) = self.buffer.split_at(line_end(&self.buffer, 0));
        self.taken = line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Ok(line
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(line)
            .to_owned())
    }

    /// Returns the next lines; the last one of all may lack its newline.
    fn next(&mut self) -> Result<Option<&[u8]>> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        while self.buffer.len() < BATCH && !self.is_over {
            self.fill()?;
        }
        self.taken = loop {
            match memchr::memrchr(b'\n', &self.buffer) {
                _ if self.is_over => break self.buffer.len(),
                Some(newline) => break newline + 1,
                None => self.fill()?,
            }
        };
        let lines = self.buffer.get(..self.taken);
        Ok(lines.filter(|lines| !lines.is_empty()))
    }

    fn fill(&mut self) -> Result<()> {
        if self.buffer.len() > LONGEST_LINE {
            let detail = format!("a line is longer than {LONGEST_LINE} bytes");
            return Err(Error::in_file(Problem::BrokenLog { detail }, self.file));
        }
        let mut chunk = self.bytes.by_ref().take(BATCH as u64);
        let read = chunk.read_to_end(&mut self.buffer);
        match read {
            Ok(read) => self.is_over = read == 0,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                (self.is_over, self.is_cut) = (true, true);
            }
            Err(error) => return Err(Error::in_file(error.into(), self.file)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
