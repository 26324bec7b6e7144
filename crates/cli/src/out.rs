//! Standard output and standard error: everything that is printed goes through one of
//! these, so that no text of a recording or of another program reaches a terminal as
//! something to be obeyed.
#![expect(
    clippy::disallowed_methods,
    reason = "the one place that opens the standard streams"
)]

use std::io::{self, IsTerminal, StderrLock, StdoutLock, Write};

use anstream::AutoStream;
use metalens_text::SafeWriter;

/// Standard output for text that people read.
pub(crate) fn page() -> SafeWriter<AutoStream<StdoutLock<'static>>> {
    SafeWriter::page(anstream::stdout().lock())
}

/// Standard output for JSON.
pub(crate) fn json() -> SafeWriter<StdoutLock<'static>> {
    SafeWriter::json(io::stdout().lock())
}

/// Standard output for CSV and other text that programs read.
pub(crate) fn data() -> SafeWriter<StdoutLock<'static>> {
    SafeWriter::data(io::stdout().lock(), is_terminal())
}

/// Standard error: notes, warnings, errors.
pub(crate) fn notes() -> SafeWriter<AutoStream<StderrLock<'static>>> {
    SafeWriter::page(anstream::stderr().lock())
}

/// Standard output for bytes that are not ours to change: pictures, and what a program
/// that the user started prints.
pub(crate) fn untouched() -> StdoutLock<'static> {
    io::stdout().lock()
}

/// Standard error for what a program that the user started prints.
pub(crate) fn untouched_notes() -> StderrLock<'static> {
    io::stderr().lock()
}

/// Passes on a line of standard error that another program wrote: to a terminal, so that
/// it obeys nothing in it; to a file or a program as it is.
pub(crate) fn others_line(line: &str) {
    let mut out = SafeWriter::data(io::stderr().lock(), are_notes_on_terminal());
    let _ = writeln!(out, "{line}");
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub(crate) fn are_notes_on_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Width of the terminal that standard output is, if it is one.
pub(crate) fn width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0))
}

/// Tells one line on standard error. Nothing is left to be done if that cannot be
/// written.
pub(crate) fn note(line: &str) {
    let _ = writeln!(notes(), "{line}");
}
