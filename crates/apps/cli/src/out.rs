//! Opens standard output and standard error for all that metalens prints.
//!
//! Each function escapes control characters as its kind of output needs, so that a terminal
//! never obeys text of a recording or of another program. A reader who closes a stream ends the
//! printing only, and changes no exit code.
#![expect(
    clippy::disallowed_methods,
    reason = "the one place that opens the standard streams"
)]

use std::io::{self, IsTerminal, StderrLock, StdoutLock, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Stdio;

use metalens_failure::{OtherNames, in_plain_words};
use metalens_text::streams::is_on_runner;
use metalens_text::{SafeWriter, UntilClosed, shown};

/// Opens standard output for text that people read.
pub(crate) fn page() -> SafeWriter<impl Write> {
    SafeWriter::page(UntilClosed::new(anstream::stdout().lock())).on_runner(is_on_runner())
}

/// Opens standard output for JSON.
pub(crate) fn json() -> SafeWriter<UntilClosed<StdoutLock<'static>>> {
    SafeWriter::json(untouched()).on_runner(is_on_runner())
}

/// Opens standard output for CSV and other text that programs read.
pub(crate) fn data() -> SafeWriter<UntilClosed<StdoutLock<'static>>> {
    SafeWriter::data(untouched(), is_terminal()).on_runner(is_on_runner())
}

/// Opens standard error for notes, warnings and errors.
pub(crate) fn notes() -> SafeWriter<impl Write> {
    SafeWriter::page(UntilClosed::new(anstream::stderr().lock())).on_runner(is_on_runner())
}

/// Opens standard output for bytes that must not change: pictures, and output of a program that
/// the user started.
pub(crate) fn untouched() -> UntilClosed<StdoutLock<'static>> {
    UntilClosed::new(io::stdout().lock())
}

/// Opens standard error for unchanged output of a program that the user started.
pub(crate) fn untouched_notes() -> UntilClosed<StderrLock<'static>> {
    UntilClosed::new(io::stderr().lock())
}

/// Returns standard error as the standard output of a program that the user started.
pub(crate) fn stderr_of_child() -> io::Result<Stdio> {
    Ok(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?))
}

/// Prints a line that another program wrote to standard error, and its end: nothing, a carriage
/// return, or a line break. A terminal gets the line escaped; a file or a program gets it unchanged.
pub(crate) fn pass_on_line(line: &str, end: &str) {
    let mut err = untouched_notes();
    // There is nowhere else to report that standard error cannot be written.
    let _ = SafeWriter::data(&mut err, are_notes_on_terminal())
        .on_runner(is_on_runner())
        .write_all(line.as_bytes());
    let _ = err.write_all(end.as_bytes()).and_then(|()| err.flush());
}

/// Returns whether messages show the names of other processes: the server for agents, which starts
/// this program, may say that they do not.
pub(crate) fn names() -> OtherNames {
    match std::env::var_os(OtherNames::VARIABLE) {
        Some(value) if !value.is_empty() => OtherNames::Hidden,
        _ => OtherNames::Shown,
    }
}

/// Returns whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether standard error is a terminal.
pub(crate) fn are_notes_on_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Returns whether one person reads both streams on a terminal: nothing needs to be said twice.
pub(crate) fn is_for_a_person() -> bool {
    is_terminal() && are_notes_on_terminal()
}

/// Returns the width of the terminal in columns, or None if standard output is not a terminal.
pub(crate) fn width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0))
}

/// Returns the width of lines of text: that of the terminal, within what can be read; as designed where
/// there is none.
pub(crate) fn text_width() -> usize {
    const READABLE: (usize, usize) = (60, 100);
    let width = width().unwrap_or(READABLE.1);
    width.clamp(READABLE.0, READABLE.1)
}

/// Says on standard error which file was written.
pub(crate) fn wrote(path: &Path, quiet: bool) {
    if !quiet {
        note(&format!("wrote {}", shown(&path.display().to_string())));
    }
}

/// Says on standard error which folder was written, and which page of it to open.
pub(crate) fn wrote_folder(folder: &Path, page: &str, quiet: bool) {
    if !quiet {
        let (folder, page) = (folder.display().to_string(), folder.join(page));
        let page = page.display().to_string();
        note(&format!("wrote {}: open {}", shown(&folder), shown(&page)));
    }
}

/// Prints one line on standard error; what the operating system reported is in plain words.
pub(crate) fn note(line: &str) {
    // There is nowhere else to report that standard error cannot be written.
    let _ = writeln!(notes(), "{}", in_plain_words(line));
}
