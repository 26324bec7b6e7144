//! The doors that everything printed goes through: a terminal obeys no text from outside.

#![expect(
    clippy::disallowed_methods,
    reason = "nothing else opens the standard streams"
)]

use std::io::{self, BufWriter, IsTerminal, Stderr, Stdout};

use metalens_text::SafeWriter;

/// Opens standard output for an answer: to a file or a program as it is, to a terminal shown.
pub(crate) fn answer() -> SafeWriter<BufWriter<Stdout>> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    SafeWriter::data(BufWriter::new(stdout), is_terminal)
}

/// Opens standard error for messages.
pub(crate) fn messages() -> SafeWriter<Stderr> {
    SafeWriter::page(io::stderr())
}
