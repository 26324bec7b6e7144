//! Reads a command-buffer log, as `docs/command-buffer-log.md` describes it, into the tables that
//! Instruments has for the same facts.
//!
//! Facts that no table of Instruments has are in tables of the log's own: the functions of each
//! encoder's dispatches, and the waits.

mod line;
mod tables;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};

use rustc_hash::FxBuildHasher;

use self::line::{End, Header, Line};
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
const LONGEST_LINE: u64 = 16 << 20;

/// Returns whether a file begins as a command-buffer log does.
pub(crate) fn is_log(start: &[u8]) -> bool {
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or(start);
    memchr::memmem::find(first, line::FORMAT.as_bytes()).is_some()
}

/// Reads a log into a trace.
pub(crate) fn read(
    bytes: impl Read,
    file: &str,
    selection: &Selection,
    trace: &mut PartialTrace,
) -> Result<()> {
    let names = &mut trace.names;
    let mut lines = Lines::new(bytes, file);
    let first = lines.next()?.map(|line| line.text.to_owned());
    let first = first.unwrap_or_default();
    let header = Header::parse(&first).map_err(|detail| broken(file, 1, detail))?;

    let mut tables = LogTables::new(&header, names, selection);
    let mut state = ReadState::default();
    while let Some(line) = lines.next()? {
        match Line::parse(line.text) {
            // Only the last line can lack its newline, and only a cut one is no whole object.
            Err(error) if error.is_cut && !line.is_whole => {
                state.is_cut = true;
                break;
            }
            Err(error) => return Err(broken(file, line.number, error.detail)),
            Ok(parsed) => {
                let taken = state.take(parsed, &mut tables, names);
                taken.map_err(|detail| broken(file, line.number, detail))?;
            }
        }
    }
    state.finish(header, tables, file, trace);
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

/// What is known of a log so far, beside its tables.
#[derive(Default)]
struct ReadState {
    seen: HashSet<u64, FxBuildHasher>,
    notes: Vec<TraceNote>,
    end: Option<End>,
    /// True if the last line is cut off.
    is_cut: bool,
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
                let written = self.seen.len() as u64;
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
        Ok(())
    }

    /// Adds the tables and the facts of the log to a trace.
    fn finish(
        mut self,
        header: Header<'_>,
        tables: LogTables,
        file: &str,
        trace: &mut PartialTrace,
    ) {
        match &self.end {
            Some(end) if end.lost > 0 => self.notes.push(TraceNote::LogLost { lost: end.lost }),
            Some(_) => {}
            None if self.is_cut => {}
            None => self.notes.push(TraceNote::LogWithoutEnd),
        }
        if self.is_cut {
            self.notes.push(TraceNote::Truncated {
                file: file.to_owned(),
                table: LOG.to_owned(),
                rows: self.seen.len(),
            });
        }
        if tables.outside > 0 {
            let encoders = tables.outside;
            self.notes.push(TraceNote::SampledOutside { encoders });
        }
        if tables.upper_bounds > 0 {
            let encoders = tables.upper_bounds;
            self.notes.push(TraceNote::UpperBounds { encoders });
        }

        let length_ns = tables.length_ns();
        let (tables, listed) = tables.finish(file, self.is_cut, header.synthetic);
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

/// A line of the log.
struct RawLine<'a> {
    /// Bytes of the line without its newline.
    text: &'a [u8],
    /// Number of the line, from 1.
    number: u64,
    /// True if the newline is there.
    is_whole: bool,
}

/// Reads line after line, and knows where it is.
struct Lines<'f, R> {
    bytes: BufReader<R>,
    file: &'f str,
    buffer: Vec<u8>,
    number: u64,
}

impl<'f, R: Read> Lines<'f, R> {
    fn new(bytes: R, file: &'f str) -> Self {
        Self {
            bytes: BufReader::with_capacity(256 << 10, bytes),
            file,
            buffer: Vec::new(),
            number: 0,
        }
    }

    fn next(&mut self) -> Result<Option<RawLine<'_>>> {
        self.buffer.clear();
        self.number += 1;
        let mut limited = self.bytes.by_ref().take(LONGEST_LINE);
        let read = limited.read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|error| Error::in_file(error.into(), self.file))?;
        if read as u64 == LONGEST_LINE {
            let detail = format!("the line is longer than {LONGEST_LINE} bytes");
            return Err(broken(self.file, self.number, detail));
        }
        if read == 0 {
            return Ok(None);
        }
        let whole = self.buffer.strip_suffix(b"\n");
        let text = whole.unwrap_or(&self.buffer);
        let text = match self.number {
            1 => text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text),
            _ => text,
        };
        Ok(Some(RawLine {
            text,
            number: self.number,
            is_whole: whole.is_some(),
        }))
    }
}

#[cfg(test)]
mod tests;
